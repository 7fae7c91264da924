//go:build !linux

package layout

// adviseHuge does nothing: these systems take no such advice, or need none.
func adviseHuge([]byte) {}

const hugePage = 2 << 20

func absent([]byte) bool { return false }

func dropPages([]byte) bool { return false }
