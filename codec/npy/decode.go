package npy

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/tstore/tstore/codec/internal/elements"
	"github.com/tstore/tstore/layout"
)

// Decode returns the array of a .npy file as a tensor; b is the whole file. An array in Fortran
// order becomes a column-major tensor, so that nothing has to be moved.
//
// The tensor shares the memory of b, which has to stay as it is while the tensor is used, unless
// the elements had to be changed: big-endian ones, those that do not lie where a Go value of their
// type may lie, M8[D], and bools with a byte above 1 are converted into memory of their own, as
// large as the array.
//
// The errors are [ErrInvalid], [ErrTruncated] and [ErrUnsupported].
func Decode(b []byte) (*layout.Dense, error) { return decode(b, true) }

// View is Decode for whoever only copies the elements: it leaves them where they are also if they
// don't lie where a Go value of their type may lie, as in most members of .npz files.
// [layout.Values] refuses such a tensor, with [layout.ErrMisaligned].
func View(b []byte) (*layout.Dense, error) { return decode(b, false) }

func decode(b []byte, align bool) (*layout.Dense, error) {
	h, err := ParseHeader(b)
	if err != nil {
		return nil, err
	}
	data := b[h.DataOffset:]
	switch size := h.DataSize; {
	case int64(len(data)) < size:
		return nil, fmt.Errorf("%w: %v of %v takes %d bytes, %d are there", ErrTruncated, h.DType, h.Shape, size, len(data))
	case int64(len(data)) > size:
		return nil, fmt.Errorf("%w: %d bytes follow the array, which a second np.save to the same file leaves; save each array in a file of its own", ErrInvalid, int64(len(data))-size)
	}
	if data, err = h.elem.native(data, h.DType, align); err != nil {
		return nil, err
	}
	if h.FortranOrder {
		return layout.NewColumnMajor(h.DType, h.Shape, data)
	}
	return layout.NewDense(h.DType, h.Shape, data)
}

// native returns the elements in the form that a tensor has them in: data itself if they are so
// already, else a converted copy. Only with align is the wrong alignment a reason for one.
func (e element) native(data []byte, dtype layout.DType, align bool) ([]byte, error) {
	switch {
	case dtype == layout.Bool:
		return elements.Bools(data), nil
	case e.days:
		return e.narrowDays(data)
	case e.bigEndian:
		return swapped(data, e.width), nil
	case align:
		return elements.Aligned(data, e.width), nil
	}
	return data, nil
}

// swapped returns a copy with the bytes of each number in reverse order.
func swapped(src []byte, width int) []byte {
	dst := make([]byte, len(src))
	switch width {
	case 2:
		for i := 0; i+2 <= len(src); i += 2 {
			binary.LittleEndian.PutUint16(dst[i:], bits.ReverseBytes16(binary.LittleEndian.Uint16(src[i:])))
		}
	case 4:
		for i := 0; i+4 <= len(src); i += 4 {
			binary.LittleEndian.PutUint32(dst[i:], bits.ReverseBytes32(binary.LittleEndian.Uint32(src[i:])))
		}
	case 8:
		for i := 0; i+8 <= len(src); i += 8 {
			binary.LittleEndian.PutUint64(dst[i:], bits.ReverseBytes64(binary.LittleEndian.Uint64(src[i:])))
		}
	}
	return dst
}

// notATime is NumPy's NaT.
const notATime = math.MinInt64

// narrowDays turns the 64-bit day counts of M8[D] into the 32-bit ones of a date[day].
func (e element) narrowDays(src []byte) ([]byte, error) {
	dst := make([]byte, len(src)/2)
	for i := 0; i < len(dst)/4; i++ {
		u := binary.LittleEndian.Uint64(src[8*i:])
		if e.bigEndian {
			u = bits.ReverseBytes64(u)
		}
		days := int64(u)
		if days != int64(int32(days)) {
			reason := fmt.Sprintf("day %d, which is beyond 32 bits", days)
			if days == notATime {
				reason = "NaT, which a date[day] does not have"
			}
			return nil, fmt.Errorf("%w: element %d in the file's order is %s; cast with a.astype(\"datetime64[s]\")", ErrUnsupported, i, reason)
		}
		binary.LittleEndian.PutUint32(dst[4*i:], uint32(int32(days)))
	}
	return dst, nil
}
