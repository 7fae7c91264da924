package mtx

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/tstore/tstore/layout"
)

// Decode returns the matrix in a Matrix Market file; file is all of it, plain or gzipped. The
// result has memory of its own: a [layout.COO] for coordinates, with the narrowest index types, or a
// column-major [layout.Dense] for an array.
//
// The errors are [ErrInvalid], [ErrTruncated] and [ErrUnsupported], each with the line.
func Decode(file []byte) (layout.Tensor, error) { return DecodeProgress(file, nil) }

// DecodeProgress is [Decode] that calls progress, unless it is nil, now and then with how many bytes of the
// file have been read.
func DecodeProgress(file []byte, progress func(done int64)) (layout.Tensor, error) {
	l, err := newLines(file)
	if err != nil {
		return nil, err
	}
	l.progress = progress
	b, err := readBanner(l)
	if err != nil {
		return nil, err
	}
	if b.array {
		return b.readArray(l)
	}
	return b.readCoordinates(l)
}

// value is a number of any field: its bits, as they lie in memory. Only a complex one has an
// imaginary part.
type value struct{ re, im uint64 }

// parse reads the number at the start of a line, of which nothing else may be left.
func (f field) parse(l *lines, line []byte) (v value, err error) {
	rest := line
	if f != fieldPattern {
		var word []byte
		word, rest = nextWord(rest)
		if v.re, err = f.part(l, word); err != nil {
			return value{}, err
		}
	}
	if f == fieldComplex {
		var word []byte
		word, rest = nextWord(rest)
		if v.im, err = f.part(l, word); err != nil {
			return value{}, err
		}
	}
	if word, _ := nextWord(rest); len(word) > 0 {
		return value{}, l.fail("%.40q after the entry", word)
	}
	return v, nil
}

// part reads one number.
func (f field) part(l *lines, word []byte) (uint64, error) {
	if len(word) == 0 {
		return 0, l.fail("a number is missing")
	}
	switch f {
	case fieldInteger, fieldUnsigned:
		if bits, ok := parseInteger(word, f == fieldInteger); ok {
			return bits, nil
		}
		return 0, l.fail("%.40q is not a whole number that fits in %v", word, f.dtype())
	}
	if v, ok := parseReal(word); ok {
		return math.Float64bits(v), nil
	}
	return 0, l.fail("%.40q is not a number that fits in a float64", word)
}

// mirrored returns the element on the other side of the diagonal.
func (b *banner) mirrored(l *lines, v value) (value, error) {
	const sign = 1 << 63
	switch b.symmetry {
	case hermitian:
		v.im ^= sign
	case skewSymmetric:
		if b.field == fieldInteger {
			if v.re == sign {
				return value{}, l.fail("%d has no negative that fits in an int64", math.MinInt64)
			}
			v.re = -v.re
			return v, nil
		}
		v.re ^= sign
		if b.field == fieldComplex {
			v.im ^= sign
		}
	}
	return v, nil
}

// checkDiagonal makes sure that an element may stand on the diagonal.
func (b *banner) checkDiagonal(l *lines, v value) error {
	if b.symmetry == hermitian && math.Float64frombits(v.im) != 0 {
		return l.fail("an element with an imaginary part on the diagonal of a hermitian matrix")
	}
	return nil
}

// values collects elements.
type values struct {
	field field
	bits  []uint64
	count int64
}

func (s *values) append(v value) {
	s.count++
	switch s.field {
	case fieldPattern:
	case fieldComplex:
		s.bits = append(s.bits, v.re, v.im)
	default:
		s.bits = append(s.bits, v.re)
	}
}

// bytes returns the elements as they lie in a tensor.
func (s *values) bytes() []byte {
	if s.field == fieldPattern {
		return bytes.Repeat([]byte{1}, int(s.count))
	}
	return layout.BytesOf(s.bits)
}

// entry returns the next of the lines that the sizes announce.
func (b *banner) entry(l *lines, done int64) ([]byte, error) {
	line, err := l.next(false)
	if err == io.EOF {
		return nil, fmt.Errorf("%w: the file ends after line %d, with %d of %d entries", ErrTruncated, l.number, done, b.entries)
	}
	return line, err
}

// end makes sure that nothing follows the entries.
func (b *banner) end(l *lines) error {
	_, err := l.next(false)
	if err == nil {
		return l.fail("another entry after the %d that the sizes announce", b.entries)
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func (b *banner) readCoordinates(l *lines) (layout.Tensor, error) {
	found := values{field: b.field}
	var indices []int64 // row and column of each element, from 0
	for done := range b.entries {
		line, err := b.entry(l, done)
		if err != nil {
			return nil, err
		}
		i, rest, err := coordinate(l, line, "row", b.rows)
		if err != nil {
			return nil, err
		}
		j, rest, err := coordinate(l, rest, "column", b.cols)
		if err != nil {
			return nil, err
		}
		v, err := b.field.parse(l, rest)
		if err != nil {
			return nil, err
		}
		indices = append(indices, i, j)
		found.append(v)
		if b.symmetry == general {
			continue
		}
		switch {
		case i == j && b.symmetry == skewSymmetric:
			return nil, l.fail("element (%d, %d) on the diagonal of a skew-symmetric matrix, which is zero", i+1, j+1)
		case i == j:
			if err := b.checkDiagonal(l, v); err != nil {
				return nil, err
			}
		case i < j:
			return nil, l.fail("element (%d, %d) above the diagonal of a matrix that is not general; the file lists the other half", i+1, j+1)
		default:
			if v, err = b.mirrored(l, v); err != nil {
				return nil, err
			}
			indices = append(indices, j, i)
			found.append(v)
		}
	}
	if err := b.end(l); err != nil {
		return nil, err
	}
	read, err := layout.NewCOO(b.field.dtype(), []int64{b.rows, b.cols}, layout.IndexOf(indices), found.bytes(), false)
	if err != nil {
		return nil, err
	}
	// In order, if no element occurs twice; else as it is, since summing is not for a reader to decide.
	c, err := layout.ToCOO(read, &layout.ConvertOptions{Duplicates: layout.DuplicatesRefuse})
	if errors.Is(err, layout.ErrDuplicate) {
		c, err = layout.ToCOO(read, nil)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// coordinate reads a row or column number and returns it counted from 0.
func coordinate(l *lines, line []byte, what string, limit int64) (at int64, rest []byte, err error) {
	word, rest := nextWord(line)
	n, ok := parseCount(word)
	switch {
	case len(word) == 0:
		return 0, nil, l.fail("the %s is missing", what)
	case !ok:
		return 0, nil, l.fail("%s %.40q is not a whole number", what, word)
	case n < 1 || n > limit:
		return 0, nil, l.fail("%s %d of a matrix with %ss 1 to %d", what, n, what, limit)
	}
	return n - 1, rest, nil
}

func (b *banner) readArray(l *lines) (layout.Tensor, error) {
	found := values{field: b.field}
	i, j := b.firstRow(0), int64(0)
	for done := range b.entries {
		line, err := b.entry(l, done)
		if err != nil {
			return nil, err
		}
		v, err := b.field.parse(l, line)
		if err != nil {
			return nil, err
		}
		if i == j && b.symmetry != general {
			if err := b.checkDiagonal(l, v); err != nil {
				return nil, err
			}
		}
		if i != j {
			if _, err := b.mirrored(l, v); err != nil {
				return nil, err
			}
		}
		found.append(v)
		if i++; i == b.rows {
			j++
			i = b.firstRow(j)
		}
	}
	if err := b.end(l); err != nil {
		return nil, err
	}
	if b.symmetry != general {
		b.unfold(l, &found)
	}
	d, err := layout.NewColumnMajor(b.field.dtype(), []int64{b.rows, b.cols}, found.bytes())
	if err != nil {
		return nil, err
	}
	return d, nil
}

// firstRow returns the first row of a column that a file lists.
func (b *banner) firstRow(column int64) int64 {
	switch b.symmetry {
	case general:
		return 0
	case skewSymmetric:
		return column + 1
	}
	return column
}

// unfold makes the whole matrix of the half that was read. All elements of that half are there, so
// the whole takes little more than twice their memory.
func (b *banner) unfold(l *lines, half *values) {
	n, parts := b.rows, int64(1)
	if b.field == fieldComplex {
		parts = 2
	}
	full := make([]uint64, n*n*parts)
	set := func(i, j int64, v value) {
		at := (j*n + i) * parts
		full[at] = v.re
		if parts == 2 {
			full[at+1] = v.im
		}
	}
	next := half.bits
	for j := range n {
		for i := b.firstRow(j); i < n; i++ {
			v := value{re: next[0]}
			if parts == 2 {
				v.im = next[1]
			}
			next = next[parts:]
			set(i, j, v)
			if i != j {
				v, _ = b.mirrored(l, v) // which worked when it was read
				set(j, i, v)
			}
		}
	}
	half.bits = full
}
