package vec

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func traceKernels() map[string]bool {
	var mu sync.Mutex
	called := make(map[string]bool)
	trace = func(kernel string) {
		mu.Lock()
		called[kernel] = true
		mu.Unlock()
	}
	return called
}

var stubName = regexp.MustCompile(`(?m)^func (\w+)\(`)

// kernelNames returns the names of the assembly kernels that this machine can run, from the stubs.
func kernelNames() []string {
	stubs, err := filepath.Glob("*_stubs_amd64.go")
	if err != nil || len(stubs) == 0 {
		panic("no stubs in the package's folder")
	}
	var names []string
	for _, file := range stubs {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		for _, m := range stubName.FindAllSubmatch(text, -1) {
			name := string(m[1])
			needs := AVX2
			switch {
			case strings.HasSuffix(name, "VBMI2"):
				needs = AVX512VBMI2
			case strings.HasSuffix(name, "AVX512"):
				needs = AVX512
			}
			if needs <= bestVersion() {
				names = append(names, name)
			}
		}
	}
	return names
}

// TestFlags compares the choice of versions with what the operating system says of the processor.
func TestFlags(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Logf("%s has no /proc/cpuinfo to compare with", runtime.GOOS)
		return
	}
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(text), "\nflags")
	line, _, _ = strings.Cut(line, "\n")
	have := make(map[string]bool)
	for _, f := range strings.Fields(line) {
		have[f] = true
	}
	want := Portable
	for v, needs := range map[Version]string{
		AVX2:        "avx2 bmi1 bmi2 popcnt",
		AVX512:      "avx2 bmi1 bmi2 popcnt avx512f avx512bw avx512vl avx512dq",
		AVX512VBMI2: "avx2 bmi1 bmi2 popcnt avx512f avx512bw avx512vl avx512dq avx512vbmi avx512_vbmi2",
	} {
		all := true
		for _, f := range strings.Fields(needs) {
			all = all && have[f]
		}
		if all {
			want = max(want, v)
		}
	}
	if got := bestVersion(); got != want {
		t.Errorf("the best version is %v, but the flags in /proc/cpuinfo allow %v", got, want)
	}
}

// TestEnvironment starts this test binary with the variable set, because it is read once at start-up.
func TestEnvironment(t *testing.T) {
	if os.Getenv("VEC_TEST_PRINT_VERSION") != "" {
		t.Logf("active=%v.", Active())
		return
	}
	best := bestVersion()
	cases := map[string]Version{"": best, "nonsense": best, "portable": Portable, "avx2": min(AVX2, best), "avx512": min(AVX512, best), "avx512vbmi2": min(AVX512VBMI2, best)}
	for value, want := range cases {
		cmd := exec.Command(os.Args[0], "-test.run=^TestEnvironment$", "-test.v")
		cmd.Env = append(os.Environ(), EnvVersion+"="+value, "VEC_TEST_PRINT_VERSION=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if !strings.Contains(string(out), "active="+want.String()+".") {
			t.Errorf("with %s=%s the version is not %v:\n%s", EnvVersion, value, want, out)
		}
	}
}
