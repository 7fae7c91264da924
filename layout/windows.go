package layout

import "github.com/tstore/tstore/vec"

// windows makes a dense tensor of elements that come with their row-major numbers. It cuts the tensor into windows,
// as if they were the rows of a matrix; elements come by ascending window, in any order within one, each once.
type windows struct {
	size     uint64 // elements of a window
	count    int64  // windows, the last of which may be short
	wide     bool   // places take 4 bytes, not 2
	places   []byte // where elements lie in their windows
	pointers []uint64
	n        int64 // elements so far
	window   int64 // of the last of them
}

const (
	// windowElements is the size of a window where any will do. It fits a first-level cache.
	windowElements = 4096
	// windowMost is how many bytes a window may have that is to be made in a cache.
	windowMost = 512 << 10
)

// begin sets out to take nnz of total elements, of which there are some, in windows of so many elements. size is at most
// windowMost.
func (w *windows) begin(c *conversion, nnz, total, size int64) error {
	*w = windows{size: uint64(size), count: (total-1)/size + 1, wide: size > 1<<16}
	place := int64(2)
	if w.wide {
		place = 4
	}
	var err error
	if w.places, err = c.spaceFor(spacePlaces, nnz, place); err != nil {
		return err
	}
	if w.pointers, err = spaceOf[uint64](c, spacePointers, w.count+1); err != nil {
		return err
	}
	w.pointers[0] = 0
	return nil
}

// add takes the elements with these keys.
func (w *windows) add(keys []uint64) {
	if w.wide {
		addPlaces(w, words[uint32](w.places), keys)
	} else {
		addPlaces(w, words[uint16](w.places), keys)
	}
}

// start makes w go on after a number of elements, the last of which has a key, that somebody else takes.
func (w *windows) start(n int64, last uint64) {
	w.n, w.window = n, int64(last/w.size)
}

func addPlaces[P uint16 | uint32](w *windows, places []P, keys []uint64) {
	places = places[w.n : w.n+int64(len(keys))]
	size, start := w.size, uint64(w.window)*w.size
	for i := 0; i < len(keys); {
		if keys[i]-start >= size { // the first of a window
			window := int64(keys[i] / size)
			for w.window < window {
				w.window++
				w.pointers[w.window] = uint64(w.n) + uint64(i)
			}
			start = uint64(window) * size
		}
		for ; i < len(keys) && i < len(places) && keys[i]-start < size; i++ {
			places[i] = P(keys[i] - start)
		}
	}
	w.n += int64(len(keys))
}

// write writes dst, all of it, which may be zeroed before, with the values of the elements that were taken.
func (w *windows) write(c *conversion, dst []byte, zeroed bool, width int64, values []byte) error {
	for w.window < w.count {
		w.window++
		w.pointers[w.window] = uint64(w.n)
	}
	places := Index{IndexUint16, w.places}
	if w.wide {
		places.typ = IndexUint32
	}
	bytes := int64(w.size) * width
	whole := int64(len(dst)) / bytes
	s := rowScatter{dst[:whole*bytes], zeroed, width, int64(w.size), Index{IndexUint64, vec.Bytes(w.pointers[:whole+1])}, places, values, false}
	if err := c.scatterRows(s); err != nil || whole == w.count {
		return err
	}
	s.dst = dst[whole*bytes:]
	s.cols = int64(len(s.dst)) / width
	s.pointers = Index{IndexUint64, vec.Bytes(w.pointers[whole : whole+2])}
	return s.rows(0, 1)
}

// treeLeaves are the elements of a CSF.
type treeLeaves struct {
	fibres  []uint64 // the key that an element with index 0 has below each node of the level before the last
	indptr  Index    // of that level
	indices Index    // of the elements
	step    uint64   // between the keys of neighbouring indices
}

// leafBytes is what an element counts when it is decided how many goroutines take elements.
const leafBytes = 8

// addTogether adds all elements by so many goroutines.
func (t treeLeaves) addTogether(w *windows, workers int) {
	parts := make([]windows, workers)
	inParallel(workers, func(i int) {
		from, to := t.indptr.part(i, workers)
		part := *w
		if before := int64(t.indptr.At(from)); before > 0 {
			// The element before is that of the last node that has some.
			node := from - 1
			for int64(t.indptr.At(node)) == before {
				node--
			}
			part.start(before, t.fibres[node]+t.indices.At(before-1)*t.step)
		}
		t.add(&part, from, to)
		parts[i] = part
	})
	*w = parts[workers-1]
}

// add adds the elements below nodes from to to−1.
func (t treeLeaves) add(w *windows, from, to int64) {
	switch t.indices.typ.Size() {
	case 1:
		addLeaves(t, w, t.indices.data, from, to)
	case 2:
		addLeaves(t, w, words[uint16](t.indices.data), from, to)
	case 4:
		addLeaves(t, w, words[uint32](t.indices.data), from, to)
	default:
		addLeaves(t, w, words[uint64](t.indices.data), from, to)
	}
}

func addLeaves[I indexWord](t treeLeaves, w *windows, indices []I, from, to int64) {
	var keys [512]uint64
	var buf lineBuffer
	start, n := t.indptr.At(from), 0
	for first := from + 1; first <= to; first += int64(len(buf)) {
		for i, stop := range t.indptr.chunk(buf[:min(int64(len(buf)), to+1-first)], first) {
			base := t.fibres[first-1+int64(i)]
			for start < stop {
				m := min(len(keys)-n, int(stop-start))
				some := keys[n : n+m]
				for k, x := range indices[start : start+uint64(m)] {
					some[k] = base + uint64(x)*t.step
				}
				start += uint64(m)
				if n += m; n == len(keys) {
					w.add(keys[:])
					n = 0
				}
			}
		}
	}
	w.add(keys[:n])
}
