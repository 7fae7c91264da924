package main

import (
	"encoding/binary"
	"fmt"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/tstore/tstore/codec/internal/fb"
)

// An ints is the type of an index array.
type ints struct {
	bits   int32
	signed bool
}

// array returns integers as an index array.
func (t ints) array(values ...uint64) []byte {
	var b []byte
	for _, v := range values {
		b = append(b, binary.LittleEndian.AppendUint64(nil, v)[:t.bits/8]...)
	}
	return b
}

var (
	int8s   = ints{8, true}
	uint8s  = ints{8, false}
	int16s  = ints{16, true}
	int32s  = ints{32, true}
	int64s  = ints{64, true}
	uint64s = ints{64, false}
)

// A body puts buffers one after the other.
type body struct {
	bytes []byte
	align int // of each buffer
	shift int // bytes past that
}

// add puts a buffer behind the others; its length is as given, or, if that is
// negative, its number of bytes.
func (b *body) add(data []byte, length int64) buffer {
	align := max(b.align, 1)
	for (len(b.bytes)-b.shift)%align != 0 {
		b.bytes = append(b.bytes, 0)
	}
	at := buffer{int64(len(b.bytes)), length}
	if length < 0 {
		at.length = int64(len(data))
	}
	b.bytes = append(b.bytes, data...)
	return at
}

// done returns the body with zeros behind it.
func (b *body) done() []byte {
	for len(b.bytes)%64 != 0 {
		b.bytes = append(b.bytes, 0)
	}
	return b.bytes
}

type headerFunc = func(b *flatbuffers.Builder) (fb.MessageHeader, flatbuffers.UOffsetT)

// An indexFunc adds a sparse index to a message.
type indexFunc func(b *flatbuffers.Builder) (fb.SparseTensorIndex, flatbuffers.UOffsetT)

// sparse returns the header of a SparseTensor message.
func sparse(t typ, shape []dim, nnz int64, index indexFunc, data buffer) headerFunc {
	return func(b *flatbuffers.Builder) (fb.MessageHeader, flatbuffers.UOffsetT) {
		dims := buildDims(b, shape)
		kind, x := index(b)
		typeKind, typ := t(b)
		fb.SparseTensorStart(b)
		fb.SparseTensorAddTypeType(b, typeKind)
		fb.SparseTensorAddType(b, typ)
		fb.SparseTensorAddShape(b, dims)
		fb.SparseTensorAddNonZeroLength(b, nnz)
		fb.SparseTensorAddSparseIndexType(b, kind)
		fb.SparseTensorAddSparseIndex(b, x)
		fb.SparseTensorAddData(b, fb.CreateBuffer(b, data.offset, data.length))
		return fb.MessageHeaderSparseTensor, fb.SparseTensorEnd(b)
	}
}

func coo(t ints, strides []int64, indices buffer, canonical bool) indexFunc {
	return func(b *flatbuffers.Builder) (fb.SparseTensorIndex, flatbuffers.UOffsetT) {
		var steps flatbuffers.UOffsetT
		if strides != nil {
			steps = buildLongs(b, strides)
		}
		typ := buildInt(b, t.bits, t.signed)
		fb.SparseTensorIndexCOOStart(b)
		fb.SparseTensorIndexCOOAddIndicesType(b, typ)
		if strides != nil {
			fb.SparseTensorIndexCOOAddIndicesStrides(b, steps)
		}
		fb.SparseTensorIndexCOOAddIndicesBuffer(b, fb.CreateBuffer(b, indices.offset, indices.length))
		fb.SparseTensorIndexCOOAddIsCanonical(b, canonical)
		return fb.SparseTensorIndexSparseTensorIndexCOO, fb.SparseTensorIndexCOOEnd(b)
	}
}

func csx(axis fb.CompressedAxis, indptrType ints, indptr buffer, indicesType ints, indices buffer) indexFunc {
	return func(b *flatbuffers.Builder) (fb.SparseTensorIndex, flatbuffers.UOffsetT) {
		p := buildInt(b, indptrType.bits, indptrType.signed)
		i := buildInt(b, indicesType.bits, indicesType.signed)
		fb.SparseMatrixIndexCSXStart(b)
		fb.SparseMatrixIndexCSXAddCompressedAxis(b, axis)
		fb.SparseMatrixIndexCSXAddIndptrType(b, p)
		fb.SparseMatrixIndexCSXAddIndptrBuffer(b, fb.CreateBuffer(b, indptr.offset, indptr.length))
		fb.SparseMatrixIndexCSXAddIndicesType(b, i)
		fb.SparseMatrixIndexCSXAddIndicesBuffer(b, fb.CreateBuffer(b, indices.offset, indices.length))
		return fb.SparseTensorIndexSparseMatrixIndexCSX, fb.SparseMatrixIndexCSXEnd(b)
	}
}

func csf(indptrType ints, indptr []buffer, indicesType ints, indices []buffer, order []int32) indexFunc {
	return func(b *flatbuffers.Builder) (fb.SparseTensorIndex, flatbuffers.UOffsetT) {
		p := buildInt(b, indptrType.bits, indptrType.signed)
		ps := buildBuffers(b, indptr)
		i := buildInt(b, indicesType.bits, indicesType.signed)
		is := buildBuffers(b, indices)
		b.StartVector(4, len(order), 4)
		for k := len(order) - 1; k >= 0; k-- {
			b.PrependInt32(order[k])
		}
		axes := b.EndVector(len(order))
		fb.SparseTensorIndexCSFStart(b)
		fb.SparseTensorIndexCSFAddIndptrType(b, p)
		fb.SparseTensorIndexCSFAddIndptrBuffers(b, ps)
		fb.SparseTensorIndexCSFAddIndicesType(b, i)
		fb.SparseTensorIndexCSFAddIndicesBuffers(b, is)
		fb.SparseTensorIndexCSFAddAxisOrder(b, axes)
		return fb.SparseTensorIndexSparseTensorIndexCSF, fb.SparseTensorIndexCSFEnd(b)
	}
}

func buildBuffers(b *flatbuffers.Builder, buffers []buffer) flatbuffers.UOffsetT {
	b.StartVector(16, len(buffers), 8)
	for i := len(buffers) - 1; i >= 0; i-- {
		fb.CreateBuffer(b, buffers[i].offset, buffers[i].length)
	}
	return b.EndVector(len(buffers))
}

// matrix is what most sparse messages hold, as float32:
//
//	0 1 0
//	2 0 3
var matrix = floats(0, 1, 0, 2, 0, 3)

func floats(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func sparseAccepts() []accept {
	var all []accept
	single := floatType(fb.PrecisionSINGLE)
	shape := []dim{named(2, "row"), named(3, "column")}
	names := []string{"row", "column"}
	add := func(layout, name string, m message) {
		all = append(all, accept{name, m.bytes(), layout, "float32", []int64{2, 3}, names, matrix})
	}

	// A COO with given indices and values.
	cooCase := func(name string, t ints, strides []int64, indices []byte, values []byte, canonical bool, b body, length int64) {
		i := b.add(indices, length)
		d := b.add(values, length)
		nnz := int64(len(values) / 4)
		add("coo", name, message{meta: []pair{{"unit", "m"}}, header: sparse(single, shape, nnz, coo(t, strides, i, canonical), d), body: b.done()})
	}
	aligned := body{align: 64}
	rows := []uint64{0, 1, 1, 0, 1, 2}
	values := floats(1, 2, 3)
	cooCase("coo", int32s, []int64{8, 4}, int32s.array(rows...), values, true, aligned, -1)
	cooCase("coo-strides-absent", int32s, nil, int32s.array(rows...), values, true, aligned, -1)
	cooCase("coo-column-major", int32s, []int64{4, 12}, int32s.array(0, 1, 1, 1, 0, 2), values, true, aligned, -1)
	cooCase("coo-strides-with-gaps", int16s, []int64{8, 4}, int16s.array(0, 9, 1, 9, 1, 9, 0, 9, 1, 9, 2), values, true, aligned, -1)
	cooCase("coo-not-in-order", int32s, []int64{8, 4}, int32s.array(1, 2, 1, 0, 0, 1), floats(3, 2, 1), false, aligned, -1)
	cooCase("coo-duplicates", int32s, []int64{8, 4}, int32s.array(0, 1, 1, 2, 1, 0, 1, 2), floats(1, 1, 2, 2), false, aligned, -1)
	cooCase("coo-stored-zero", int32s, []int64{8, 4}, int32s.array(0, 0, 0, 1, 1, 0, 1, 2), floats(0, 1, 2, 3), true, aligned, -1)
	cooCase("coo-aligned-to-8", int32s, []int64{8, 4}, int32s.array(rows...), values, true, body{align: 8}, -1)
	cooCase("coo-unaligned", int32s, []int64{8, 4}, int32s.array(rows...), values, true, body{align: 8, shift: 3}, -1)
	cooCase("coo-lengths-wrong", int32s, []int64{8, 4}, int32s.array(rows...), values, true, aligned, 1000)
	for _, t := range []ints{int8s, uint8s, int16s, {16, false}, {32, false}, int64s, uint64s} {
		name := "coo-indices-int" + digits(t.bits)
		if !t.signed {
			name = "coo-indices-uint" + digits(t.bits)
		}
		w := int64(t.bits / 8)
		cooCase(name, t, []int64{2 * w, w}, t.array(rows...), values, true, aligned, -1)
	}

	empty := func(layout, name string, index indexFunc, sizes []int64, body []byte) {
		n := int64(4)
		for _, size := range sizes {
			n *= size
		}
		all = append(all, accept{name, message{header: sparse(single, dims(sizes...), 0, index, buffer{0, 0}), body: body}.bytes(),
			layout, "float32", sizes, nil, make([]byte, n)})
	}
	empty("coo", "coo-no-elements", coo(int64s, []int64{8, 8}, buffer{0, 0}, true), []int64{2, 3}, nil)
	empty("coo", "coo-empty-axis", coo(int64s, []int64{8, 8}, buffer{0, 0}, true), []int64{2, 0, 4}, nil)
	all = append(all, accept{"coo-scalar", message{header: sparse(single, nil, 1, coo(int64s, []int64{8, 8}, buffer{0, 0}, true), buffer{0, 4}), body: pad(floats(7), 64)}.bytes(),
		"coo", "float32", nil, nil, floats(7)})

	// CSR and CSC.
	lines := func(layout, name string, axis fb.CompressedAxis, p ints, indptr []uint64, i ints, indices []uint64, values []byte, b body, length int64) {
		ip := b.add(p.array(indptr...), length)
		ix := b.add(i.array(indices...), length)
		d := b.add(values, length)
		add(layout, name, message{header: sparse(single, shape, int64(len(values)/4), csx(axis, p, ip, i, ix), d), body: b.done()})
	}
	const byRow, byColumn = fb.CompressedAxisRow, fb.CompressedAxisColumn
	lines("csr", "csr", byRow, int32s, []uint64{0, 1, 3}, int32s, []uint64{1, 0, 2}, values, aligned, -1)
	lines("csc", "csc", byColumn, int32s, []uint64{0, 1, 2, 3}, int32s, []uint64{1, 0, 1}, floats(2, 1, 3), aligned, -1)
	lines("csr", "csr-types-differ", byRow, int64s, []uint64{0, 1, 3}, uint8s, []uint64{1, 0, 2}, values, aligned, -1)
	lines("csr", "csr-uint64", byRow, uint64s, []uint64{0, 1, 3}, uint64s, []uint64{1, 0, 2}, values, aligned, -1)
	lines("csr", "csr-stored-zero", byRow, int32s, []uint64{0, 2, 4}, int32s, []uint64{1, 2, 0, 2}, floats(1, 0, 2, 3), aligned, -1)
	lines("csr", "csr-unaligned", byRow, int32s, []uint64{0, 1, 3}, int32s, []uint64{1, 0, 2}, values, body{align: 8, shift: 5}, -1)
	lines("csc", "csc-lengths-wrong", byColumn, int8s, []uint64{0, 1, 2, 3}, int8s, []uint64{1, 0, 1}, floats(2, 1, 3), aligned, 0)
	empty("csr", "csr-no-elements", csx(byRow, int32s, buffer{0, 12}, int32s, buffer{0, 0}), []int64{2, 3}, make([]byte, 64))
	empty("csr", "csr-no-rows", csx(byRow, int32s, buffer{0, 4}, int32s, buffer{0, 0}), []int64{0, 3}, make([]byte, 64))
	empty("csr", "csr-no-columns", csx(byRow, int32s, buffer{0, 12}, int32s, buffer{0, 0}), []int64{2, 0}, make([]byte, 64))
	empty("csc", "csc-no-columns", csx(byColumn, int32s, buffer{0, 4}, int32s, buffer{0, 0}), []int64{2, 0}, make([]byte, 64))

	// CSF, its lengths in elements or in bytes.
	tree := func(name string, p, i ints, inBytes bool, sizes []int64, order []int32, indptr, indices [][]uint64, values, elements []byte) {
		b := aligned
		unit := func(t ints, n int) int64 {
			if inBytes {
				return int64(n) * int64(t.bits/8)
			}
			return int64(n)
		}
		var ps, is []buffer
		for _, level := range indptr {
			ps = append(ps, b.add(p.array(level...), unit(p, len(level))))
		}
		for _, level := range indices {
			is = append(is, b.add(i.array(level...), unit(i, len(level))))
		}
		d := b.add(values, -1)
		all = append(all, accept{name, message{header: sparse(single, dims(sizes...), int64(len(values)/4), csf(p, ps, i, is, order), d), body: b.done()}.bytes(),
			"csf", "float32", sizes, nil, elements})
	}
	rowsFirst := func(name string, p, i ints, inBytes bool) {
		tree(name, p, i, inBytes, []int64{2, 3}, []int32{0, 1}, [][]uint64{{0, 1, 3}}, [][]uint64{{0, 1}, {1, 0, 2}}, values, matrix)
	}
	rowsFirst("csf", int32s, int32s, false)
	rowsFirst("csf-lengths-in-bytes", int32s, int32s, true)
	for _, p := range []ints{int8s, int64s} {
		for _, i := range []ints{int8s, uint64s} {
			name := fmt.Sprintf("csf-indptr-%d-indices-%d", p.bits, i.bits)
			rowsFirst(name, p, i, false)
			if p != i {
				rowsFirst(name+"-lengths-in-bytes", p, i, true)
			}
		}
	}
	tree("csf-columns-first", int32s, int32s, false, []int64{2, 3}, []int32{1, 0}, [][]uint64{{0, 1, 2, 3}}, [][]uint64{{0, 1, 2}, {1, 0, 1}}, floats(2, 1, 3), matrix)
	tree("csf-three-axes", int32s, int16s, false, []int64{2, 2, 3}, []int32{0, 1, 2},
		[][]uint64{{0, 1, 3}, {0, 1, 2, 4}}, [][]uint64{{0, 1}, {1, 0, 1}, {2, 0, 1, 2}}, floats(1, 2, 3, 4),
		floats(0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 3, 4))
	for _, inBytes := range []bool{false, true} {
		name := "csf-no-elements"
		if inBytes {
			name += "-lengths-in-bytes"
		}
		tree(name, int32s, int32s, inBytes, []int64{2, 3}, []int32{0, 1}, [][]uint64{{0}}, [][]uint64{{}, {}}, nil, make([]byte, 24))
	}

	// Types that are stored as another.
	typed := func(dtype string, t typ, size int) {
		elements := sequence(size)
		if dtype == "bool" {
			elements = []byte{1}
		}
		b := aligned
		i := b.add(int32s.array(1), -1)
		d := b.add(elements, -1)
		all = append(all, accept{"coo-type-" + dtype, message{meta: []pair{{"tstore.dtype", dtype}},
			header: sparse(t, dims(2), 1, coo(int32s, []int64{4, 4}, i, true), d), body: b.done()}.bytes(),
			"coo", dtype, []int64{2}, nil, concat(make([]byte, size), elements)})
	}
	typed("bool", intType(8, false), 1)
	typed("bfloat16", intType(16, false), 2)
	typed("float8_e4m3fn", intType(8, false), 1)
	typed("float8_e5m2", intType(8, false), 1)
	typed("complex64", intType(64, false), 8)
	typed("complex128", binaryType(16), 16)
	return all
}
