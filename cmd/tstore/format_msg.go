package main

import (
	"fmt"
	"io"

	"github.com/tstore/tstore/codec"
)

// msgFormat is a file of exactly one Arrow message, which keeps everything: element type,
// dimension names and attributes.
var msgFormat = &format{
	name:       "msg",
	extensions: []string{".msg"},
	begins:     beginsWithTensor,
	read: single(func(b []byte, _ readOptions) (content, error) {
		head, err := codec.ParseHead(b)
		if err != nil {
			return content{}, err
		}
		if extra := int64(len(b)) - head.Len(); extra > 0 && !onlyPadding(b[head.Len():]) {
			return content{}, fmt.Errorf("%w: %d bytes follow the message; a .msg file holds exactly one", codec.ErrInvalid, extra)
		}
		t, err := codec.Decode(b)
		if err != nil {
			return content{}, err
		}
		return content{tensor: t, attrs: codec.DecodeAttrs(&head), message: b}, nil
	}),
	write: func(w io.Writer, c content) error {
		r, err := codec.Encode(c.tensor, c.attrs)
		if err != nil {
			return err
		}
		_, err = r.WriteTo(w)
		return err
	},
}

// onlyPadding reports whether what follows a message is fewer than 64 zeros, which Arrow's writers
// may leave behind the last body.
func onlyPadding(b []byte) bool {
	if len(b) >= codec.Alignment {
		return false
	}
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
