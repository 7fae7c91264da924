package index

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// What a damaged database does to bbolt may end the process whatever one recovers, so these tests
// open damaged catalogs in a child: the test binary itself, which TestMain turns into one that
// reads the path of a catalog from each line and answers with what it found there.

const attackChild = "TSTORE_CATALOG_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(attackChild) != "" {
		in := bufio.NewScanner(os.Stdin)
		for in.Scan() {
			fmt.Println(describeCatalog(in.Text()))
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// describeCatalog opens and reads a catalog as a store does. It returns "same" and a digest of all
// that is in it, "doubt" and the error, or "failed" with anything else.
func describeCatalog(path string) (answer string) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	defer func() {
		runtime.ReadMemStats(&after)
		info, err := os.Stat(path)
		if spent := after.TotalAlloc - before.TotalAlloc; err != nil || spent > 16<<20+8*uint64(info.Size()) {
			answer = fmt.Sprintf("failed: it allocated %d bytes", spent)
		}
	}()
	c, err := OpenCatalog(path)
	if err == nil {
		defer c.db.Close() // not c.Close, which would write a checksum
		var digest string
		if digest, err = digestCatalog(c); err == nil {
			return "same " + digest
		}
	}
	if errors.Is(err, ErrCatalog) {
		return "doubt: " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	return "failed: " + strings.ReplaceAll(err.Error(), "\n", " ")
}

func digestCatalog(c *Catalog) (string, error) {
	h := sha256.New()
	pos, ok := c.Position()
	fmt.Fprintf(h, "%+v %v\n", pos, ok)
	for ce, err := range c.Entries() {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(h, "%d %q %x\n", ce.Log, ce.Entry.Name, AppendEntry(nil, ce.Entry))
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}

// An attack is a catalog that gets damaged again and again, and the child that looks at it.
type attack struct {
	t      *testing.T
	path   string
	image  []byte // the catalog in good order
	want   string // what the child says of it
	older  string // what it would say of the catalog one transaction before
	stdin  io.Writer
	stdout *bufio.Scanner
	stderr *strings.Builder
	wait   func() error

	tried, doubted int
	mayBeOlder     bool // an older copy is no damage: the store replays what it lacks
}

func newAttack(t *testing.T) *attack {
	a := &attack{t: t, path: filepath.Join(t.TempDir(), "catalog.db"), stderr: new(strings.Builder)}
	// Long names make a tree of three levels out of few entries; log 2 lies inside the page of the
	// buckets; log 1 is gone and leaves free pages.
	c := mustOpen(t, a.path)
	long := strings.Repeat("long/", 60)
	mustApply(t, c, []LogEntries{{1, some("gone/", 300, 1)}, {2, some("s", 3, 1)}}, nil, position(1))
	mustApply(t, c, []LogEntries{{3, some(long, 250, 2)}}, nil, position(2))
	digest, err := digestCatalog(c)
	if err != nil {
		t.Fatal(err)
	}
	a.older = "same " + digest
	mustApply(t, c, []LogEntries{{3, some(long, 50, 3)}, {4, sampleEntries(t)}}, []uint64{1}, position(3))
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if a.image, err = os.ReadFile(a.path); err != nil {
		t.Fatal(err)
	}
	// Pages past the last one in use can't be damaged.
	pages := binary.LittleEndian.Uint64(a.image[pageHeader+40:])
	a.image = a.image[:max(pages, binary.LittleEndian.Uint64(a.image[4096+pageHeader+40:]))*4096]
	os.Remove(sumPath(a.path))

	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), attackChild+"=1")
	cmd.Stderr = a.stderr
	if a.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.stdout = bufio.NewScanner(out)
	a.stdout.Buffer(nil, 1<<20)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	a.wait = cmd.Wait
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if a.want = a.ask("nothing"); !strings.HasPrefix(a.want, "same ") {
		t.Fatalf("the catalog in good order: %s", a.want)
	}
	return a
}

func (a *attack) ask(what string) string {
	a.t.Helper()
	fmt.Fprintln(a.stdin, a.path)
	if !a.stdout.Scan() {
		err := a.wait()
		lines := strings.SplitAfterN(a.stderr.String(), "\n", 20)
		a.t.Fatalf("%s: the process died: %v\n%s", what, err, strings.Join(lines[:min(len(lines), 19)], ""))
	}
	return a.stdout.Text()
}

// try replaces the catalog by damaged bytes, and wants doubt or the same contents.
func (a *attack) try(damaged []byte, format string, args ...any) {
	a.t.Helper()
	if err := os.WriteFile(a.path, damaged, 0o666); err != nil {
		a.t.Fatal(err)
	}
	what := fmt.Sprintf(format, args...)
	a.tried++
	switch got := a.ask(what); {
	case strings.HasPrefix(got, "doubt"):
		a.doubted++
	case got != a.want && !(a.mayBeOlder && got == a.older):
		a.t.Errorf("%s: %s", what, got)
	}
}

// change damages a copy of the catalog.
func (a *attack) change(f func(b []byte), format string, args ...any) {
	a.t.Helper()
	b := append([]byte(nil), a.image...)
	f(b)
	a.try(b, format, args...)
}

func (a *attack) report() { a.t.Logf("%d attacks, %d in doubt", a.tried, a.doubted) }

var attackFactor = flag.Int("attacks", 1, "how many times as much random damage to do to the catalog")

func attacks(normal int) int { return normal * *attackFactor }

func TestRandomDamageToTheCatalog(t *testing.T) {
	a := newAttack(t)
	rng := rand.New(rand.NewPCG(5, 6))
	used := len(a.image)
	for range attacks(800) {
		i, bit := rng.IntN(used), rng.IntN(8)
		a.change(func(b []byte) { b[i] ^= 1 << bit }, "bit %d of byte %d flipped", bit, i)
	}
	for range attacks(150) {
		i, n := rng.IntN(used/512)*512, 512<<rng.IntN(4)
		sector := make([]byte, n)
		what := "zeros"
		if rng.IntN(2) == 0 {
			what = "noise"
			for j := range sector {
				sector[j] = byte(rng.Uint32())
			}
		}
		a.change(func(b []byte) { copy(b[i:], sector) }, "%d bytes of %s at %d", n, what, i)
	}
	for range attacks(100) {
		n := rng.IntN(used)
		a.try(a.image[:n], "cut to %d bytes", n)
	}
	for range attacks(150) {
		i, j := rng.IntN(used/4096)*4096, rng.IntN(used/4096)*4096
		a.change(func(b []byte) { copy(b[i:i+4096], a.image[j:]) }, "page %d over page %d", j/4096, i/4096)
	}
	a.report()
	if a.doubted < a.tried/4 {
		t.Errorf("only %d of %d attacks were noticed: they don't hit what they should", a.doubted, a.tried)
	}
}

func TestDamageBehindTheChecksumIsAlwaysNoticed(t *testing.T) {
	a := newAttack(t)
	if err := os.WriteFile(a.path, a.image, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := writeSum(a.path); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for range attacks(150) {
		i := rng.IntN(len(a.image))
		a.change(func(b []byte) { b[i] ^= byte(1 + rng.IntN(255)) }, "byte %d", i)
	}
	a.try(append(append([]byte(nil), a.image...), make([]byte, 4096)...), "a page more")
	a.report()
	if a.doubted != a.tried {
		t.Errorf("%d of %d damages went unnoticed", a.tried-a.doubted, a.tried)
	}
}

// pages calls f for each page of the image that has a type, with its offset.
func (a *attack) pages(f func(id uint64, at int, kind uint16, count int)) {
	for at := 0; at < len(a.image); at += 4096 {
		id := binary.LittleEndian.Uint64(a.image[at:])
		if id == uint64(at/4096) {
			f(id, at, binary.LittleEndian.Uint16(a.image[at+8:]), int(binary.LittleEndian.Uint16(a.image[at+10:])))
		}
	}
}

// Damage made by somebody who knows the format.
func TestCraftedDamageToTheCatalog(t *testing.T) {
	a := newAttack(t)
	if size := os.Getpagesize(); size != 4096 {
		t.Logf("pages have %d bytes here; the attacks aim at 4096", size)
	}
	hwm := uint64(len(a.image) / 4096)
	refs := func(self uint64) []uint64 {
		return []uint64{self, 0, 1, 2, 5, hwm / 2, hwm - 1, hwm, 1 << 31, 1 << 52, math.MaxUint64}
	}
	counts := []uint16{0, 1, 2, 100, 256, 0xFFFE, 0xFFFF}
	sizes := []uint32{0, 1, 16, 4096, 1 << 20, math.MaxInt32, math.MaxUint32}
	put16 := func(at int, v uint16) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint16(b[at:], v) }
	}
	put32 := func(at int, v uint32) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint32(b[at:], v) }
	}
	put64 := func(at int, v uint64) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint64(b[at:], v) }
	}

	a.pages(func(id uint64, at int, kind uint16, count int) {
		few := id%17 == 0 || kind != pageLeaf // most pages are leaves, and alike
		if !few {
			return
		}
		for _, v := range refs(id) {
			a.change(put64(at, v), "page %d says it is %d", id, v)
		}
		for _, v := range []uint16{0, pageBranch, pageLeaf, pageMeta, pageFreelist, pageBranch | pageLeaf, 0xFFFF} {
			a.change(put16(at+8, v), "page %d of type %#x", id, v)
		}
		for _, v := range counts {
			a.change(put16(at+10, v), "page %d with %d elements", id, v)
		}
		for _, v := range sizes {
			a.change(put32(at+12, v), "page %d with overflow %d", id, v)
		}
		for i := range min(count, 3) {
			element := at + pageHeader + elementSize*i
			switch kind {
			case pageBranch:
				for _, v := range refs(id) {
					a.change(put64(element+8, v), "branch %d, child %d is page %d", id, i, v)
				}
				for _, v := range sizes {
					a.change(put32(element, v), "branch %d, key %d at %d", id, i, v)
					a.change(put32(element+4, v), "branch %d, key %d of %d bytes", id, i, v)
				}
			case pageLeaf:
				for _, v := range sizes {
					a.change(put32(element, v), "leaf %d, element %d with flags %#x", id, i, v)
					a.change(put32(element+4, v), "leaf %d, key %d at %d", id, i, v)
					a.change(put32(element+8, v), "leaf %d, key %d of %d bytes", id, i, v)
					a.change(put32(element+12, v), "leaf %d, value %d of %d bytes", id, i, v)
				}
				if binary.LittleEndian.Uint32(a.image[element:]) == leafBucket {
					value := element + int(binary.LittleEndian.Uint32(a.image[element+4:])) + int(binary.LittleEndian.Uint32(a.image[element+8:]))
					for _, v := range refs(id) {
						a.change(put64(value, v), "leaf %d, bucket %d has root %d", id, i, v)
						a.change(put64(value+8, v), "leaf %d, bucket %d has sequence %d", id, i, v)
						a.change(put64(value+16, v), "leaf %d, bucket %d has inside page %d", id, i, v)
					}
					for _, v := range counts {
						a.change(put16(value+24, v), "leaf %d, bucket %d has inside type %d", id, i, v)
						a.change(put16(value+26, v), "leaf %d, bucket %d has inside %d elements", id, i, v)
					}
				}
			case pageFreelist:
				for _, v := range refs(id) {
					a.change(put64(at+pageHeader+8*i, v), "free page %d is %d", i, v)
					a.change(func(b []byte) {
						put16(at+10, 0xFFFF)(b)
						put64(at+pageHeader, v)(b)
					}, "a long freelist of %d pages", v)
				}
			}
		}
	})

	// Meta pages with the right checksum, one or both. They can be made to say that the older one
	// of them is the newer.
	a.mayBeOlder = true
	rehash := func(b []byte) {
		for id := range 2 {
			h := fnv.New64a()
			h.Write(b[4096*id+pageHeader:][:metaSize-8])
			binary.LittleEndian.PutUint64(b[4096*id+pageHeader+metaSize-8:], h.Sum64())
		}
	}
	fields := map[string]int{"root page": 16, "root sequence": 24, "freelist page": 32, "number of pages": 40, "transaction": 48}
	for field, offset := range fields {
		for _, v := range refs(3) {
			for _, ids := range [][]int{{0}, {1}, {0, 1}} {
				a.change(func(b []byte) {
					for _, id := range ids {
						put64(4096*id+pageHeader+offset, v)(b)
					}
					rehash(b)
				}, "%s %d in meta pages %v", field, v, ids)
			}
		}
	}
	for field, offset := range map[string]int{"magic": 0, "version": 4, "page size": 8, "flags": 12} {
		for _, v := range append([]uint32{512, 1024, 3000, 5000, 8192, 65536, 1 << 24}, sizes...) {
			for _, ids := range [][]int{{0}, {1}, {0, 1}} {
				a.change(func(b []byte) {
					for _, id := range ids {
						put32(4096*id+pageHeader+offset, v)(b)
					}
					rehash(b)
				}, "%s %d in meta pages %v", field, v, ids)
			}
		}
	}
	a.report()
	if a.doubted < a.tried/2 {
		t.Errorf("only %d of %d attacks were noticed: they don't hit what they should", a.doubted, a.tried)
	}
}

// A catalog that says of every page what is true of another one: all pages of the file are tried
// as the root of all trees.
func TestEveryPageAsTheRootOfEveryTree(t *testing.T) {
	a := newAttack(t)
	var roots []int // where the root pages of buckets are written
	a.pages(func(id uint64, at int, kind uint16, count int) {
		for i := range count {
			element := at + pageHeader + elementSize*i
			if kind == pageLeaf && binary.LittleEndian.Uint32(a.image[element:]) == leafBucket {
				roots = append(roots, element+int(binary.LittleEndian.Uint32(a.image[element+4:]))+int(binary.LittleEndian.Uint32(a.image[element+8:])))
			}
		}
	})
	if len(roots) == 0 {
		t.Fatal("there are no buckets")
	}
	for _, at := range roots {
		for id := range len(a.image) / 4096 {
			a.change(func(b []byte) { binary.LittleEndian.PutUint64(b[at:], uint64(id)) }, "root of the bucket at %d is page %d", at, id)
		}
	}
	a.report()
}

// Databases of the larger page sizes, which other machines have, are checked and opened too.
func TestCatalogOfOtherPageSizes(t *testing.T) {
	for _, size := range []int{4 << 10, 16 << 10, 64 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "catalog.db")
			makeDatabase(t, path, size)
			c := mustOpen(t, path)
			mustApply(t, c, []LogEntries{{1, some("a", 3000, 1)}}, nil, position(1))
			c.db.Close()
			c = mustOpen(t, path)
			got, err := readCatalog(c)
			if err != nil || len(got[1]) != 3000 {
				t.Fatalf("%d entries, error %v", len(got[1]), err)
			}
		})
	}
	for _, size := range []int{1 << 10, 2 << 10, 128 << 10} {
		path := filepath.Join(t.TempDir(), "catalog.db")
		makeDatabase(t, path, size)
		if _, err := OpenCatalog(path); !errors.Is(err, ErrCatalog) {
			t.Errorf("pages of %d bytes: %v, want %v", size, err, ErrCatalog)
		}
	}
}
