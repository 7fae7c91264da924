package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tstore/tstore/layout"
)

// Decode returns the table in a file; b is the whole file. Options of nil are those of a .csv file.
//
// The errors are [ErrInvalid] and [ErrUnsupported].
func Decode(b []byte, o *Options) (*Table, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("%w: it is UTF-16 text; save it as UTF-8", ErrInvalid)
	}
	table, err := decode(b, o, parseInt)
	if errors.Is(err, errOther) {
		table, err = decode(b, o, parseUint)
	}
	if errors.Is(err, errOther) {
		table, err = decode(b, o, parseFloat)
	}
	return table, err
}

// errOther says that the numbers of a table are of another type than those read so far.
var errOther = errors.New("csv: another type of numbers")

// decode reads a table whose numbers are of one type.
func decode[T int64 | uint64 | float64](b []byte, o *Options, parse func(cell string) (T, bool)) (*Table, error) {
	rows := newRows(b, o.comma())
	rows.progress = o.progress()
	table := &Table{}
	var values []T
	n, columns := int64(0), 0
	var exact exactness
	for {
		row, err := rows.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if columns == 0 {
			columns = len(row)
			if isHeader(row, o.header()) {
				if table.Columns, err = names(row); err != nil {
					return nil, err
				}
				continue
			}
		}
		for i, cell := range row {
			cell = strings.TrimSpace(cell)
			v, ok := parse(cell)
			if !ok {
				if _, float := any(v).(float64); !float && isNumber(cell) {
					return nil, errOther
				}
				return nil, rows.fail(table.Columns, i, "%.40q is not a number%s", cell, hint(cell))
			}
			if f, ok := any(v).(float64); ok {
				exact.see(rows, i, cell, f)
			}
			values = append(values, v)
		}
		n++
	}
	if columns == 0 {
		return nil, fmt.Errorf("%w: it is empty", ErrInvalid)
	}
	if err := exact.check(); err != nil {
		return nil, err
	}
	var err error
	if n == 0 { // nothing tells what they would be
		table.Tensor, err = layout.NewDense(layout.Float64, []int64{0, int64(columns)}, nil)
	} else {
		table.Tensor, err = layout.FromSlice(values, n, int64(columns))
	}
	return table, err
}

// isHeader reports whether the first row is a header.
func isHeader(row []string, header Header) bool {
	if header != HeaderAuto {
		return header == HeaderYes
	}
	for _, cell := range row {
		if !isNumber(strings.TrimSpace(cell)) {
			return true
		}
	}
	return false
}

// names returns the names in a header.
func names(row []string) ([]string, error) {
	columns := make([]string, len(row))
	for i, name := range row {
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("%w: the header, cell %d: %.40q is no UTF-8 text; save the file as UTF-8", ErrInvalid, i+1, name)
		}
		columns[i] = strings.Clone(name) // not the whole line
	}
	columns[0] = strings.TrimLeft(columns[0], "\ufeff") // of a byte order mark behind empty lines
	return columns, nil
}

// hint says what to do about a cell that is not a number, where that is known.
func hint(cell string) string {
	switch {
	case strings.EqualFold(cell, "true") || strings.EqualFold(cell, "false"):
		return "; write 1 and 0"
	case isInteger(strings.ReplaceAll(cell, ",", "")):
		return "; write it with a decimal point and without separators"
	case strings.ContainsRune(cell, ';'):
		return "; separate the cells by commas"
	case isInteger(strings.Map(func(r rune) rune {
		if strings.ContainsRune(".+-eE", r) {
			return '0'
		}
		return r
	}, cell)):
		return " that a float64 holds"
	}
	return ""
}

// exactness keeps integers from being rounded where no floating-point number among them says that they
// are measurements.
type exactness struct {
	real bool  // there is one
	err  error // about the first integer that was rounded
}

func (x *exactness) see(rows *rows, i int, cell string, v float64) {
	if x.real {
		return
	}
	if !isInteger(cell) {
		x.real = true
		return
	}
	if x.err == nil && (v >= 1<<63 || v < -1<<63) {
		line, _ := rows.r.FieldPos(i)
		x.err = fmt.Errorf("%w: line %d, cell %d: %.40q: no type of 64 bits holds all integers of the table; write it with a decimal point to have it rounded", ErrUnsupported, line, i+1, cell)
	}
}

func (x *exactness) check() error {
	if x.real {
		return nil
	}
	return x.err
}

// rows reads a file row by row.
type rows struct {
	r     *stdcsv.Reader
	cells int // of the first row

	progress func(done int64) // may be nil
	read     int              // rows
}

// progressRows is how many rows are read between two calls of a progress function.
const progressRows = 1024

func newRows(b []byte, comma rune) *rows {
	r := stdcsv.NewReader(bytes.NewReader(b))
	r.Comma = comma
	r.ReuseRecord = true
	r.FieldsPerRecord = -1
	return &rows{r: r}
}

// next returns the cells of the next row, which are valid until the next call. At the end of the file the
// error is io.EOF.
func (r *rows) next() ([]string, error) {
	row, err := r.r.Read()
	if r.read++; r.progress != nil && r.read%progressRows == 0 {
		r.progress(r.r.InputOffset())
	}
	if err == io.EOF {
		return nil, err
	}
	var syntax *stdcsv.ParseError
	if errors.As(err, &syntax) {
		return nil, fmt.Errorf("%w: line %d, column %d: %w", ErrInvalid, syntax.Line, syntax.Column, syntax.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if r.cells == 0 {
		r.cells = len(row)
	}
	if len(row) != r.cells {
		line, _ := r.r.FieldPos(0)
		return nil, fmt.Errorf("%w: line %d has %d cells, the first row has %d", ErrInvalid, line, len(row), r.cells)
	}
	return row, nil
}

// fail returns an error about cell i of the row that was read last.
func (r *rows) fail(columns []string, i int, format string, args ...any) error {
	line, _ := r.r.FieldPos(i)
	where := fmt.Sprintf("line %d, cell %d", line, i+1)
	if columns != nil && columns[i] != "" {
		where += fmt.Sprintf(" (%.40q)", columns[i])
	}
	return fmt.Errorf("%w: %s: %s", ErrInvalid, where, fmt.Sprintf(format, args...))
}
