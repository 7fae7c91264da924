package arraytext

import (
	"bufio"
	"io"
	"strings"

	"github.com/tstore/tstore/layout"
)

// NumPy's defaults for numpy.set_printoptions.
const (
	threshold = 1000 // number of elements from which on an array is abbreviated
	edgeItems = 3    // elements shown at either end of an abbreviated axis
	precision = 8    // largest number of digits after the point
	lineWidth = 75
)

// Write writes the values of a dense tensor, without a newline at the end.
func Write(w io.Writer, d *layout.Dense) error {
	out := bufio.NewWriter(w)
	switch {
	case d.NDim() == 0:
		for elem := range (&printed{d: d}).elements {
			out.WriteString(scalar(d.DType(), elem))
		}
	case d.Len() == 0:
		out.WriteString("[]")
	default:
		p := &printed{d: d, abbreviated: d.Len() > threshold}
		t := text{printed: p, out: out, word: words(d.DType(), p.elements)}
		t.brackets(0, d.Offset(), lineWidth)
	}
	return out.Flush()
}

// printed is the part of a tensor that gets written.
type printed struct {
	d           *layout.Dense
	abbreviated bool
}

// gap returns the indices of an axis that are left out: from (included) to (excluded).
func (p *printed) gap(axis int) (from, to int64, ok bool) {
	n := p.d.Shape()[axis]
	if !p.abbreviated || n <= 2*edgeItems {
		return n, n, false
	}
	return edgeItems, n - edgeItems, true
}

// element returns the bytes of the element at an offset in the tensor's data.
func (p *printed) element(off int64) []byte {
	return p.d.Data()[off : off+int64(p.d.DType().Size())]
}

// elements yields the elements that get written, in row-major order.
func (p *printed) elements(yield func([]byte) bool) {
	p.walk(0, p.d.Offset(), yield)
}

func (p *printed) walk(axis int, off int64, yield func([]byte) bool) bool {
	if axis == p.d.NDim() {
		return yield(p.element(off))
	}
	from, to, _ := p.gap(axis)
	for i := int64(0); i < p.d.Shape()[axis]; i++ {
		if i == from {
			i = to
		}
		if !p.walk(axis+1, off+i*p.d.Strides()[axis], yield) {
			return false
		}
	}
	return true
}

// formatter turns an element into a word.
type formatter func(elem []byte) string

// text writes words in brackets.
type text struct {
	*printed
	out  *bufio.Writer
	word formatter
}

// brackets writes the sub-tensor of the axes from axis on, whose first element is at off. Its
// opening bracket is already at its place in the line, and width characters of the line may be
// used, less one for each closing bracket that follows.
func (t *text) brackets(axis int, off int64, width int) {
	t.out.WriteByte('[')
	if axis == t.d.NDim()-1 {
		t.row(axis, off, width)
	} else {
		indent := strings.Repeat("\n", t.d.NDim()-1-axis) + strings.Repeat(" ", axis+1)
		from, to, abbreviated := t.gap(axis)
		for i := int64(0); i < t.d.Shape()[axis]; i++ {
			if i > 0 {
				t.out.WriteString(indent)
			}
			if abbreviated && i == from {
				t.out.WriteString("...")
				t.out.WriteString(indent)
				i = to
			}
			t.brackets(axis+1, off+i*t.d.Strides()[axis], width-1)
			if _, err := t.out.Write(nil); err != nil { // nobody reads any more
				return
			}
		}
	}
	t.out.WriteByte(']')
}

// row writes the words of the last axis, broken into lines. Lines never end in spaces.
func (t *text) row(axis int, off int64, width int) {
	indent := axis + 1
	limit := width - 1 // room for the bracket
	var line strings.Builder
	column := indent
	add := func(word string) {
		if column > indent {
			if column+1+len(word) > limit {
				t.out.WriteString(strings.TrimRight(line.String(), " "))
				t.out.WriteString("\n" + strings.Repeat(" ", indent))
				line.Reset()
				column = indent
			} else {
				line.WriteByte(' ')
				column++
			}
		}
		line.WriteString(word)
		column += len(word)
	}
	from, to, abbreviated := t.gap(axis)
	for i := int64(0); i < t.d.Shape()[axis]; i++ {
		if abbreviated && i == from {
			add("...")
			i = to
		}
		add(t.word(t.element(off + i*t.d.Strides()[axis])))
	}
	t.out.WriteString(line.String())
}
