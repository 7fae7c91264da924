package store_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

const corpusDir = "../testdata/corpus"

// corpusFile is what the files accept-stores.jsonl and reject-stores.jsonl say of a
// file of the corpus that both have.
type corpusFile struct {
	File   string
	Number uint64            // of a segment in the store; 0 for a package on its own
	With   map[uint64]string // the other segments of the store
}

// corpusLines decodes a file of JSON lines.
func corpusLines[T any](t testing.TB, file string) []T {
	t.Helper()
	f, err := os.Open(filepath.Join(corpusDir, file))
	must(t, err)
	defer f.Close()
	var all []T
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var v T
		must(t, json.Unmarshal(scanner.Bytes(), &v))
		all = append(all, v)
	}
	must(t, scanner.Err())
	return all
}

// build makes the store that a file of the corpus is a segment of, or copies the
// package, and returns its path.
func (c *corpusFile) build(t testing.TB, dir string) string {
	t.Helper()
	root := quickDir(t)
	if c.Number == 0 {
		path := filepath.Join(root, c.File)
		must(t, copyFile(filepath.Join(corpusDir, dir, c.File), path))
		return path
	}
	path := filepath.Join(root, "s")
	must(t, os.MkdirAll(filepath.Join(path, "segments"), 0o777))
	segment := func(n uint64, dir, file string) {
		t.Helper()
		must(t, copyFile(filepath.Join(corpusDir, dir, file), filepath.Join(path, "segments", fmt.Sprintf("%010d.seg", n))))
	}
	segment(c.Number, dir, c.File)
	for n, file := range c.With {
		segment(n, "accept", file)
	}
	return path
}

// corpusTensor is what accept-stores.jsonl says of a tensor.
type corpusTensor struct {
	Name, Layout, DType string
	Seq                 uint64
	Shape               []int64
	DimNames            []string `json:"dim_names"`
	Attrs               [][2]string
	Elements            string
}

// describeStore reads all that is in a store, as accept-stores.jsonl describes it.
func describeStore(s *store.Store) ([]corpusTensor, error) {
	var all []corpusTensor
	for e, err := range s.List("") {
		if err != nil {
			return nil, err
		}
		x, err := s.Get(e.Name)
		if err != nil {
			return nil, err
		}
		dense, err := layout.ToDense(x, nil)
		if err != nil {
			return nil, err
		}
		d := corpusTensor{
			Name: e.Name, Seq: e.Seq, Layout: e.Layout.String(), DType: e.DType.String(),
			Shape: e.Shape, DimNames: e.DimNames, Elements: hex.EncodeToString(dense.AppendRowMajor(nil)),
		}
		for _, a := range e.Attrs {
			d.Attrs = append(d.Attrs, [2]string{a.Key, a.Value})
		}
		all = append(all, d)
	}
	return all, nil
}

func TestCorpusOfStoresIsAccepted(t *testing.T) {
	type accept struct {
		corpusFile
		Tensors []corpusTensor
		Attrs   [][2]string
		Digest  string
	}
	all := corpusLines[accept](t, "accept-stores.jsonl")
	checkCorpusIsListed(t, "accept", len(all))
	for _, want := range all {
		t.Run(want.File, func(t *testing.T) {
			path := want.build(t, "accept")
			check := func(how string, s *store.Store, tensors []corpusTensor) {
				t.Helper()
				got, err := describeStore(s)
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				if diff := cmp.Diff(tensors, got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%s: index (-) and store (+) differ:\n%s", how, diff)
				}
				r, err := s.Verify(context.Background(), nil)
				must(t, err)
				for _, p := range r.Problems {
					t.Errorf("%s: verify: %v", how, p.Err)
				}
			}
			reader := open(t, path, &store.Options{ReadOnly: true})
			check("reader", reader, want.Tensors)
			if want.Number != 0 {
				closeStore(t, reader)
				writer := open(t, path, nil)
				check("writer", writer, want.Tensors)
				closeStore(t, writer)
				check("writer, again", open(t, path, nil), want.Tensors)
				return
			}
			var attrs [][2]string
			list, err := reader.Attrs()
			must(t, err)
			for _, a := range list {
				attrs = append(attrs, [2]string{a.Key, a.Value})
			}
			if d, ok := reader.Digest(); !ok || d.String() != want.Digest || !slices.Equal(attrs, want.Attrs) {
				t.Errorf("digest %v and attributes %q, want %v and %q", d, attrs, want.Digest, want.Attrs)
			}
			b, err := os.ReadFile(path)
			must(t, err)
			unmapped, err := store.OpenPackageAt(bytes.NewReader(b), int64(len(b)), "corpus")
			must(t, err)
			defer unmapped.Close()
			check("unmapped", unmapped, want.Tensors)

			st := open(t, filepath.Join(quickDir(t), "s"), nil)
			must(t, st.Put("0", scalar))
			n, err := st.Attach(context.Background(), path, nil)
			if n != len(want.Tensors) || err != nil {
				t.Errorf("attached %d, %v", n, err)
			}
			must(t, st.Delete("0"))
			for i := range want.Tensors {
				want.Tensors[i].Seq = 2
			}
			check("attached", st, want.Tensors)
		})
	}
}

// checkCorpusIsListed makes sure that there are no more stores and packages in a
// directory than are listed.
func checkCorpusIsListed(t *testing.T, dir string, listed int) {
	t.Helper()
	n := 0
	for _, pattern := range []string{"*.seg", "*.tstore"} {
		paths, err := filepath.Glob(filepath.Join(corpusDir, dir, pattern))
		must(t, err)
		n += len(paths)
	}
	if n != listed {
		t.Errorf("%s has %d stores and packages, %d are listed", dir, n, listed)
	}
}

// corpusReject is what reject-stores.jsonl says of a file.
type corpusReject struct {
	corpusFile
	Base, Rule, On, Name, Error, Mentions string
}

// corpusErrors are the errors that rejects lead to, by their names there.
var corpusErrors = map[string]error{"corrupt": store.ErrCorrupt, "newer": store.ErrNewerFormat, "none": store.ErrNoStore}

// try does one thing that can fail with what is at path, in every way in which it can
// be done, and returns the errors. A step that the rule does not concern must not
// fail.
func (r *corpusReject) try(t *testing.T, path string) (errs []error) {
	t.Helper()
	opens := []func() (*store.Store, error){
		func() (*store.Store, error) { return store.Open(path, &store.Options{ReadOnly: true}) },
	}
	if r.Number != 0 {
		opens = append(opens, func() (*store.Store, error) { return store.Open(copyDir(t, path), nil) })
	} else {
		opens = append(opens, func() (*store.Store, error) {
			b, err := os.ReadFile(path)
			must(t, err)
			return store.OpenPackageAt(bytes.NewReader(b), int64(len(b)), path)
		})
	}
	for _, open := range opens {
		s, err := open()
		if r.On == "open" {
			errs = append(errs, err)
			if err == nil {
				must(t, s.Close())
			}
			continue
		}
		must(t, err)
		errs = append(errs, r.use(s))
		must(t, s.Close())
	}
	return errs
}

// use does with a store what has to fail.
func (r *corpusReject) use(s *store.Store) error {
	var err error
	switch r.On {
	case "stat":
		_, err = s.Stat(r.Name)
	case "get":
		if _, err = s.Stat(r.Name); err != nil {
			return fmt.Errorf("even stat fails: %v", err) // which hides what it is
		}
		_, err = s.Get(r.Name)
	case "attrs":
		_, err = s.Attrs()
	case "list":
		for _, err = range s.List("") {
			if err != nil {
				break
			}
		}
	case "verify":
		for e, err := range s.List("") {
			if err != nil {
				return fmt.Errorf("even listing fails: %v", err)
			}
			if _, err := s.Stat(e.Name); err != nil {
				return fmt.Errorf("even stat fails: %v", err)
			}
		}
		report, verr := s.Verify(context.Background(), nil)
		if verr != nil {
			return verr
		}
		var all []error
		for _, p := range report.Problems {
			all = append(all, p.Err)
		}
		err = errors.Join(all...)
	default:
		err = fmt.Errorf("no way to fail is called %q", r.On)
	}
	return err
}

func TestCorpusOfStoresIsRejected(t *testing.T) {
	all := corpusLines[corpusReject](t, "reject-stores.jsonl")
	checkCorpusIsListed(t, "reject", len(all))
	for _, r := range all {
		t.Run(r.File, func(t *testing.T) {
			path := r.build(t, "reject")
			for i, err := range r.try(t, path) {
				if want := corpusErrors[r.Error]; want == nil || !errors.Is(err, want) || !strings.Contains(err.Error(), r.Mentions) {
					t.Errorf("%s, in way %d: %v; want %s (%v) with %q", r.On, i, err, r.Error, want, r.Mentions)
				}
			}
			if r.Number == 0 {
				r.attach(t, path)
			}
			r.abuse(t, path)

			base, err := os.ReadFile(filepath.Join(corpusDir, "accept", r.Base))
			must(t, err)
			file, err := os.ReadFile(filepath.Join(corpusDir, "reject", r.File))
			must(t, err)
			// Only what breaks the rule is different, and the checksums over it.
			if n := differingBytes(base, file); len(file) == len(base) && n > 128 {
				t.Errorf("%d of %d bytes are not those of %s, which has %d", n, len(file), r.Base, len(base))
			}
		})
	}
}

// differingBytes returns how many bytes of b differ from the same in a, where both
// have them.
func differingBytes(a, b []byte) int {
	n := 0
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// attachRefuses are the ways to notice that a package is wrong after which a store
// must not take it in. What is wrong with a record is found when it is read.
var attachRefuses = []string{"open", "stat", "list", "attrs"}

// attach attaches a package to a store, before and after it has names that are in it.
func (r *corpusReject) attach(t *testing.T, path string) {
	t.Helper()
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	must(t, st.Put("a", scalar))
	_, err := st.Attach(context.Background(), path, &store.AttachOptions{Clash: store.ClashKeeps})
	layoutRule := strings.HasPrefix(r.Rule, "index-") || slices.Contains(packageLayoutRules, r.Rule)
	if err == nil && (slices.Contains(attachRefuses, r.On) || layoutRule) {
		t.Errorf("the package was attached")
	}
	if err != nil && !errors.Is(err, corpusErrors[r.Error]) {
		t.Errorf("attaching it: %v, want %s", err, r.Error)
	}
	if err != nil && len(segmentFiles(t, dir)) != 1 {
		t.Errorf("what was not attached stays in the store: %v", segmentFiles(t, dir))
	}
	got, err := st.Get("a")
	must(t, err)
	must(t, compareTensor(got, scalar))
}

// packageLayoutRules say where the records of a package are: attaching one that
// breaks them could make a store grow without bounds.
var packageLayoutRules = []string{"package-header", "package-sequence", "package-tombstone", "package-segment", "package-records", "record-bounds"}

// abuse does everything with what is at path that can be done. It may fail, but not
// panic, and takes little time and memory.
func (r *corpusReject) abuse(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(corpusDir, "reject", r.File))
	must(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	if s, err := store.Open(path, &store.Options{ReadOnly: true}); err == nil {
		useAll(s)
		must(t, s.Close())
	}
	if r.Number == 0 {
		to := filepath.Join(quickDir(t), "repaired")
		store.Repair(context.Background(), path, &store.RepairOptions{To: to})
	} else {
		if s, err := store.Open(copyDir(t, path), nil); err == nil {
			useAll(s)
			s.Compact(context.Background(), nil)
			s.Close()
		}
		store.Repair(context.Background(), path, &store.RepairOptions{To: filepath.Join(quickDir(t), "repaired")})
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 96<<20+uint64(info.Size())*64 {
		t.Errorf("a file of %d bytes made the store allocate %d", info.Size(), n)
	}
	if d := time.Since(start); d > 30*time.Second {
		t.Errorf("a file of %d bytes kept the store busy for %v", info.Size(), d)
	}
}

// useAll does everything that reads.
func useAll(s *store.Store) {
	names := []string{"a", "x", "p/a", "nothing"}
	for e, err := range s.List("") {
		if err == nil {
			names = append(names, e.Name)
		}
	}
	s.Attrs()
	s.Segments()
	s.View(func(tx *store.Tx) error {
		for _, name := range names {
			s.Stat(name)
			s.Get(name)
			tx.Get(name)
		}
		return nil
	})
	s.Verify(context.Background(), nil)
	s.Verify(context.Background(), &store.VerifyOptions{Quick: true})
	var b bytes.Buffer
	if p, err := store.NewPackageWriter(&b); err == nil {
		if sn, err := s.Snapshot(); err == nil {
			sn.PackTo(context.Background(), p, nil)
			sn.Close()
		}
		p.Abort()
	}
}

// TestEveryRuleOfStoresHasAReject compares the rules that the chapters on stores and
// packages of docs/FORMAT.md name with those that the corpus breaks.
func TestEveryRuleOfStoresHasAReject(t *testing.T) {
	tested := map[string]int{}
	stores, packages := 0, 0
	for _, r := range corpusLines[corpusReject](t, "reject-stores.jsonl") {
		tested[r.Rule]++
		// What ends in .seg and is about packages in stores counts as both.
		if strings.HasSuffix(r.File, ".tstore") || strings.HasPrefix(r.Rule, "attach-") {
			packages++
		} else {
			stores++
		}
	}
	if stores < 50 || packages < 30 {
		t.Errorf("%d rejects for stores, %d for packages; there should be 50 and 30", stores, packages)
	}
	text, err := os.ReadFile("../docs/FORMAT.md")
	must(t, err)
	_, after, found := bytes.Cut(text, []byte("## 1. A store is a directory"))
	first, rest, found2 := bytes.Cut(after, []byte("## 8. Messages"))
	_, last, found3 := bytes.Cut(rest, []byte("## 9. The index and the catalog"))
	if !found || !found2 || !found3 {
		t.Fatal("docs/FORMAT.md does not have the chapters that it should")
	}
	named := map[string]bool{}
	rule := regexp.MustCompile("`((?:store|segment|control|header|live|commit|operation|log|data|seal|trailer|index|package|attach|record)-[a-z0-9-]+)`")
	for _, part := range [][]byte{first, last} {
		for _, m := range rule.FindAllSubmatch(part, -1) {
			named[string(m[1])] = true
		}
	}
	for name := range named {
		if tested[name] == 0 {
			t.Errorf("no file breaks the rule %s", name)
		}
	}
	for name := range tested {
		if !named[name] {
			t.Errorf("docs/FORMAT.md does not have the rule %s", name)
		}
	}
}
