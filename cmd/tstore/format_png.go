package main

import (
	"io"

	"github.com/tstore/tstore/codec/png"
)

// pngFormat is an image.
var pngFormat = &format{
	name:       "png",
	extensions: []string{".png"},
	begins:     startsWith("\x89PNG\r\n\x1a\n"),
	dense:      always,
	attrs:      never,
	text:       true,
	read: single(func(b []byte, _ readOptions) (content, error) {
		d, err := png.Decode(b)
		if err != nil {
			return content{}, err
		}
		return content{tensor: d}, nil
	}),
	write: func(w io.Writer, c content) error { return png.Encode(w, c.tensor) },
}
