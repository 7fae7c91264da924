package mtx

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/tstore/tstore/layout"
)

// banner is what the first lines of a file say.
type banner struct {
	array      bool // else coordinates
	field      field
	symmetry   symmetry
	rows, cols int64
	entries    int64 // that the file lists
}

// field is the kind of the numbers.
type field int

const (
	fieldReal field = iota
	fieldInteger
	fieldUnsigned
	fieldComplex
	fieldPattern
)

var fieldNames = map[string]field{
	"real": fieldReal, "double": fieldReal,
	"integer": fieldInteger, "unsigned-integer": fieldUnsigned,
	"complex": fieldComplex, "pattern": fieldPattern,
}

func (f field) dtype() layout.DType {
	switch f {
	case fieldInteger:
		return layout.Int64
	case fieldUnsigned:
		return layout.Uint64
	case fieldComplex:
		return layout.Complex128
	case fieldPattern:
		return layout.Bool
	}
	return layout.Float64
}

// symmetry says what the half of the matrix that is not listed is.
type symmetry int

const (
	general symmetry = iota
	symmetric
	skewSymmetric
	hermitian
)

var symmetryNames = map[string]symmetry{
	"general": general, "symmetric": symmetric, "skew-symmetric": skewSymmetric, "hermitian": hermitian,
}

// readBanner reads the first line and the line with the sizes.
func readBanner(l *lines) (banner, error) {
	line, err := l.next(true)
	if err == io.EOF {
		return banner{}, fmt.Errorf("%w: it is empty", ErrTruncated)
	}
	if err != nil {
		return banner{}, err
	}
	words := strings.Fields(strings.ToLower(string(line[:min(len(line), 1024)])))
	if l.number != 1 || len(words) == 0 || words[0] != "%%matrixmarket" {
		return banner{}, l.fail("it does not begin with %%%%MatrixMarket")
	}
	if len(words) != 5 {
		return banner{}, l.fail("the first line has %d words; it is %%%%MatrixMarket matrix FORMAT FIELD SYMMETRY", len(words))
	}
	if words[1] != "matrix" {
		return banner{}, fmt.Errorf("%w: line 1: a %.40q; only matrices are read", ErrUnsupported, words[1])
	}
	var b banner
	switch words[2] {
	case "coordinate":
	case "array":
		b.array = true
	default:
		return banner{}, l.fail("format %.40q; there are coordinate and array", words[2])
	}
	var ok bool
	if b.field, ok = fieldNames[words[3]]; !ok {
		return banner{}, l.fail("field %.40q; there are real, integer, complex and pattern", words[3])
	}
	if b.symmetry, ok = symmetryNames[words[4]]; !ok {
		return banner{}, l.fail("symmetry %.40q; there are general, symmetric, skew-symmetric and hermitian", words[4])
	}
	switch {
	case b.array && b.field == fieldPattern:
		return banner{}, l.fail("an array with field pattern; a pattern has coordinates only")
	case b.symmetry == hermitian && b.field != fieldComplex:
		return banner{}, l.fail("a hermitian matrix with field %s; only complex ones are hermitian", words[3])
	case b.symmetry == skewSymmetric && (b.field == fieldPattern || b.field == fieldUnsigned):
		return banner{}, l.fail("a skew-symmetric matrix with field %s, which has no negative numbers", words[3])
	}
	return b, b.readSizes(l)
}

// readSizes reads the numbers of rows, columns and, of coordinates, entries.
func (b *banner) readSizes(l *lines) error {
	line, err := l.next(false)
	if err == io.EOF {
		return fmt.Errorf("%w: the file ends after line %d, before the sizes", ErrTruncated, l.number)
	}
	if err != nil {
		return err
	}
	what, sizes := "rows, columns and entries", []*int64{&b.rows, &b.cols, &b.entries}
	if b.array {
		what, sizes = "rows and columns", sizes[:2]
	}
	words := bytes.Fields(line[:min(len(line), 1024)])
	if len(words) != len(sizes) {
		return l.fail("%d numbers; the sizes are %s", len(words), what)
	}
	for i, w := range words {
		n, ok := parseCount(w)
		if !ok {
			return l.fail("%.40q; the sizes are %s, as whole numbers below 2^63", w, what)
		}
		*sizes[i] = n
	}
	if b.symmetry != general && b.rows != b.cols {
		return l.fail("%d rows and %d columns; a matrix that is not general is square", b.rows, b.cols)
	}
	// What is not stored takes no bytes: coordinates only need each element to have a number.
	size := int64(1)
	if b.array {
		size = int64(b.field.dtype().Size())
	}
	elements, ok := layout.CheckedProduct([]int64{b.rows, b.cols}, size)
	if !ok {
		return fmt.Errorf("%w: line %d: %d × %d elements are more than can be counted", ErrUnsupported, l.number, b.rows, b.cols)
	}
	if b.array {
		b.entries = elements / size
		switch n := b.rows; b.symmetry {
		case symmetric, hermitian:
			b.entries = n * (n + 1) / 2
		case skewSymmetric:
			b.entries = n * (n - 1) / 2
		}
	}
	return nil
}
