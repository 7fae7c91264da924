//go:build !linux

package layout

// adviseHuge does nothing: these systems take no such advice, or need none.
func adviseHuge([]byte) {}
