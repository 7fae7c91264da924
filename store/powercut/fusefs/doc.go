// Package fusefs serves a volume (package volume) to the kernel through FUSE.
//
// Writes reach the volume as they are made (no write-back cache in the kernel), in pieces of at most 1 MiB; reads and shared
// maps go through the kernel's page cache, which is thrown away where the volume's contents change behind its back: at a cut,
// when the cache is dropped, and when a read is to fail. Locks are the kernel's own.
//
// The process that serves must not be the one that uses the mount: a page fault on a map stops a thread of the Go
// scheduler that could be the one to serve it.
package fusefs
