package vec

import (
	"bytes"
	"testing"
)

// A tree that was reset grows as a new one does.
func TestTreeReset(t *testing.T) {
	dims := []uint64{4, 30}
	src := make([]byte, 4*30)
	for i := 0; i < len(src); i += 7 {
		src[i] = byte(i) | 1
	}
	grow := func(tree *Tree) {
		tree.Values, tree.Indices, tree.Pointers = make([]byte, 120), U8, U8
		tree.Levels = append(tree.Levels[:0], Level{Indices: make([]byte, 4), Pointers: make([]byte, 4)}, Level{Indices: make([]byte, 120)})
		if _, short := tree.Append(src, Bits8, dims, 0); short >= 0 {
			t.Fatalf("level %d is short of room", short)
		}
	}
	eachVersion(func(v Version) {
		var once, again Tree
		grow(&once)
		grow(&again)
		again.Reset()
		if again.Levels[0].Len != 0 || again.Levels[1].Len != 0 {
			t.Errorf("%v: %d and %d nodes after a reset", v, again.Levels[0].Len, again.Levels[1].Len)
		}
		grow(&again)
		if !bytes.Equal(once.Values, again.Values) {
			t.Errorf("%v: values %v, want %v", v, again.Values, once.Values)
		}
		for l := range once.Levels {
			x, y := once.Levels[l], again.Levels[l]
			if x.Len != y.Len || !bytes.Equal(x.Indices, y.Indices) || l == 0 && !bytes.Equal(x.Pointers, y.Pointers) {
				t.Errorf("%v: level %d has %d nodes %v from %v, want %d, %v, %v", v, l, y.Len, y.Indices, y.Pointers, x.Len, x.Indices, x.Pointers)
			}
		}
	})
}
