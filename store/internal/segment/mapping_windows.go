package segment

import "github.com/edsrzf/mmap-go"

// mapBeyondEnd says that a map may be longer than its file.
const mapBeyondEnd = false

// truncateMapped says that a file can be made shorter while it is mapped.
const truncateMapped = false

// retire gives the view back: Windows can't put an inaccessible range in its place
// without a moment in which something else may be mapped there. So a store retires
// its maps when it is closed, and not before.
func retire(m mmap.MMap) error { return m.Unmap() }
