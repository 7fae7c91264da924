package store

import (
	"iter"
	"sync/atomic"

	"github.com/tstore/tstore/layout"
)

// Snapshot shows the store as it was at one moment, until Close. It blocks
// nobody: writers go on, and what they delete or overwrite stays readable here.
// Its methods may be called by several goroutines at once, and return ErrTxDone
// after Close.
type Snapshot struct {
	tx     Tx
	use    use
	closed atomic.Bool
}

// Snapshot returns a snapshot of the last committed batch. It must be closed.
func (s *Store) Snapshot() (*Snapshot, error) {
	use, err := s.beginView()
	if err != nil {
		return nil, err
	}
	return &Snapshot{use: use, tx: Tx{state: s.published.Load()}}, nil
}

// Get returns the tensor of the given name without copying its data, which must
// not be changed and is valid until Close. See Tx.Get.
func (sn *Snapshot) Get(name string) (layout.Tensor, error) { return sn.tx.Get(name) }

// Stat returns what is known of the tensor of the given name.
func (sn *Snapshot) Stat(name string) (*Entry, error) { return sn.tx.Stat(name) }

// List yields the entries whose names begin with prefix, by name in byte order.
func (sn *Snapshot) List(prefix string) iter.Seq2[*Entry, error] { return sn.tx.List(prefix) }

// Seq is the sequence number of the last batch that the snapshot sees. It rises
// with every batch.
func (sn *Snapshot) Seq() uint64 { return sn.tx.state.seq }

// Close ends the snapshot. A second Close does nothing.
func (sn *Snapshot) Close() error {
	if sn.closed.CompareAndSwap(false, true) {
		sn.tx.done.Store(true)
		sn.use.end()
	}
	return nil
}
