package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"fmt"
	"strings"

	"github.com/tstore/tstore/layout"
)

// Table is a matrix with the names of its columns.
type Table struct {
	// Columns has a name for each column, or is nil if the table has no header.
	Columns []string

	// Tensor is the matrix: int64, uint64 or float64, row by row, in memory of its own.
	Tensor *layout.Dense
}

// Options say what a file looks like. The zero value is for a .csv file.
type Options struct {
	// Comma is what stands between the cells of a row; a comma if it is 0.
	Comma rune

	// Header says whether the first row is a header.
	Header Header

	// Progress, if not nil, is called now and then by [Decode] with how many bytes of the file have been
	// read. A table whose first numbers are integers, and others are not, is read again from its start.
	Progress func(done int64)
}

// Header says whether the first row of a file is a header.
type Header uint8

const (
	// HeaderAuto takes the first row for a header if a cell of it is not a number.
	HeaderAuto Header = iota
	// HeaderYes takes it for one in any case.
	HeaderYes
	// HeaderNo takes it for numbers.
	HeaderNo
)

func (o *Options) progress() func(done int64) {
	if o == nil {
		return nil
	}
	return o.Progress
}

func (o *Options) comma() rune {
	if o == nil || o.Comma == 0 {
		return ','
	}
	return o.Comma
}

func (o *Options) header() Header {
	if o == nil {
		return HeaderAuto
	}
	return o.Header
}

// FormatHeader returns the names of columns as one line of text: a record of a .csv file, without the
// end of the line.
func FormatHeader(columns []string) string {
	var b bytes.Buffer
	// A buffer takes everything, and a comma is a valid delimiter.
	_ = writeHeader(&b, columns, ',')
	return strings.TrimSuffix(b.String(), "\n")
}

// ParseHeader returns the names of columns from what [FormatHeader] made. The error is [ErrInvalid].
func ParseHeader(text string) ([]string, error) {
	r := stdcsv.NewReader(strings.NewReader(text))
	columns, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%w: the header %.100q: %w", ErrInvalid, text, err)
	}
	if r.InputOffset() != int64(len(text)) {
		return nil, fmt.Errorf("%w: the header %.100q has more than one line", ErrInvalid, text)
	}
	return columns, nil
}
