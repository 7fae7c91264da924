//go:build !linux

package main

import (
	"os"
	"time"
)

// What Linux tells of itself and others do not, or not in a way that is worth the code here.

func datasync(f *os.File) error { return f.Sync() }

var started = time.Now()

func threadTime() time.Duration { return time.Since(started) }

func inMemory(string) bool { return false }

func anonymousMemory() int64 { return 0 }

func hugeMapped(string) int64 { return 0 }

func cpuName() string { return "" }
