package index

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tstore/tstore/layout"
)

// byName sorts entries and returns them.
func byName(es []*Entry) []*Entry {
	slices.SortFunc(es, func(a, b *Entry) int { return strings.Compare(a.Name, b.Name) })
	return es
}

func mustBuild(t testing.TB, es []*Entry) []byte {
	t.Helper()
	b, err := BuildFrozen(slices.Values(es))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func mustFreeze(t testing.TB, es []*Entry) *Frozen {
	t.Helper()
	f, err := OpenFrozen(mustBuild(t, es))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func collect(seq func(func(*Entry, error) bool)) (es []*Entry, err error) {
	for e, err := range seq {
		if err != nil {
			return es, err
		}
		es = append(es, e)
	}
	return es, nil
}

// frozenFrom returns the same index in memory and behind a reader.
func frozenFrom(t testing.TB, b []byte) map[string]*Frozen {
	t.Helper()
	mapped, err := OpenFrozen(b)
	if err != nil {
		t.Fatal(err)
	}
	read, err := OpenFrozenAt(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*Frozen{"in memory": mapped, "through a reader": read}
}

// checkFrozen compares an index with the entries it was made of, which are sorted.
func checkFrozen(f *Frozen, want []*Entry) error {
	if err := f.Verify(); err != nil {
		return err
	}
	got, err := collect(f.Ascend(""))
	if err != nil {
		return err
	}
	if diff := cmp.Diff(want, got, equateEntries); diff != "" {
		return fmt.Errorf("Ascend (-want +got):\n%s", diff)
	}
	tombstones, minSeq, maxSeq := 0, uint64(math.MaxUint64), uint64(0)
	for _, e := range want {
		ref, found, err := f.Lookup(e.Name)
		if err != nil || !found {
			return fmt.Errorf("Lookup(%.50q): %v, %w", e.Name, found, err)
		}
		wantRef := Ref{Deleted: e.Deleted, Seq: e.Seq, Segment: e.Segment, Offset: e.Offset, Length: e.Length, CRC: e.CRC, at: ref.at}
		if ref != wantRef {
			return fmt.Errorf("Lookup(%.50q) = %+v, want %+v", e.Name, ref, wantRef)
		}
		got, err := f.Entry(ref)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(e, got, equateEntries); diff != "" {
			return fmt.Errorf("Entry (-want +got):\n%s", diff)
		}
		if e.Deleted {
			tombstones++
		}
		minSeq, maxSeq = min(minSeq, e.Seq), max(maxSeq, e.Seq)
	}
	if len(want) == 0 {
		minSeq = 0
	}
	if f.Len() != len(want) || f.Tombstones() != tombstones || f.MinSeq() != minSeq || f.MaxSeq() != maxSeq {
		return fmt.Errorf("%d entries, %d tombstones, %d to %d; want %d, %d, %d to %d",
			f.Len(), f.Tombstones(), f.MinSeq(), f.MaxSeq(), len(want), tombstones, minSeq, maxSeq)
	}
	return nil
}

func TestFrozenFindsWhatWasPutIn(t *testing.T) {
	many := some("train/", 3000, 5)
	for _, c := range []struct {
		name    string
		entries []*Entry
	}{
		{"nothing", nil},
		{"one", []*Entry{image("x", 1)}},
		{"one tombstone", []*Entry{{Name: "x", Seq: 3, Deleted: true}}},
		{"every kind", byName(sampleEntries(t))},
		{"many", many},
		{"longest names", []*Entry{image(strings.Repeat("n", MaxName-1), 1), image(strings.Repeat("n", MaxName), 2)}},
		{"a package", func() []*Entry {
			es := some("x", 10, 0)
			for i, e := range es {
				es[i] = image(e.Name, 0)
				es[i].Segment, es[i].Seq = 0, 0
			}
			return es
		}()},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := mustBuild(t, c.entries)
			if len(b)%64 != 0 {
				t.Errorf("%d bytes, not a multiple of 64", len(b))
			}
			for how, f := range frozenFrom(t, b) {
				if err := checkFrozen(f, c.entries); err != nil {
					t.Errorf("%s: %v", how, err)
				}
				for _, name := range []string{"", "absent", "train/", "train/00000", "\xff", strings.Repeat("n", 9999)} {
					if ref, found, err := f.Lookup(name); found || err != nil || ref != (Ref{}) {
						t.Errorf("%s: Lookup(%.20q) = %v, %v, %v", how, name, ref, found, err)
					}
				}
			}
		})
	}
}

func TestFrozenIsLikeASortedMap(t *testing.T) {
	names := rapid.OneOf(
		rapid.StringMatching(`(train|val)/[0-9]{1,4}`),
		rapid.StringMatching(`[a-c]{1,9}`),
		rapid.StringMatching(`\PC{1,20}`).Filter(func(s string) bool { return CheckName(s) == nil }),
	)
	rapid.Check(t, func(t *rapid.T) {
		var want []*Entry
		for name := range rapid.MapOfN(names, rapid.Just(0), 0, 80).Draw(t, "names") {
			want = append(want, entries(name).Draw(t, "entry"))
		}
		byName(want)
		b, err := BuildFrozen(slices.Values(want))
		if err != nil {
			t.Fatal(err)
		}
		f, err := OpenFrozen(b)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkFrozen(f, want); err != nil {
			t.Fatal(err)
		}
		probe := names.Draw(t, "probe")
		i, there := slices.BinarySearchFunc(want, probe, func(e *Entry, s string) int { return strings.Compare(e.Name, s) })
		if _, found, err := f.Lookup(probe); found != there || err != nil {
			t.Fatalf("Lookup(%q): %v, %v", probe, found, err)
		}
		got, err := collect(f.Ascend(probe))
		if diff := cmp.Diff(want[i:], got, equateEntries); diff != "" || err != nil {
			t.Fatalf("Ascend(%q): %v (-want +got):\n%s", probe, err, diff)
		}
		prefix := probe[:len(probe)/2]
		var begin []*Entry
		for _, e := range want {
			if strings.HasPrefix(e.Name, prefix) {
				begin = append(begin, e)
			}
		}
		got, err = collect(f.Prefix(prefix))
		if diff := cmp.Diff(begin, got, equateEntries); diff != "" || err != nil {
			t.Fatalf("Prefix(%q): %v (-want +got):\n%s", prefix, err, diff)
		}
	})
}

func TestFrozenKeepsDigestAndDatasetAttributes(t *testing.T) {
	b := NewFrozenBuilder(new(memory))
	if err := b.Add(image("x", 1)); err != nil {
		t.Fatal(err)
	}
	digest := [32]byte{1, 2, 31: 3}
	attrs := []layout.Attr{{Key: "title", Value: "Digits"}, {Key: "readme", Value: strings.Repeat("text\n", 100_000)}}
	b.SetDigest(digest)
	b.SetDataset(attrs)
	var out bytes.Buffer
	if err := b.Finish(&out); err != nil {
		t.Fatal(err)
	}
	if int64(out.Len()) != b.Size() {
		t.Errorf("%d bytes, Size said %d", out.Len(), b.Size())
	}
	for how, f := range frozenFrom(t, out.Bytes()) {
		if err := checkFrozen(f, []*Entry{image("x", 1)}); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		got, err := f.Dataset()
		if f.Digest() != digest || err != nil || !slices.Equal(got, attrs) {
			t.Errorf("%s: digest %x, %d attributes, error %v", how, f.Digest(), len(got), err)
		}
	}
	if got, err := mustFreeze(t, nil).Dataset(); got != nil || err != nil {
		t.Errorf("an index without dataset attributes has %v, %v", got, err)
	}
}

func TestBuilderThroughAFileGivesTheSameBytes(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "spool"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	es := some("train/", 9000, 1) // more than fits in the buffer, and in a chunk of the list
	b := NewFrozenBuilder(file)
	for _, e := range es {
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	want := mustBuild(t, es)
	for range 2 {
		var got bytes.Buffer
		if err := b.Finish(&got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) || b.Size() != int64(len(want)) || b.Len() != len(es) {
			t.Fatalf("%d bytes, size %d, %d entries; want %d bytes of the in-memory builder", got.Len(), b.Size(), b.Len(), len(want))
		}
	}
}

func TestBuilderRefuses(t *testing.T) {
	with := func(change func(e *Entry)) *Entry {
		e := image("x", 1)
		change(e)
		return e
	}
	for _, c := range []struct {
		name  string
		entry *Entry
		text  string
	}{
		{"the same name again", image("m", 2), "must ascend"},
		{"a smaller name", image("a", 2), "must ascend"},
		{"no name", image("", 2), "empty"},
		{"a control character", image("x\n", 2), "control character"},
		{"a tombstone out of order", &Entry{Name: "a", Deleted: true}, "must ascend"},
		{"a misaligned record", with(func(e *Entry) { e.Offset = 8 }), "not possible"},
		{"an empty record", with(func(e *Entry) { e.Length = 0 }), "not possible"},
		{"no element type", with(func(e *Entry) { e.DType = layout.DType{} }), "no element type"},
		{"a layout of the future", with(func(e *Entry) { e.Layout = 9 }), "layout number 9"},
		{"sparse without indices", with(func(e *Entry) { e.Layout = layout.LayoutCSR }), "no type of indices"},
		{"too many dimensions", with(func(e *Entry) { e.Shape = make([]int64, 65) }), "65 dimensions"},
		{"a dimension name too few", with(func(e *Entry) { e.DimNames = []string{"x"} }), "1 dimension names"},
		{"a negative dimension", with(func(e *Entry) { e.Shape = []int64{3, -1} }), "negative"},
		{"negative bytes", with(func(e *Entry) { e.Bytes = -1 }), "negative"},
		{"too many attributes", with(func(e *Entry) {
			e.Attrs = []layout.Attr{{Key: "k", Value: strings.Repeat("v", maxDescription)}}
		}), "at most"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := NewFrozenBuilder(new(memory))
			if err := b.Add(image("m", 1)); err != nil {
				t.Fatal(err)
			}
			if err := b.Add(c.entry); err == nil || !strings.Contains(err.Error(), c.text) {
				t.Fatalf("error %v, want one with %q", err, c.text)
			}
			// A refused entry leaves no trace.
			var got bytes.Buffer
			if err := b.Finish(&got); err != nil {
				t.Fatal(err)
			}
			if want := mustBuild(t, []*Entry{image("m", 1)}); !bytes.Equal(got.Bytes(), want) {
				t.Error("the index is not as if the entry had not been offered")
			}
		})
	}
}

// faultySpool fails or forgets from a number of bytes on.
type faultySpool struct {
	memory
	full   int
	forget bool
}

var errFull = errors.New("no space left")

func (s *faultySpool) WriteAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > int64(s.full) {
		return 0, errFull
	}
	return s.memory.WriteAt(p, off)
}

func (s *faultySpool) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.memory.ReadAt(p, off)
	if s.forget {
		clear(p[:n])
	}
	return n, err
}

func TestBuilderReportsItsSpoolAndItsWriter(t *testing.T) {
	es := some("x", 9000, 1)
	b := NewFrozenBuilder(&faultySpool{full: 300_000})
	var err error
	for _, e := range es {
		if err = b.Add(e); err != nil {
			break
		}
	}
	if !errors.Is(err, errFull) {
		t.Errorf("Add on a full spool: %v", err)
	}
	if err := b.Add(image("y", 1)); !errors.Is(err, errFull) {
		t.Errorf("Add after that: %v", err)
	}
	if err := b.Finish(io.Discard); !errors.Is(err, errFull) {
		t.Errorf("Finish after that: %v", err)
	}

	b = NewFrozenBuilder(&faultySpool{full: math.MaxInt, forget: true})
	for _, e := range es {
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Finish(io.Discard); err == nil || !strings.Contains(err.Error(), "give back") {
		t.Errorf("Finish with a spool that forgets: %v", err)
	}
}

func TestLookupInMemoryAllocatesNothing(t *testing.T) {
	f := mustFreeze(t, some("train/", 1000, 1))
	names := []string{"train/0000", "train/0999", "absent"}
	if n := testing.AllocsPerRun(100, func() {
		for _, name := range names {
			if _, _, err := f.Lookup(name); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestEntriesShareNoMemoryWithTheIndex(t *testing.T) {
	want := byName(sampleEntries(t))
	b := mustBuild(t, want)
	f, err := OpenFrozen(b)
	if err != nil {
		t.Fatal(err)
	}
	got, err := collect(f.Ascend(""))
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] = 0xA5
	}
	if diff := cmp.Diff(want, got, equateEntries); diff != "" {
		t.Errorf("the entries changed with the index (-want +got):\n%s", diff)
	}
}

// The hash is part of the format: these values, computed in another language, must never change.
func TestHashOfTheFormat(t *testing.T) {
	for name, want := range map[string]uint64{
		"":                        0x238f9c9b4974a058,
		"x":                       0x8d94a06b7821aefd,
		"train/x":                 0x80e74a1cf4c29fab,
		"12345678":                0x2a8cf394974df0e3,
		"123456789":               0x7c2a2d64376802a9,
		"höhe/山":                  0xd1ee136a1e7106a3,
		strings.Repeat("n", 1024): 0x5a40241577d19dc3,
	} {
		if got := hashName(name); got != want {
			t.Errorf("hashName(%.20q) = %#x, want %#x", name, got, want)
		}
	}
}

// Names as people choose them must spread over the buckets and tags as well as random numbers do.
func TestHashSpreadsNames(t *testing.T) {
	const n = 60_000
	patterns := map[string]func(i int) string{
		"counters":       func(i int) string { return fmt.Sprint(i) },
		"padded":         func(i int) string { return fmt.Sprintf("train/images/%08d", i) },
		"suffix":         func(i int) string { return fmt.Sprintf("%08d/weights", i) },
		"layers":         func(i int) string { return fmt.Sprintf("model.layers.%d.block.%d.weight", i/100, i%100) },
		"hex":            func(i int) string { return fmt.Sprintf("%032x", i) },
		"long":           func(i int) string { return strings.Repeat("dir/", 100) + fmt.Sprint(i) },
		"one byte, tail": func(i int) string { return strings.Repeat("a", i%1024) + string(rune(0x4e00+i/1024)) },
	}
	for kind, name := range patterns {
		buckets := bucketsFor(n)
		load, tags := make([]float64, buckets), make([]float64, 1<<12)
		for i := range n {
			h := hashName(name(i))
			load[home(h, buckets)]++
			tags[h&(1<<12-1)]++
		}
		for what, counts := range map[string][]float64{"buckets": load, "tags": tags} {
			mean, chi := n/float64(len(counts)), 0.0
			for _, c := range counts {
				chi += (c - mean) * (c - mean) / mean
			}
			// The statistic of random numbers has this mean and deviation.
			free := float64(len(counts) - 1)
			if z := (chi - free) / math.Sqrt(2*free); math.Abs(z) > 6 {
				t.Errorf("%s: %s are %.1f standard deviations from random", kind, what, z)
			}
		}
	}
}

func TestEveryBitOfANameChangesHalfOfTheHash(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, length := range []int{1, 7, 8, 9, 24, 31} {
		changed := make([]int, 64)
		const trials = 4000
		for range trials {
			b := make([]byte, length)
			for i := range b {
				b[i] = byte(rng.Uint32())
			}
			before := hashName(string(b))
			b[rng.IntN(length)] ^= 1 << rng.IntN(8)
			for i := range changed {
				changed[i] += int((before ^ hashName(string(b))) >> i & 1)
			}
		}
		for i, n := range changed {
			if p := float64(n) / trials; p < 0.44 || p > 0.56 {
				t.Errorf("bit %d of the hash of %d bytes changes with probability %.2f", i, length, p)
			}
		}
	}
}

func TestHashTableRarelyNeedsTheOrder(t *testing.T) {
	const n = 200_000
	table, homeless, probes := newFrozenTable(n), 0, 0
	for i := range n {
		h := hashName(fmt.Sprintf("train/%06d", i))
		before := 0
		for b := home(h, bucketsFor(n)); ; b = (b + 1) % bucketsFor(n) {
			if table[bucketBytes*b+bucketCount] < bucketSlots {
				break
			}
			if before++; before == maxProbes {
				homeless++
				break
			}
		}
		probes += min(before, maxProbes-1) + 1
		table.insert(h, int64(8*(i+1)))
	}
	if homeless > n/1000 || probes > n*11/10 {
		t.Errorf("%d of %d names have no slot, %d buckets are read for all", homeless, n, probes)
	}
	t.Logf("%d of %d names have no slot, %.3f buckets are read for one", homeless, n, float64(probes)/n)
}
