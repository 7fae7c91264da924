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
			if underRace && i%4 != 0 {
				continue
			}
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

func TestTreeAppendOrder(t *testing.T) {
	cases := []struct {
		dims  []uint64
		order []int
	}{
		{[]uint64{7}, []int{0}}, {[]uint64{130, 90}, []int{1, 0}}, {[]uint64{5, 6, 7}, []int{0, 1, 2}}, {[]uint64{5, 6, 7}, []int{2, 1, 0}},
		{[]uint64{5, 6, 7}, []int{1, 2, 0}}, {[]uint64{3, 8, 20, 9}, []int{0, 1, 3, 2}}, {[]uint64{3, 8, 20, 9}, []int{0, 3, 1, 2}},
		{[]uint64{2, 4, 200, 150}, []int{0, 1, 3, 2}}, {[]uint64{1, 30000}, []int{1, 0}}, {[]uint64{3, 30000, 1}, []int{0, 2, 1}}, {[]uint64{2, 1, 300, 1}, []int{3, 1, 2, 0}},
		// Large matrices.
		{[]uint64{300, 200}, []int{1, 0}}, {[]uint64{2, 2, 250, 140}, []int{0, 1, 3, 2}}, {[]uint64{2, 1500, 70}, []int{0, 2, 1}},
	}
	for _, k := range cases {
		ndim := len(k.dims)
		dims := make([]uint64, ndim) // in the new order
		for l, axis := range k.order {
			dims[l] = k.dims[axis]
		}
		for i, p := range patterns {
			if underRace && i%4 != 0 {
				continue
			}
			e := allElems[(i+ndim)%len(allElems)]
			ix, px := []Index{I16, U32, I64}[i%3], []Index{I64, I32}[i%2]
			rng := rand.New(rand.NewPCG(52, uint64(i)))
			n := size(k.dims)
			src := make([]byte, n*e.Size())
			p.fill(rng, src, e)
			// The reference: the same elements in a new place.
			moved := make([]byte, len(src))
			for at := range n {
				c := naiveCoords(k.dims, uint64(at))
				to := uint64(0)
				for l, axis := range k.order {
					to = to*dims[l] + c[axis]
				}
				copy(moved[int(to)*e.Size():], src[at*e.Size():][:e.Size()])
			}
			values, positions, _ := naiveCompact(moved, e, U64, 0, n)
			wantIdx, wantPtr := naiveTree(dims, view[uint64](positions), ix, px)
			block := 1
			for _, d := range k.dims[fixedAxes(k.order):] {
				block *= int(d)
			}
			eachVersion(func(v Version) {
				for _, piecewise := range []bool{false, true} {
					what := fmt.Sprintf("%v: %v in %v in order %d, %s, piecewise %v", v, e, k.dims, k.order, p.name, piecewise)
					tree := &Tree{Indices: ix, Pointers: px, Levels: make([]Level, ndim)}
					for l := range dims {
						tree.growLevel(l, map[bool]int{false: n + 100, true: 2}[piecewise], e.Size())
					}
					at := 0
					for rounds := 0; at < n; rounds++ {
						stop := n
						if piecewise && block < n {
							stop = min(n, at+2*block)
						}
						consumed, short := tree.AppendOrder(src[at*e.Size():stop*e.Size()], e, k.dims, k.order, uint64(at))
						at += consumed
						if short < 0 != (at == stop) || short >= 0 && !piecewise {
							t.Fatalf("%s: stopped at %d, level %d is short", what, at, short)
						}
						if short >= 0 {
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

func TestCanAppendOrder(t *testing.T) {
	for _, c := range []struct {
		dims  []uint64
		order []int
		want  bool
	}{
		{[]uint64{1 << 40, 1 << 20}, []int{0, 1}, true},
		{[]uint64{1 << 40, 1 << 20}, []int{1, 0}, true},
		{[]uint64{1 << 40, 1 << 5, 1 << 5, 1 << 5}, []int{0, 3, 2, 1}, true},
		{[]uint64{1 << 40, 1 << 5, 1 << 6, 1 << 5}, []int{0, 3, 2, 1}, false},
		{[]uint64{2, 1 << 5, 1 << 5, 1 << 5}, []int{3, 1, 2, 0}, false},
		{[]uint64{1 << 60, 1 << 60, 1}, []int{2, 1, 0}, false},
	} {
		if got := CanAppendOrder(c.dims, c.order); got != c.want {
			t.Errorf("%v in order %d: %v, want %v", c.dims, c.order, got, c.want)
		}
	}
}
