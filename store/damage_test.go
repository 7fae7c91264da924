package store_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
	"github.com/tstore/tstore/store/internal/segment"
)

// damagedStore is a small closed store of several segments, to be damaged.
type damagedStore struct {
	dir    string
	opts   *store.Options
	want   contents
	states map[uint64]contents // by sequence number of the batch
}

// newDamagedStore makes a store with everything in it: batches, deletes, renames,
// tensors in segments of their own, a segment inside a tensor, logs that are sealed
// if opts say so. A segment is full after two kilobytes.
func newDamagedStore(t *testing.T, opts *store.Options) *damagedStore {
	t.Helper()
	d := &damagedStore{dir: filepath.Join(quickDir(t), "s"), opts: opts, want: contents{}, states: map[uint64]contents{}}
	st := open(t, d.dir, opts)
	store.SetSegmentSize(st, 2048)
	done := func() {
		t.Helper()
		must(t, compare(st, d.want))
		sn, err := st.Snapshot()
		must(t, err)
		d.states[sn.Seq()] = maps.Clone(d.want)
		must(t, sn.Close())
	}
	put := func(name string, x layout.Tensor, attrs ...layout.Attr) {
		t.Helper()
		must(t, st.Put(name, x, attrs...))
		d.want[name] = stored{x, attrs}
		done()
	}
	d.states[0] = contents{}
	put("a", stamped(1, 3), layout.Attr{Key: "unit", Value: "m"})
	put("empty", stamped(2, 0))
	named, err := patterned(t, layout.Int16, 3, 2, 3).WithDimNames("row", "column")
	must(t, err)
	must(t, st.Update(func(tx *store.Tx) error {
		return errors.Join(tx.Put("b", named), tx.Put("c", stamped(4, 40)), tx.Delete("a"))
	}))
	delete(d.want, "a")
	d.want["b"], d.want["c"] = stored{tensor: named}, stored{tensor: stamped(4, 40)}
	done()
	put("own", stamped(5, 150))
	must(t, st.Rename("c", "d"))
	d.want["d"] = d.want["c"]
	delete(d.want, "c")
	done()
	closeStore(t, st)

	inner, err := os.ReadFile(segmentFiles(t, d.dir)[0])
	must(t, err)
	st = open(t, d.dir, opts)
	store.SetSegmentSize(st, 4096)
	inner = inner[:min(len(inner), 1600)&^63]
	file, err := layout.NewDense(layout.Uint8, []int64{int64(len(inner))}, inner)
	must(t, err)
	put("segment", file)
	put("e", stamped(6, 10))
	must(t, st.Delete("empty"))
	delete(d.want, "empty")
	done()
	closeStore(t, st)
	return d
}

// look opens what is at dir and says what is wrong with what it gives: anything but
// everything that was stored, or ErrCorrupt with the file and the offset. It reports
// whether the damage was noticed.
func (d *damagedStore) look(dir string, opts *store.Options) (noticed bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	st, err := store.Open(dir, opts)
	if err != nil {
		return true, properlyCorrupt(err, dir)
	}
	defer func() {
		if cerr := st.Close(); cerr != nil && err == nil {
			err = fmt.Errorf("closing: %w", cerr)
		}
	}()
	var names []string
	for e, err := range st.List("") {
		if err != nil {
			if err := properlyCorrupt(err, dir); err != nil {
				return true, fmt.Errorf("listing: %w", err)
			}
			noticed, names = true, nil
			break
		}
		names = append(names, e.Name)
	}
	if want := slices.Sorted(maps.Keys(d.want)); !noticed && !slices.Equal(names, want) {
		return false, fmt.Errorf("names are %q, want %q", names, want)
	}
	for name, w := range d.want {
		got, err := st.Get(name)
		if err != nil {
			if err := properlyCorrupt(err, dir); err != nil {
				return true, fmt.Errorf("get of %q: %w", name, err)
			}
			noticed = true
			continue
		}
		if err := compareTensor(got, w.tensor); err != nil {
			return noticed, fmt.Errorf("get of %q: %w", name, err)
		}
		e, err := st.Stat(name)
		if err != nil {
			return noticed, fmt.Errorf("stat of %q: %w", name, err)
		}
		if err := compareEntry(e, w); err != nil {
			return noticed, fmt.Errorf("stat of %q: %w", name, err)
		}
	}
	return noticed, nil
}

// properlyCorrupt returns an error that says what is wrong with err, which should be
// ErrCorrupt with a file of the store and an offset in it.
func properlyCorrupt(err error, dir string) error {
	switch text := err.Error(); {
	case !errors.Is(err, store.ErrCorrupt):
		return fmt.Errorf("error is not ErrCorrupt: %w", err)
	case !strings.Contains(text, filepath.Join(dir, "segments")+string(filepath.Separator)):
		return fmt.Errorf("error names no segment: %w", err)
	case !strings.ContainsAny(text[strings.Index(text, dir)+len(dir)+len("/segments/0000000001.seg"):], "0123456789"):
		return fmt.Errorf("error gives no offset: %w", err)
	}
	return nil
}

// forWriting opens copies of a damaged directory, as they are and without the
// catalog.
func (d *damagedStore) forWriting(t *testing.T, dir string, check func(way string, noticed bool, err error)) {
	for _, way := range []string{"for writing", "without the catalog"} {
		scratch := dir + "-copy"
		copyInto(t, dir, scratch)
		if way == "without the catalog" {
			removeCatalog(t, scratch)
		}
		noticed, err := d.look(scratch, d.opts)
		check(way, noticed, err)
		must(t, os.RemoveAll(scratch))
	}
}

var damagedStores = map[string]*store.Options{
	"plain":  {},
	"sealed": store.WithSealing(store.Options{}, 2, 1000),
}

// TestFlippedBytes flips a bit of every byte of every segment, and sets bytes to zero:
// what was stored comes out, or ErrCorrupt, and nothing else. It opens each for
// reading, every so often for writing, and with TSTORE_DAMAGE=all each in every way.
func TestFlippedBytes(t *testing.T) {
	thorough := os.Getenv("TSTORE_DAMAGE") == "all"
	for name, opts := range damagedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDamagedStore(t, opts)
			trials, silent := 0, 0
			trial := func(path string, at int64, from, to byte, everyWay bool) {
				check := func(way string, noticed bool, err error) {
					if err != nil {
						t.Errorf("%s, byte %d from %#x to %#x, %s: %v", filepath.Base(path), at, from, to, way, err)
					}
					trials++
					if !noticed {
						silent++
					}
				}
				// To read is to change nothing, so that needs no copy.
				must(t, setByte(path, at, to))
				noticed, err := d.look(d.dir, &store.Options{ReadOnly: true})
				check("for reading", noticed, err)
				if everyWay {
					d.forWriting(t, d.dir, check)
				}
				must(t, setByte(path, at, from))
			}
			for _, path := range segmentFiles(t, d.dir) {
				b, err := os.ReadFile(path)
				must(t, err)
				for i, c := range b {
					if raceEnabled && !thorough && i%7 != 0 {
						continue // there is one goroutine only
					}
					bit := byte(1) << (i % 8)
					trial(path, int64(i), c, c^bit, thorough || i%17 == 0)
					if c != 0 && c != bit && (thorough || i%3 == 0) {
						trial(path, int64(i), c, 0, thorough || i%51 == 0)
					}
				}
			}
			must(t, compare(open(t, d.dir, &store.Options{ReadOnly: true}), d.want))
			t.Logf("%d segments, opened %d times; %d times the damage did no harm", len(segmentFiles(t, d.dir)), trials, silent)
		})
	}
}

func setByte(path string, at int64, to byte) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte{to}, at)
	return errors.Join(err, f.Close())
}

// TestTruncatedSegments cuts every segment off at every multiple of 64 bytes and next
// to it. The newest log is the only one where that may go unnoticed without the
// catalog: it then looks like one whose writer was killed.
func TestTruncatedSegments(t *testing.T) {
	for name, opts := range damagedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDamagedStore(t, opts)
			paths := segmentFiles(t, d.dir)
			newest, ends := d.newestLog(t)
			scratch := filepath.Join(quickDir(t), "cut")
			for _, path := range paths {
				info, err := os.Stat(path)
				must(t, err)
				for at := int64(0); at < info.Size(); at += 64 {
					for _, size := range []int64{at, at + 1, at + 63} {
						copyInto(t, d.dir, scratch)
						must(t, os.Truncate(filepath.Join(scratch, "segments", filepath.Base(path)), size))
						cut := *d
						if path == newest {
							cut.want = d.states[lastBefore(ends, size)]
						}
						check := func(way string, noticed bool, err error) {
							switch {
							case err != nil:
								t.Errorf("%s cut to %d of %d bytes, %s: %v", filepath.Base(path), size, info.Size(), way, err)
							case path == newest && way == "for writing" && !noticed:
								t.Errorf("%s cut to %d of %d bytes is accepted, though the catalog knows more", filepath.Base(path), size, info.Size())
							}
						}
						noticed, err := cut.look(scratch, &store.Options{ReadOnly: true})
						check("for reading", noticed, err)
						if size == at || at%448 == 0 {
							cut.forWriting(t, scratch, check)
						}
						must(t, os.RemoveAll(scratch))
					}
				}
			}
		})
	}
}

// newestLog is the path of the newest log, and where each of its batches ends, by
// sequence number; its header is the end of the one before it.
func (d *damagedStore) newestLog(t *testing.T) (newest string, ends map[uint64]int64) {
	t.Helper()
	for _, path := range segmentFiles(t, d.dir) {
		f, err := segment.Open(segment.OS, path, false)
		must(t, err)
		if f.Header.Kind == segment.KindLog {
			newest, ends = path, map[uint64]int64{f.Header.BaseSeq: f.HeaderLen}
			_, err := segment.Walk(f, segment.WalkOptions{
				Number: f.Number, UUID: f.UUID, From: f.HeaderLen, Limit: f.Size(), Seq: f.Header.BaseSeq,
			}, func(b *segment.Batch) error {
				ends[b.Commit.Seq] = b.End
				return nil
			})
			must(t, err)
		}
		must(t, f.Retire())
	}
	// Marks of a clean close change nothing.
	for seq := uint64(1); seq < 100; seq++ {
		if d.states[seq] == nil {
			d.states[seq] = d.states[seq-1]
		}
	}
	return newest, ends
}

// lastBefore is the last batch that ends at size or before.
func lastBefore(ends map[uint64]int64, size int64) uint64 {
	var last uint64
	for seq, end := range ends {
		if end <= size {
			last = max(last, seq)
		}
	}
	return last
}

// TestMissingSegments takes each segment away.
func TestMissingSegments(t *testing.T) {
	for name, opts := range damagedStores {
		t.Run(name, func(t *testing.T) {
			d := newDamagedStore(t, opts)
			newest, _ := d.newestLog(t)
			for _, path := range segmentFiles(t, d.dir) {
				scratch := copyDir(t, d.dir)
				must(t, os.Remove(filepath.Join(scratch, "segments", filepath.Base(path))))
				if path == newest {
					continue // the one before it is the newest then; only the catalog can tell
				}
				for _, opts := range []*store.Options{{ReadOnly: true}, d.opts} {
					_, err := store.Open(scratch, opts)
					wantError(t, err, store.ErrCorrupt, filepath.Base(path), "missing")
				}
			}
			scratch := copyDir(t, d.dir)
			must(t, os.Remove(filepath.Join(scratch, "segments", filepath.Base(newest))))
			_, err := store.Open(scratch, d.opts)
			wantError(t, err, store.ErrCorrupt, "lost something")
		})
	}
}

// TestForeignFiles puts other files beside the segments, which must change nothing.
func TestForeignFiles(t *testing.T) {
	dir := filepath.Join(quickDir(t), "s")
	want := varied(t, dir, &tiny)
	segments := filepath.Join(dir, "segments")
	for _, name := range []string{"README", "0000000001.seg~", "1.seg", "00000000001.seg", "0000000000.seg", "x.seg", ".seg", "99999999999999999999.seg", "-000000001.seg", "0000000001.SEG.bak", "sub"} {
		must(t, os.WriteFile(filepath.Join(segments, name), []byte("something"), 0o666))
	}
	must(t, os.Mkdir(filepath.Join(segments, "directory"), 0o777))
	must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
	st := open(t, dir, &tiny)
	must(t, compare(st, want))
	closeStore(t, st)
	entries, err := os.ReadDir(segments)
	must(t, err)
	left := 0
	for _, e := range entries {
		if _, ok := segment.ParseFileName(e.Name()); !ok {
			left++
		}
	}
	if left != 12 {
		t.Errorf("%d foreign files are left of 12", left)
	}
}

// TestTwoStoresInOne mixes the segments of two stores.
func TestTwoStoresInOne(t *testing.T) {
	parent := quickDir(t)
	a, b := filepath.Join(parent, "a"), filepath.Join(parent, "b")
	varied(t, a, &tiny)
	fill(t, b, contents{"x": {tensor: one}})
	must(t, copyFile(segmentFiles(t, b)[0], filepath.Join(a, "segments", "0000000099.seg")))
	for _, opts := range []*store.Options{{ReadOnly: true}, {}} {
		_, err := store.Open(a, opts)
		wantError(t, err, store.ErrCorrupt, "0000000099.seg") // whose header has another number
	}
}
