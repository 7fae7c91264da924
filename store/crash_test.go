package store_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tstore/tstore/store"
)

// The process that gets killed runs goroutines with names of their own. Each of them
// says on standard output which batch it is about to commit and when that was
// acknowledged; its batches can thus be followed one by one.

// crashOp is one operation of such a batch.
type crashOp struct {
	Put    string `json:",omitempty"`
	Stamp  uint64 `json:",omitempty"` // of the tensor that is put
	N      int    `json:",omitempty"` // its elements
	Delete string `json:",omitempty"`
	Rename string `json:",omitempty"`
	To     string `json:",omitempty"`
}

// crashLine is one line of the process.
type crashLine struct {
	Open  bool      `json:",omitempty"` // the store is open
	Who   int       `json:",omitempty"`
	Begin []crashOp `json:",omitempty"`
	Done  bool      `json:",omitempty"` // what Who has begun is acknowledged
}

// crashTensor is what is stored under a name.
type crashTensor struct {
	Stamp uint64
	N     int
}

type crashNames map[string]crashTensor

// apply is what ops make of names.
func (names crashNames) apply(ops []crashOp) crashNames {
	next := maps.Clone(names)
	for _, op := range ops {
		switch {
		case op.Put != "":
			next[op.Put] = crashTensor{op.Stamp, op.N}
		case op.Delete != "":
			delete(next, op.Delete)
		default:
			next[op.To] = next[op.Rename]
			delete(next, op.Rename)
		}
	}
	return next
}

const crashNamesEach = 8

func crashName(who, k int) string { return fmt.Sprintf("g%d/%d", who, k) }

// crashOptions are what a store is opened with that is killed: everything that
// happens rarely in a big one happens all the time.
func crashOptions(sync store.SyncPolicy) *store.Options {
	return store.WithSealing(store.Options{SegmentSize: store.MinSegmentSize, Sync: sync, LockWait: 10 * time.Second}, 20, 100)
}

func init() { children["crash"] = crashChild }

// crashChild works on a store until it is killed. Its arguments are the directory,
// the number of goroutines, a seed, and the first stamp to use.
func crashChild(args []string) error {
	var numbers []uint64
	for _, a := range args[1:] {
		n, err := strconv.ParseUint(a, 10, 64)
		if err != nil {
			return err
		}
		numbers = append(numbers, n)
	}
	goroutines, seed, stamp := int(numbers[0]), numbers[1], numbers[2]
	rng := rand.New(rand.NewPCG(seed, 1))
	policy := store.SyncEveryCommit
	if rng.IntN(5) == 0 {
		policy = store.SyncNever
	}
	st, err := store.Open(args[0], crashOptions(policy))
	if err != nil {
		return err
	}
	if err := say(crashLine{Open: true}); err != nil {
		return err
	}
	failed := make(chan error)
	for who := range goroutines {
		w := crashWriter{st: st, who: who + 1, names: crashNames{}, rng: rand.New(rand.NewPCG(seed, uint64(who)+2)), stamp: stamp}
		for e, err := range st.List(fmt.Sprintf("g%d/", w.who)) {
			if err != nil {
				return err
			}
			w.names[e.Name] = crashTensor{}
		}
		go func() { failed <- w.work() }()
	}
	if rng.IntN(3) == 0 {
		go func() {
			for {
				if _, err := st.Compact(context.Background(), nil); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

// say writes a line in one piece.
func say(l crashLine) error {
	b, err := json.Marshal(l)
	if err == nil {
		_, err = os.Stdout.Write(append(b, '\n'))
	}
	return err
}

type crashWriter struct {
	st    *store.Store
	who   int
	names crashNames
	rng   *rand.Rand
	stamp uint64
}

func (w *crashWriter) work() error {
	for {
		ops := w.batch()
		if err := say(crashLine{Who: w.who, Begin: ops}); err != nil {
			return err
		}
		if err := w.commit(ops); err != nil {
			return err
		}
		if err := say(crashLine{Who: w.who, Done: true}); err != nil {
			return err
		}
		w.names = w.names.apply(ops)
	}
}

// batch draws one to five operations that are possible one after the other.
func (w *crashWriter) batch() (ops []crashOp) {
	names := maps.Clone(w.names)
	w.stamp++
	for range 1 + w.rng.IntN(2)*w.rng.IntN(5) {
		name, other := crashName(w.who, w.rng.IntN(crashNamesEach)), crashName(w.who, w.rng.IntN(crashNamesEach))
		_, exists := names[name]
		_, taken := names[other]
		op := crashOp{Put: name, Stamp: w.stamp, N: w.rng.IntN(1 + 600*w.rng.IntN(5)*w.rng.IntN(4))}
		switch k := w.rng.IntN(6); {
		case k == 0 && exists:
			op = crashOp{Delete: name}
		case k == 1 && exists && !taken:
			op = crashOp{Rename: name, To: other}
		}
		names = names.apply([]crashOp{op})
		ops = append(ops, op)
	}
	return ops
}

func (w *crashWriter) commit(ops []crashOp) error {
	if op := ops[0]; len(ops) == 1 {
		switch {
		case op.Put != "":
			return w.st.Put(op.Put, stamped(op.Stamp, op.N), stampAttr(op.Stamp))
		case op.Delete != "":
			return w.st.Delete(op.Delete)
		default:
			return w.st.Rename(op.Rename, op.To)
		}
	}
	return w.st.Update(func(tx *store.Tx) error {
		for _, op := range ops {
			var err error
			switch {
			case op.Put != "":
				err = tx.Put(op.Put, stamped(op.Stamp, op.N), stampAttr(op.Stamp))
			case op.Delete != "":
				err = tx.Delete(op.Delete)
			default:
				err = tx.Rename(op.Rename, op.To)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// crashRecord is what the parent knows of each goroutine's names.
type crashRecord struct {
	sure  map[int]crashNames
	begun map[int][]crashOp // not acknowledged before the process was killed
	stamp uint64
}

// follow reads what a process says until it has ended.
func (r *crashRecord) follow(lines *bufio.Scanner, opened chan<- struct{}) error {
	defer close(opened)
	for lines.Scan() {
		var l crashLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
		switch {
		case l.Open:
			opened <- struct{}{}
		case l.Begin != nil:
			r.begun[l.Who] = l.Begin
			r.stamp = max(r.stamp, l.Begin[0].Stamp+1)
		case l.Done:
			r.sure[l.Who] = r.sure[l.Who].apply(r.begun[l.Who])
			delete(r.begun, l.Who)
		}
	}
	return lines.Err()
}

// compare checks that st holds, of each goroutine, what was acknowledged with all or
// nothing of the batch that was under way. It returns what there is.
func (r *crashRecord) compare(st *store.Store) (map[int]crashNames, error) {
	there := map[int]crashNames{}
	for e, err := range st.List("") {
		if err != nil {
			return nil, err
		}
		got, err := st.Get(e.Name)
		if err != nil {
			return nil, err
		}
		stamp, err := stampOf(got, e.Attrs)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", e.Name, err)
		}
		var who, k int
		if _, err := fmt.Sscanf(e.Name, "g%d/%d", &who, &k); err != nil {
			return nil, fmt.Errorf("%q: %w", e.Name, err)
		}
		if there[who] == nil {
			there[who] = crashNames{}
		}
		there[who][e.Name] = crashTensor{stamp, int(got.NNZ())}
	}
	for who := range r.sure {
		sure, got := r.sure[who], there[who]
		if maps.Equal(sure, got) {
			continue
		}
		ops := r.begun[who]
		if ops == nil || !maps.Equal(sure.apply(ops), got) {
			return nil, fmt.Errorf("goroutine %d: there is %v, acknowledged was %v, under way %+v", who, got, sure, ops)
		}
	}
	return there, nil
}

// crashes is how often to kill, TSTORE_CRASHES if that is set.
func crashes(t *testing.T, preset int) int {
	text := os.Getenv("TSTORE_CRASHES")
	if text == "" {
		return preset
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("TSTORE_CRASHES=%q: it should be a number", text)
	}
	return n
}

// TestCrashes kills a process that writes with several goroutines, again and again on
// the same store, and checks everything that was acknowledged.
//
// Kills at random moments of recovery are among them, and every so often the next
// process finds what the last one left without anybody having looked.
func TestCrashes(t *testing.T) {
	const goroutines = 8
	kills := crashes(t, 20)
	dir := filepath.Join(t.TempDir(), "s")
	r := crashRecord{sure: map[int]crashNames{}, begun: map[int][]crashOp{}, stamp: 1}
	for who := range goroutines {
		r.sure[who+1] = crashNames{}
	}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 3))
	inside, underway, recovering := 0, 0, 0
	for kill := range kills {
		seed := rng.Uint64()
		busy := 1 + rng.IntN(goroutines)
		early := kill > 0 && rng.IntN(8) == 0
		cmd := child(t, "crash", dir, fmt.Sprint(busy), fmt.Sprint(seed), fmt.Sprint(r.stamp))
		var messages strings.Builder
		cmd.Stderr = &messages
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		opened := make(chan struct{}, 1)
		var followed error
		var following sync.WaitGroup
		following.Go(func() { followed = r.follow(bufio.NewScanner(out), opened) })
		if early {
			time.Sleep(time.Duration(rng.IntN(15_000)) * time.Microsecond)
			recovering++
		} else {
			<-opened
			time.Sleep(time.Duration(rng.IntN(30_000)) * time.Microsecond)
		}
		must(t, cmd.Process.Kill())
		following.Wait()
		must(t, followed)
		if cmd.Wait(); messages.Len() > 0 {
			t.Fatalf("the process failed before it was killed: %s", messages.String())
		}
		if len(r.begun) > 0 {
			underway++
		}
		if slices.ContainsFunc(slices.Collect(maps.Values(r.begun)), func(ops []crashOp) bool { return len(ops) > 1 }) {
			inside++
		}
		r.check(t, dir, fmt.Sprintf("kill %d", kill), rng.IntN(4) > 0)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kills: %d while batches were under way, %d inside a batch of several operations, up to %d while the store was opened", kills, underway, inside, recovering)
	if kills >= 200 && inside < 50 {
		t.Errorf("only %d of %d kills were inside a batch, want 50", inside, kills)
	}
}

// check opens the store in every way. With write, one of them is as a writer on the
// spot; otherwise the next process finds the store as it is.
func (r *crashRecord) check(t *testing.T, dir, when string, write bool) {
	t.Helper()
	var first map[int]crashNames
	look := func(how, dir string, opts *store.Options) {
		t.Helper()
		st, err := store.Open(dir, opts)
		if errors.Is(err, store.ErrNoStore) && r.nothing() {
			return
		}
		if err != nil {
			t.Errorf("%s, %s: %v", when, how, err)
			return
		}
		there, err := r.compare(st)
		if err == nil && first == nil {
			first = there
		}
		if err == nil && !maps.EqualFunc(first, there, func(a, b crashNames) bool { return maps.Equal(a, b) }) {
			err = fmt.Errorf("there is %v, another opening found %v", there, first)
		}
		if err != nil {
			t.Errorf("%s, %s: %v", when, how, err)
		}
		if err := st.Close(); err != nil {
			t.Errorf("%s, %s: %v", when, how, err)
		}
	}
	look("for reading", dir, &store.Options{ReadOnly: true})
	bare := copyDir(t, dir)
	removeCatalog(t, bare)
	look("without the catalog", bare, crashOptions(store.SyncEveryCommit))
	if write {
		look("with the catalog", dir, crashOptions(store.SyncEveryCommit))
	}
	for who := range r.sure {
		if r.sure[who] = first[who]; first[who] == nil {
			r.sure[who] = crashNames{}
		}
	}
	clear(r.begun)
}

func (r *crashRecord) nothing() bool {
	for _, names := range r.sure {
		if len(names) > 0 {
			return false
		}
	}
	return true
}
