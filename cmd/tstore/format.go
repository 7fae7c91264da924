package main

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tstore/tstore/layout"
)

// content is one tensor with what belongs to it, on its way from a file to a store or back.
type content struct {
	tensor layout.Tensor
	attrs  []layout.Attr

	// message is the Arrow message that tensor lies in, if it came as one.
	message []byte
}

// format is a kind of file.
type format struct {
	name       string   // for --format
	extensions []string // with the dot, lower case
	magic      string   // first bytes of every file, or empty if there is no telling
	dense      bool     // it holds dense tensors only

	// read returns what is in a file. The content may lie in b.
	read func(b []byte) (content, error)
	// write writes a file.
	write func(w io.Writer, c content) error
}

// formats are the kinds of file that tensors come from and go to.
var formats = []*format{npyFormat, msgFormat, mtxFormat, mtxGzipFormat}

// formatNames returns the values of --format, as "npy or msg".
func formatNames() string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return listOr(names)
}

func formatExtensions() string {
	var all []string
	for _, f := range formats {
		all = append(all, f.extensions...)
	}
	return listOr(all)
}

// listOr writes a list as "a, b or c".
func listOr(items []string) string {
	last := len(items) - 1
	if last == 0 {
		return items[0]
	}
	return strings.Join(items[:last], ", ") + " or " + items[last]
}

// splitExtension splits the name of a file from the extension of a known format, if it has one.
func splitExtension(path string) (stem string, f *format) {
	lower := strings.ToLower(path)
	for _, f := range formats {
		for _, ext := range f.extensions {
			if strings.HasSuffix(lower, ext) {
				return path[:len(path)-len(ext)], f
			}
		}
	}
	return strings.TrimSuffix(path, filepath.Ext(path)), nil
}

// pickFormat returns the format of a file: the one asked for with --format, or else the one of the
// file's extension. It may be nil where neither says anything.
func pickFormat(flag, path string) (*format, error) {
	if flag != "" {
		i := slices.IndexFunc(formats, func(f *format) bool { return f.name == flag })
		if i < 0 {
			return nil, usagef("unknown format %q; --format is %s", flag, formatNames())
		}
		return formats[i], nil
	}
	_, f := splitExtension(path)
	return f, nil
}

// sniff returns the format whose files begin like b, or nil.
func sniff(b []byte) *format {
	for _, f := range formats {
		if f.magic != "" && len(b) >= len(f.magic) && string(b[:len(f.magic)]) == f.magic {
			return f
		}
	}
	return nil
}
