package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// TestForeignAttributesInPackages takes attributes that can't be given to a tensor, but
// are kept of a message from elsewhere, through packages: packed, unpacked, attached.
func TestForeignAttributesInPackages(t *testing.T) {
	ctx := context.Background()
	dir := quickDir(t)
	foreign := []layout.Attr{{Key: "unit", Value: "mm"}, {Key: "unit", Value: "inch"}, {Key: "", Value: "no key"}, {Key: "bytes", Value: "\xff\xfe"}, {Key: "unit", Value: "mm"}}
	sorted := []layout.Attr{{Key: "", Value: "no key"}, {Key: "bytes", Value: "\xff\xfe"}, {Key: "unit", Value: "inch"}, {Key: "unit", Value: "mm"}, {Key: "unit", Value: "mm"}}
	large := stamped(1, 300_000) // more than what is packed in lots
	st := open(t, filepath.Join(dir, "from"), nil)
	must(t, st.Update(func(tx *store.Tx) error {
		return errors.Join(tx.PutMessage("x", message(t, scalar, foreign...)), tx.PutMessage("y", message(t, large, foreign...)))
	}))
	path := filepath.Join(dir, "p.tstore")
	digest, err := st.Pack(ctx, path, nil)
	must(t, err)
	want := contents{"x": {scalar, sorted}, "y": {large, sorted}}
	check := func(s *store.Store) {
		t.Helper()
		must(t, compare(s, want))
		for _, err := range problemsOf(t, s) {
			t.Error(err)
		}
	}
	pkg := open(t, path, &store.Options{ReadOnly: true})
	check(pkg)
	attached := open(t, filepath.Join(dir, "attached"), nil)
	_, err = attached.Attach(ctx, path, nil)
	must(t, err)
	check(attached)
	sn, err := pkg.Snapshot()
	must(t, err)
	defer sn.Close()
	unpacked := open(t, filepath.Join(dir, "unpacked"), nil)
	_, err = unpacked.Unpack(ctx, sn, nil)
	must(t, err)
	check(unpacked)

	again := filepath.Join(dir, "again.tstore")
	p, err := store.CreatePackage(again)
	must(t, err)
	defer p.Abort()
	if err := p.Add("x", scalar, foreign...); !errors.Is(err, store.ErrAttrs) {
		t.Errorf("given to a tensor: %v", err)
	}
	if err := p.AddCopy("x", scalar, []layout.Attr{{Key: codec.ReservedPrefix + "x"}}); !errors.Is(err, store.ErrAttrs) {
		t.Errorf("with a reserved key: %v", err)
	}
	if err := p.AddCopy("x", scalar, []layout.Attr{{Key: "x", Value: strings.Repeat("x", store.MaxAttrsLen)}}); !errors.Is(err, store.ErrAttrs) {
		t.Errorf("with too long attributes: %v", err)
	}
	must(t, p.AddCopy("x", scalar, foreign))
	must(t, p.AddCopy("y", large, foreign))
	got, err := p.Close()
	if got != digest || err != nil {
		t.Errorf("copied with digest %v, %v; want %v", got, err, digest)
	}
	check(open(t, again, &store.Options{ReadOnly: true}))
}

// TestAddRefuses gives a package tensors that a store would not take either.
func TestAddRefuses(t *testing.T) {
	indptr, err := layout.NewIndex(layout.IndexInt8, []byte{0, 1, 2})
	must(t, err)
	indices, err := layout.NewIndex(layout.IndexInt8, []byte{0, 7})
	must(t, err)
	outside, err := layout.NewCSR(layout.Uint8, []int64{2, 3}, indptr, indices, []byte{1, 2})
	must(t, err)
	p, err := store.CreatePackage(filepath.Join(quickDir(t), "p.tstore"))
	must(t, err)
	defer p.Abort()
	if err := p.Add("x", outside); !errors.Is(err, layout.ErrIndex) {
		t.Errorf("an index outside the shape: %v", err)
	}
	if err := p.Add("x", nil); err == nil {
		t.Error("nil is added")
	}
	if err := p.Add("", scalar); !errors.Is(err, store.ErrName) {
		t.Errorf("without a name: %v", err)
	}
	must(t, p.Add("x", scalar)) // none of that has harmed the package
	_, err = p.Close()
	must(t, err)
}
