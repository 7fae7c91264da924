// Package volume runs a disk model (package disk) live: it records every operation in order as a trace, fails operations on
// request, limits the space, and makes images of what a power cut at any point of the trace could have left.
//
// It knows nothing of how the operations come in; package fusefs brings them from the kernel.
package volume
