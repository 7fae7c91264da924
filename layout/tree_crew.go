package layout

import "github.com/tstore/tstore/vec"

// treeCrew is goroutines that grow the tree of a CSF part by part. Each grows a small tree of a part, and grafts it in
// the part's turn onto the large one: nodes that the large one ends with are not repeated.
type treeCrew struct {
	turns
	c       *conversion // of the result; used by the goroutine whose turn it is
	view    *Dense
	order   []int
	block   int64
	most    int64 // elements of a piece
	each    int64 // elements of a part
	ptrSize int64
	path    []uint64 // the index of the last node of each level, nil if there is none
}

// growTogether grows c.tree by so many goroutines.
func (c *conversion) growTogether(view *Dense, order []int, block, most, ptrSize int64, workers int) error {
	w := &treeCrew{c: c, view: view, order: order, block: block, most: most, ptrSize: ptrSize}
	w.each = max(grain.part/int64(view.dtype.width)/block, 1) * block
	w.begin((view.len-1)/w.each + 1)
	workers = int(min(int64(workers), w.parts))
	ndim := int64(len(view.shape))
	size := int64(c.tree.Indices.Size())
	node := int64(view.dtype.width) + ndim*size + (ndim-1)*ptrSize
	// No piece has more nodes in a level than that, so that it finds room in a tree that is empty.
	room := max(min(w.each, 2*grain.stage/node), 1<<13, block)
	count := c.stagesFor(room*node, workers)
	memory, err := c.reserve(room*count*int64(workers), node)
	if err != nil {
		return err
	}
	defer c.free(memory)
	return w.together(workers, func() error { return w.work(room, node, count) })
}

// work grows parts as long as there are some.
func (w *treeCrew) work(room, node, count int64) error {
	h := w.c.helper()
	defer h.end()
	memory, err := h.spaceFor(spaceFound, room*count, node)
	if err != nil {
		return err
	}
	mine := stages{turns: &w.turns}
	for i := range count {
		s := &treeStage{crew: w}
		s.plant(memory[i*room*node:(i+1)*room*node], room)
		mine.free = append(mine.free, s)
	}
	buffer, err := h.spaceFor(spaceGather, bufferBytes(w.view), 1)
	if err != nil {
		return err
	}
	dims, width := dimensions(w.view.shape), int64(w.view.dtype.width)
	for {
		x, err := mine.take()
		if err != nil {
			return err
		}
		part, ok := w.take()
		if !ok {
			return mine.all()
		}
		s := x.(*treeStage)
		s.part = part
		from := part * w.each
		s.stop = min(from+w.each, w.view.len)
		held := false
		var walk walk
		walk.begin(w.view, from, s.stop, w.most, buffer)
		for src, first := walk.piece(); src != nil; src, first = walk.piece() {
			for {
				used, short := appendTree(&s.tree, src, w.view.dtype, dims, w.order, first)
				if short < 0 {
					break
				}
				// There is more in this part than a stage holds.
				src, first = src[used*width:], first+used
				if !held {
					if err := mine.all(); err != nil {
						return err
					}
					if held = w.wait(part); !held {
						return errGaveUp
					}
				}
				if err := s.graft(first); err != nil {
					return err
				}
				s.copy()
			}
		}
		if err := mine.fill(s); err != nil {
			return err
		}
	}
}

// treeStage is a part whose tree has been grown.
type treeStage struct {
	crew *treeCrew
	part int64
	stop int64 // the element behind the part
	tree vec.Tree

	// Where it goes in the large tree.
	values []byte
	levels []graftLevel
}

type graftLevel struct {
	indices, pointers []byte
	skip              int    // nodes that are there already: none or the first
	add               uint64 // to each pointer
}

// plant makes room for a small tree in some memory, for so many nodes in each level.
func (s *treeStage) plant(memory []byte, room int64) {
	t, w := &s.tree, s.crew
	take := func(size int64) []byte {
		b := memory[: room*size : room*size]
		memory = memory[room*size:]
		return b
	}
	t.Indices, t.Pointers = w.c.tree.Indices, w.c.tree.Pointers
	t.Values = take(int64(w.view.dtype.width))
	t.Levels = make([]vec.Level, len(w.view.shape))
	for l := range t.Levels {
		t.Levels[l].Indices = take(int64(t.Indices.Size()))
		if l < len(t.Levels)-1 {
			t.Levels[l].Pointers = take(w.ptrSize)
		}
	}
}

func (s *treeStage) number() int64 { return s.part }

func (s *treeStage) deliver() error {
	if err := s.graft(s.stop); err != nil {
		return err
	}
	s.crew.pass()
	s.copy()
	s.crew.done()
	return nil
}

// graft takes room in the large tree for the small one, which has the nonzeros of its part before element next. It is
// the turn of the part.
func (s *treeStage) graft(next int64) error {
	w, t := s.crew, &s.tree
	all, last := &w.c.tree, len(t.Levels)-1
	s.values, s.levels = nil, s.levels[:0]
	if t.Levels[last].Len == 0 {
		return nil
	}
	size, ptrSize, width := t.Indices.Size(), int(w.ptrSize), int(w.view.dtype.width)
	same := w.path != nil // whether all nodes so far are there already
	for l := range t.Levels {
		small, level := &t.Levels[l], &all.Levels[l]
		same = same && l < last && t.Indices.At(small.Indices, 0) == w.path[l]
		skip := 0
		if same {
			skip = 1
		}
		if n := int64(level.Len + small.Len - skip); n > w.c.levelRoom[l] {
			if !w.settle() {
				return errGaveUp
			}
			if err := w.c.growFor(w.view, l, n, 0, next, w.ptrSize); err != nil {
				return err
			}
		}
		from, to := level.Len, level.Len+small.Len-skip
		p := graftLevel{indices: level.Indices[from*size : to*size], skip: skip}
		if l < last {
			p.pointers = level.Pointers[from*ptrSize : to*ptrSize]
		} else {
			s.values = all.Values[from*width : to*width]
		}
		s.levels = append(s.levels, p)
		if l > 0 {
			s.levels[l-1].add = uint64(from - skip)
		}
	}
	if w.path == nil {
		w.path = make([]uint64, last+1)
	}
	for l := range t.Levels {
		small := &t.Levels[l]
		w.path[l] = t.Indices.At(small.Indices, small.Len-1)
		all.Levels[l].Len += small.Len - s.levels[l].skip
	}
	return nil
}

// copy copies the small tree to its place, and makes it empty.
func (s *treeStage) copy() {
	t := &s.tree
	copy(s.values, t.Values)
	size, ptr := t.Indices.Size(), IndexType(t.Pointers)
	for l := range s.levels {
		p, small := &s.levels[l], &t.Levels[l]
		copy(p.indices, small.Indices[p.skip*size:])
		if n := len(p.pointers); n > 0 {
			copyAdded(Index{ptr, p.pointers}, small.Pointers[p.skip*ptr.Size():][:n], p.add)
		}
	}
	t.Reset()
}

// copyAdded copies integers of the type of dst and adds v, cut to their width, to each.
func copyAdded(dst Index, src []byte, v uint64) {
	switch dst.typ.Size() {
	case 1:
		copyAddedWords(dst.data, src, uint8(v))
	case 2:
		copyAddedWords(words[uint16](dst.data), words[uint16](src), uint16(v))
	case 4:
		copyAddedWords(words[uint32](dst.data), words[uint32](src), uint32(v))
	default:
		copyAddedWords(words[uint64](dst.data), words[uint64](src), v)
	}
}

func copyAddedWords[I indexWord](dst, src []I, v I) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = x + v
	}
}
