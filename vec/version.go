package vec

import (
	"fmt"
	"os"
	"sync/atomic"
)

// Version is a set of kernels, named after the instructions they use. Each has all that comes before it;
// where it has no kernel of its own for something, the one before it is taken.
type Version uint8

// The versions, slowest first.
const (
	// Portable is plain Go and runs everywhere.
	Portable Version = iota
	// AVX2 needs amd64 with AVX2, BMI1, BMI2 and POPCNT.
	AVX2
	// AVX512 needs AVX-512 F, BW, VL and DQ as well.
	AVX512
	// AVX512VBMI2 needs AVX-512 VBMI and VBMI2 as well.
	AVX512VBMI2
	numVersions
)

var versionNames = [numVersions]string{"portable", "avx2", "avx512", "avx512vbmi2"}

// EnvVersion is the environment variable that sets the version at start-up, to one of the names that
// Version.String gives. A version that the machine lacks stands for the best one before it that it has;
// any other value is ignored.
const EnvVersion = "TSTORE_VEC"

// String returns the version's name.
func (v Version) String() string {
	if v >= numVersions {
		return fmt.Sprintf("Version(%d)", uint8(v))
	}
	return versionNames[v]
}

// active is the version in use. It is atomic only so that tests which switch it while other goroutines
// run are no data race; each call is right under any version.
var active atomic.Uint32

func init() {
	v := bestVersion()
	for want, name := range versionNames {
		if name == os.Getenv(EnvVersion) {
			v = min(v, Version(want))
		}
	}
	active.Store(uint32(v))
}

// Active returns the version in use.
func Active() Version { return Version(active.Load()) }

// Available returns the versions that this machine can run, slowest first.
func Available() []Version {
	var all []Version
	for v := Portable; v <= bestVersion(); v++ {
		all = append(all, v)
	}
	return all
}

// Use makes v the version in use, for tests and benchmarks that compare versions. It returns an error,
// and changes nothing, if the machine lacks it.
func Use(v Version) error {
	if best := bestVersion(); v > best {
		return fmt.Errorf("vec: this machine has no %v, its best version is %v", v, best)
	}
	active.Store(uint32(v))
	return nil
}
