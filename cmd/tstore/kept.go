package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// keptSize is how many bytes of tensors that lie in memory a batch may have before they are put in a
// temporary file.
const keptSize = 32 << 20

// kept keeps what a batch borrows until it is committed: a store writes tensors when the batch ends. Those
// that lie in the maps of their files stay there; others, which were unpacked or converted, would take
// memory for all of them at once, and go to temporary files.
type kept struct {
	tx    *store.Tx
	spill *input // which has the temporary files

	waiting []keptTensor // tensors in memory
	bytes   int64        // of them
}

type keptTensor struct {
	name string
	content
}

func newKept(cmd *cobra.Command, tx *store.Tx) *kept {
	return &kept{tx: tx, spill: &input{cmd: cmd}}
}

// close gives back the temporary files, when the batch has ended.
func (k *kept) close() { k.spill.close() }

// put adds a tensor, and reports whether it lies in the maps of its file, which then has to stay open.
func (k *kept) put(name string, c content, in *input) (lies bool, err error) {
	if d, ok := c.tensor.(*layout.Dense); ok && in.holds(d.Data()) || in.holds(c.message) {
		return true, c.put(k.tx, name)
	}
	for _, a := range c.attrs {
		if strings.HasPrefix(a.Key, codec.ReservedPrefix) { // which are dropped from messages
			return false, attrsError(fmt.Errorf("%w: key %q is reserved", store.ErrAttrs, a.Key))
		}
	}
	r, err := codec.Encode(c.tensor, c.attrs)
	if err != nil {
		return false, err
	}
	k.waiting = append(k.waiting, keptTensor{name, c})
	k.bytes += r.Len()
	if k.bytes < keptSize {
		return false, nil
	}
	return false, k.toFile()
}

// toFile puts what lies in memory in a temporary file, as the messages that the store keeps.
func (k *kept) toFile() error {
	lengths := make([]int64, len(k.waiting))
	b, err := k.spill.spill(func(w io.Writer) error {
		for i, x := range k.waiting {
			r, err := codec.Encode(x.tensor, x.attrs)
			if err != nil {
				return err
			}
			if lengths[i], err = r.WriteTo(w); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, x := range k.waiting {
		if err := k.tx.PutMessage(x.name, b[:lengths[i]:lengths[i]]); err != nil {
			return attrsError(err)
		}
		b = b[lengths[i]:]
	}
	k.waiting, k.bytes = nil, 0
	return nil
}

// finish adds what is still in memory.
func (k *kept) finish() error {
	for _, x := range k.waiting {
		if err := x.put(k.tx, x.name); err != nil {
			return err
		}
	}
	return nil
}
