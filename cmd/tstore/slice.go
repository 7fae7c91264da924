package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// index is what stands in brackets behind the name of a tensor, as in x[0:2, :, ::-1]: NumPy's basic
// indexing, an item for each axis.
type index []indexItem

type indexItem struct {
	kind              itemKind
	at                int64  // of itemAt
	start, stop, step *int64 // of itemSlice; nil where nothing was given
}

type itemKind uint8

const (
	itemAt      itemKind = iota // a number: the axis goes away
	itemSlice                   // start:stop:step
	itemRest                    // ...: all axes that the others leave
	itemNewAxis                 // None: a new axis of length 1
)

// parseIndex parses what stands between the brackets.
func parseIndex(s string) (index, error) {
	if strings.TrimSpace(s) == "" {
		return nil, errors.New("nothing stands between the brackets")
	}
	fields := strings.Split(s, ",")
	if len(fields) > 1 && strings.TrimSpace(fields[len(fields)-1]) == "" {
		fields = fields[:len(fields)-1] // Python allows a comma at the end
	}
	var x index
	rest := false
	for _, field := range fields {
		item, err := parseItem(strings.TrimSpace(field))
		if err != nil {
			return nil, err
		}
		if item.kind == itemRest {
			if rest {
				return nil, errors.New("... may stand there only once")
			}
			rest = true
		}
		x = append(x, item)
	}
	return x, nil
}

func parseItem(s string) (indexItem, error) {
	switch s {
	case "...":
		return indexItem{kind: itemRest}, nil
	case "None", "newaxis", "np.newaxis":
		return indexItem{kind: itemNewAxis}, nil
	}
	parts := strings.Split(s, ":")
	if len(parts) == 1 {
		n, err := parseBound(s)
		if err != nil || n == nil {
			return indexItem{}, fmt.Errorf("%q is neither a number, a slice like 0:10:2, ..., nor None", s)
		}
		return indexItem{kind: itemAt, at: *n}, nil
	}
	if len(parts) > 3 {
		return indexItem{}, fmt.Errorf("%q has more than start:stop:step", s)
	}
	item := indexItem{kind: itemSlice}
	for i, to := range []**int64{&item.start, &item.stop, &item.step}[:len(parts)] {
		n, err := parseBound(strings.TrimSpace(parts[i]))
		if err != nil {
			return indexItem{}, fmt.Errorf("%q: %q is not a whole number", s, parts[i])
		}
		*to = n
	}
	if item.step != nil && *item.step == 0 {
		return indexItem{}, fmt.Errorf("%q: the step can't be 0", s)
	}
	return item, nil
}

// parseBound returns a number, or nil for an empty text. What does not fit in 64 bits is as far out
// as can be, like in Python.
func parseBound(s string) (*int64, error) {
	if s == "" {
		return nil, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return nil, err
	}
	return &n, nil
}

// errIndex says that an index does not fit a tensor.
var errIndex = errors.New("the index does not fit")

// axis is what becomes of an axis: elements start, start+step, …, count of them.
type axis struct {
	from  int // the axis, or -1 for a new one
	start int64
	step  int64
	count int64
	drop  bool // it is indexed by a number
}

// resolve returns what becomes of the axes of a shape.
func (x index) resolve(shape []int64) ([]axis, error) {
	used := 0
	rest := len(x) // where the ... stands, or would
	for i, item := range x {
		switch item.kind {
		case itemAt, itemSlice:
			used++
		case itemRest:
			rest = i
		}
	}
	if used > len(shape) {
		return nil, fmt.Errorf("%w: it has %d items, the tensor %s", errIndex, used, dimensions(len(shape)))
	}
	var axes []axis
	next := 0
	whole := func() {
		for range len(shape) - used {
			axes = append(axes, axis{from: next, step: 1, count: shape[next]})
			next++
		}
	}
	for i, item := range x {
		if i == rest {
			whole()
			continue
		}
		if item.kind == itemNewAxis {
			axes = append(axes, axis{from: -1, step: 1, count: 1})
			continue
		}
		a, err := item.resolve(shape[next])
		if err != nil {
			return nil, fmt.Errorf("%w: axis %d: %w", errIndex, next, err)
		}
		a.from = next
		axes = append(axes, a)
		next++
	}
	if rest == len(x) {
		whole()
	}
	return axes, nil
}

func dimensions(n int) string {
	if n == 1 {
		return "one dimension"
	}
	return strconv.Itoa(n) + " dimensions"
}

// resolve returns what becomes of an axis of length n.
func (item indexItem) resolve(n int64) (axis, error) {
	if item.kind == itemAt {
		at := item.at
		if at < 0 {
			at += n
		}
		if at < 0 || at >= n {
			return axis{}, fmt.Errorf("%d of %d elements", item.at, n)
		}
		return axis{start: at, step: 1, count: 1, drop: true}, nil
	}
	step := int64(1)
	if item.step != nil {
		step = *item.step
	}
	low, high := int64(0), n // what start and stop are clamped to
	start, stop := low, high
	if step < 0 {
		low, high = -1, n-1
		start, stop = high, low
	}
	clamp := func(given *int64, otherwise int64) int64 {
		if given == nil {
			return otherwise
		}
		v := *given
		if v < 0 {
			v += n
		}
		return min(max(v, low), high)
	}
	a := axis{start: clamp(item.start, start), step: step}
	stop = clamp(item.stop, stop)
	switch {
	case step > 0 && stop > a.start:
		a.count = (stop-a.start-1)/step + 1
	case step < 0 && stop < a.start:
		a.count = int64(uint64(a.start-stop-1)/-uint64(step)) + 1
	default:
		a.start, a.step = 0, 1
	}
	return a, nil
}

// of returns the part of a tensor that the index is about. Of a dense tensor it is a view. A sparse one
// stays in its layout, or becomes COO if that does not fit; without dimensions it is dense.
func (x index) of(t layout.Tensor) (layout.Tensor, error) {
	axes, err := x.resolve(t.Shape())
	if err != nil {
		return nil, err
	}
	var names []string
	if had := t.DimNames(); had != nil {
		for _, a := range axes {
			switch {
			case a.drop:
			case a.from < 0:
				names = append(names, "")
			default:
				names = append(names, had[a.from])
			}
		}
	}
	var part layout.Tensor
	if d, ok := t.(*layout.Dense); ok {
		part, err = denseView(d, axes)
	} else {
		part, err = sparsePart(t, axes)
	}
	if err != nil || len(names) == 0 {
		return part, err
	}
	return withDimNames(part, names)
}

func denseView(d *layout.Dense, axes []axis) (layout.Tensor, error) {
	var shape, strides []int64
	offset := d.Offset()
	for _, a := range axes {
		if a.from < 0 {
			shape, strides = append(shape, 1), append(strides, 0)
			continue
		}
		stride := d.Strides()[a.from]
		if a.count > 0 {
			offset += a.start * stride
		}
		if a.drop {
			continue
		}
		shape = append(shape, a.count)
		if a.count > 1 {
			stride *= a.step
		}
		strides = append(strides, stride)
	}
	if n, _ := layout.CheckedProduct(shape, 1); n == 0 {
		offset = 0 // where there are no elements, none has to lie in the data
	}
	v, err := layout.NewStrided(d.DType(), shape, strides, offset, d.Data())
	if err != nil {
		return nil, err
	}
	return v, nil
}

// sparsePart goes through the stored elements.
func sparsePart(t layout.Tensor, axes []axis) (layout.Tensor, error) {
	elements, err := layout.NonzeroBytes(t)
	if err != nil {
		return nil, err
	}
	var shape, coordinates []int64
	for _, a := range axes {
		if !a.drop {
			shape = append(shape, a.count)
		}
	}
	scalar := len(shape) == 0
	if scalar {
		shape = []int64{1}
	}
	var data []byte
	at := make([]int64, 0, len(shape))
element:
	for coordinate, value := range elements {
		at = at[:0]
		for _, a := range axes {
			if a.from < 0 {
				at = append(at, 0)
				continue
			}
			k, inside := a.find(coordinate[a.from])
			if !inside {
				continue element
			}
			if !a.drop {
				at = append(at, k)
			}
		}
		if scalar {
			at = append(at, 0)
		}
		coordinates = append(coordinates, at...)
		data = append(data, value...)
	}
	c, err := layout.NewCOO(t.DType(), shape, layout.IndexOf(coordinates), data, false)
	if err != nil {
		return nil, err
	}
	if scalar {
		d, err := layout.Convert(c, layout.LayoutDense, nil)
		if err != nil {
			return nil, err
		}
		return named(d.(*layout.Dense).Reshape())
	}
	to := t.Layout()
	if n := len(shape); n != 2 && to != layout.LayoutCSF || n < 2 {
		to = layout.LayoutCOO
	}
	return layout.Convert(c, to, nil)
}

// find returns which of the elements of the axis element i is, if it is one.
func (a axis) find(i int64) (k int64, ok bool) {
	k = (i - a.start) / a.step
	return k, (i-a.start)%a.step == 0 && 0 <= k && k < a.count
}

// selection is a tensor, or a part of one.
type selection struct {
	entry *store.Entry
	index index // nil for all of it
}

// find finds the tensor that an argument names: one of that very name, or else one with an index in
// brackets behind its name. stat looks up a name.
func find(stat func(name string) (*store.Entry, error), arg string) (*selection, error) {
	e, err := stat(arg)
	if err == nil {
		return &selection{entry: e}, nil
	}
	open := strings.LastIndexByte(arg, '[')
	if !errors.Is(err, store.ErrNotFound) || open < 1 || !strings.HasSuffix(arg, "]") {
		return nil, err
	}
	e, inner := stat(arg[:open])
	if inner != nil {
		return nil, inner
	}
	x, err := parseIndex(arg[open+1 : len(arg)-1])
	if err != nil {
		return nil, usagef("%s: %v", arg, err)
	}
	if _, err := x.resolve(e.Shape); err != nil {
		return nil, fmt.Errorf("%s of shape %s: %w", arg, shapeText(e.Shape, nil), err)
	}
	return &selection{entry: e, index: x}, nil
}

// read returns the tensor. Where the index says that only a part is wanted, that is read in place
// and valid as long as snap is; otherwise all is read, compared with its checksum and copied.
func (s *selection) read(st *store.Store, snap *store.Snapshot) (layout.Tensor, error) {
	if s.index == nil {
		return st.Get(s.entry.Name)
	}
	return s.view(snap)
}

// view returns the tensor in place.
func (s *selection) view(snap *store.Snapshot) (layout.Tensor, error) {
	t, err := snap.Get(s.entry.Name)
	if err != nil || s.index == nil {
		return t, err
	}
	return s.index.of(t)
}
