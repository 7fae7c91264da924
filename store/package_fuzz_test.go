package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/store"
	"github.com/tstore/tstore/store/internal/segment"
)

// FuzzPackage changes bytes of packages, makes all checksums fit again, and does
// everything with them that can be done. No step may panic. What verify finds
// nothing wrong with can be unpacked, attached and packed again, with the same
// digest.
func FuzzPackage(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join(corpusDir, "accept", "*.tstore"))
	if err != nil || len(paths) == 0 {
		f.Fatalf("no packages in the corpus: %v", err)
	}
	var bases [][]byte
	for i, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		bases = append(bases, b)
		f.Add(uint8(i), []byte{})
		if name := filepath.Base(path); name != "package.tstore" && name != "package-two.tstore" {
			continue // those are enough to begin with
		}
		tail := len(b) - 64
		for _, v := range []uint64{0, 64, math.MaxInt64 - 63, math.MaxUint64 - 63} {
			f.Add(uint8(i), edit(nil, tail+44, v))
			f.Add(uint8(i), edit(edit(nil, tail+44, v), tail+52, -v))
			// The index lies before the end-of-stream marker.
			x := int(binary.LittleEndian.Uint64(b[tail+44:]))
			head, err := codec.ParseHead(b[x:])
			if err != nil {
				f.Fatal(err)
			}
			h := x + int(head.HeaderLen)
			for at := 16; at < 112; at += 8 {
				f.Add(uint8(i), edit(nil, h+at, v))
			}
			if entries := h + int(binary.LittleEndian.Uint64(b[h+80:])); entries+56 <= len(b) {
				for at := 8; at < 56; at += 8 {
					f.Add(uint8(i), edit(nil, entries+at, v))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, base uint8, edits []byte) {
		b := bytes.Clone(bases[int(base)%len(bases)])
		applyEdits(b, edits)
		reseal(b)
		usePackage(t, b)
	})
}

// edit appends an edit: eight bytes at an offset.
func edit(edits []byte, at int, v uint64) []byte {
	edits = binary.LittleEndian.AppendUint16(edits, uint16(at))
	return binary.LittleEndian.AppendUint64(append(edits, 0xff), v)
}

// applyEdits changes b. An edit is an offset, u16, a mask of the eight bytes there to
// change, and these bytes.
func applyEdits(b, edits []byte) {
	for len(edits) >= 11 {
		at, mask := int(binary.LittleEndian.Uint16(edits)), edits[2]
		for i := range 8 {
			if mask>>i&1 != 0 && at+i < len(b) {
				b[at+i] = edits[3+i]
			}
		}
		edits = edits[11:]
	}
}

// reseal computes the checksums of a package, as far as it still is one.
func reseal(b []byte) {
	word := func(at uint64) uint64 {
		if at > uint64(len(b))-8 {
			return 0
		}
		return binary.LittleEndian.Uint64(b[at:])
	}
	sum := func(at, from, to uint64) { // of [from, to), put at at
		if from <= to && to <= uint64(len(b)) && at <= uint64(len(b))-4 {
			binary.LittleEndian.PutUint32(b[at:], segment.Checksum(b[from:to]))
		}
	}
	control := func(at uint64) (body uint64) {
		if at > uint64(len(b)) {
			return 0
		}
		head, err := codec.ParseHead(b[at:])
		if err != nil || head.Len() < 64 || uint64(head.Len()) > uint64(len(b))-at {
			return 0
		}
		end := at + uint64(head.Len())
		defer func() { sum(end-4, at, end-4) }()
		return at + uint64(head.HeaderLen)
	}
	tail := uint64(len(b)) - 64
	index := word(tail + 44)
	h := control(index)
	if h == 0 || h > uint64(len(b))-256 {
		return
	}
	size := uint64(len(b))
	buckets, order, first, length := h+word(h+56), h+word(h+72), h+word(h+80), word(h+88)
	for rank := range min(word(h+24), size/8) {
		e := h + word(order+8*rank)
		if e > size-56 {
			continue
		}
		name := uint64(binary.LittleEndian.Uint16(b[e+6:]))
		description := uint64(binary.LittleEndian.Uint32(b[e+12:]))
		offset, n := word(e+32), word(e+40)
		sum(e+48, offset, offset+n)
		sum(e+52, e+56+name, e+56+name+description)
		sum(e, e+4, e+56+name)
	}
	for i := range min(word(h+64), size/64) {
		at := buckets + 64*i
		sum(at+60, at, at+60)
	}
	sum(h+112, buckets, buckets+64*word(h+64))
	sum(h+116, order, order+8*word(h+24))
	sum(h+120, first, first+length)
	dataset := h + word(h+96)
	sum(h+124, dataset, dataset+word(h+104))
	sum(h+252, h, h+252)
	control(index)
	control(0)
	sum(tail+60, tail, tail+60)
}

// usePackage does everything with a package that can be done.
func usePackage(t *testing.T, b []byte) {
	ctx := context.Background()
	p, err := store.OpenPackageAt(bytes.NewReader(b), int64(len(b)), "fuzz")
	if err != nil {
		if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrNewerFormat) && !errors.Is(err, store.ErrNoStore) {
			t.Fatalf("opening: %v", err)
		}
		return
	}
	useAll(p)
	digest, _ := p.Digest()
	report, err := p.Verify(ctx, nil)
	if err != nil && !errors.Is(err, store.ErrNewerFormat) {
		t.Fatal(err)
	}
	sound := err == nil && len(report.Problems) == 0
	var names []string
	for e, err := range p.List("") {
		if err == nil {
			names = append(names, e.Name)
		} else if sound {
			t.Fatalf("listing a sound package: %v", err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}

	dir := quickDir(t)
	path := filepath.Join(dir, "p.tstore")
	must(t, os.WriteFile(path, b, 0o666))
	mapped, err := store.OpenPackage(path)
	if err != nil {
		t.Fatalf("a package that can be opened unmapped: %v", err)
	}
	useAll(mapped)
	again := filepath.Join(dir, "again.tstore")
	attrs, _ := mapped.Attrs()
	got, err := mapped.Pack(ctx, again, &store.PackOptions{Attrs: attrs})
	if sound && (err != nil || got != digest) {
		t.Fatalf("packing a sound package again: digest %v, %v, want %v", got, err, digest)
	}
	if err == nil {
		// Whatever it was made of.
		if problems := problemsOf(t, open(t, again, &store.Options{ReadOnly: true})); len(problems) > 0 {
			t.Fatalf("what a package was packed into again: %v", problems)
		}
	}
	st := open(t, filepath.Join(dir, "s"), nil)
	n, err := st.Attach(ctx, path, nil)
	if sound && (err != nil || n != len(names)) {
		t.Fatalf("attaching a sound package of %d tensors: %d, %v", len(names), n, err)
	}
	sn, err := mapped.Snapshot()
	must(t, err)
	n, err = st.Unpack(ctx, sn, &store.UnpackOptions{Clash: store.ClashReplaces})
	if sound && (err != nil || n != len(names)) {
		t.Fatalf("unpacking a sound package of %d tensors: %d, %v", len(names), n, err)
	}
	st.Attach(ctx, path, &store.AttachOptions{Prefix: "a/", Clash: store.ClashKeeps})
	must(t, sn.Close())
	must(t, mapped.Close())
	useAll(st)
	report, err = st.Verify(ctx, nil)
	if sound && (err != nil || len(report.Problems) > 0) {
		t.Fatalf("a store with a sound package: %v, %v", report.Problems, err)
	}
	must(t, st.Close())
}

func problemsOf(t *testing.T, st *store.Store) (all []error) {
	t.Helper()
	report, err := st.Verify(context.Background(), nil)
	must(t, err)
	for _, p := range report.Problems {
		all = append(all, p.Err)
	}
	return all
}
