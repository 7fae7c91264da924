package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/layout"
)

// repair makes every checksum of a frozen index right, as far as it can find what they cover: a
// crafted index, as opposed to a damaged one.
func repair(b []byte) {
	le := binary.LittleEndian
	if len(b) < frozenHeaderSize {
		return
	}
	inside := func(offset, n uint64) []byte {
		if offset > uint64(len(b)) || n > uint64(len(b))-offset {
			return nil
		}
		return b[offset : offset+n]
	}
	if n := le.Uint64(b[64:]); n <= uint64(len(b))/bucketBytes {
		buckets := inside(le.Uint64(b[56:]), n*bucketBytes)
		for ; len(buckets) > 0; buckets = buckets[bucketBytes:] {
			le.PutUint32(buckets[bucketCRC:], crc32.Checksum(buckets[:bucketCRC], castagnoli))
		}
		le.PutUint32(b[112:], crc32.Checksum(inside(le.Uint64(b[56:]), n*bucketBytes), castagnoli))
	}
	if n := le.Uint64(b[24:]); n <= uint64(len(b))/8 {
		le.PutUint32(b[116:], crc32.Checksum(inside(le.Uint64(b[72:]), n*8), castagnoli))
	}
	entries := inside(le.Uint64(b[80:]), le.Uint64(b[88:]))
	for e := entries; len(e) >= frozenEntryHead; {
		nameEnd := frozenEntryHead + int(le.Uint16(e[6:]))
		end := nameEnd + int(le.Uint32(e[12:]))
		if end > len(e) {
			break
		}
		le.PutUint32(e[52:], crc32.Checksum(e[nameEnd:end], castagnoli))
		le.PutUint32(e, crc32.Checksum(e[4:nameEnd], castagnoli))
		e = e[min((end+7)&^7, len(e)):]
	}
	le.PutUint32(b[120:], crc32.Checksum(entries, castagnoli))
	le.PutUint32(b[124:], crc32.Checksum(inside(le.Uint64(b[96:]), le.Uint64(b[104:])), castagnoli))
	le.PutUint32(b[252:], crc32.Checksum(b[:252], castagnoli))
}

// knownError reports whether an error is one of those that the package promises.
func knownError(err error) bool { return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNewerFormat) }

// useHostile calls everything that a frozen index has. It returns an error if the index breaks a
// promise: that errors are of the known kinds, that names ascend, and that an index which Verify
// accepts is the one that a builder makes.
func useHostile(f *Frozen, size int, names ...string) error {
	verified := f.Verify()
	if verified != nil && !knownError(verified) {
		return fmt.Errorf("Verify: an error of no kind: %w", verified)
	}
	var es []*Entry
	last := ""
	for e, err := range f.Ascend("") {
		if err != nil {
			if !knownError(err) {
				return fmt.Errorf("Ascend: an error of no kind: %w", err)
			}
			if verified == nil {
				return fmt.Errorf("Verify accepts what Ascend refuses: %w", err)
			}
			break
		}
		if e.Name <= last || len(es) > size/frozenEntryHead {
			return fmt.Errorf("Ascend: %d entries in %d bytes, %q after %q", len(es), size, e.Name, last)
		}
		es, last = append(es, e), e.Name
		names = append(names, e.Name)
	}
	for _, name := range names[:min(len(names), 100)] {
		ref, found, err := f.Lookup(name)
		if err == nil && found {
			_, err = f.Entry(ref)
		}
		if err != nil && (!knownError(err) || verified == nil) {
			return fmt.Errorf("Lookup(%q): %w", name, err)
		}
		for range f.Prefix(name) {
			break
		}
	}
	attrs, err := f.Dataset()
	if err != nil && !knownError(err) {
		return fmt.Errorf("Dataset: an error of no kind: %w", err)
	}
	if verified != nil {
		return nil
	}

	b := NewFrozenBuilder(new(memory))
	b.SetDigest(f.Digest())
	b.SetDataset(attrs)
	for _, e := range es {
		if err := b.Add(e); err != nil {
			return fmt.Errorf("Verify accepts what the builder refuses: %w", err)
		}
		if ref, found, err := f.Lookup(e.Name); !found || err != nil || ref.CRC != e.CRC {
			return fmt.Errorf("Verify accepts an index without %q: %w", e.Name, err)
		}
	}
	var out bytes.Buffer
	if err := b.Finish(&out); err != nil {
		return err
	}
	got, err := f.view(0, f.h.length)
	if err != nil {
		return err
	}
	if !bytes.Equal(got, out.Bytes()) {
		return errors.New("Verify accepts bytes that the builder would not write")
	}
	return nil
}

func hostileSeeds(t testing.TB) [][]byte {
	// Small ones, so that a change hits something; of the samples the one with 5,000 bytes of
	// attributes is left out.
	short := slices.DeleteFunc(byName(sampleEntries(t)), func(e *Entry) bool { return len(e.Attrs) > 0 })
	seeds := [][]byte{
		mustBuild(t, nil),
		mustBuild(t, short),
		mustBuild(t, some("n", 4, 4)),
		mustBuild(t, some("train/", 12, 4)),
	}
	b := NewFrozenBuilder(new(memory))
	b.SetDigest([32]byte{1})
	b.SetDataset([]layout.Attr{{Key: "title", Value: "Digits"}})
	if err := b.Add(image("x", 0)); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := b.Finish(&out); err != nil {
		t.Fatal(err)
	}
	return append(seeds, out.Bytes())
}

func FuzzFrozen(f *testing.F) {
	for _, seed := range hostileSeeds(f) {
		f.Add(seed, "train/0003", true)
		f.Add(seed, "gone", false)
	}
	f.Fuzz(func(t *testing.T, b []byte, name string, repaired bool) {
		if repaired {
			b = slices.Clone(b)
			repair(b)
		}
		mapped, err := OpenFrozen(b)
		read, errRead := OpenFrozenAt(bytes.NewReader(b), int64(len(b)))
		if fmt.Sprint(err) != fmt.Sprint(errRead) {
			t.Fatalf("in memory: %v; through a reader: %v", err, errRead)
		}
		if err != nil {
			if !knownError(err) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		for how, f := range map[string]*Frozen{"in memory": mapped, "through a reader": read} {
			if err := useHostile(f, len(b), name); err != nil {
				t.Fatalf("%s: %v", how, err)
			}
		}
		ref1, found1, err1 := mapped.Lookup(name)
		ref2, found2, err2 := read.Lookup(name)
		if ref1 != ref2 || found1 != found2 || fmt.Sprint(err1) != fmt.Sprint(err2) {
			t.Fatalf("Lookup(%q): %v %v %v in memory, %v %v %v through a reader", name, ref1, found1, err1, ref2, found2, err2)
		}
	})
}

// Every flipped byte of an index is found by Verify. Whatever else is done before gives the right
// answer or an error.
func TestEveryFlippedByteOfAFrozenIndexIsFound(t *testing.T) {
	es := byName(append(sampleEntries(t)[:3], some("n/", 12, 4)...))
	good := NewFrozenBuilder(new(memory))
	good.SetDataset([]layout.Attr{{Key: "title", Value: "Digits"}})
	for _, e := range es {
		if err := good.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := good.Finish(&out); err != nil {
		t.Fatal(err)
	}
	b := out.Bytes()
	for i := range b {
		for _, flip := range []byte{1, 0x80, 0xFF} {
			b[i] ^= flip
			f, err := OpenFrozen(b)
			if err == nil {
				err = f.Verify()
				for _, e := range es {
					ref, found, lookupErr := f.Lookup(e.Name)
					if lookupErr == nil && (!found || ref.Seq != e.Seq || ref.Offset != e.Offset || ref.CRC != e.CRC || ref.Deleted != e.Deleted) {
						t.Fatalf("byte %d ^ %#x: Lookup(%q) = %+v, %v", i, flip, e.Name, ref, found)
					}
					if lookupErr != nil && !knownError(lookupErr) {
						t.Fatalf("byte %d ^ %#x: Lookup: %v", i, flip, lookupErr)
					}
				}
				if got, ascendErr := collect(f.Ascend("")); ascendErr == nil {
					if diff := cmp.Diff(es, got, equateEntries); diff != "" {
						t.Fatalf("byte %d ^ %#x: Ascend (-want +got):\n%s", i, flip, diff)
					}
				}
			}
			if !knownError(err) {
				t.Fatalf("byte %d ^ %#x: Verify says %v", i, flip, err)
			}
			b[i] ^= flip
		}
	}
}

func TestTruncatedFrozenIndexIsRefused(t *testing.T) {
	b := mustBuild(t, some("n/", 12, 4))
	for n := range len(b) {
		if _, err := OpenFrozen(b[:n:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(b), err)
		}
	}
	// A reader that ends before the size it was said to have.
	f, err := OpenFrozenAt(bytes.NewReader(b[:300]), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Lookup("n/0001"); !errors.Is(err, io.EOF) {
		t.Errorf("Lookup past the end: %v", err)
	}
}

// Each case is an index that has one rule broken and all checksums right.
func TestCraftedFrozenIndexes(t *testing.T) {
	le := binary.LittleEndian
	es := some("n/", 12, 4)
	good := mustBuild(t, es)
	f, err := OpenFrozen(good)
	if err != nil {
		t.Fatal(err)
	}
	entryAt := func(rank int) int { return int(le.Uint64(good[int(f.h.order)+8*rank:])) }
	firstSlot := func(b []byte) int { // of the first bucket in use
		for at := frozenHeaderSize; ; at += bucketBytes {
			if b[at+bucketCount] > 0 {
				return at
			}
		}
	}
	u64 := func(at int, v uint64) func([]byte) { return func(b []byte) { le.PutUint64(b[at:], v) } }
	u32 := func(at int, v uint32) func([]byte) { return func(b []byte) { le.PutUint32(b[at:], v) } }
	header := map[string]func([]byte){
		"another magic":                    func(b []byte) { b[0] = 'T' },
		"a newer version":                  u32(8, 2),
		"header flags":                     u32(12, 1),
		"reserved header bytes":            func(b []byte) { b[200] = 1 },
		"another length":                   u64(16, uint64(len(good))+64),
		"more entries than bytes":          u64(24, 1<<31),
		"more entries than 2^32":           u64(24, 1<<32),
		"a count that wraps to none":       u64(24, 1<<61),
		"more tombstones than entries":     u64(32, 13),
		"lowest above highest":             u64(40, 5),
		"buckets elsewhere":                u64(56, 320),
		"more buckets than entries":        u64(64, 13),
		"2^58 buckets":                     u64(64, 1<<58),
		"order elsewhere":                  u64(72, f64(f.h.order)-64),
		"entries elsewhere":                u64(80, f64(f.h.first)+64),
		"entries of 2^63 bytes":            u64(88, 1<<63),
		"entries of 2^63-1 bytes":          u64(88, math.MaxInt64),
		"dataset elsewhere":                u64(96, 64),
		"a dataset longer than the rest":   u64(104, 65),
		"a dataset of 2^64-1 bytes":        u64(104, math.MaxUint64),
		"one bucket less than it has room": u64(64, 1),
	}
	for name, damage := range header {
		t.Run(name, func(t *testing.T) {
			b := slices.Clone(good)
			damage(b)
			repair(b)
			if _, err := OpenFrozen(b); !knownError(err) {
				t.Errorf("OpenFrozen: %v", err)
			}
		})
	}
	rest := map[string]func([]byte){
		"a slot past the entries": func(b []byte) { le.PutUint64(b[firstSlot(b):], slotOffsetMask|1<<63) },
		"a slot inside an entry":  func(b []byte) { b[firstSlot(b)]++ },
		"a slot with another tag": func(b []byte) { b[firstSlot(b)+7]++ },
		"a slot twice":            func(b []byte) { copy(b[firstSlot(b)+8:][:8], b[firstSlot(b):]); b[firstSlot(b)+bucketCount]++ },
		"all slots the same": func(b []byte) {
			all := firstSlot(b)
			for i := 8; i < 56; i += 8 {
				copy(b[all+i:all+i+8], b[all:all+8])
			}
		},
		"a bucket that says it is full": func(b []byte) { b[firstSlot(b)+bucketCount] = bucketSlots },
		"a bucket that is spilled":      func(b []byte) { b[firstSlot(b)+bucketSpilled] = 1 },
		"all buckets spilled": func(b []byte) {
			for at := frozenHeaderSize; at < int(f.h.order); at += bucketBytes {
				b[at+bucketSpilled] = 1
			}
		},
		"empty buckets": func(b []byte) { clear(b[frozenHeaderSize:f.h.order]) },
		"empty buckets that are spilled": func(b []byte) {
			clear(b[frozenHeaderSize:f.h.order])
			for at := frozenHeaderSize; at < int(f.h.order); at += bucketBytes {
				b[at+bucketSpilled] = 1
			}
		},
		"buckets in another order": func(b []byte) { x := slices.Clone(b[256:320]); copy(b[256:320], b[320:384]); copy(b[320:384], x) },
		"an order that goes backwards": func(b []byte) {
			o := int(f.h.order)
			a, c := le.Uint64(b[o:]), le.Uint64(b[o+8:])
			le.PutUint64(b[o:], c)
			le.PutUint64(b[o+8:], a)
		},
		"an order that stands still": func(b []byte) {
			o := int(f.h.order)
			for i := range 12 {
				copy(b[o+8*i:o+8*i+8], b[o:o+8])
			}
		},
		"an order outside":                  u64(int(f.h.order)+8, 1<<63),
		"an order inside an entry":          u64(int(f.h.order)+8, uint64(entryAt(1))+8),
		"padding of the order":              func(b []byte) { b[f.h.first-1] = 1 },
		"padding of an entry":               func(b []byte) { b[entryAt(1)-1] = 1 },
		"padding of the entries":            func(b []byte) { b[len(b)-1] = 1 },
		"two entries of a name":             func(b []byte) { copy(b[entryAt(1)+frozenEntryHead:], "n/0000") },
		"names that descend":                func(b []byte) { copy(b[entryAt(1)+frozenEntryHead:], "a/0000") },
		"a control character in a name":     func(b []byte) { b[entryAt(1)+frozenEntryHead+5] = 1 },
		"a name that is not UTF-8":          func(b []byte) { b[entryAt(11)+frozenEntryHead] = 0xFF },
		"an empty name":                     func(b []byte) { le.PutUint16(b[entryAt(0)+6:], 0) },
		"a name longer than the rest":       func(b []byte) { le.PutUint16(b[entryAt(11)+6:], 0xFFFF) },
		"a newer kind":                      func(b []byte) { b[entryAt(1)+4] = 3 },
		"kind 0":                            func(b []byte) { b[entryAt(1)+4] = 0 },
		"a reserved byte of an entry":       func(b []byte) { b[entryAt(1)+5] = 1 },
		"the rank of another entry":         u32(entryAt(1)+8, 2),
		"a description longer than the end": u32(entryAt(11)+12, 1<<20),
		"a description of 4 GiB":            u32(entryAt(1)+12, math.MaxUint32),
		"a description too short":           u32(entryAt(1)+12, 3),
		"a sequence number too low":         u64(entryAt(1)+16, 3),
		"a sequence number too high":        u64(entryAt(1)+16, 5),
		"a record at 2^63":                  u64(entryAt(1)+32, 1<<63),
		"a record that ends past 2^63":      u64(entryAt(1)+32, math.MaxInt64-63),
		"a misaligned record":               u64(entryAt(1)+32, 8),
		"an empty record":                   u64(entryAt(1)+40, 0),
		"a record of 2^64-64 bytes":         u64(entryAt(1)+40, math.MaxUint64-63),
		"a tombstone with a segment":        u64(entryAt(3)+24, 1),
		"a tombstone with a description":    u32(entryAt(3)+12, 8),
		"another number of tombstones":      u64(32, 1),
		"a wider range of sequence numbers": u64(48, 9),
	}
	for name, damage := range rest {
		t.Run(name, func(t *testing.T) {
			b := slices.Clone(good)
			damage(b)
			repair(b)
			for how, f := range frozenFrom(t, b) {
				if err := f.Verify(); !knownError(err) {
					t.Errorf("%s: Verify: %v", how, err)
				}
				if err := useHostile(f, len(b), "n/0003", "absent"); err != nil {
					t.Errorf("%s: %v", how, err)
				}
			}
		})
	}
}

func f64(v int64) uint64 { return uint64(v) }

// A claim of many entries, or of a long description, costs no memory unless the bytes are there.
func TestHostileIndexDoesNotOverallocate(t *testing.T) {
	b := slices.Clone(mustBuild(t, []*Entry{image("x", 4)}))
	h, err := decodeFrozenHeader(b, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	h.entries, h.buckets, h.entriesLen = math.MaxUint32, bucketsFor(math.MaxUint32), 1<<50
	if !h.place() {
		t.Fatal("the sizes don't fit")
	}
	claim := append(h.encode(), b[frozenHeaderSize:]...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f, err := OpenFrozenAt(bytes.NewReader(claim), h.length)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Verify(); err == nil {
		t.Error("Verify accepts an index that is not there")
	}
	if _, _, err := f.Lookup("x"); err == nil {
		t.Error("Lookup works on an index that is not there")
	}
	if _, err := collect(f.Ascend("")); err == nil {
		t.Error("Ascend works on an index that is not there")
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
		t.Errorf("%d bytes were allocated", n)
	}
}

// Names made to collide get no slots; they are found by their order, and others are not affected.
func TestNamesWithEqualHashes(t *testing.T) {
	// fold(h^w, k) depends on h^w alone: for a first word x, the second word that leads to the
	// same hash as another pair is known.
	var es []*Entry
	rng := rand.New(rand.NewPCG(1, 1))
	const k = 0x082EFA98EC4E6C89
	start := uint64(0x243F6A8885A308D3 + 16)
	target := fold(start^binary.LittleEndian.Uint64([]byte("aaaaaaaa")), k) ^ binary.LittleEndian.Uint64([]byte("aaaaaaaa"))
	for len(es) < 200 {
		var w [16]byte
		for i := range 8 {
			w[i] = 'a' + byte(rng.IntN(26))
		}
		binary.LittleEndian.PutUint64(w[8:], fold(start^binary.LittleEndian.Uint64(w[:]), k)^target)
		name := string(w[:])
		// These are no UTF-8 as a rule, and the hash does not care; the builder does, so the
		// table is tried by itself.
		if hashName(name) == hashName("aaaaaaaaaaaaaaaa") {
			es = append(es, &Entry{Name: name})
		}
	}
	table := newFrozenTable(1000)
	for i, e := range es {
		table.insert(hashName(e.Name), int64(8*(i+1)))
	}
	used := 0
	for at := 0; at < len(table); at += bucketBytes {
		used += int(table[at+bucketCount])
	}
	if used != maxProbes*bucketSlots {
		t.Fatalf("%d slots are used for names of one hash, want %d", used, maxProbes*bucketSlots)
	}

	// The same with a builder that thinks all hashes are one.
	b := NewFrozenBuilder(new(memory))
	want := some("n/", 300, 1)
	for _, e := range want {
		if err := b.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	for i := range want {
		b.hashes.full[0][i] = hashName("n/0000")
	}
	var out bytes.Buffer
	if err := b.Finish(&out); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFrozen(out.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if _, found, err := f.Lookup("n/0000"); !found || err != nil {
		t.Errorf("the name with that hash: %v, %v", found, err)
	}
	if _, found, err := f.Lookup("n/00"); found || err != nil {
		t.Errorf("a name that is not there: %v, %v", found, err)
	}
	if err := f.Verify(); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "bucket") {
		t.Errorf("Verify of a table that is not the right one: %v", err)
	}
}

// All 2,000 names in one bucket's reach: those without a slot are found by binary search.
func TestNamesWithoutASlotAreFound(t *testing.T) {
	var es []*Entry
	n := bucketsFor(120)
	for i := 0; len(es) < 120; i++ {
		name := fmt.Sprintf("n%07d", i)
		if home(hashName(name), n) == 3 {
			es = append(es, image(name, 4))
		}
	}
	f := mustFreeze(t, es)
	if err := checkFrozen(f, es); err != nil {
		t.Error(err)
	}
	if _, found, err := f.Lookup("absent"); found || err != nil {
		t.Errorf("a name that is not there: %v, %v", found, err)
	}
	slots := 0
	for i := range int(f.h.buckets) {
		slots += int(f.b[frozenHeaderSize+bucketBytes*i+bucketCount])
	}
	if slots != maxProbes*bucketSlots {
		t.Errorf("%d slots in use, want %d", slots, maxProbes*bucketSlots)
	}
}
