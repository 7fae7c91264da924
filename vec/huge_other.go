//go:build !linux

package vec

func adviseHuge([]byte) {}
