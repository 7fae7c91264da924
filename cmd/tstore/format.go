package main

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// content is one tensor with what belongs to it, on its way from a file to a store or back.
type content struct {
	tensor layout.Tensor
	attrs  []layout.Attr

	// name is what the tensor is called in the store, on its way from there.
	name string

	// message is the Arrow message that tensor lies in, if it came as one.
	message []byte
}

// format is a kind of file.
type format struct {
	name       string                // for --format
	extensions []string              // with the dot, lower case
	begins     func(b []byte) bool   // whether a file begins like one of these; nil if there is no telling
	dense      func(many bool) bool  // whether it holds dense tensors only; nil if it never does
	attrs      func(key string) bool // whether it keeps an attribute; nil if it keeps all

	// read returns what is in a file. The contents may lie in it.
	read func(in *input, o readOptions) (*archive, error)

	// write writes a file of one tensor; nil for files that are only read.
	write func(w io.Writer, c content) error

	// text says that a file is text, or compressed: it need not be about as large as the tensors in it.
	text bool

	// writeAll writes a file of any number of tensors, in the order of heads; nil if a file has one. A
	// tensor is valid until the next is asked for.
	writeAll func(w io.Writer, heads []*store.Entry, tensor func(i int) (*layout.Dense, error)) error
}

// readOptions say how a file is read.
type readOptions struct {
	// header says whether a table has a header: auto, yes or no.
	header string

	// inPlace says that tensors are only copied, so that they may lie at any alignment.
	inPlace bool
}

// archive is what is in a file.
type archive struct {
	// names are what the file calls its tensors. That of a file which is one tensor is empty.
	names []string

	// load returns a tensor. It may lie in the file.
	load func(i int) (content, error)

	skipped []skipped // what is no tensor, by its name in the file
}

// skipped is a file, or a part of one, that is left out.
type skipped struct {
	path string
	why  string
}

// single makes a function that reads a file of one tensor from one that decodes it.
func single(decode func(b []byte, o readOptions) (content, error)) func(*input, readOptions) (*archive, error) {
	return func(in *input, o readOptions) (*archive, error) {
		return &archive{names: []string{""}, load: func(int) (content, error) { return decode(in.bytes, o) }}, nil
	}
}

// parsed is single for files whose decoding takes long: it is told how many bytes have been read.
func parsed(decode func(b []byte, o readOptions, progress func(done int64)) (content, error)) func(*input, readOptions) (*archive, error) {
	return func(in *input, o readOptions) (*archive, error) {
		return &archive{names: []string{""}, load: func(int) (content, error) {
			progress := newProgress(in.cmd, "reading "+in.path, int64(len(in.bytes)))
			defer progress.end()
			return decode(in.bytes, o, progress.set)
		}}, nil
	}
}

// sizeAs is about how large a file of tensors of some bytes is, or negative if nobody knows.
func sizeAs(f *format, c *compression, bytes int64) int64 {
	if f.text || c != nil {
		return -1
	}
	return bytes
}

func always(bool) bool  { return true }
func never(string) bool { return false }

// startsWith makes a function that looks at the first bytes of a file.
func startsWith(magic string) func(b []byte) bool {
	return func(b []byte) bool { return strings.HasPrefix(string(b[:min(len(b), len(magic))]), magic) }
}

// formats are the kinds of file that tensors come from and go to.
var formats = []*format{
	npyFormat, npzFormat, safetensorsFormat, indexFormat, msgFormat, arrowFormat, arrowStreamFormat,
	mtxFormat, csvFormat, tsvFormat, pngFormat,
}

// reads, writes and holdsMany say what a format is for.
func reads(f *format) bool     { return f.name != "" }
func writes(f *format) bool    { return f.write != nil }
func holdsMany(f *format) bool { return f.writeAll != nil }

// formatNames returns the values of --format, as "npy or msg".
func formatNames(which func(*format) bool) string {
	return listOr(formatList(which))
}

func formatList(which func(*format) bool) []string {
	var names []string
	for _, f := range formats {
		if f.name != "" && which(f) {
			names = append(names, f.name)
		}
	}
	return names
}

func formatExtensions(which func(*format) bool) string {
	var all []string
	for _, f := range formats {
		if which(f) {
			all = append(all, f.extensions...)
		}
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

// splitExtension splits the name of a file from the extension of a known format, if it has one, and from
// that of a compression behind it.
func splitExtension(path string) (stem string, f *format, c *compression) {
	stem, c = splitCompression(path)
	lower := strings.ToLower(stem)
	for _, f := range formats {
		for _, ext := range f.extensions {
			if strings.HasSuffix(lower, ext) {
				return stem[:len(stem)-len(ext)], f, c
			}
		}
	}
	return strings.TrimSuffix(stem, filepath.Ext(stem)), nil, c
}

// pickFormat returns the format of a file: the one asked for with --format, or else the one of the
// file's extension. It may be nil where neither says anything. A compression goes with either.
func pickFormat(flag, path string, which func(*format) bool) (*format, *compression, error) {
	if flag == "" {
		_, f, c := splitExtension(path)
		return f, c, nil
	}
	name, c := splitCompression(flag)
	i := slices.IndexFunc(formats, func(f *format) bool { return f.name != "" && f.name == name && which(f) })
	if i < 0 {
		return nil, nil, usagef("unknown format %q; --format is %s, with .gz or .zst behind it if compressed", flag, formatNames(which))
	}
	if c == nil {
		_, c = splitCompression(path)
	}
	return formats[i], c, nil
}

// sniff returns the format whose files begin like b, or nil.
func sniff(b []byte) *format {
	for _, f := range formats {
		if f.begins != nil && f.begins(b) {
			return f
		}
	}
	return nil
}

// holds returns the attributes that a format keeps.
func (f *format) holds(attrs []layout.Attr) []layout.Attr {
	if f.attrs == nil {
		return attrs
	}
	return slices.DeleteFunc(slices.Clone(attrs), func(a layout.Attr) bool { return !f.attrs(a.Key) })
}

// noFormat says that nothing tells what a file is.
const noFormat = "nothing tells its format"

// openArchive opens a file for readArchive, with the same flag.
func openArchive(cmd *cobra.Command, path, flag string) (*input, error) {
	asked, _, err := pickFormat(flag, path, reads)
	if err != nil {
		return nil, err
	}
	return openExpected(cmd, path, func(b []byte) error {
		f, err := asked.orOf(b)
		if err == nil && f.begins != nil && !f.text && !f.begins(b) {
			err = fmt.Errorf("it does not begin like a .%s file", f.name)
		}
		return err
	})
}

// orOf is f or, if that is nil, the format of a file that begins like b.
func (f *format) orOf(b []byte) (*format, error) {
	if f == nil {
		f = sniff(b)
	}
	if f == nil {
		return nil, usagef("%s; files are called %s, or give --format %s", noFormat, formatExtensions(reads), formatNames(reads))
	}
	return f, nil
}

// readArchive returns what is in an input, of the format that a flag asks for, or else of that of its name
// or its first bytes.
func readArchive(in *input, flag string, o readOptions) (*format, *archive, error) {
	f, _, err := pickFormat(flag, in.path, reads)
	if err != nil {
		return nil, nil, err
	}
	if f, err = f.orOf(in.bytes); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", in.path, err)
	}
	a, err := f.read(in, o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", in.path, err)
	}
	return f, a, nil
}

// loadFrom loads a tensor, and says in which file it is if that fails.
func (a *archive) loadFrom(in *input, i int) (content, error) {
	c, err := a.load(i)
	switch name := a.names[i]; {
	case err != nil && name != "" && !strings.Contains(err.Error(), name):
		err = fmt.Errorf("%s: %q: %w", in.path, name, err)
	case err != nil:
		err = fmt.Errorf("%s: %w", in.path, err)
	}
	return c, err
}
