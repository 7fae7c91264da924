package layout

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// TestNewZeros takes memory that has been written to, that the system has taken back, and that nobody had before.
func TestNewZeros(t *testing.T) {
	for round := range 12 {
		n := int64(64<<20 + 4097*round)
		if round%4 == 3 {
			n = int64(round) << 17
		}
		b, zeroed := newZeros(n)
		if int64(len(b)) != n || cap(b) != len(b) {
			t.Fatalf("%d bytes with room for %d, want %d", len(b), cap(b), n)
		}
		if zeroed {
			for i, x := range b {
				if x != 0 {
					t.Fatalf("round %d: byte %d of %d is %d", round, i, n, x)
				}
			}
		}
		for i := range b {
			b[i] = 0xa5
		}
		if round%2 == 0 {
			runtime.GC()
		} else {
			debug.FreeOSMemory()
		}
		runtime.KeepAlive(b)
		t.Logf("round %d: %d bytes, zeroed: %v", round, n, zeroed)
	}
}
