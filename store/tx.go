package store

import (
	"fmt"
	"iter"
	"runtime/debug"
	"sync/atomic"

	"github.com/tstore/tstore/layout"
)

// Tx is a transaction. In View it shows the store as it was when View began, in
// Update that and its own changes. It may not be used after the function it was
// given to has returned: its methods then return ErrTxDone.
//
// The methods that read may be called by several goroutines at once; those that
// write, by one at a time with nothing beside them.
type Tx struct {
	state *state
	batch *batch // nil in View
	done  atomic.Bool
}

// Get returns the tensor of the given name without copying its data: a dense
// tensor is a view of the mapped file. The data must not be changed and is valid
// until the transaction ends. A tensor that this transaction has put is returned
// as it was given.
//
// The bytes are not compared with their checksum, unless Options.Checksums says so;
// Store.Get does that.
func (tx *Tx) Get(name string) (t layout.Tensor, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer tx.state.rescue(name, &err)
	if tx.batch != nil {
		if t, ok := tx.batch.own[name]; ok && !tx.done.Load() {
			return t, nil
		}
	}
	at, err := tx.find(name)
	if err != nil {
		return nil, err
	}
	return tx.state.view(name, at)
}

// find returns where name is, the changes of the transaction included.
func (tx *Tx) find(name string) (found, error) {
	if tx.done.Load() {
		return found{}, ErrTxDone
	}
	if tx.batch != nil {
		return tx.batch.find(name)
	}
	return tx.state.find(name)
}

// Stat returns what is known of the tensor of the given name without touching
// its data.
func (tx *Tx) Stat(name string) (e *Entry, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer tx.state.rescue(name, &err)
	at, err := tx.find(name)
	if err != nil {
		return nil, err
	}
	if tx.batch != nil {
		if err := tx.batch.sum(); err != nil {
			return nil, err
		}
	}
	return at.describe(name)
}

// List yields the entries whose names begin with prefix, by name in byte order.
// In Update, what the transaction changes meanwhile is not seen by a List that
// has begun.
func (tx *Tx) List(prefix string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		if tx.done.Load() {
			yield(nil, ErrTxDone)
			return
		}
		st := tx.state
		if tx.batch != nil {
			if err := tx.batch.sum(); err != nil {
				yield(nil, err)
				return
			}
			st = tx.batch.state()
		}
		for e, err := range st.list(prefix) {
			if err == nil && tx.done.Load() {
				e, err = nil, ErrTxDone
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// Put stores t under name with the given attributes, in place of what was there.
// The tensor is borrowed until Update returns and must not change until then.
// A tensor that is neither row-major nor column-major is stored row-major.
//
// Errors: ErrName, ErrAttrs, ErrReadOnly, ErrTxDone, or that of the disk.
func (tx *Tx) Put(name string, t layout.Tensor, attrs ...layout.Attr) error {
	if err := tx.writable(); err != nil {
		return err
	}
	r, err := tx.batch.store.encode(name, t, attrs)
	if err != nil {
		return err
	}
	return tx.batch.put(r)
}

// PutMessage stores the tensor in msg, one Arrow encapsulated message from
// elsewhere, under name. Its custom metadata are kept as attributes, in order and
// with keys that occur twice, but for reserved keys; attrs are added behind them.
// The message is borrowed until Update returns.
func (tx *Tx) PutMessage(name string, msg []byte, attrs ...layout.Attr) error {
	if err := tx.writable(); err != nil {
		return err
	}
	r, err := tx.batch.store.encodeMessage(name, msg, attrs)
	if err != nil {
		return err
	}
	return tx.batch.put(r)
}

// Delete removes the tensor of the given name. Errors: ErrNotFound, ErrReadOnly,
// ErrTxDone.
func (tx *Tx) Delete(name string) error {
	if err := tx.writable(); err != nil {
		return err
	}
	return tx.batch.delete(name)
}

// Rename gives the tensor called from the name to, without moving its data. It
// is ErrExists if there is a tensor called to.
func (tx *Tx) Rename(from, to string) error {
	if err := tx.writable(); err != nil {
		return err
	}
	return tx.batch.rename(from, to)
}

func (tx *Tx) writable() error {
	switch {
	case tx.done.Load():
		return ErrTxDone
	case tx.batch == nil:
		return fmt.Errorf("%w transaction: use Update", ErrReadOnly)
	}
	return nil
}
