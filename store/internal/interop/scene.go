package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// A scene is a store or package, and what a reader must see in it.
type scene struct {
	name    string
	path    string
	want    map[string]want
	digest  string        // of a package
	attrs   []layout.Attr // of a package
	torn    bool          // a write was torn in one of its logs
	dropped []string      // names that are there no longer

	// messages are how many messages of each kind reader.py has found in each of its
	// files.
	messages map[string]map[string]int
}

// sorted is what must be seen, by name.
func (s *scene) sorted() []want {
	return slices.SortedFunc(maps.Values(s.want), func(a, b want) int { return cmp.Compare(a.Name, b.Name) })
}

// settle takes from tstore what depends on how tensors are stored, and makes sure that
// tstore itself sees what was put: else the fault lies here, or there. It
// writes all of it to a file, a line of JSON for each tensor.
func (s *scene) settle() error {
	open := func() (*store.Store, error) { return store.Open(s.path, &store.Options{ReadOnly: true}) }
	if s.digest != "" {
		open = func() (*store.Store, error) { return store.OpenPackage(s.path) }
	}
	st, err := open()
	if err != nil {
		return err
	}
	defer st.Close()
	n := 0
	for e, err := range st.List("") {
		if err != nil {
			return err
		}
		w, ok := s.want[e.Name]
		if !ok {
			return fmt.Errorf("%s: %q is there and should not be", s.name, e.Name)
		}
		w.stored(e)
		s.want[e.Name] = w
		n++
	}
	if n != len(s.want) {
		return fmt.Errorf("%s: %d tensors are there, it should be %d", s.name, n, len(s.want))
	}
	f, err := os.Create(s.path + ".jsonl")
	if err != nil {
		return err
	}
	defer f.Close()
	for _, w := range s.sorted() {
		if err := json.NewEncoder(f).Encode(w); err != nil {
			return err
		}
	}
	return f.Close()
}

// names are some to look up: of those that are there, of those that are not.
func (s *scene) names(random *rand.Rand) []string {
	all := make([]string, 0, len(s.want))
	for _, w := range s.sorted() {
		all = append(all, w.Name)
	}
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	all = all[:min(len(all), 200)]
	return append(append(all, s.dropped[:min(len(s.dropped), 50)]...), "never there", "\U0010FFFD", "a/", strings.Repeat("z", 1024))
}

// prefixes are some to list.
func (s *scene) prefixes() []string {
	all := []string{"", "a/", "a/1", "p", "q/r/", "ä", "nothing begins so"}
	for _, w := range s.sorted() {
		if len(all) < 12 {
			all = append(all, strings.ToValidUTF8(w.Name[:len(w.Name)/2], ""))
		}
	}
	return all
}

// An author changes an open store and keeps account of what is in it.
type author struct {
	*scene
	store   *store.Store
	options store.Options
	random  *rand.Rand
	number  int // in the last name that was made up
}

func newAuthor(dir, name string, seed uint64, o store.Options) (*author, error) {
	a := &author{
		scene:   &scene{name: name, path: filepath.Join(dir, name), want: map[string]want{}},
		options: o,
		random:  rand.New(rand.NewPCG(seed, uint64(len(name)))),
	}
	return a, a.open()
}

func (a *author) open() (err error) {
	o := a.options
	a.store, err = store.Open(a.path, &o)
	return err
}

// reopen closes the store, and opens it again.
func (a *author) reopen() error {
	if err := a.store.Close(); err != nil {
		return err
	}
	return a.open()
}

// change is one batch; what fn does to the account counts if the batch is committed.
func (a *author) change(fn func(c *changes) error) error {
	c := &changes{author: a, want: maps.Clone(a.want), dropped: a.dropped}
	err := a.store.Update(func(tx *store.Tx) error {
		c.tx = tx
		return fn(c)
	})
	if err == nil {
		a.want, a.dropped = c.want, c.dropped
	}
	return err
}

// changes is a batch that is being made.
type changes struct {
	*author
	tx      *store.Tx
	want    map[string]want
	dropped []string
}

func (c *changes) put(name string, t layout.Tensor, attrs []layout.Attr) error {
	w, err := expect(name, t, attrs)
	if err != nil {
		return err
	}
	c.want[name] = w
	return c.tx.Put(name, t, attrs...)
}

func (c *changes) delete(name string) error {
	delete(c.want, name)
	c.dropped = append(c.dropped, name)
	return c.tx.Delete(name)
}

func (c *changes) rename(from, to string) error {
	w := c.want[from]
	w.Name = to
	c.want[to] = w
	delete(c.want, from)
	c.dropped = append(c.dropped, from)
	return c.tx.Rename(from, to)
}

// newName is one that is not there.
func (c *changes) newName() string {
	fronts := []string{"a/", "b/", "p/", "q/r/", "ä/", "日本/", "b" + strings.Repeat("long/", 30)}
	for {
		c.number++
		name := fmt.Sprintf("%s%d", fronts[c.random.IntN(len(fronts))], c.number)
		if _, there := c.want[name]; !there {
			return name
		}
	}
}

// anyName is one that is there, or "".
func (c *changes) anyName() string {
	if len(c.want) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(c.want))
	return names[c.random.IntN(len(names))]
}

// smallTensor is a random tensor of a random type.
func (c *changes) smallTensor() layout.Tensor {
	l := layouts[0]
	if c.random.IntN(3) == 0 {
		l = layouts[c.random.IntN(len(layouts))]
	}
	return randomTensor(c.random, elementTypes[c.random.IntN(len(elementTypes))], l)
}

// churn does so many batches of random changes; big is the share of tensors, in
// percent, that are large enough for a segment of their own.
func (a *author) churn(batches, big int) error {
	for range batches {
		err := a.change(func(c *changes) error {
			for range 1 + c.random.IntN(6) {
				if err := c.randomChange(big); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *changes) randomChange(big int) error {
	name := c.anyName()
	switch n := c.random.IntN(100); {
	case name == "" || n < 40:
		name = c.newName()
	case n < 60: // overwrites
	case n < 80:
		return c.delete(name)
	case len(c.dropped) > 0 && n < 90:
		to := c.dropped[c.random.IntN(len(c.dropped))]
		if _, ok := c.want[to]; ok {
			to = c.newName()
		}
		return c.rename(name, to)
	default:
		return c.rename(name, c.newName())
	}
	if c.random.IntN(100) < big {
		length := c.options.SegmentSize/2 + c.random.Int64N(c.options.SegmentSize)
		return c.put(name, randomDense(c.random, layout.Uint8, []int64{length}, 1), randomAttrs(c.random))
	}
	return c.put(name, c.smallTensor(), randomAttrs(c.random))
}

// pack makes a package of what the store has, and returns it as a scene.
func (a *author) pack(name string, attrs []layout.Attr, prefixes ...string) (*scene, error) {
	p := &scene{
		name:    name,
		path:    filepath.Join(filepath.Dir(a.path), name+".tstore"),
		want:    map[string]want{},
		attrs:   attrs,
		dropped: a.dropped,
	}
	for n, w := range a.want {
		if len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(n, p) }) {
			p.want[n] = packed(w)
		}
	}
	digest, err := a.store.Pack(context.Background(), p.path, &store.PackOptions{Attrs: attrs, Prefixes: prefixes})
	p.digest = digest.String()
	return p, err
}

// packed is what w is in a package: its attributes are sorted.
func packed(w want) want {
	w.Attributes = slices.Clone(w.Attributes)
	slices.SortFunc(w.Attributes, func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	return w
}

// copyAs copies the store as it is at this moment, without its lock and catalog.
func (a *author) copyAs(name string) (*scene, error) {
	c := *a.scene
	c.name, c.path = name, filepath.Join(filepath.Dir(a.path), name)
	c.want, c.dropped = maps.Clone(a.want), slices.Clone(a.dropped)
	return &c, copySegments(a.path, c.path)
}

func copySegments(from, to string) error {
	to = filepath.Join(to, "segments")
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(filepath.Join(from, "segments")))
}
