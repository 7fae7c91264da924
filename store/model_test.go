package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// machine is a store beside a plain map that says what should be in it.
type machine struct {
	t      *testing.T
	parent string // of dir, and of packages
	dir    string
	opts   *store.Options

	st       *store.Store
	now      contents
	snaps    []heldSnapshot
	follower *store.Store // refreshed now and then
	followed contents     // what it should show
	stamp    uint64
	packages int // made so far
}

type heldSnapshot struct {
	*store.Snapshot
	want contents
}

// modelNames are few enough to meet.
var modelNames = []string{"a", "b", "c", "a/x", "a/y", "b/x", "ä"}

func (m *machine) name(t *rapid.T) string { return rapid.SampledFrom(modelNames).Draw(t, "name") }

// tensor draws a tensor: empty, small, and so large that it gets a segment of its own.
func (m *machine) tensor(t *rapid.T) stored {
	m.stamp++
	n := rapid.SampledFrom([]int{0, 1, 10, 700, 2500, 5000}).Draw(t, "elements")
	s := stored{tensor: stamped(m.stamp, n)}
	if rapid.Bool().Draw(t, "attributes") {
		s.attrs = []layout.Attr{stampAttr(m.stamp), {Key: "unit", Value: "m"}}
	}
	return s
}

func (m *machine) open(t *rapid.T) {
	st, err := store.Open(m.dir, m.opts)
	if err != nil {
		t.Fatal(err)
	}
	m.st = st
}

// close closes the store, which it must refuse while there are snapshots.
func (m *machine) close(t *rapid.T) {
	if len(m.snaps) > 0 {
		if err := m.st.Close(); !errors.Is(err, store.ErrInUse) {
			t.Fatalf("closing with %d snapshots: %v", len(m.snaps), err)
		}
	}
	for _, s := range m.snaps {
		m.closeSnapshot(t, s)
	}
	m.snaps = nil
	if err := m.st.Close(); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) closeSnapshot(t *rapid.T, s heldSnapshot) {
	if err := compare(s, s.want); err != nil {
		t.Fatalf("a snapshot at its end: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// editor is what a batch and a whole store have in common.
type editor interface {
	Put(name string, t layout.Tensor, attrs ...layout.Attr) error
	Delete(name string) error
	Rename(from, to string) error
}

// edit makes one random change of to and of c, which must agree on whether it can
// be.
func (m *machine) edit(t *rapid.T, to editor, c contents) {
	name := m.name(t)
	_, exists := c[name]
	check := func(what string, err, want error) {
		if !errors.Is(err, want) || (want == nil && err != nil) {
			t.Fatalf("%s: %v, want %v", what, err, want)
		}
	}
	switch rapid.IntRange(0, 5).Draw(t, "edit") {
	case 0:
		err := to.Delete(name)
		if !exists {
			check("deleting "+name, err, store.ErrNotFound)
			return
		}
		check("deleting "+name, err, nil)
		delete(c, name)
	case 1:
		other := m.name(t)
		_, taken := c[other]
		err := to.Rename(name, other)
		switch {
		case !exists:
			check("renaming "+name, err, store.ErrNotFound)
		case name == other:
			check("renaming "+name, err, nil)
		case taken:
			check("renaming "+name, err, store.ErrExists)
		default:
			check("renaming "+name, err, nil)
			c[other] = c[name]
			delete(c, name)
		}
	default:
		s := m.tensor(t)
		check("putting "+name, to.Put(name, s.tensor, s.attrs...), nil)
		c[name] = s
	}
}

// attach makes a package of a few tensors and takes it into the store.
func (m *machine) attach(t *rapid.T) {
	m.packages++
	path := filepath.Join(m.parent, fmt.Sprint("p", m.packages, ".tstore"))
	defer os.Remove(path)
	w, err := store.CreatePackage(path)
	if err != nil {
		t.Fatal(err)
	}
	added := contents{}
	for _, name := range slices.Sorted(slices.Values(rapid.SliceOfNDistinct(rapid.SampledFrom(modelNames), 0, 4, rapid.ID).Draw(t, "names"))) {
		added[name] = m.tensor(t)
		if err := w.Add(name, added[name].tensor, added[name].attrs...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o := store.AttachOptions{
		Prefix: rapid.SampledFrom([]string{"", "", "a/", "b"}).Draw(t, "prefix"),
		Clash:  rapid.SampledFrom([]store.Clash{store.ClashFails, store.ClashReplaces, store.ClashKeeps}).Draw(t, "clash"),
		Link:   rapid.Bool().Draw(t, "link"),
	}
	next, clashes, want := maps.Clone(m.now), 0, 0
	for name, s := range added {
		_, exists := m.now[o.Prefix+name]
		if exists {
			clashes++
		}
		if !exists || o.Clash != store.ClashKeeps {
			next[o.Prefix+name] = s
			want++
		}
	}
	n, err := m.st.Attach(context.Background(), path, &o)
	switch {
	case clashes > 0 && o.Clash == store.ClashFails:
		if !errors.Is(err, store.ErrExists) {
			t.Fatalf("attaching with %d clashes: %v", clashes, err)
		}
	case err != nil || n != want:
		t.Fatalf("attaching %d of %d tensors: %d, %v", want, len(added), n, err)
	default:
		m.now = next
	}
}

// actions are what can happen to a store.
func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"edit": func(t *rapid.T) { m.edit(t, m.st, m.now) },
		"batch": func(t *rapid.T) {
			next := maps.Clone(m.now)
			fails := rapid.IntRange(0, 4).Draw(t, "fails") == 0
			err := m.st.Update(func(tx *store.Tx) error {
				for range rapid.IntRange(0, 6).Draw(t, "edits") {
					m.edit(t, tx, next)
				}
				if err := compare(tx, next); err != nil {
					t.Fatalf("inside of the batch: %v", err)
				}
				if fails {
					return errGivenUp
				}
				return nil
			})
			switch {
			case fails && !errors.Is(err, errGivenUp), !fails && err != nil:
				t.Fatalf("batch that fails %v: %v", fails, err)
			case !fails:
				m.now = next
			}
		},
		"snapshot": func(t *rapid.T) {
			if len(m.snaps) > 3 {
				t.Skip("enough")
			}
			s, err := m.st.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			m.snaps = append(m.snaps, heldSnapshot{s, maps.Clone(m.now)})
		},
		"end snapshot": func(t *rapid.T) {
			if len(m.snaps) == 0 {
				t.Skip("there is none")
			}
			i := rapid.IntRange(0, len(m.snaps)-1).Draw(t, "which")
			m.closeSnapshot(t, m.snaps[i])
			m.snaps = slices.Delete(m.snaps, i, i+1)
		},
		"seal": func(t *rapid.T) { // goes on in a new log, and waits until the old one is sealed
			if err := store.Rotate(m.st); err != nil {
				t.Fatal(err)
			}
		},
		"compact": func(t *rapid.T) {
			minDead := rapid.SampledFrom([]float64{0, 0, 0.3, 0.7}).Draw(t, "dead")
			if _, err := m.st.Compact(context.Background(), &store.CompactOptions{MinDead: minDead}); err != nil {
				t.Fatal(err)
			}
		},
		"attach": m.attach,
		"delete catalog": func(t *rapid.T) { // under the writer, who does not need it
			for _, name := range []string{"catalog.db", "catalog.sum"} {
				if err := os.Remove(filepath.Join(m.dir, name)); err != nil && runtime.GOOS != "windows" && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
			}
		},
		"verify": func(t *rapid.T) {
			report, err := m.st.Verify(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Problems) > 0 || report.Tensors != len(m.now) {
				t.Fatalf("verify finds %d tensors of %d, and these problems: %v", report.Tensors, len(m.now), report.Problems)
			}
			segments, err := m.st.Segments()
			if err != nil {
				t.Fatal(err)
			}
			// A log that no batch is in yet is not among them; and elsewhere files that are
			// mapped can't be removed before they are closed.
			if files := segmentFiles(m.t, m.dir); len(files) != len(segments) && len(files) != len(segments)+1 && runtime.GOOS != "windows" {
				t.Fatalf("%d segments count, there are the files %v", len(segments), files)
			}
		},
		"reopen": func(t *rapid.T) {
			m.close(t)
			m.open(t)
		},
		"reopen without catalog": func(t *rapid.T) {
			m.close(t)
			removeCatalog(m.t, m.dir)
			m.open(t)
		},
		"move": func(t *rapid.T) { // to a copy of the closed store
			m.close(t)
			m.moveTo(copyDir(m.t, m.dir))
			m.open(t)
		},
		"crash": func(t *rapid.T) { // to a copy of the open one, as if it had been killed
			crashed := copyDir(m.t, m.dir)
			m.close(t)
			m.moveTo(crashed)
			m.open(t)
		},
		"look from outside": func(t *rapid.T) {
			st, err := store.Open(m.dir, &store.Options{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := compare(st, m.now); err != nil {
				t.Fatalf("a reader beside the writer: %v", err)
			}
			if err := st.Close(); err != nil {
				t.Fatal(err)
			}
		},
		"follow": func(t *rapid.T) {
			if m.follower == nil {
				st, err := store.Open(m.dir, &store.Options{ReadOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				m.follower = st
			} else if err := m.follower.Refresh(); err != nil {
				t.Fatal(err)
			}
			m.followed = maps.Clone(m.now)
		},
		"": func(t *rapid.T) {
			if err := compare(m.st, m.now); err != nil {
				t.Fatal(err)
			}
			for i, s := range m.snaps {
				if err := compare(s, s.want); err != nil {
					t.Fatalf("snapshot %d: %v", i, err)
				}
			}
			if m.follower != nil {
				if err := compare(m.follower, m.followed); err != nil {
					t.Fatalf("the follower: %v", err)
				}
			}
		},
	}
}

// moveTo goes on in another directory.
func (m *machine) moveTo(dir string) {
	m.unfollow()
	old := m.dir
	m.dir = dir
	os.RemoveAll(old)
}

func (m *machine) unfollow() {
	if m.follower != nil {
		must(m.t, m.follower.Close())
		m.follower = nil
	}
}

// TestModel does everything that can be done with a store in random order (changes,
// batches, and maintenance: sealing, compacting, attaching, opening it again, with and
// without its catalog, after a crash, beside snapshots and a reader that refreshes), and
// compares it with a map after each step.
func TestModel(t *testing.T) {
	for name, opts := range map[string]*store.Options{
		"plain":           &tiny,
		"sealed":          store.WithSealing(tiny, 3, 12),
		"syncs on demand": store.WithSealing(store.Options{SegmentSize: store.MinSegmentSize, Sync: store.SyncNever}, 8, 40),
	} {
		t.Run(name, func(t *testing.T) {
			parent := quickDir(t)
			runs := 0
			rapid.Check(t, func(rt *rapid.T) {
				runs++
				m := &machine{t: t, parent: parent, dir: filepath.Join(parent, fmt.Sprint("s", runs)), opts: opts, now: contents{}}
				m.open(rt)
				defer func() {
					m.unfollow()
					for _, s := range m.snaps {
						s.Close()
					}
					m.st.Close()
					os.RemoveAll(m.dir)
				}()
				rt.Repeat(m.actions())
			})
		})
	}
}
