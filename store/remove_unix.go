//go:build unix

package store

// removeMapped says that a file can be removed while it is mapped. Where it can't,
// what no longer counts is removed when the store is closed, or opened the next
// time.
const removeMapped = true
