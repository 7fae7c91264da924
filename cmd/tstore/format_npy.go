package main

import (
	"io"

	"github.com/tstore/tstore/codec/npy"
)

// npyFormat is NumPy's file of one array. Attributes and dimension names have no place in it.
var npyFormat = &format{
	name:       "npy",
	extensions: []string{".npy"},
	begins:     startsWith("\x93NUMPY"),
	dense:      always,
	attrs:      never,
	read: single(func(b []byte, _ readOptions) (content, error) {
		d, err := npy.Decode(b)
		if err != nil {
			return content{}, err
		}
		return content{tensor: d}, nil
	}),
	write: func(w io.Writer, c content) error { return npy.Encode(w, c.tensor) },
}
