package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/powercut"
)

// holding is what a store should hold: for each name the version that was put, which says all of the tensor.
type holding map[string]uint64

// versionTensor makes the tensor of a version. It has few or many bytes, in one of some types, none like another.
func versionTensor(version uint64, size int) *layout.Dense {
	size &^= 7
	data := make([]byte, size)
	rng := rand.New(rand.NewPCG(version, 5))
	for i := 0; i < size; i += 8 {
		binary.LittleEndian.PutUint64(data[i:], rng.Uint64())
	}
	dtype, shape := layout.Uint8, []int64{int64(size)}
	switch version % 3 {
	case 1:
		dtype, shape = layout.Float64, []int64{int64(size / 8)}
	case 2:
		dtype, shape = layout.Int16, []int64{int64(size / 8), 2, 2}
	}
	t, err := layout.NewDense(dtype, shape, data)
	if err != nil {
		panic(err)
	}
	return t
}

// versionKey is the attribute that carries a version and its size.
const versionKey = "version"

func versionAttr(version uint64, size int) layout.Attr {
	return layout.Attr{Key: versionKey, Value: fmt.Sprint(version, " ", size&^7)}
}

// readVersion checks a tensor against the version that its attribute names.
func readVersion(name string, e *Entry, t layout.Tensor) (uint64, error) {
	if len(e.Attrs) != 1 || e.Attrs[0].Key != versionKey {
		return 0, fmt.Errorf("tensor %q has attributes %v", name, e.Attrs)
	}
	first, second, _ := strings.Cut(e.Attrs[0].Value, " ")
	version, err := strconv.ParseUint(first, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("tensor %q: %w", name, err)
	}
	size, err := strconv.Atoi(second)
	if err != nil {
		return 0, fmt.Errorf("tensor %q: %w", name, err)
	}
	want := versionTensor(version, size)
	got, ok := t.(*layout.Dense)
	if !ok || got.DType() != want.DType() || fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()) {
		return 0, fmt.Errorf("tensor %q is a %v of shape %v, version %d is a %v of shape %v", name, t.DType(), t.Shape(), version, want.DType(), want.Shape())
	}
	gotBytes, err := got.Bytes()
	if err != nil {
		return 0, fmt.Errorf("tensor %q: %w", name, err)
	}
	wantBytes, err := want.Bytes()
	if err != nil {
		return 0, fmt.Errorf("tensor %q: %w", name, err)
	}
	if !bytes.Equal(gotBytes, wantBytes) {
		return 0, fmt.Errorf("tensor %q does not hold the bytes of version %d", name, version)
	}
	return version, nil
}

// readHolding reads all of a store, each tensor as a copy and as a view.
func readHolding(s *Store) (holding, error) {
	got := holding{}
	err := s.View(func(tx *Tx) error {
		for e, err := range tx.List("") {
			if err != nil {
				return err
			}
			copied, err := s.Get(e.Name)
			if err != nil {
				return err
			}
			version, err := readVersion(e.Name, e, copied)
			if err != nil {
				return err
			}
			stat, err := tx.Stat(e.Name)
			if err != nil {
				return err
			}
			view, err := tx.Get(e.Name)
			if err != nil {
				return err
			}
			if v, err := readVersion(e.Name, stat, view); err != nil || v != version {
				return fmt.Errorf("the view of %q is of version %d, the copy of version %d: %w", e.Name, v, version, err)
			}
			got[e.Name] = version
		}
		return nil
	})
	return got, err
}

// holdingDifference says how two holding differ, in few words.
func holdingDifference(got, want holding) string {
	var text []string
	for name, version := range want {
		if v, ok := got[name]; !ok {
			text = append(text, fmt.Sprintf("%q (version %d) is missing", name, version))
		} else if v != version {
			text = append(text, fmt.Sprintf("%q is of version %d, not %d", name, v, version))
		}
	}
	for name, version := range got {
		if _, ok := want[name]; !ok {
			text = append(text, fmt.Sprintf("%q (version %d) is too much", name, version))
		}
	}
	if len(text) > 4 {
		text = append(text[:4], fmt.Sprintf("and %d more", len(text)-4))
	}
	return strings.Join(text, ", ")
}

// powerHistory is all states that a store goes through, in the order of its commits, and which of them it may be in: from the last
// one acknowledged to the last one attempted. Each change of that range is a mark in the trace of the disk.
type powerHistory struct {
	disk *powercut.Client

	mu     sync.Mutex
	states []holding
	sure   int // acknowledged
	maybe  int // attempted
	next   uint64
}

func newPowerHistory(disk *powercut.Client) *powerHistory {
	return &powerHistory{disk: disk, states: []holding{{}}}
}

func (h *powerHistory) mark() error {
	_, err := h.disk.Mark(fmt.Sprint("states ", h.sure, " ", h.maybe))
	return err
}

// version returns a new version number.
func (h *powerHistory) version() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	return h.next
}

// attempt notes that a batch is about to be committed which makes the state next of the last one, and returns its number.
func (h *powerHistory) attempt(next holding) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = append(h.states, next)
	h.maybe = len(h.states) - 1
	return h.maybe, h.mark()
}

// acknowledged notes that a batch is durable, and all before it.
func (h *powerHistory) acknowledged(state int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sure = max(h.sure, state)
	return h.mark()
}

// settled notes that the store is known to be in one of the earlier states, and no other, whatever was attempted.
func (h *powerHistory) settled(state int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states = append(h.states, h.states[state])
	h.maybe = len(h.states) - 1
	h.sure = h.maybe
	return h.mark()
}

// last returns a copy of the state that the last attempt leads to.
func (h *powerHistory) last() holding {
	h.mu.Lock()
	defer h.mu.Unlock()
	return maps.Clone(h.states[len(h.states)-1])
}

// match returns which of the states from sure to maybe got is.
func (h *powerHistory) match(got holding, sure, maybe int) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := maybe; i >= sure; i-- {
		if maps.Equal(got, h.states[i]) {
			return i, nil
		}
	}
	for i, state := range h.states {
		if maps.Equal(got, state) {
			return i, fmt.Errorf("the store holds batch %d; it should hold %d to %d: compared with %d, %s", i, sure, maybe, sure, holdingDifference(got, h.states[sure]))
		}
	}
	return 0, fmt.Errorf("the store is in no state that it ever was in; acknowledged is batch %d, attempted %d; compared with %d, %s; compared with %d, %s",
		sure, maybe, sure, holdingDifference(got, h.states[sure]), maybe, holdingDifference(got, h.states[maybe]))
}

// rangeAt returns which states a cut at some point may leave, by the marks.
func rangeAt(events []powercut.Event, at int64) (sure, maybe int, err error) {
	marks := powercut.Acknowledged(events, at)
	for i := len(marks) - 1; i >= 0; i-- {
		if text, ok := strings.CutPrefix(marks[i], "states "); ok {
			_, err := fmt.Sscan(text, &sure, &maybe)
			return sure, maybe, err
		}
	}
	return 0, 0, nil
}

// reopen opens the store that a cut has left, first beside nobody for reading, then for writing, and compares it with the
// states from sure to maybe. Then it closes and opens again, some times: with a tensor put, with nothing done, without the
// catalog, for reading. It returns the state that was found.
func (h *powerHistory) reopen(path string, o *Options, sure, maybe int) (state int, err error) {
	seen, err := h.look(path, o, 0, sure, maybe)
	if err != nil && (!errors.Is(err, ErrNoStore) || sure > 0) {
		return 0, fmt.Errorf("for reading: %w", err)
	}
	none := err != nil
	puts := 0
	for round, put := range []bool{false, true, false, true, true, false} {
		if round == 4 {
			for _, name := range []string{catalogName, "catalog.sum"} {
				if err := os.Remove(filepath.Join(path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return 0, err
				}
			}
		}
		s, err := Open(path, o)
		if err != nil {
			return 0, fmt.Errorf("opening %d: %w", round, err)
		}
		state, err = h.compare(s, puts, sure, maybe)
		if err == nil && put {
			size := 5000 * (puts + 1)
			err = s.Put(againName(puts), versionTensor(uint64(puts), size), versionAttr(uint64(puts), size))
			puts++
		}
		if err != nil {
			return 0, fmt.Errorf("opening %d: %w", round, errors.Join(err, s.Close()))
		}
		if err := s.Close(); err != nil {
			return 0, fmt.Errorf("closing %d: %w", round, err)
		}
		if !none && seen != state {
			return 0, fmt.Errorf("a reader saw batch %d, the writer found %d in round %d", seen, state, round)
		}
		none, seen = false, state
	}
	if _, err := h.look(path, o, puts, state, state); err != nil {
		return 0, fmt.Errorf("for reading, at the end: %w", err)
	}
	return state, nil
}

// look opens a store for reading and compares it.
func (h *powerHistory) look(path string, o *Options, puts, sure, maybe int) (int, error) {
	reading := *o
	reading.ReadOnly = true
	r, err := Open(path, &reading)
	if err != nil {
		return 0, err
	}
	state, err := h.compare(r, puts, sure, maybe)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return state, err
}

// againName is the name under which reopen puts one tensor more; nothing else has it.
func againName(i int) string { return fmt.Sprint("again/", i) }

// compare checks what a reopened store holds: that is one of the states, and what was put after the cut.
func (h *powerHistory) compare(s *Store, puts, sure, maybe int) (int, error) {
	got, err := readHolding(s)
	if err != nil {
		return 0, err
	}
	for i := range puts {
		if version, ok := got[againName(i)]; !ok || version != uint64(i) {
			return 0, fmt.Errorf("%q, put after the cut, is there: %v, of version %d", againName(i), ok, version)
		}
		delete(got, againName(i))
	}
	return h.match(got, sure, maybe)
}
