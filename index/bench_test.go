package index

import (
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// The benchmarks work on a million names. A pointer chase through memory of the size of the index
// gives the price of one access to DRAM in the same run, as loads/op says for each lookup.
const benchNames = 1_000_000

type benchIndex struct {
	names   []string // in random order
	entries []*Entry // in the order of the names
	table   Table
	body    []byte
	frozen  *Frozen
	chase   []uint64 // each element is the index of the next, in one cycle
	load    float64  // ns of one step
}

var bench = sync.OnceValue(func() *benchIndex {
	bx := &benchIndex{}
	rng := rand.New(rand.NewPCG(1, 2))
	ed := Table{}.Edit()
	for i := range benchNames {
		e := image(fmt.Sprintf("train/images/%07d", i), uint64(i))
		bx.entries = append(bx.entries, e)
		bx.names = append(bx.names, strings.Clone(e.Name))
		ed.Set(e)
	}
	bx.table = ed.Table()
	b := NewFrozenBuilder(new(memory))
	for _, e := range bx.entries {
		if err := b.Add(e); err != nil {
			panic(err)
		}
	}
	out := memory{b: make([]byte, 0, b.Size())}
	if err := b.Finish(&out); err != nil {
		panic(err)
	}
	bx.body = out.b
	var err error
	if bx.frozen, err = OpenFrozen(bx.body); err != nil {
		panic(err)
	}
	rng.Shuffle(len(bx.names), func(i, j int) { bx.names[i], bx.names[j] = bx.names[j], bx.names[i] })
	// The names are walked through in order of their random place: their bytes shall not add misses.
	var all strings.Builder
	for _, name := range bx.names {
		all.WriteString(name)
	}
	text := all.String()
	for i, name := range bx.names {
		bx.names[i], text = text[:len(name)], text[len(name):]
	}

	bx.chase = make([]uint64, len(bx.body)/8)
	for i := range bx.chase {
		bx.chase[i] = uint64(i)
	}
	for i := len(bx.chase) - 1; i > 0; i-- { // Sattolo: one cycle through all
		j := rng.IntN(i)
		bx.chase[i], bx.chase[j] = bx.chase[j], bx.chase[i]
	}
	runtime.GC()
	const steps = 1_000_000
	start, p := time.Now(), uint64(0)
	for range steps {
		p = bx.chase[p]
	}
	sink += int(p)
	bx.load = float64(time.Since(start).Nanoseconds()) / steps
	return bx
})

var sink int

// perLoad reports the time of an operation in loads from DRAM.
func (bx *benchIndex) perLoad(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/bx.load, "loads/op")
	b.ReportMetric(bx.load, "ns/load")
}

func BenchmarkFrozenLookupRandom(b *testing.B) {
	bx := bench()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		_, found, err := bx.frozen.Lookup(bx.names[i%benchNames])
		if !found || err != nil {
			b.Fatal(found, err)
		}
		i++
	}
	bx.perLoad(b)
}

func BenchmarkFrozenLookupRepeated(b *testing.B) {
	bx := bench()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, found, err := bx.frozen.Lookup(bx.names[i&15]); !found || err != nil {
			b.Fatal(found, err)
		}
		i++
	}
	bx.perLoad(b)
}

func BenchmarkFrozenLookupAbsent(b *testing.B) {
	bx := bench()
	absent := make([]string, 1<<16)
	for i := range absent {
		absent[i] = fmt.Sprintf("test/images/%07d", i)
	}
	i := 0
	for b.Loop() {
		if _, found, err := bx.frozen.Lookup(absent[i&(1<<16-1)]); found || err != nil {
			b.Fatal(found, err)
		}
		i++
	}
	bx.perLoad(b)
}

func BenchmarkFrozenPrefixOf100(b *testing.B) {
	bx := bench()
	i := 0
	for b.Loop() {
		n := 0
		name := bx.names[i%benchNames]
		for _, err := range bx.frozen.Prefix(name[:len(name)-2]) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 100 {
			b.Fatal(n)
		}
		i++
	}
}

func BenchmarkFrozenOpen(b *testing.B) {
	bx := bench()
	for b.Loop() {
		if _, err := OpenFrozen(bx.body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFrozenVerify(b *testing.B) {
	bx := bench()
	b.SetBytes(int64(len(bx.body)))
	for b.Loop() {
		if err := bx.frozen.Verify(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFrozenBuild(b *testing.B) {
	bx := bench()
	b.ReportAllocs()
	size := int64(0)
	for b.Loop() {
		fb := NewFrozenBuilder(&memory{b: make([]byte, 0, len(bx.body))})
		for _, e := range bx.entries {
			if err := fb.Add(e); err != nil {
				b.Fatal(err)
			}
		}
		if err := fb.Finish(io.Discard); err != nil {
			b.Fatal(err)
		}
		size = fb.Size()
	}
	b.ReportMetric(float64(b.N)*benchNames/b.Elapsed().Seconds(), "entries/s")
	b.ReportMetric(float64(size)/benchNames, "bytes/entry")
}

func BenchmarkTableGetRandom(b *testing.B) {
	bx := bench()
	i := 0
	for b.Loop() {
		if bx.table.Get(bx.names[i%benchNames]) == nil {
			b.Fatal("not found")
		}
		i++
	}
	bx.perLoad(b)
}

func BenchmarkTableGetRepeated(b *testing.B) {
	bx := bench()
	i := 0
	for b.Loop() {
		if bx.table.Get(bx.names[i&15]) == nil {
			b.Fatal("not found")
		}
		i++
	}
	bx.perLoad(b)
}

func BenchmarkTablePrefixOf100(b *testing.B) {
	bx := bench()
	i := 0
	for b.Loop() {
		n := 0
		name := bx.names[i%benchNames]
		for range bx.table.Prefix(name[:len(name)-2]) {
			n++
		}
		if n != 100 {
			b.Fatal(n)
		}
		i++
	}
}

// One commit with one put: what it costs to give readers the next table.
func BenchmarkTableSetAndPublish(b *testing.B) {
	bx := bench()
	b.ReportAllocs()
	ed := bx.table.Edit()
	i := 0
	for b.Loop() {
		ed.Set(bx.entries[(i*7919)%benchNames])
		sink += ed.Table().Len()
		i++
	}
}

func BenchmarkTableBuildRandom(b *testing.B) {
	bx := bench()
	byName := make(map[string]*Entry, benchNames)
	for _, e := range bx.entries {
		byName[e.Name] = e
	}
	shuffled := make([]*Entry, benchNames)
	for i, name := range bx.names {
		shuffled[i] = byName[name]
	}
	for b.Loop() {
		ed := Table{}.Edit()
		for _, e := range shuffled {
			ed.Set(e)
		}
		sink += ed.Table().Len()
	}
	b.ReportMetric(float64(b.N)*benchNames/b.Elapsed().Seconds(), "entries/s")
}

func benchCatalog(b *testing.B) string {
	bx := bench()
	path := filepath.Join(b.TempDir(), "catalog.db")
	c := mustOpen(b, path)
	for i := 0; i < benchNames; i += 50_000 {
		mustApply(b, c, []LogEntries{{1, bx.entries[i : i+50_000]}}, nil, position(uint64(i)))
	}
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkCatalogApply(b *testing.B) {
	for b.Loop() {
		benchCatalog(b)
	}
	b.ReportMetric(float64(b.N)*benchNames/b.Elapsed().Seconds(), "entries/s")
}

func BenchmarkCatalogOpen(b *testing.B) {
	path := benchCatalog(b)
	for b.Loop() {
		c, err := OpenCatalog(path)
		if err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}

func BenchmarkCatalogReadAll(b *testing.B) {
	c := mustOpen(b, benchCatalog(b))
	for b.Loop() {
		ed := Table{}.Edit()
		for ce, err := range c.Entries() {
			if err != nil {
				b.Fatal(err)
			}
			ed.Set(ce.Entry)
		}
		sink += ed.Table().Len()
	}
}
