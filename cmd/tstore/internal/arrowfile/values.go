package arrowfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/tstore/tstore/layout"
)

// buffer returns a buffer of an array, or nil if there is none.
func buffer(a arrow.ArrayData, i int) []byte {
	if i >= len(a.Buffers()) || a.Buffers()[i] == nil {
		return nil
	}
	return a.Buffers()[i].Bytes()
}

// checkRange checks that an array has elements first … first+n.
func checkRange(a arrow.ArrayData, first, n int64) error {
	if a.Len() < 0 || a.Offset() < 0 || first < 0 || n < 0 || first > int64(a.Len())-n {
		return fmt.Errorf("%w: elements %d to %d of an array of %d", ErrInvalid, first, first+n, a.Len())
	}
	return nil
}

// nulls returns the bitmap of an array in which a bit of 1 stands for a value and its first bit, or nil if
// there are only values.
func nulls(a arrow.ArrayData) (bits []byte, offset int64, err error) {
	if a.DataType().ID() == arrow.NULL {
		return nil, 0, fmt.Errorf("%w: a column of nothing but nulls", ErrUnsupported)
	}
	bits = buffer(a, 0)
	if a.NullN() == 0 || bits == nil {
		return nil, 0, nil
	}
	offset = int64(a.Offset())
	if int64(len(bits))*8 < offset+int64(a.Len()) {
		return nil, 0, fmt.Errorf("%w: %d bits say which of %d rows are null", ErrInvalid, len(bits)*8, a.Len())
	}
	return bits, offset, nil
}

// isNull reports whether element i of an array, which has to be one of it, is null.
func isNull(a arrow.ArrayData, i int64) (bool, error) {
	bits, offset, err := nulls(a)
	return bits != nil && !bitutil.BitIsSet(bits, int(offset+i)), err
}

// firstNull returns the first null among elements first … first+n, or -1.
func firstNull(a arrow.ArrayData, first, n int64) (int64, error) {
	bits, offset, err := nulls(a)
	if bits == nil || err != nil {
		return -1, err
	}
	if int64(bitutil.CountSetBits(bits, int(offset+first), int(n))) == n {
		return -1, nil
	}
	for i := first; i < first+n; i++ {
		if !bitutil.BitIsSet(bits, int(offset+i)) {
			return i, nil
		}
	}
	return -1, nil
}

// nan returns NaN as an element of a floating-point type, or nil for other types.
func nan(dt layout.DType) []byte {
	switch dt.Kind() {
	case layout.KindFloat16:
		return []byte{0x00, 0x7e}
	case layout.KindFloat32:
		return binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	case layout.KindFloat64:
		return binary.LittleEndian.AppendUint64(nil, 0x7ff8<<48)
	}
	return nil
}

// values returns elements first … first+n of an array of fixed-width elements, over its memory if they
// lie there as a tensor has them.
func values(a arrow.ArrayData, dt layout.DType, first, n int64) ([]byte, error) {
	if err := checkRange(a, first, n); err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, nil
	}
	size := int64(dt.Size())
	b := buffer(a, 1)
	at := int64(a.Offset()) + first
	var data []byte
	shared := true
	if a.DataType().ID() == arrow.BOOL {
		if int64(len(b))*8 < at+n {
			return nil, fmt.Errorf("%w: %d values take %d bits, %d are there", ErrInvalid, n, at+n, len(b)*8)
		}
		data, shared = make([]byte, n), false
		for i := range data {
			if bitutil.BitIsSet(b, int(at)+i) {
				data[i] = 1
			}
		}
	} else {
		if int64(len(b))/size < at+n {
			return nil, fmt.Errorf("%w: %d values take %d bytes, %d are there", ErrInvalid, at+n, (at+n)*size, len(b))
		}
		data = b[at*size : (at+n)*size : (at+n)*size]
		if dt == layout.Bool { // arrow.bool8: everything but 0 is true
			data, shared = append([]byte(nil), data...), false
			for i, v := range data {
				data[i] = min(v, 1)
			}
		}
	}
	if shared && uintptr(unsafe.Pointer(unsafe.SliceData(data)))%uintptr(alignment(dt)) != 0 {
		data, shared = append(make([]byte, 0, len(data)), data...), false
	}
	null, err := firstNull(a, first, n)
	if err != nil || null < 0 {
		return data, err
	}
	filler := nan(dt)
	if filler == nil {
		return nil, fmt.Errorf("%w: value %d is null, and %v has no NaN to take its place; fill the nulls before", ErrUnsupported, null, dt)
	}
	if shared {
		data = append([]byte(nil), data...)
	}
	bits, offset, _ := nulls(a)
	for i := null; i < first+n; i++ {
		if !bitutil.BitIsSet(bits, int(offset+i)) {
			copy(data[(i-first)*size:], filler)
		}
	}
	return data, nil
}

// alignment is the multiple at which a Go value of the type may lie.
func alignment(dt layout.DType) int {
	if dt.Kind() == layout.KindFixedSizeBinary {
		return 1
	}
	return min(dt.Size(), 8)
}

// items returns where the items of element i of an array of lists lie in its child.
func items(a arrow.ArrayData, i int64) (first, n int64, err error) {
	if err := checkRange(a, i, 1); err != nil {
		return 0, 0, err
	}
	at := int64(a.Offset()) + i
	offsets := buffer(a, 1)
	switch a.DataType().ID() {
	case arrow.FIXED_SIZE_LIST:
		n := int64(a.DataType().(*arrow.FixedSizeListType).Len())
		return at * n, n, nil
	case arrow.LARGE_LIST, arrow.LARGE_STRING:
		if int64(len(offsets))/8 < at+2 {
			return 0, 0, fmt.Errorf("%w: there is no offset of list %d", ErrInvalid, i)
		}
		first, n = int64(binary.LittleEndian.Uint64(offsets[8*at:])), int64(binary.LittleEndian.Uint64(offsets[8*at+8:]))
	default:
		if int64(len(offsets))/4 < at+2 {
			return 0, 0, fmt.Errorf("%w: there is no offset of list %d", ErrInvalid, i)
		}
		first, n = int64(int32(binary.LittleEndian.Uint32(offsets[4*at:]))), int64(int32(binary.LittleEndian.Uint32(offsets[4*at+4:])))
	}
	if first < 0 || n < first {
		return 0, 0, fmt.Errorf("%w: list %d is from %d to %d", ErrInvalid, i, first, n)
	}
	return first, n - first, nil
}

// packBits returns bools, which are bytes, as a buffer of bits.
func packBits(b []byte) *memory.Buffer {
	bits := make([]byte, bitutil.BytesForBits(int64(len(b))))
	for i, v := range b {
		if v != 0 {
			bitutil.SetBit(bits, i)
		}
	}
	return memory.NewBufferBytes(bits)
}
