package segment

import (
	"fmt"
	"os"

	"github.com/edsrzf/mmap-go"
)

// Mapping is a read-only map of a file from its start. It stays until Retire;
// no finalizer ever takes it away under a slice of it.
type Mapping struct {
	bytes mmap.MMap
}

// mapFile maps the first length bytes of f. Where mapBeyondEnd says so, length
// may be more than the file has now: bytes that are written later appear in the
// map, and until then must not be touched.
func mapFile(f *os.File, length int64) (*Mapping, error) {
	if length <= 0 || int64(int(length)) != length {
		return nil, fmt.Errorf("mapping %s: a map of %d bytes is not possible", f.Name(), length)
	}
	m, err := mmap.MapRegion(f, int(length), mmap.RDONLY, 0, 0)
	if err != nil {
		return nil, fmt.Errorf("mapping %d bytes of %s: %w", length, f.Name(), err)
	}
	return &Mapping{bytes: m}, nil
}

// Retire ends the use of the map. From now on a read through a slice that was
// kept faults instead of showing what came to lie at that address later: the
// range is replaced in one step by one without access, which is never given
// back. On Windows, where that can't be done in one step, the view is unmapped.
func (m *Mapping) Retire() error { return retire(m.bytes) }

// Contains reports whether addr lies in the map.
func (m *Mapping) Contains(addr uintptr) bool {
	start := addressOf(m.bytes)
	return addr >= start && addr-start < uintptr(len(m.bytes))
}
