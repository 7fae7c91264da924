package vec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// naiveTree makes the levels of a tree from the row-major numbers of the nonzeros, prefix by prefix.
func naiveTree(dims []uint64, numbers []uint64, indices, pointers Index) (idx, ptr [][]byte) {
	ndim := len(dims)
	idx, ptr = make([][]byte, ndim), make([][]byte, ndim)
	nodes := make([]int, ndim)
	var before []uint64
	for _, at := range numbers {
		c := naiveCoords(dims, at)
		for l := range ndim {
			if l < ndim-1 && before != nil && slices.Equal(c[:l+1], before[:l+1]) {
				continue
			}
			idx[l] = appendIndex(idx[l], indices, c[l])
			if l < ndim-1 {
				ptr[l] = appendIndex(ptr[l], pointers, uint64(nodes[l+1]))
			}
			nodes[l]++
		}
		before = c
	}
	return idx, ptr
}

// growLevel makes room for more nodes in a level of a tree.
func (t *Tree) growLevel(l, more, size int) {
	level := &t.Levels[l]
	level.Indices = append(level.Indices[:len(level.Indices):len(level.Indices)], make([]byte, more*t.Indices.Size())...)
	if l < len(t.Levels)-1 {
		level.Pointers = append(level.Pointers[:len(level.Pointers):len(level.Pointers)], make([]byte, more*t.Pointers.Size())...)
	} else {
		t.Values = append(t.Values[:len(t.Values):len(t.Values)], make([]byte, more*size)...)
	}
}

func checkTree(t *testing.T, what string, tree *Tree, size int, wantValues []byte, wantIdx, wantPtr [][]byte) {
	t.Helper()
	for l := range tree.Levels {
		level := &tree.Levels[l]
		if got := level.Indices[:level.Len*tree.Indices.Size()]; !bytes.Equal(got, wantIdx[l]) {
			t.Fatalf("%s: level %d of %d: indices (-want +got):\n%s", what, l, len(tree.Levels), cmp.Diff(wantIdx[l], got))
		}
		if l == len(tree.Levels)-1 {
			if got := tree.Values[:level.Len*size]; !bytes.Equal(got, wantValues) {
				t.Fatalf("%s: wrong values", what)
			}
		} else if got := level.Pointers[:level.Len*tree.Pointers.Size()]; !bytes.Equal(got, wantPtr[l]) {
			t.Fatalf("%s: level %d of %d: pointers (-want +got):\n%s", what, l, len(tree.Levels), cmp.Diff(wantPtr[l], got))
		}
	}
}

func TestTreeAppend(t *testing.T) {
	for _, dims := range testShapes {
		if len(dims) == 0 {
			continue
		}
		for i, p := range patterns {
			e := allElems[(i+len(dims))%len(allElems)]
			ix := []Index{I16, U32, I64, U16}[i%4]
			px := []Index{I64, I32, U32}[i%3]
			rng := rand.New(rand.NewPCG(51, uint64(i)))
			src := make([]byte, size(dims)*e.Size())
			p.fill(rng, src, e)
			values, positions, _ := naiveCompact(src, e, U64, 0, naiveCount(src, e))
			wantIdx, wantPtr := naiveTree(dims, view[uint64](positions), ix, px)
			// All at once into enough room, and in pieces into room that grows bit by bit.
			cut := rng.IntN(size(dims) + 1)
			eachVersion(func(v Version) {
				for _, piecewise := range []bool{false, true} {
					tree := &Tree{Indices: ix, Pointers: px, Levels: make([]Level, len(dims))}
					what := fmt.Sprintf("%v: %v in %v, %s, piecewise %v", v, e, dims, p.name, piecewise)
					room := len(values)/e.Size() + 100
					if piecewise {
						room = 3
					}
					for l := range dims {
						tree.growLevel(l, room, e.Size())
					}
					at := 0
					for rounds := 0; at < size(dims); rounds++ {
						stop := size(dims)
						if piecewise && at < cut {
							stop = cut
						}
						consumed, short := tree.Append(src[at*e.Size():stop*e.Size()], e, dims, uint64(at))
						at += consumed
						if short < 0 != (at == stop) {
							t.Fatalf("%s: stopped at %d, short of room in level %d", what, at, short)
						}
						if short >= 0 {
							if !piecewise {
								t.Fatalf("%s: level %d is short of room for %d", what, short, room)
							}
							tree.growLevel(short, 1000+tree.Levels[short].Len, e.Size())
						}
						if rounds > 1000 {
							t.Fatalf("%s: no progress at %d", what, at)
						}
					}
					checkTree(t, what, tree, e.Size(), values, wantIdx, wantPtr)
				}
			})
		}
	}
}

func TestTreeAppendLeavesOut(t *testing.T) {
	// Pieces far apart: what is left out has no nodes, and a prefix that goes on gets none twice.
	dims := []uint64{100, 50, 40, 30}
	var numbers []uint64
	tree := &Tree{Indices: I32, Pointers: I32, Levels: make([]Level, 4)}
	for l := range dims {
		tree.growLevel(l, 100, 4)
	}
	for _, first := range []uint64{7, 8, 60, 1199, 1230, 59999, 60000, 3000000} {
		if _, short := tree.Append(Bytes([]float32{float32(first), 0, 1}), Float32, dims, first); short >= 0 {
			t.Fatalf("level %d is short of room", short)
		}
		numbers = append(numbers, first, first+2)
	}
	var values []byte
	for i, n := range numbers {
		values = append(values, Bytes([]float32{[]float32{float32(n), 1}[i%2]})...)
	}
	wantIdx, wantPtr := naiveTree(dims, numbers, I32, I32)
	checkTree(t, "pieces far apart", tree, 4, values, wantIdx, wantPtr)
}
