//go:build !linux

package store_test

import "testing"

// quickDir is a directory of the test's own.
func quickDir(t testing.TB) string { return t.TempDir() }
