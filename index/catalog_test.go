package index

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

// contents are the entries of a catalog by log and name.
type contents map[uint64]map[string]*Entry

func readCatalog(c *Catalog) (contents, error) {
	got := contents{}
	last := CatalogEntry{Entry: &Entry{}}
	for ce, err := range c.Entries() {
		if err != nil {
			return nil, err
		}
		if ce.Log < last.Log || ce.Log == last.Log && ce.Entry.Name <= last.Entry.Name {
			return nil, fmt.Errorf("log %d name %q after log %d name %q", ce.Log, ce.Entry.Name, last.Log, last.Entry.Name)
		}
		last = ce
		if got[ce.Log] == nil {
			got[ce.Log] = map[string]*Entry{}
		}
		got[ce.Log][ce.Entry.Name] = ce.Entry
	}
	return got, nil
}

func (c contents) apply(batch []LogEntries, drop []uint64) {
	for _, l := range batch {
		for _, e := range l.Entries {
			if c[l.Log] == nil {
				c[l.Log] = map[string]*Entry{}
			}
			c[l.Log][e.Name] = e
		}
	}
	for _, log := range drop {
		delete(c, log)
	}
}

// some returns entries of names p0000, p0001, ….
func some(prefix string, n int, seq uint64) []*Entry {
	var es []*Entry
	for i := range n {
		e := image(fmt.Sprintf("%s%04d", prefix, i), seq)
		if i%7 == 3 {
			e = &Entry{Name: e.Name, Seq: seq, Deleted: true}
		}
		es = append(es, e)
	}
	return es
}

func position(seq uint64) Position {
	return Position{
		StoreID: [16]byte{1, 2, 3}, SegmentUUID: [16]byte{4, 5, 15: 6},
		Segment: 7, Offset: int64(seq) * 64, End: int64(seq)*64 + 128, CRC: 0xCAFE, Seq: seq,
		Live: []byte(fmt.Sprintf("segments as of %d", seq)),
	}
}

func mustOpen(t testing.TB, path string) *Catalog {
	t.Helper()
	c, err := OpenCatalog(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func mustApply(t testing.TB, c *Catalog, batch []LogEntries, drop []uint64, pos Position) {
	t.Helper()
	if err := c.Apply(batch, drop, pos); err != nil {
		t.Fatal(err)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestCatalogKeepsWhatWasApplied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.db")
	want := contents{}
	c := mustOpen(t, path)
	if _, ok := c.Position(); ok {
		t.Error("a new catalog has a position")
	}
	steps := []struct {
		batch []LogEntries
		drop  []uint64
	}{
		{[]LogEntries{{1, some("a/", 100, 1)}}, nil},
		{[]LogEntries{{2, some("b/", 3000, 2)}, {1, some("a/", 50, 3)}}, nil},
		{[]LogEntries{{2, sampleEntries(t)}}, nil},
		{[]LogEntries{{3, nil}}, []uint64{1}},
		{[]LogEntries{{300, some("c/", 5, 4)}}, []uint64{3, 77}},
		{[]LogEntries{{4, some("d/", 9, 5)}}, []uint64{4}}, // sealed before the catalog saw it
		{[]LogEntries{{2, []*Entry{image("twice", 6), image("a", 6), image("twice", 8)}}}, nil},
	}
	for i, s := range steps {
		seq := uint64(i + 1)
		mustApply(t, c, s.batch, s.drop, position(seq))
		want.apply(s.batch, s.drop)
		for _, reopen := range []bool{false, true} {
			if reopen {
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				c = mustOpen(t, path)
			}
			if pos, ok := c.Position(); !ok || !cmp.Equal(pos, position(seq)) {
				t.Errorf("step %d: position %v, %v", i, pos, ok)
			}
			got, err := readCatalog(c)
			if err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
			if diff := cmp.Diff(want, got, equateEntries); diff != "" {
				t.Fatalf("step %d (-want +got):\n%s", i, diff)
			}
		}
	}
}

func TestCatalogIsLikeAMapOfMaps(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n)+".db")
		c, err := OpenCatalog(path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Discard()
		want := contents{}
		for seq := range uint64(rapid.IntRange(1, 3).Draw(t, "steps")) {
			var batch []LogEntries
			for range rapid.IntRange(0, 3).Draw(t, "logs") {
				log := rapid.Uint64Range(1, 4).Draw(t, "log")
				prefix := rapid.SampledFrom([]string{"a", "b", strings.Repeat("long", 100)}).Draw(t, "prefix")
				batch = append(batch, LogEntries{log, some(prefix, rapid.IntRange(0, 120).Draw(t, "n"), seq)})
			}
			drop := rapid.SliceOfN(rapid.Uint64Range(1, 4), 0, 2).Draw(t, "drop")
			if err := c.Apply(batch, drop, position(seq)); err != nil {
				t.Fatal(err)
			}
			want.apply(batch, drop)
			switch rapid.IntRange(0, 2).Draw(t, "then") {
			case 1: // close in order
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
				if c, err = OpenCatalog(path); err != nil {
					t.Fatal(err)
				}
			case 2: // as after a kill: no checksum beside the file, but the pages are good
				c.db.Close()
				if c, err = OpenCatalog(path); err != nil {
					t.Fatal(err)
				}
			}
			for log, m := range want {
				if len(m) == 0 {
					delete(want, log)
				}
			}
			got, err := readCatalog(c)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, equateEntries); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
		}
	})
}

func TestChecksumIsThereOnlyWhileTheCatalogIsClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.db")
	sum := filepath.Join(filepath.Dir(path), "catalog.sum")
	c := mustOpen(t, path)
	mustApply(t, c, []LogEntries{{1, some("a", 10, 1)}}, nil, position(1))
	if exists(sum) {
		t.Error("there is a checksum while the catalog is written")
	}
	c.Close()
	if !exists(sum) {
		t.Fatal("there is no checksum after Close")
	}
	c = mustOpen(t, path)
	if _, err := readCatalog(c); err != nil || !exists(sum) {
		t.Errorf("reading takes the checksum away or fails: %v", err)
	}
	c.Close()
	if !exists(sum) {
		t.Error("closing a catalog that was only read takes the checksum away")
	}
	c = mustOpen(t, path)
	mustApply(t, c, nil, nil, position(2))
	if exists(sum) {
		t.Error("the checksum is still there after the first Apply")
	}
}

func TestOpenCatalogDoubts(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, path string)
		text   string
	}{
		{"an empty file", func(t *testing.T, path string) { os.Truncate(path, 0) }, "empty"},
		{"a directory", func(t *testing.T, path string) { os.Remove(path); os.Mkdir(path, 0o777) }, "not a regular file"},
		{"a symbolic link", func(t *testing.T, path string) { os.Rename(path, path+"x"); os.Symlink(path+"x", path) }, "not a regular file"},
		{"a file of something else", func(t *testing.T, path string) { os.WriteFile(path, []byte(strings.Repeat("text ", 9999)), 0o666) }, "catalog in doubt"},
		{"another file than the checksum's", func(t *testing.T, path string) {
			b, _ := os.ReadFile(path)
			os.WriteFile(path, append(b, 0), 0o666)
		}, "when it was closed"},
		{"a damaged checksum", func(t *testing.T, path string) {
			b, _ := os.ReadFile(sumPath(path))
			b[13]++
			os.WriteFile(sumPath(path), b, 0o666)
		}, "is damaged"},
		{"a checksum cut short", func(t *testing.T, path string) { os.Truncate(sumPath(path), 31) }, "32 bytes"},
		{"a checksum that is too long", func(t *testing.T, path string) {
			b, _ := os.ReadFile(sumPath(path))
			os.WriteFile(sumPath(path), append(b, 0), 0o666)
		}, "32 bytes"},
		{"a directory in place of the checksum", func(t *testing.T, path string) { os.Remove(sumPath(path)); os.Mkdir(sumPath(path), 0o777) }, "not a regular file"},
		{"another program's database", bolted(func(tx *bolt.Tx) error {
			_, err := tx.CreateBucket([]byte("users"))
			return err
		}), "a bucket is called"},
		{"a key beside the buckets of a bucket", bolted(func(tx *bolt.Tx) error {
			_, err := tx.Bucket(logBucket(1)).CreateBucket([]byte("nested"))
			return err
		}), "flags 0x1"},
		{"a log that the state does not know", bolted(func(tx *bolt.Tx) error {
			_, err := tx.CreateBucket(logBucket(9))
			return err
		}), "logs [1 9]"},
		{"a log too few", bolted(func(tx *bolt.Tx) error { return tx.DeleteBucket(logBucket(1)) }), "logs []"},
		{"no state", bolted(func(tx *bolt.Tx) error { return tx.DeleteBucket(stateBucket) }), "logs [1]"},
		{"a state without a position", bolted(func(tx *bolt.Tx) error { return tx.Bucket(stateBucket).Delete(stateKey) }), "state has 0 bytes"},
		{"a damaged state", bolted(func(tx *bolt.Tx) error {
			b := slices.Clone(tx.Bucket(stateBucket).Get(stateKey))
			b[50]++
			return tx.Bucket(stateBucket).Put(stateKey, b)
		}), "state has CRC"},
		{"a newer state", bolted(func(tx *bolt.Tx) error {
			b := slices.Clone(tx.Bucket(stateBucket).Get(stateKey))
			b[0] = 2
			return tx.Bucket(stateBucket).Put(stateKey, b)
		}), "version 2"},
		{"a live set longer than the state", bolted(func(tx *bolt.Tx) error {
			b := slices.Clone(tx.Bucket(stateBucket).Get(stateKey))
			b[79] = 0xFF
			return tx.Bucket(stateBucket).Put(stateKey, b)
		}), "live set of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "catalog.db")
			cat := mustOpen(t, path)
			mustApply(t, cat, []LogEntries{{1, some("a", 1000, 1)}}, nil, position(1))
			cat.Close()
			c.damage(t, path)
			_, err := OpenCatalog(path)
			if !errors.Is(err, ErrCatalog) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), path) {
				t.Fatalf("error %v, want %v with %q and the path", err, ErrCatalog, c.text)
			}
			// The way out that the error names.
			if err := RemoveCatalog(path); err != nil {
				t.Fatal(err)
			}
			cat = mustOpen(t, path)
			if _, ok := cat.Position(); ok {
				t.Error("the catalog that was removed is still there")
			}
		})
	}
}

// bolted changes the database with bbolt itself, so that only its contents are wrong.
func bolted(change func(tx *bolt.Tx) error) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		t.Helper()
		os.Remove(sumPath(path))
		db, err := bolt.Open(path, 0o666, nil)
		if err == nil {
			err = errors.Join(db.Update(change), db.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestEntriesDoubts(t *testing.T) {
	inLog1 := func(change func(b *bolt.Bucket) error) func(t *testing.T, path string) {
		return bolted(func(tx *bolt.Tx) error { return change(tx.Bucket(logBucket(1))) })
	}
	key := []byte("a0502")
	var older []byte
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, path string)
		text   string
	}{
		{"an entry too few", inLog1(func(b *bolt.Bucket) error { return b.Delete(key) }), "has 999 entries"},
		{"an entry too many", inLog1(func(b *bolt.Bucket) error {
			v, _ := encodeCatalogValue(1, image("new", 5))
			return b.Put([]byte("new"), v)
		}), "has 1001 entries"},
		{"an older entry", inLog1(func(b *bolt.Bucket) error { return b.Put(key, older) }), "entries with sum"},
		{"an entry under another name", inLog1(func(b *bolt.Bucket) error { return b.Put(key, b.Get([]byte("a0501"))) }), "has CRC"},
		{"an entry of another log", inLog1(func(b *bolt.Bucket) error {
			v, _ := encodeCatalogValue(2, image("a0502", 5))
			return b.Put(key, v)
		}), "has CRC"},
		{"a flipped bit", inLog1(func(b *bolt.Bucket) error {
			v := slices.Clone(b.Get(key))
			v[20] ^= 8
			return b.Put(key, v)
		}), "has CRC"},
		{"a short value", inLog1(func(b *bolt.Bucket) error { return b.Put(key, []byte("abc")) }), "has 3 bytes"},
		{"an entry that can't be", inLog1(func(b *bolt.Bucket) error {
			e := image("a0502", 5)
			e.Offset = 7
			v, _ := encodeCatalogValue(1, e)
			return b.Put(key, v)
		}), "not possible"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "catalog.db")
			cat := mustOpen(t, path)
			mustApply(t, cat, []LogEntries{{1, some("a", 1000, 1)}}, nil, position(1))
			older, _ = encodeCatalogValue(1, some("a", 1000, 1)[502])
			mustApply(t, cat, []LogEntries{{1, some("a", 1000, 2)}}, nil, position(2))
			cat.Close()
			c.damage(t, path)
			cat = mustOpen(t, path)
			_, err := readCatalog(cat)
			if !errors.Is(err, ErrCatalog) || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("error %v, want %v with %q", err, ErrCatalog, c.text)
			}
		})
	}
}

func TestOpenCatalogNeverWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.db")
	mustOpen(t, path)
	if _, err := OpenCatalog(path); !errors.Is(err, ErrCatalogLocked) {
		t.Errorf("opening a catalog twice: %v, want %v", err, ErrCatalogLocked)
	}
}

func TestClosedCatalogIsOfNoUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.db")
	c := mustOpen(t, path)
	mustApply(t, c, []LogEntries{{1, some("a", 10, 1)}}, nil, position(1))
	next, stop := iter.Pull2(c.Entries())
	defer stop()
	next()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if err := c.Apply(nil, nil, position(2)); !errors.Is(err, ErrClosed) {
		t.Errorf("Apply after Close: %v", err)
	}
	if _, err := readCatalog(c); !errors.Is(err, ErrClosed) {
		t.Errorf("Entries after Close: %v", err)
	}
	if err := c.Discard(); err != nil || exists(path) || exists(sumPath(path)) {
		t.Errorf("Discard leaves something: %v", err)
	}
}

func TestEntriesNoticesThatTheCatalogChanges(t *testing.T) {
	c := mustOpen(t, filepath.Join(t.TempDir(), "catalog.db"))
	mustApply(t, c, []LogEntries{{1, some("a", 2*entriesChunk, 1)}}, nil, position(1))
	var last error
	changed := false
	for _, err := range c.Entries() {
		if last = err; !changed {
			changed = true
			mustApply(t, c, nil, []uint64{1}, position(2))
		}
	}
	if last == nil {
		t.Error("the entries went on although their log was dropped")
	}
}

// bbolt has rolled back, but what of its file was written is known to nobody.
func TestApplyFailsForGood(t *testing.T) {
	path := filepath.Join(t.TempDir(), "catalog.db")
	c := mustOpen(t, path)
	want := some("a", 10, 1)
	mustApply(t, c, []LogEntries{{1, want}}, nil, position(1))
	bad := image("", 2) // bbolt has no empty keys
	if err := c.Apply([]LogEntries{{1, []*Entry{image("b", 2), bad}}}, nil, position(2)); err == nil {
		t.Fatal("an entry without a name was applied")
	}
	if err := c.Apply(nil, nil, position(3)); err == nil {
		t.Error("Apply goes on after an error")
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if exists(sumPath(path)) {
		t.Error("a catalog that failed has a checksum")
	}
	c = mustOpen(t, path)
	got, err := readCatalog(c)
	if err != nil {
		t.Fatal(err)
	}
	if pos, _ := c.Position(); !cmp.Equal(pos, position(1)) || !slices.Equal(slices.Sorted(maps.Keys(got[1])), namesOf(slices.Values(want))) {
		t.Errorf("after a failed Apply the catalog stands at %v with %d entries", pos.Seq, len(got[1]))
	}
}

// makeDatabase makes an empty database with pages of a size.
func makeDatabase(t *testing.T, path string, pageSize int) {
	t.Helper()
	db, err := bolt.Open(path, 0o666, &bolt.Options{PageSize: pageSize})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
