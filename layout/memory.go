package layout

import (
	"fmt"
	"runtime/debug"
	"sync"
	"unsafe"
)

// budget hands out memory for a conversion and refuses what is too much, before any of it is
// touched, so that a tensor that claims to be huge costs nothing.
type budget struct {
	left  int64
	limit int64
}

func newBudget(limit int64) *budget {
	if limit <= 0 {
		limit = usableMemory()
	}
	return &budget{left: limit, limit: limit}
}

// usableMemory returns how much memory a conversion may take if its caller sets no limit: three quarters
// of what the machine has, or of the limits under which the process runs if they are lower. The rest is
// for the source and everything else.
var usableMemory = sync.OnceValue(func() int64 {
	// Where the machine won't tell, this stops at what no address space takes in one piece anyway.
	most := int64(1) << 46
	if n := machineMemory(); n > 0 {
		most = n
	}
	return min(most, debug.SetMemoryLimit(-1)) / 4 * 3
})

// take returns zeroed memory for n elements of the given size.
func (b *budget) take(n int64, size int) ([]byte, error) {
	bytes, ok := CheckedMul(n, int64(size))
	if !ok || bytes > b.left {
		return nil, fmt.Errorf("%w: %d × %d bytes are needed, %d of %d bytes are left", ErrTooLarge, n, size, b.left, b.limit)
	}
	b.left -= bytes
	return make([]byte, bytes), nil
}

// index returns memory for n integers of a type.
func (b *budget) index(n int64, t IndexType) (Index, error) {
	data, err := b.take(n, t.Size())
	return Index{typ: t, data: data}, err
}

// matrix returns memory for rows × columns integers of a type.
func (b *budget) matrix(rows, columns int64, t IndexType) (Index, error) {
	n, ok := CheckedMul(rows, columns)
	if !ok {
		return Index{}, fmt.Errorf("%w: %d × %d indices", ErrTooLarge, rows, columns)
	}
	return b.index(n, t)
}

// takeSlice returns zeroed memory for n values of a Go type.
func takeSlice[T uint64 | int64 | keyed](b *budget, n int64) ([]T, error) {
	var zero T
	data, err := b.take(n, int(unsafe.Sizeof(zero)))
	if err != nil || n == 0 {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), n), nil
}

// free says that memory of n bytes is needed no more.
func (b *budget) free(n int) { b.left += int64(n) }
