package arrowfile

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/tstore/tstore/layout"
)

// nameColumn and attrsColumn are the columns that belong to the tensors of a row.
const (
	nameColumn  = "name"
	attrsColumn = "attrs"
)

// File is a table in a file or stream.
type File struct {
	// Members are the tensors, in the order of the rows, those of whole columns last.
	Members []*Member

	// Skipped are the columns that hold no tensors.
	Skipped []Skipped

	messages *messages
	rows     []int64 // of each batch
	read     map[int]arrow.RecordBatch
	taken    int64 // bytes of memory that those take beside the file
}

// keptBatches is how many bytes of memory batches may take that are kept in case that they are asked for
// again. Those that are not compressed take none.
const keptBatches = 32 << 20

// Member is a tensor of a table.
type Member struct {
	// Name is what the table calls it.
	Name string

	file   *File
	column *column
	batch  int   // where its row is, or -1 for all rows of the column
	row    int64 // in the batch
	attrs  int   // the column of attributes, or -1
}

// Skipped is a column without tensors.
type Skipped struct {
	Column string
	Why    string
}

// column is a column of tensors.
type column struct {
	name   string
	index  int
	dtype  layout.DType
	form   form
	shape  []int64 // in memory, of formFixed; nil for formScalar
	params parameters
	cell   []*arrow.FixedSizeListType // the lists that make a cell of formFixed, from the outside
	ndim   int                        // of formVariable
	data   int                        // of formVariable: which field is which
	shapes int
}

// form is how a column has its tensors.
type form uint8

const (
	formScalar   form = iota // an element in each row
	formFixed                // a list of fixed length, which may be of such lists
	formList                 // a list of any length
	formVariable             // arrow.variable_shape_tensor
)

// Open looks at a table in a file or stream. The tensors borrow b, which is the whole file.
//
// The errors are [ErrInvalid], [ErrTruncated] and [ErrUnsupported].
func Open(b []byte) (f *File, err error) {
	defer asError(&err)
	m, err := findMessages(b)
	if err != nil {
		return nil, err
	}
	schema, err := m.readSchema()
	if err != nil {
		return nil, err
	}
	f = &File{messages: m, read: map[int]arrow.RecordBatch{}}
	var columns []*column
	names, attrs := -1, -1
	for i, field := range schema.Fields() {
		switch {
		case field.Name == nameColumn && names < 0 && isText(field.Type):
			names = i
			continue
		case field.Name == attrsColumn && attrs < 0 && isAttrs(field.Type):
			attrs = i
			continue
		}
		c, why, err := newColumn(i, field)
		if err != nil {
			return nil, fmt.Errorf("%w (column %q)", err, field.Name)
		}
		if why != "" {
			f.Skipped = append(f.Skipped, Skipped{field.Name, why})
			continue
		}
		columns = append(columns, c)
	}
	if err := f.findMembers(columns, names, attrs); err != nil {
		return nil, err
	}
	if names >= 0 && !slices.ContainsFunc(columns, func(c *column) bool { return c.perRow(true) }) && len(columns) > 0 {
		f.Skipped = append(f.Skipped, Skipped{nameColumn, "texts"})
	}
	return f, nil
}

func isText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		return true
	}
	return false
}

// isAttrs reports whether a column has lists of keys and values.
func isAttrs(t arrow.DataType) bool {
	list, ok := t.(*arrow.ListType)
	if !ok {
		return false
	}
	pair, ok := list.Elem().(*arrow.StructType)
	return ok && pair.NumFields() == 2 && isText(pair.Field(0).Type) && isText(pair.Field(1).Type)
}

// newColumn returns how a column has tensors, or why it has none.
func newColumn(i int, f arrow.Field) (c *column, why string, err error) {
	c = &column{name: f.Name, index: i}
	extension, params, err := extensionOf(f)
	if err != nil {
		return nil, "", err
	}
	c.params = params
	if name, _ := f.Metadata.GetValue("ARROW:extension:name"); name == "arrow.bool8" && f.Type.ID() == arrow.INT8 {
		c.dtype = layout.Bool
		return c, "", nil
	}
	if extension == variableShapeTensor {
		return c.variable(f.Type)
	}
	t := f.Type
	if list, ok := t.(*arrow.FixedSizeListType); ok {
		c.form = formFixed
		for ; ok; list, ok = t.(*arrow.FixedSizeListType) {
			c.cell = append(c.cell, list)
			c.shape = append(c.shape, int64(list.Len()))
			t = list.Elem()
		}
	} else if list, ok := t.(arrow.ListLikeType); ok && (t.ID() == arrow.LIST || t.ID() == arrow.LARGE_LIST) {
		c.form = formList
		t = list.Elem()
	}
	if c.dtype, _ = dtypeOf(t); !c.dtype.Valid() {
		return nil, fmt.Sprintf("%v, which tensors don't have", f.Type), nil
	}
	if extension != fixedShapeTensor {
		if len(c.shape) >= layout.MaxDims {
			return nil, "lists in lists that are too deep", nil
		}
		c.params = parameters{}
		return c, "", nil
	}
	if len(c.cell) != 1 {
		return nil, "", fmt.Errorf("%w: a %s is stored as a list of fixed length, not as %v", ErrInvalid, extension, f.Type)
	}
	n, err := elements(params.Shape)
	if err != nil {
		return nil, "", err
	}
	if n != c.shape[0] || params.Shape == nil {
		return nil, "", fmt.Errorf("%w: tensors of shape %v in lists of %d", ErrInvalid, params.Shape, c.shape[0])
	}
	c.shape = params.Shape
	return c, "", c.params.check(len(c.shape))
}

// variable finds the parts of an arrow.variable_shape_tensor.
func (c *column) variable(t arrow.DataType) (*column, string, error) {
	malformed := fmt.Errorf("%w: a %s is stored as a structure of %s, a list, and %s, a list of int32 of fixed length, not as %v", ErrInvalid, variableShapeTensor, dataField, shapeField, t)
	s, ok := t.(*arrow.StructType)
	if !ok {
		return nil, "", malformed
	}
	c.form = formVariable
	data, hasData := s.FieldIdx(dataField)
	shape, hasShape := s.FieldIdx(shapeField)
	if !hasData || !hasShape {
		return nil, "", malformed
	}
	c.data, c.shapes = data, shape
	sizes, ok := s.Field(shape).Type.(*arrow.FixedSizeListType)
	if !ok || sizes.Elem().ID() != arrow.INT32 || s.Field(data).Type.ID() != arrow.LIST {
		return nil, "", malformed
	}
	c.ndim = int(sizes.Len())
	elem := s.Field(data).Type.(*arrow.ListType).Elem()
	if c.dtype, ok = dtypeOf(elem); !ok {
		return nil, fmt.Sprintf("tensors of %v, which there are none of here", elem), nil
	}
	return c, "", c.params.check(c.ndim)
}

// findMembers reads which tensors are in which rows.
func (f *File) findMembers(columns []*column, names, attrs int) error {
	ragged := slices.ContainsFunc(columns, func(c *column) bool { return c.perRow(names >= 0) })
	seen := map[string]bool{}
	first := int64(0) // row of the batch in the table
	for i := range f.messages.batches {
		batch, err := f.batch(i)
		if err != nil {
			return err
		}
		f.rows = append(f.rows, batch.NumRows())
		if !ragged {
			continue
		}
		for _, c := range columns {
			if err := c.checkRows(batch.Column(c.index).Data(), batch.NumRows()); err != nil {
				return fmt.Errorf("%w (column %q, batch %d)", err, c.name, i)
			}
		}
		for row := range batch.NumRows() {
			var here []*Member
			for _, c := range columns {
				if !c.perRow(names >= 0) {
					continue
				}
				data := batch.Column(c.index).Data()
				null, err := isNull(data, row)
				if err != nil {
					return fmt.Errorf("%w (column %q)", err, c.name)
				}
				if !null {
					here = append(here, &Member{Name: c.name + "/" + strconv.FormatInt(first+row, 10), file: f, column: c, batch: i, row: row, attrs: attrs})
				}
			}
			if names >= 0 && len(here) > 0 {
				name, err := text(batch.Column(names), row)
				if err != nil {
					return fmt.Errorf("%w (column %q, row %d)", err, nameColumn, first+row)
				}
				if seen[name] {
					return fmt.Errorf("%w: two rows are called %q, row %d is the second", ErrInvalid, name, first+row)
				}
				seen[name] = true
				for _, m := range here {
					m.Name = name
					if len(here) > 1 {
						m.Name += "/" + m.column.name
					}
				}
			}
			f.Members = append(f.Members, here...)
		}
		first += batch.NumRows()
	}
	for _, c := range columns {
		if !c.perRow(names >= 0) {
			f.Members = append(f.Members, &Member{Name: c.name, file: f, column: c, batch: -1, attrs: -1})
		}
	}
	return nil
}

// checkRows checks that there are bytes for as many rows as a batch claims, so that it takes time and memory
// for those.
func (c *column) checkRows(a arrow.ArrayData, rows int64) error {
	if err := checkRange(a, 0, rows); err != nil || rows == 0 {
		return err
	}
	switch c.form {
	case formList:
		_, _, err := items(a, rows-1)
		return err
	case formVariable:
		for _, child := range a.Children() {
			if _, _, err := items(child, int64(a.Offset())+rows-1); err != nil {
				return err
			}
		}
		return nil
	}
	bytes := int64(a.Offset()) + rows
	for _, list := range c.cell {
		var ok bool
		if bytes, ok = layout.CheckedMul(bytes, int64(list.Len())); !ok {
			return fmt.Errorf("%w: %d rows", ErrInvalid, rows)
		}
		a = a.Children()[0]
	}
	if bits := int64(8); int64(len(buffer(a, 1))) < bytes/bits {
		return fmt.Errorf("%w: %d rows, and %d bytes of elements", ErrInvalid, rows, len(buffer(a, 1)))
	}
	return nil
}

// perRow reports whether each row of the column is a tensor.
func (c *column) perRow(named bool) bool {
	return c.form == formList || c.form == formVariable || c.form == formFixed && named
}

// text returns a text of a column, in memory of its own.
func text(a arrow.Array, row int64) (s string, err error) {
	defer asError(&err)
	texts, ok := a.(array.StringLike)
	if !ok {
		return "", fmt.Errorf("%w: %v is no text", ErrInvalid, a.DataType())
	}
	if err := checkRange(a.Data(), row, 1); err != nil {
		return "", err
	}
	if null, err := isNull(a.Data(), row); null || err != nil {
		return "", fmt.Errorf("%w: it is null, so the tensor has no name", ErrInvalid)
	}
	return string([]byte(texts.Value(int(row)))), nil
}

// batch returns a batch of rows.
func (f *File) batch(i int) (arrow.RecordBatch, error) {
	if b, ok := f.read[i]; ok {
		return b, nil
	}
	b, taken, err := f.messages.readBatch(i)
	if err != nil {
		return nil, err
	}
	if f.taken+taken > keptBatches {
		clear(f.read)
		f.taken = 0
	}
	f.read[i] = b
	f.taken += taken
	return b, nil
}

// Tensor returns the tensor with its attributes.
//
// The errors are [ErrInvalid] and [ErrUnsupported].
func (m *Member) Tensor() (d *layout.Dense, attrs []layout.Attr, err error) {
	defer asError(&err)
	if m.batch < 0 {
		d, err = m.file.whole(m.column)
		if err != nil {
			err = fmt.Errorf("%w (column %q)", err, m.column.name)
		}
		return d, nil, err
	}
	d, attrs, err = m.one()
	if err != nil {
		row := m.row
		for _, n := range m.file.rows[:m.batch] {
			row += n
		}
		err = fmt.Errorf("%w (column %q, row %d)", err, m.column.name, row)
	}
	return d, attrs, err
}

// one returns the tensor in a row.
func (m *Member) one() (*layout.Dense, []layout.Attr, error) {
	batch, err := m.file.batch(m.batch)
	if err != nil {
		return nil, nil, err
	}
	d, err := m.column.cellTensor(batch.Column(m.column.index).Data(), m.row)
	if err != nil || m.attrs < 0 {
		return d, nil, err
	}
	attrs, err := readAttrs(batch.Column(m.attrs), m.row)
	return d, attrs, err
}

// cellTensor returns the tensor in a row of the column.
func (c *column) cellTensor(a arrow.ArrayData, row int64) (*layout.Dense, error) {
	switch c.form {
	case formFixed:
		data, err := c.fixedValues(a, row, 1)
		if err != nil {
			return nil, err
		}
		return c.params.tensor(c.dtype, c.shape, data)
	case formVariable:
		lists, sizes := a.Children()[c.data], a.Children()[c.shapes]
		at := int64(a.Offset()) + row
		shape, err := c.readShape(sizes, at)
		if err != nil {
			return nil, err
		}
		if null, err := isNull(lists, at); null || err != nil {
			return nil, fmt.Errorf("%w: there is a shape and no elements", ErrInvalid)
		}
		first, n, err := items(lists, at)
		if err != nil {
			return nil, err
		}
		if want, err := elements(shape); err != nil || want != n {
			return nil, fmt.Errorf("%w: %d elements for shape %v", ErrInvalid, n, shape)
		}
		data, err := values(lists.Children()[0], c.dtype, first, n)
		if err != nil {
			return nil, err
		}
		return c.params.tensor(c.dtype, shape, data)
	}
	first, n, err := items(a, row)
	if err != nil {
		return nil, err
	}
	data, err := values(a.Children()[0], c.dtype, first, n)
	if err != nil {
		return nil, err
	}
	return c.params.tensor(c.dtype, []int64{n}, data)
}

// readShape returns the shape of a tensor of an arrow.variable_shape_tensor.
func (c *column) readShape(sizes arrow.ArrayData, at int64) ([]int64, error) {
	first, n, err := items(sizes, at)
	if err != nil {
		return nil, err
	}
	int32s, err := values(sizes.Children()[0], layout.Int32, first, n)
	if err != nil {
		return nil, err
	}
	d, err := layout.NewDense(layout.Int32, []int64{n}, int32s)
	if err != nil {
		return nil, err
	}
	list, err := layout.Values[int32](d)
	if err != nil {
		return nil, err
	}
	shape := make([]int64, n)
	for i, v := range list {
		if v < 0 {
			return nil, fmt.Errorf("%w: shape %v", ErrInvalid, list)
		}
		shape[i] = int64(v)
	}
	return shape, nil
}

// fixedValues returns the elements of n rows, from the first on, of lists of fixed length.
func (c *column) fixedValues(a arrow.ArrayData, first, n int64) ([]byte, error) {
	for _, list := range c.cell {
		if err := checkRange(a, first, n); err != nil {
			return nil, err
		}
		null, err := firstNull(a, first, n)
		if err != nil {
			return nil, err
		}
		if null >= 0 {
			return nil, fmt.Errorf("%w: row %d is null; fill or drop it before", ErrUnsupported, null)
		}
		var inside [2]int64
		for k, v := range [2]int64{int64(a.Offset()) + first, n} {
			var ok bool
			if inside[k], ok = layout.CheckedMul(v, int64(list.Len())); !ok {
				return nil, fmt.Errorf("%w: %d lists of %d", ErrInvalid, v, list.Len())
			}
		}
		first, n = inside[0], inside[1]
		a = a.Children()[0]
	}
	return values(a, c.dtype, first, n)
}

// whole returns all rows of a column as one tensor.
func (f *File) whole(c *column) (*layout.Dense, error) {
	total := int64(0)
	for _, n := range f.rows {
		total += n
	}
	shape := append([]int64{total}, c.shape...)
	params := c.params
	if params.DimNames != nil {
		params.DimNames = append([]string{""}, params.DimNames...)
	}
	if params.Permutation != nil {
		params.Permutation = []int{0}
		for _, k := range c.params.Permutation {
			params.Permutation = append(params.Permutation, k+1)
		}
	}
	var all []byte
	for i, n := range f.rows {
		batch, err := f.batch(i)
		if err != nil {
			return nil, err
		}
		a := batch.Column(c.index).Data()
		var data []byte
		if c.form == formScalar {
			data, err = values(a, c.dtype, 0, n)
		} else {
			data, err = c.fixedValues(a, 0, n)
		}
		if err != nil {
			return nil, fmt.Errorf("%w (batch %d)", err, i)
		}
		if len(f.rows) == 1 {
			all = data
		} else {
			all = append(all, data...)
		}
	}
	return params.tensor(c.dtype, shape, all)
}

// readAttrs returns the attributes in a row.
func readAttrs(a arrow.Array, row int64) ([]layout.Attr, error) {
	data := a.Data()
	if null, err := isNull(data, row); null || err != nil {
		return nil, err
	}
	first, n, err := items(data, row)
	if err != nil {
		return nil, err
	}
	pairs := data.Children()[0]
	if err := checkRange(pairs, first, n); err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, nil
	}
	var texts [2]arrow.Array
	for k := range texts {
		if texts[k], err = makeArray(pairs.Children()[k]); err != nil {
			return nil, err
		}
	}
	var attrs []layout.Attr // of which there are as many as there are texts, whatever n is
	for i := range n {
		var a layout.Attr
		at := int64(pairs.Offset()) + first + i
		if a.Key, err = text(texts[0], at); err == nil {
			a.Value, err = text(texts[1], at)
		}
		if err != nil {
			return nil, err
		}
		attrs = append(attrs, a)
	}
	return attrs, nil
}

func makeArray(data arrow.ArrayData) (a arrow.Array, err error) {
	defer asError(&err)
	return array.MakeFromData(data), nil
}
