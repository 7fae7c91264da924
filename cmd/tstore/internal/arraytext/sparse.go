package arraytext

import (
	"bufio"
	"io"
	"strconv"
	"strings"

	"github.com/tstore/tstore/layout"
)

// Of a sparse tensor with more than sparseThreshold stored elements the first and the last
// sparseEdge are written. A line has one of them, so that is less than for dense tensors.
const (
	sparseThreshold = 20
	sparseEdge      = 10
)

// stored is an element of a sparse tensor with its coordinates as text.
type stored struct {
	at   string
	elem []byte
}

// WriteSparse writes the stored elements of a sparse tensor, one a line with its coordinates, in the
// order in which they are stored, without a newline at the end. The index arrays are checked first.
func WriteSparse(w io.Writer, t layout.Tensor) error {
	first, last, err := storedEdges(t)
	if err != nil {
		return err
	}
	shown := append(append([]stored(nil), first...), last...)
	width := 0
	for _, s := range shown {
		width = max(width, len(s.at))
	}
	word := words(t.DType(), func(yield func([]byte) bool) {
		for _, s := range shown {
			if !yield(s.elem) {
				return
			}
		}
	})
	out := bufio.NewWriter(w)
	for i, s := range shown {
		if i > 0 {
			out.WriteByte('\n')
		}
		if i == len(first) {
			out.WriteString("...\n")
		}
		out.WriteString(s.at + strings.Repeat(" ", width-len(s.at)+2))
		out.WriteString(strings.TrimRight(word(s.elem), " "))
	}
	return out.Flush()
}

// storedEdges returns the elements to show: all of them, or those at both ends.
func storedEdges(t layout.Tensor) (first, last []stored, err error) {
	elements, err := layout.NonzeroBytes(t)
	if err != nil {
		return nil, nil, err
	}
	head, tail := t.NNZ(), t.NNZ()
	if head > sparseThreshold {
		head, tail = sparseEdge, t.NNZ()-sparseEdge
	}
	k := int64(0)
	for index, elem := range elements {
		switch s := (stored{elem: elem}); {
		case k < head:
			s.at = coordinates(index)
			first = append(first, s)
		case k >= tail:
			s.at = coordinates(index)
			last = append(last, s)
		}
		k++
	}
	return first, last, nil
}

func coordinates(index []int64) string {
	s := make([]string, len(index))
	for i, n := range index {
		s[i] = strconv.FormatInt(n, 10)
	}
	return "(" + strings.Join(s, ", ") + ")"
}
