package vec

import "golang.org/x/sys/cpu"

// bestVersion looks at the flags that x/sys/cpu read at start-up. It counts AVX-512 as there only if the
// operating system saves the wide registers.
func bestVersion() Version {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasBMI1 || !x.HasBMI2 || !x.HasPOPCNT:
		return Portable
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512VL || !x.HasAVX512DQ:
		return AVX2
	case !x.HasAVX512VBMI || !x.HasAVX512VBMI2:
		return AVX512
	}
	return AVX512VBMI2
}

// piece is how many bytes of input an assembly kernel gets in one call. Assembly can't be preempted, so a
// long call would hold up the garbage collector and with it every other goroutine; 16 KiB take about a
// microsecond, and calls of that size cost nothing measurable.
const piece = 16 << 10

// trace, if a test has set it, is told the name of every assembly kernel that is called.
var trace func(kernel string)

func ran(kernel string) {
	if trace != nil {
		trace(kernel)
	}
}
