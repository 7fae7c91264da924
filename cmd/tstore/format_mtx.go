package main

import (
	"compress/gzip"
	"io"

	"github.com/tstore/tstore/codec/mtx"
)

// mtxFormat is Matrix Market's text file of one matrix, dense or sparse. Reading tells by itself
// whether a file is gzipped.
var mtxFormat = &format{
	name:       "mtx",
	extensions: []string{".mtx"},
	magic:      "%%MatrixMarket",
	read: func(b []byte) (content, error) {
		t, err := mtx.Decode(b)
		if err != nil {
			return content{}, err
		}
		return content{tensor: t}, nil
	},
	write: func(w io.Writer, c content) error { return mtx.Encode(w, c.tensor) },
}

// mtxGzipFormat is the same, gzipped.
var mtxGzipFormat = &format{
	name:       "mtx.gz",
	extensions: []string{".mtx.gz"},
	read:       mtxFormat.read,
	write: func(w io.Writer, c content) error {
		z := gzip.NewWriter(w)
		if err := mtx.Encode(z, c.tensor); err != nil {
			return err
		}
		return z.Close()
	},
}
