//go:build !linux

package segment

import "os"

func writeBack(*os.File, int64, int64) error { return nil }
