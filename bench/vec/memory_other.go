//go:build !linux

package main

import "time"

var start = time.Now()

// cpuTime returns how much time has passed, for want of a clock of the thread alone.
func cpuTime() time.Duration { return time.Since(start) }

func hugeBuffer(n int) []byte { return make([]byte, n) }
