package vec

import "fmt"

// Tree is a compressed sparse fibre tree that is being built of the nonzeros of a row-major array: level l has
// a node for each prefix of l+1 coordinates under which there is a nonzero, in order. The nodes of the last
// level are the nonzeros. The buffers are the caller's, and may be exchanged for longer ones with the same
// contents between two calls of Append.
type Tree struct {
	Values   []byte  // room for the values
	Indices  Index   // type of the indices, wide enough for the dimensions
	Pointers Index   // type of the pointers, wide enough for the number of nodes in any level
	Levels   []Level // one for each axis

	begun bool
	last  []uint64 // for each level but the last, the row-major number of its last node's prefix
}

// Level is a level of a Tree. What lies behind the first Len places of its buffers is undefined.
type Level struct {
	Indices  []byte // room for the index of each node along the axis of the level
	Pointers []byte // room for the number of its first child in the next level; not used for the last one
	Len      int    // nodes
}

// Append appends the nonzeros of src, which are the elements first, first+1, … of a row-major array with these
// dimensions, all of them 1 or more. Elements come in order; some may be left out, which are zeros then.
//
// It returns how many elements of src were used up and, if that is not all of them, the level that has too
// little room for the next piece; else −1. It is not said how much it is short of: no piece has more than 8192 nodes
// in a level.
func (t *Tree) Append(src []byte, e Elem, dims []uint64, first uint64) (consumed, short int) {
	size := e.Size()
	n := e.len(src)
	t.check(e, dims)
	if n == 0 {
		return 0, -1
	}
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	w.set(dims)
	leaves := &t.Levels[len(dims)-1]
	for consumed < n {
		at := first + uint64(consumed)
		m := w.shape.slabAt(at, n-consumed)
		room := min(len(t.Values)/size, len(leaves.Indices)/t.Indices.Size()) - leaves.Len
		c, k := compactAny(t.Values[leaves.Len*size:(leaves.Len+room)*size], memory(w.positions[slack:]), U16,
			src[consumed*size:(consumed+m)*size], e, 0)
		if k > 0 {
			w.shape.coordinates(w.start, at)
			if short := t.grow(w, k); short >= 0 {
				return consumed, short
			}
		}
		consumed += c
		if c < m {
			return consumed, len(dims) - 1
		}
	}
	return consumed, -1
}

func (t *Tree) check(e Elem, dims []uint64) {
	ndim := len(dims)
	if ndim == 0 || len(t.Levels) != ndim {
		panic(fmt.Sprintf("vec: a tree of %d levels for %d dimensions", len(t.Levels), ndim))
	}
	for _, d := range dims {
		if d == 0 {
			panic(fmt.Sprintf("vec: an array with dimensions %d has no element", append([]uint64(nil), dims...)))
		}
	}
	for len(t.last) < ndim {
		t.last = append(t.last, 0)
	}
	for l := range t.Levels {
		level := &t.Levels[l]
		if n := t.Indices.len(level.Indices); level.Len < 0 || level.Len > n {
			panic(fmt.Sprintf("vec: level %d has %d nodes and room for %d", l, level.Len, n))
		}
		if n := t.Pointers.len(level.Pointers); l < ndim-1 && level.Len > n {
			panic(fmt.Sprintf("vec: level %d has %d nodes and room for %d pointers", l, level.Len, n))
		}
	}
	if n := e.len(t.Values); t.Levels[ndim-1].Len > n {
		panic(fmt.Sprintf("vec: the tree has %d leaves and room for %d values", t.Levels[ndim-1].Len, n))
	}
}

// grow adds the k nonzeros at w.positions, whose values are in place, in a slab that begins at w.start. If a
// level has too little room, it returns the level and adds nothing; else −1.
func (t *Tree) grow(w *workspace, k int) (short int) {
	ndim, top := len(w.shape.dims), w.shape.top
	// number[l] is the row-major number of the prefix of the slab's first element.
	w.numbers = append(w.numbers[:0], w.start...)
	for l := 1; l < ndim; l++ {
		w.numbers[l] += w.numbers[l-1] * w.shape.dims[l]
	}
	w.added = append(w.added[:0], w.start...)
	w.newLast = append(w.newLast[:0], t.last...)

	// From the leaves to the root: nodes are the prefixes of this level, relative to the slab's first one.
	nodes, spare, n := &w.positions, &w.spare, k
	for l := ndim - 1; l >= 0; l-- {
		level := &t.Levels[l]
		w.added[l] = uint64(n)
		if n == 0 {
			continue
		}
		if !t.hasRoom(l, n) {
			return l
		}
		out := level.Indices[level.Len*t.Indices.Size():]
		switch {
		case l > top:
			w.split(nodes, n, l, w.start[l])
			widenAny(out, w.remains[l], n, t.Indices.Size(), 0, w)
		case l == top:
			widenAny(out, nodes, n, t.Indices.Size(), w.start[l], w)
		default: // one node
			putIndex(out, t.Indices, w.start[l])
		}
		if l == 0 {
			break
		}
		// The parents: one where the prefix changes, unless it is the one that the slab before ended with.
		parents := &t.Levels[l-1]
		before := ^uint64(0)
		if t.begun && t.last[l-1] >= w.numbers[l-1] {
			before = t.last[l-1] - w.numbers[l-1]
		}
		children := uint64(level.Len)
		if l <= top { // all of them have the one parent that the slab lies below
			w.newLast[l-1] = w.numbers[l-1]
			n = 0
			if before != 0 {
				n = 1
				if t.hasRoom(l-1, 1) {
					putIndex(parents.Pointers[parents.Len*t.Pointers.Size():], t.Pointers, children)
				}
			}
			continue
		}
		w.newLast[l-1] = w.numbers[l-1] + uint64(nodes[slack+n-1])
		nodes[slack-1] = uint16(min(before, 1<<16-1)) // no prefix is that large
		n = distinctAny(spare, &w.places, nodes, n)
		nodes, spare = spare, nodes
		if n > 0 && t.hasRoom(l-1, n) {
			widenAny(parents.Pointers[parents.Len*t.Pointers.Size():], &w.places, n, t.Pointers.Size(), children, w)
		}
	}
	for l := range t.Levels {
		t.Levels[l].Len += int(w.added[l])
	}
	copy(t.last, w.newLast)
	t.begun = true
	return -1
}

func (t *Tree) hasRoom(l, n int) bool {
	level := &t.Levels[l]
	return len(level.Indices)/t.Indices.Size()-level.Len >= n &&
		(l == len(t.Levels)-1 || len(level.Pointers)/t.Pointers.Size()-level.Len >= n)
}

// putIndex stores v as the first integer of b.
func putIndex(b []byte, t Index, v uint64) {
	switch t.Size() {
	case 1:
		b[0] = uint8(v)
	case 2:
		view[uint16](b)[0] = uint16(v)
	case 4:
		view[uint32](b)[0] = uint32(v)
	default:
		view[uint64](b)[0] = v
	}
}

func widenGo(dst []byte, src *lane16, n, size int, add uint64) {
	switch size {
	case 1:
		widenTo(dst, src, n, uint8(add))
	case 2:
		widenTo(view[uint16](dst), src, n, uint16(add))
	case 4:
		widenTo(view[uint32](dst), src, n, uint32(add))
	default:
		widenTo(view[uint64](dst), src, n, add)
	}
}

func widenTo[P uint8 | uint16 | uint32 | uint64](dst []P, src *lane16, n int, add P) {
	dst = dst[:n]
	for i, x := range src[slack : slack+n] {
		dst[i] = P(x) + add
	}
}

// distinctGo stores those of the n integers in src that differ from the one before them, and their places,
// and returns how many. What is before the first is in src, too.
func distinctGo(values, places, src *lane16, n int) int {
	k, before := slack, src[slack-1]
	for i, x := range src[slack : slack+n] {
		values[k], places[k] = x, uint16(i)
		if x != before {
			k++
		}
		before = x
	}
	return k - slack
}
