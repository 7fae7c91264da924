package store_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// TestPutMessage stores messages from elsewhere with their metadata.
func TestPutMessage(t *testing.T) {
	type pairs = []layout.Attr
	cases := []struct {
		name              string
		meta, attrs, want pairs
	}{
		{"no metadata", nil, nil, nil},
		{"metadata", pairs{{Key: "b", Value: "1"}, {Key: "a", Value: "2"}}, nil, pairs{{Key: "b", Value: "1"}, {Key: "a", Value: "2"}}},
		{"keys that occur twice", pairs{{Key: "k", Value: "1"}, {Key: "l", Value: ""}, {Key: "k", Value: "1"}, {Key: "k", Value: "3"}}, nil,
			pairs{{Key: "k", Value: "1"}, {Key: "l", Value: ""}, {Key: "k", Value: "1"}, {Key: "k", Value: "3"}}},
		{"empty key", pairs{{Key: "", Value: "v"}}, nil, pairs{{Key: "", Value: "v"}}},
		{"attributes behind", pairs{{Key: "k", Value: "1"}}, pairs{{Key: "l", Value: "2"}, {Key: "k", Value: "3"}},
			pairs{{Key: "k", Value: "1"}, {Key: "l", Value: "2"}, {Key: "k", Value: "3"}}},
		{"reserved keys go", pairs{{Key: "tstore.name", Value: "other"}, {Key: "k", Value: "1"}, {Key: "tstore.future", Value: "x"}}, nil, pairs{{Key: "k", Value: "1"}}},
	}
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	want := contents{}
	for _, c := range cases {
		tensor := stamped(7, 100)
		msg := message(t, tensor, c.meta...)
		must(t, st.Update(func(tx *store.Tx) error { return tx.PutMessage(c.name, msg, c.attrs...) }))
		clear(msg)
		want[c.name] = stored{tensor, c.want}
	}
	for _, size := range []int{0, 1 << 18, 9 << 20} { // empty, large, with a segment of its own
		tensor := stamped(uint64(size), size/8)
		msg := message(t, tensor)
		must(t, st.Update(func(tx *store.Tx) error { return tx.PutMessage("large", msg) }))
		want["large"] = stored{tensor: tensor}
		must(t, compare(st, want))
	}
	bf16 := layout.DenseOf([]layout.BF16{0x3f80, 0x4000}, 2)
	must(t, st.Update(func(tx *store.Tx) error { return tx.PutMessage("bf16", message(t, bf16)) }))
	want["bf16"] = stored{tensor: bf16}
	must(t, compare(st, want))
	closeStore(t, st)
	must(t, compare(open(t, dir, nil), want))
}

// TestPutMessageRefuses gives bytes that are no tensor.
func TestPutMessageRefuses(t *testing.T) {
	good := message(t, stamped(1, 100))
	large := message(t, scalar, layout.Attr{Key: "k", Value: strings.Repeat("v", store.MaxAttrsLen)})
	cases := []struct {
		name string
		msg  []byte
		want error
	}{
		{"nothing", nil, codec.ErrTruncated},
		{"head cut short", good[:100], codec.ErrTruncated},
		{"body cut short", good[:len(good)-1], codec.ErrTruncated},
		{"end of stream", codec.EndOfStream(), codec.ErrEndOfStream},
		{"zeros", make([]byte, 128), codec.ErrEndOfStream},
		{"control record", append(codec.ControlHead("k", "v", 64), make([]byte, 64)...), codec.ErrUnsupported},
		{"too many attributes", large, store.ErrAttrs},
	}
	st := open(t, filepath.Join(quickDir(t), "s"), nil)
	must(t, st.Put("x", scalar))
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := st.Update(func(tx *store.Tx) error { return tx.PutMessage("x", c.msg) })
			wantError(t, err, c.want, `"x"`)
			if errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%v: it is not the store that is corrupt", err)
			}
			must(t, compare(st, contents{"x": {tensor: scalar}}))
		})
	}
}
