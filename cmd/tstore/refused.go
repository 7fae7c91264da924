package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/cmd/tstore/internal/arrowfile"
	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/codec/csv"
	"github.com/tstore/tstore/codec/mtx"
	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/codec/png"
	"github.com/tstore/tstore/codec/safetensors"
)

// unsupported are the errors that say that a file, or a tensor in one, is whole and holds what no tensor of
// a store can, as strings.
var unsupported = []error{
	npy.ErrUnsupported, npz.ErrUnsupported, safetensors.ErrUnsupported, arrowfile.ErrUnsupported,
	codec.ErrUnsupported, mtx.ErrUnsupported, csv.ErrUnsupported, png.ErrUnsupported,
}

// refused are the files, and tensors in files, that can't be stored. They are collected, so that one learns
// of all at once.
type refused struct {
	skip  bool // leave them out; otherwise nothing is stored
	all   []skipped
	first error // about the first of them
	files bool  // one of them is a file as a whole
}

// skipFlag adds --skip to a command that takes in several files, or files of several tensors.
func skipFlag(cmd *cobra.Command, to *bool, where string) {
	cmd.Flags().BoolVar(to, "skip", false, where+"leave out what can't be stored, as arrays of strings or objects, and say so; damaged files are errors all the same")
}

// take takes an error from reading a tensor, or the whole file if member is empty, and reports whether it is
// one of those that are collected.
func (r *refused) take(file, member string, err error) bool {
	if !slices.ContainsFunc(unsupported, func(kind error) bool { return errors.Is(err, kind) }) {
		return false
	}
	if r.first == nil {
		r.first = err
	}
	what := file
	why := strings.TrimPrefix(err.Error(), file+": ")
	if member == "" {
		r.files = true
	} else {
		what += ": " + member
		why = strings.TrimPrefix(strings.TrimPrefix(why, "member "), fmt.Sprintf("%q: ", member))
	}
	r.all = append(r.all, skipped{what, why})
	return true
}

// hopeless reports whether nothing will be stored, because of what was refused.
func (r *refused) hopeless() bool { return len(r.all) > 0 && !r.skip }

// err is the error about what was refused, if it is one, when taken tensors can be stored.
func (r *refused) err(taken int64) error {
	switch {
	case len(r.all) == 0, r.skip && taken > 0:
		return nil
	case len(r.all) == 1 && taken == 0:
		return &inputError{r.first}
	case len(r.all) == 1:
		return &inputError{fmt.Errorf("%w (--skip leaves it out)", r.first)}
	}
	what, hint := "tensor", "; --skip leaves them out"
	if r.files {
		what = "file"
	}
	if taken == 0 {
		hint = "; nothing else is there"
	}
	var list strings.Builder
	for i, s := range r.all {
		if i == skippedShown && len(r.all) > skippedShown+1 {
			fmt.Fprintf(&list, "; and %d more", len(r.all)-i)
			break
		}
		if i > 0 {
			list.WriteString("; ")
		}
		list.WriteString(s.path + ": " + s.why)
	}
	return &inputError{fmt.Errorf("%s hold what can't be stored: %s%s", count(len(r.all), what), list.String(), hint)}
}
