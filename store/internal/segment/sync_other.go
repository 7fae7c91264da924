//go:build !linux

package segment

import "os"

// datasync is os.File.Sync, which is F_FULLFSYNC on Darwin and FlushFileBuffers
// on Windows; a plain fsync there would leave the bytes in the drive's cache.
func datasync(f *os.File) error { return f.Sync() }
