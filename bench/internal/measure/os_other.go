//go:build !linux

package measure

import (
	"os"
	"time"
)

// What Linux tells of itself and others do not, or not in a way that is worth the code here.

func Datasync(f *os.File) error { return f.Sync() }

var started = time.Now()

func threadTime() time.Duration { return time.Since(started) }

func ProcessorTime() time.Duration { return 0 }

func inMemory(string) bool { return false }

func AnonymousMemory() int64 { return 0 }

func HugeMapped(string) int64 { return 0 }

func cpuName() string { return "" }
