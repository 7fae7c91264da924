//go:build !amd64

package vec

func bestVersion() Version { return Portable }
