package layout

import (
	"fmt"
	"runtime/debug"
	"strings"
	"sync"
	"unsafe"
)

// budget counts the memory that a conversion takes and refuses what is too much, before any of it is
// touched, so that a tensor that claims to be huge costs nothing.
type budget struct {
	left  int64
	limit int64
}

func newBudget(limit int64) budget {
	if limit <= 0 {
		limit = usableMemory()
	}
	return budget{left: limit, limit: limit}
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

// reserve counts n elements of the given size and returns their bytes.
func (b *budget) reserve(n int64, size int64) (int64, error) {
	bytes, ok := CheckedMul(n, size)
	if !ok || bytes > b.left {
		return 0, fmt.Errorf("%w: %d × %d bytes are needed, %d of %d bytes are left", ErrTooLarge, n, size, b.left, b.limit)
	}
	b.left -= bytes
	return bytes, nil
}

// free says that memory of n bytes is needed no more.
func (b *budget) free(n int64) { b.left += n }

// hugeFrom is the size from which memory is asked to be in huge pages: enough for one, wherever it begins.
const hugeFrom = 4 << 20

// newBytes returns n bytes of new memory; what is in it is undefined. Much of it comes in huge pages where the system has
// them: a page fault for every 4 KiB would take longer than most conversions.
func newBytes(n int64) []byte {
	if n < hugeFrom {
		return make([]byte, n)
	}
	// A builder does not clear its memory, which would be time spent on what is written next. It is asked for its
	// string, of which nothing else has hold, when that is not empty: only then it is said where it lies.
	var s strings.Builder
	s.Grow(int(n))
	s.WriteByte(0)
	b := unsafe.Slice(unsafe.StringData(s.String()), n)
	adviseHuge(b)
	return b
}

// newZeros is newBytes that also reports whether all of it is zero: then nothing has been written to the memory, which the
// system clears as it is used.
func newZeros(n int64) (b []byte, zeroed bool) {
	b = newBytes(n)
	inside := insideAligned(b, hugePage)
	if n < hugeFrom {
		return b, true
	}
	if !absent(inside) || !dropPages(inside) {
		return b, false
	}
	before := int(uintptr(unsafe.Pointer(&inside[0])) - uintptr(unsafe.Pointer(&b[0])))
	clear(b[:before])
	clear(b[before+len(inside):])
	return b, true
}

// insideAligned returns the part of b that begins and ends at multiples of align, a power of two.
func insideAligned(b []byte, align int) []byte {
	start := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(align-1))
	if start > len(b) {
		return nil
	}
	return b[start : start+(len(b)-start)&^(align-1)]
}
