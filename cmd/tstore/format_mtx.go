package main

import (
	"io"

	"github.com/tstore/tstore/codec/mtx"
)

// mtxFormat is Matrix Market's text file of one matrix, dense or sparse.
var mtxFormat = &format{
	name:       "mtx",
	extensions: []string{".mtx"},
	begins:     startsWith("%%MatrixMarket"),
	attrs:      never,
	text:       true,
	read: parsed(func(b []byte, _ readOptions, progress func(done int64)) (content, error) {
		t, err := mtx.DecodeProgress(b, progress)
		if err != nil {
			return content{}, err
		}
		return content{tensor: t}, nil
	}),
	write: func(w io.Writer, c content) error { return mtx.Encode(w, c.tensor) },
}
