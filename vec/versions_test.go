package vec

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMain runs the tests, each of which goes through all the versions that the machine has, says which
// these were, and fails if one of their kernels was never called.
func TestMain(m *testing.M) {
	flag.Parse()
	called := traceKernels()
	code := m.Run()
	var ran, lacking []string
	for v := range numVersions {
		if v <= bestVersion() {
			ran = append(ran, v.String())
		} else {
			lacking = append(lacking, v.String())
		}
	}
	fmt.Printf("vec: versions tested: %s\n", strings.Join(ran, ", "))
	if len(lacking) > 0 {
		fmt.Printf("vec: versions skipped, this machine lacks them: %s\n", strings.Join(lacking, ", "))
	}
	// A run of selected or thinned out tests or of benchmarks alone can't call everything.
	if flag.Lookup("test.run").Value.String() == "" && flag.Lookup("test.skip").Value.String() == "" && flag.Lookup("test.fuzz").Value.String() == "" && code == 0 && !underRace {
		for _, kernel := range kernelNames() {
			if !called[kernel] {
				fmt.Printf("vec: kernel %s was not called, although the machine has its instructions\n", kernel)
				code = 1
			}
		}
		fmt.Printf("vec: assembly kernels called: %d\n", len(slices.Collect(maps.Keys(called))))
	}
	os.Exit(code)
}

// eachVersion calls f with every version that the machine has in use.
func eachVersion(f func(Version)) {
	before := Active()
	defer func() { active.Store(uint32(before)) }()
	for _, v := range Available() {
		if err := Use(v); err != nil {
			panic(err)
		}
		f(v)
	}
}

func TestUse(t *testing.T) {
	before := Active()
	for v := range numVersions {
		err := Use(v)
		if has := slices.Contains(Available(), v); (err == nil) != has {
			t.Errorf("Use(%v): error %v, although Available has it: %v", v, err, has)
		}
		if err == nil && Active() != v {
			t.Errorf("after Use(%v) the version in use is %v", v, Active())
		}
	}
	if err := Use(before); err != nil {
		t.Fatal(err)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		got  fmt.Stringer
		want string
	}{
		{Portable, "portable"}, {AVX512VBMI2, "avx512vbmi2"}, {Version(77), "Version(77)"},
		{Float32, "float32"}, {Complex128, "complex128"}, {Elem(0), "Elem(0)"},
		{I8, "int8"}, {U64, "uint64"}, {Index(9), "Index(9)"},
	} {
		if c.got.String() != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
