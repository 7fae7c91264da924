package main

import (
	"github.com/spf13/cobra"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// batchInMemory is how many bytes of memory tensors may take that wait for their batch to be committed.
var batchInMemory int64 = 8 << 20

// copiedByStore is the size up to which a store copies a tensor when it is put, and keeps the copy until the
// batch is committed.
const copiedByStore = 1 << 20

// loaded is a tensor that is about to be stored.
type loaded struct {
	name string
	content
	in *input // that it comes from
}

// memory is about how many bytes of memory the tensor takes until its batch is committed: none if it is
// large and lies in the map of a file.
func (x *loaded) memory() int64 {
	r, err := codec.Encode(x.tensor, x.attrs)
	if err != nil {
		return 0 // and what stores it says why
	}
	d, dense := x.tensor.(*layout.Dense)
	mapped := dense && x.in.holds(d.Data()) || x.in.holds(x.message)
	if mapped && r.Len() > copiedByStore {
		return 0
	}
	return r.Len()
}

// storeBatch stores what next returns, until that is nil, as one batch. They are in ascending order of their
// names. If they would take much memory until the batch is committed, they are written to a file that the
// store takes in; released is called then, when those before are written, and after that what next
// returned is not used any more at its next call. size is about how many bytes there are.
func storeBatch(cmd *cobra.Command, w *writing, size int64, next func() (*loaded, error), released func()) error {
	var waiting []*loaded
	for memory := int64(0); memory < batchInMemory; {
		x, err := next()
		if err != nil {
			return err
		}
		if x == nil {
			progress := newProgress(cmd, "importing", size)
			defer progress.end()
			defer progress.watch(w.path)()
			return w.Update(func(tx *store.Tx) error {
				for _, x := range waiting {
					if err := cmd.Context().Err(); err != nil {
						return err
					}
					if err := x.put(tx, x.name); err != nil {
						return err
					}
				}
				committing()
				return nil
			})
		}
		waiting = append(waiting, x)
		memory += x.memory()
	}
	return w.takeIn(cmd, "importing", size, store.ClashReplaces, func(p *store.PackageWriter) error {
		for _, x := range waiting {
			if err := x.addTo(p, x.name); err != nil {
				return err
			}
		}
		waiting = nil
		released()
		for {
			x, err := next()
			if x == nil || err != nil {
				return err
			}
			if err := x.addTo(p, x.name); err != nil {
				return err
			}
		}
	})
}

// takeIn stores any amount as one batch with little memory: fill adds the tensors, in ascending order of their
// names.
func (w *writing) takeIn(cmd *cobra.Command, what string, size int64, clash store.Clash, fill func(p *store.PackageWriter) error) error {
	progress := newProgress(cmd, what, size)
	defer progress.end()
	defer progress.watch(w.path)()
	progress.then(what)
	defer w.onAbandon()()
	_, err := w.PutSorted(cmd.Context(), &store.SortedOptions{Clash: clash, Committing: committing}, fill)
	return (&clashFlags{}).explain(err)
}
