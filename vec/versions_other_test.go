//go:build !amd64

package vec

func traceKernels() map[string]bool { return nil }

func kernelNames() []string { return nil }
