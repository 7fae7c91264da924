package arrowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tstore/tstore/layout"
)

// Spec is what the table says of a tensor beside its elements.
type Spec struct {
	Name     string
	DType    layout.DType
	Shape    []int64
	DimNames []string
	Attrs    []layout.Attr
}

// batchBytes is how many bytes of small tensors are gathered in memory and written as one batch of rows. A
// larger tensor is a batch of its own, which is written from where it lies.
const batchBytes = 4 << 20

// batchRows is the largest number of rows of a batch.
const batchRows = 1 << 16

// Write writes a table of tensors, as a stream or as a file. It asks for one tensor after the other, in the
// order of specs; a tensor has to stay as it is until Write returns.
//
// The error is [ErrUnsupported] for what no table can hold, before anything is written, or that of w or of
// tensor.
func Write(w io.Writer, stream bool, specs []Spec, tensor func(i int) (*layout.Dense, error)) error {
	t, err := newTable(specs)
	if err != nil {
		return err
	}
	var out interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
	if stream {
		out = ipc.NewWriter(w, ipc.WithSchema(t.schema))
	} else if out, err = ipc.NewFileWriter(w, ipc.WithSchema(t.schema)); err != nil {
		return err
	}
	err = t.write(specs, tensor, func(b arrow.RecordBatch) error {
		defer b.Release()
		return out.Write(b)
	})
	return errors.Join(err, out.Close())
}

// table is a table that is written.
type table struct {
	schema *arrow.Schema
	groups []*group
	of     []int // the group of each tensor
	attrs  bool  // there is a column for them
}

// group is the column of the tensors that can be in one.
type group struct {
	dtype    layout.DType
	ndim     int
	dimNames []string
	shape    []int64 // of a fixed_shape_tensor, else nil
	arrow    arrow.DataType
	storage  arrow.DataType
}

func (g *group) takes(s *Spec) bool {
	return g.dtype == s.DType && g.ndim == len(s.Shape) && slices.Equal(g.dimNames, s.DimNames)
}

// newTable makes the columns.
func newTable(specs []Spec) (*table, error) {
	t := &table{of: make([]int, len(specs))}
	sameShape, empty := true, false
	for i := range specs {
		s := &specs[i]
		k := slices.IndexFunc(t.groups, func(g *group) bool { return g.takes(s) })
		if k < 0 {
			k = len(t.groups)
			t.groups = append(t.groups, &group{dtype: s.DType, ndim: len(s.Shape), dimNames: s.DimNames, arrow: arrowType(s.DType)})
		}
		if t.groups[k].arrow == nil {
			return nil, fmt.Errorf("%w: %q: Arrow has no %v; --raw writes the bits as unsigned integers", ErrUnsupported, s.Name, s.DType)
		}
		n, err := elements(s.Shape)
		if err != nil {
			return nil, fmt.Errorf("%w (%q)", err, s.Name)
		}
		for _, size := range s.Shape { // of an empty tensor
			if size > math.MaxInt32 {
				return nil, fmt.Errorf("%w: %q: shape %v, where Arrow has at most 2^31-1", ErrUnsupported, s.Name, s.Shape)
			}
		}
		t.of[i] = k
		t.attrs = t.attrs || len(s.Attrs) > 0
		sameShape = sameShape && slices.Equal(s.Shape, specs[0].Shape)
		empty = empty || n == 0
	}
	fields := []arrow.Field{{Name: nameColumn, Type: arrow.BinaryTypes.String}}
	var used []string
	for _, g := range t.groups {
		name := "tensor"
		if len(t.groups) > 1 {
			name = fmt.Sprintf("%v_%dd", g.dtype, g.ndim)
			for n := 2; slices.Contains(used, name); n++ {
				name = fmt.Sprintf("%v_%dd_%d", g.dtype, g.ndim, n)
			}
			used = append(used, name)
		}
		// A null takes as much room in a column of fixed shape as a tensor does, so there is one only if it
		// is the only one.
		if len(t.groups) == 1 && sameShape && !empty {
			g.shape = append([]int64{}, specs[0].Shape...)
		}
		f, err := g.field(name)
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	if t.attrs {
		fields = append(fields, arrow.Field{Name: attrsColumn, Type: attrsType})
	}
	t.schema = arrow.NewSchema(fields, nil)
	return t, nil
}

// attrsType is the type of the column of attributes: lists of pairs, which more programs read than maps.
var attrsType = arrow.ListOf(arrow.StructOf(
	arrow.Field{Name: "key", Type: arrow.BinaryTypes.String},
	arrow.Field{Name: "value", Type: arrow.BinaryTypes.String}))

// field returns the column of a group. A column of tensors of no dimensions, whose list of sizes would be
// empty, is one of lists of one element.
func (g *group) field(name string) (arrow.Field, error) {
	if g.ndim == 0 {
		g.shape = []int64{}
	}
	if g.shape == nil {
		g.storage = arrow.StructOf(
			arrow.Field{Name: dataField, Type: arrow.ListOf(g.arrow), Nullable: true},
			arrow.Field{Name: shapeField, Type: arrow.FixedSizeListOf(int32(g.ndim), arrow.PrimitiveTypes.Int32), Nullable: true})
		return extensionField(name, variableShapeTensor, g.storage, parameters{DimNames: g.dimNames})
	}
	n, err := elements(g.shape)
	if err != nil {
		return arrow.Field{}, err
	}
	g.storage = arrow.FixedSizeListOf(int32(n), g.arrow)
	return extensionField(name, fixedShapeTensor, g.storage, parameters{Shape: g.shape, DimNames: g.dimNames})
}

// write writes the rows in batches.
func (t *table) write(specs []Spec, tensor func(i int) (*layout.Dense, error), write func(arrow.RecordBatch) error) error {
	var rows []*layout.Dense
	first, bytes := 0, int64(0)
	flush := func(next int) error {
		if len(rows) == 0 {
			return nil
		}
		batch := t.batch(specs[first:next], t.of[first:next], rows)
		rows, first, bytes = rows[:0], next, 0
		return write(batch)
	}
	for i := range specs {
		d, err := tensor(i)
		if err != nil {
			return err
		}
		if d.DType() != specs[i].DType || !slices.Equal(d.Shape(), specs[i].Shape) {
			return fmt.Errorf("%q: a tensor of %v %v in place of one of %v %v", specs[i].Name, d.DType(), d.Shape(), specs[i].DType, specs[i].Shape)
		}
		if d.NumBytes() >= batchBytes {
			if err := flush(i); err != nil {
				return err
			}
		}
		rows = append(rows, d)
		bytes += d.NumBytes()
		if bytes >= batchBytes || len(rows) == batchRows {
			if err := flush(i + 1); err != nil {
				return err
			}
		}
	}
	return flush(len(specs))
}

// batch makes a batch of rows.
func (t *table) batch(specs []Spec, of []int, rows []*layout.Dense) arrow.RecordBatch {
	names := make([]string, len(specs))
	for i := range specs {
		names[i] = specs[i].Name
	}
	columns := []arrow.Array{array.MakeFromData(texts(names))}
	for k, g := range t.groups {
		here := make([]*layout.Dense, len(rows)) // nil where the tensor is in another column
		for i, d := range rows {
			if of[i] == k {
				here[i] = d
			}
		}
		columns = append(columns, array.MakeFromData(g.data(here)))
	}
	if t.attrs {
		columns = append(columns, array.MakeFromData(attrsData(specs)))
	}
	return array.NewRecordBatch(t.schema, columns, int64(len(rows)))
}

// data returns the column of a group.
func (g *group) data(rows []*layout.Dense) arrow.ArrayData {
	validity, missing := validityOf(rows)
	children := g.elements(rows)
	if g.shape != nil {
		return array.NewData(g.storage, len(rows), []*memory.Buffer{validity}, []arrow.ArrayData{children}, missing, 0)
	}
	offsets := make([]byte, 0, 4*(len(rows)+1))
	sizes := make([]byte, 0, 4*g.ndim*len(rows))
	at := int64(0)
	offsets = binary.LittleEndian.AppendUint32(offsets, 0)
	for _, d := range rows {
		shape := make([]int64, g.ndim)
		if d != nil {
			shape = d.Shape()
			at += d.Len()
		}
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(at))
		for _, n := range shape {
			sizes = binary.LittleEndian.AppendUint32(sizes, uint32(n))
		}
	}
	fields := g.storage.(*arrow.StructType).Fields()
	list := array.NewData(fields[0].Type, len(rows), []*memory.Buffer{nil, memory.NewBufferBytes(offsets)}, []arrow.ArrayData{children}, 0, 0)
	int32s := array.NewData(arrow.PrimitiveTypes.Int32, g.ndim*len(rows), []*memory.Buffer{nil, memory.NewBufferBytes(sizes)}, nil, 0, 0)
	shapes := array.NewData(fields[1].Type, len(rows), []*memory.Buffer{nil}, []arrow.ArrayData{int32s}, 0, 0)
	return array.NewData(g.storage, len(rows), []*memory.Buffer{validity}, []arrow.ArrayData{list, shapes}, missing, 0)
}

// elements returns the elements of all rows, one behind the other. Those of a single tensor are not
// copied. In a column of fixed shape, a null takes room, too.
func (g *group) elements(rows []*layout.Dense) arrow.ArrayData {
	var data []byte
	fixed, _ := layout.CheckedProduct(g.shape, int64(g.dtype.Size()))
	if len(rows) == 1 && rows[0] != nil && rows[0].IsContiguous() {
		data, _ = rows[0].Bytes()
	} else {
		for _, d := range rows {
			switch {
			case d != nil:
				data = d.AppendRowMajor(slices.Grow(data, int(d.NumBytes())))
			case g.shape != nil:
				data = append(data, make([]byte, fixed)...)
			}
		}
	}
	buf := memory.NewBufferBytes(data)
	if g.dtype == layout.Bool {
		buf = packBits(data)
	}
	return array.NewData(g.arrow, len(data)/g.dtype.Size(), []*memory.Buffer{nil, buf}, nil, 0, 0)
}

// validityOf returns a bitmap of which rows there are, or nil if all are.
func validityOf(rows []*layout.Dense) (*memory.Buffer, int) {
	present, missing := make([]byte, len(rows)), 0
	for i, d := range rows {
		if d == nil {
			missing++
		} else {
			present[i] = 1
		}
	}
	if missing == 0 {
		return nil, 0
	}
	return packBits(present), missing
}

// texts returns an array of texts.
func texts(all []string) arrow.ArrayData {
	var data []byte
	offsets := binary.LittleEndian.AppendUint32(nil, 0)
	for _, s := range all {
		data = append(data, s...)
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(data)))
	}
	return array.NewData(arrow.BinaryTypes.String, len(all), []*memory.Buffer{nil, memory.NewBufferBytes(offsets), memory.NewBufferBytes(data)}, nil, 0, 0)
}

// attrsData returns the column of attributes.
func attrsData(specs []Spec) arrow.ArrayData {
	var keys, values []string
	offsets := binary.LittleEndian.AppendUint32(nil, 0)
	for i := range specs {
		for _, a := range specs[i].Attrs {
			keys, values = append(keys, a.Key), append(values, a.Value)
		}
		offsets = binary.LittleEndian.AppendUint32(offsets, uint32(len(keys)))
	}
	pairs := array.NewData(attrsType.Elem(), len(keys), []*memory.Buffer{nil}, []arrow.ArrayData{texts(keys), texts(values)}, 0, 0)
	return array.NewData(attrsType, len(specs), []*memory.Buffer{nil, memory.NewBufferBytes(offsets)}, []arrow.ArrayData{pairs}, 0, 0)
}
