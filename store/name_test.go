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

// message is t as an Arrow message from elsewhere, with meta as its custom
// metadata.
func message(t testing.TB, tensor layout.Tensor, meta ...layout.Attr) []byte {
	t.Helper()
	r, err := codec.Encode(tensor, meta)
	must(t, err)
	return r.AppendTo(nil)
}

// TestNames tries names in every way that one can get into a store.
func TestNames(t *testing.T) {
	long := strings.Repeat("n", store.MaxNameLen)
	cases := []struct {
		name string
		ok   bool
	}{
		{"a", true},
		{"train/x", true},
		{"/", true},
		{"..", true},
		{"../../etc/passwd", true},
		{" ", true},
		{"a\u00a0b", true}, // a space without a break, no control character
		{"größe", true},
		{"\U0001F600", true},
		{"\ufeff", true}, // a mark, but not of the category Cc
		{"LOCK", true},
		{"0000000001.seg", true},
		{long, true},
		{strings.Repeat("ü", store.MaxNameLen/2), true},

		{"", false},
		{long + "n", false},
		{strings.Repeat("ü", store.MaxNameLen/2) + "n", false},
		{"\x00", false},
		{"a\nb", false},
		{"a\tb", false},
		{"\x1b[31m", false},
		{"\x7f", false},
		{"\u0085", false},
		{"\u009f", false},
		{"\xff", false},
		{"a\xc3", false},
		{"\xed\xa0\x80", false}, // half of a surrogate pair
		{"\xc0\x80", false},     // zero, written too long
	}
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	must(t, st.Put("old", scalar))
	want := contents{"old": {tensor: scalar}}
	for _, c := range cases {
		ways := map[string]func() error{
			"CheckName": func() error { return store.CheckName(c.name) },
			"Put":       func() error { return st.Put(c.name, scalar) },
			"Tx.Put":    func() error { return st.Update(func(tx *store.Tx) error { return tx.Put(c.name, scalar) }) },
			"PutMessage": func() error {
				return st.Update(func(tx *store.Tx) error { return tx.PutMessage(c.name, message(t, scalar)) })
			},
			"Rename": func() error {
				return st.Update(func(tx *store.Tx) error {
					if c.ok { // by now it is there
						if err := tx.Delete(c.name); err != nil {
							return err
						}
					}
					return errors.Join(tx.Put("from", scalar), tx.Rename("from", c.name))
				})
			},
		}
		for _, way := range []string{"CheckName", "Put", "Tx.Put", "PutMessage", "Rename"} {
			err := ways[way]()
			switch {
			case c.ok && err != nil:
				t.Errorf("%s of %q: %v", way, c.name, err)
			case !c.ok && !errors.Is(err, store.ErrName):
				t.Errorf("%s of %q: %v, want ErrName", way, c.name, err)
			}
		}
		if c.ok {
			want[c.name] = stored{tensor: scalar}
		}
	}
	must(t, compare(st, want))
	closeStore(t, st)
	must(t, compare(open(t, dir, nil), want))
	must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
}

// TestAttrs tries attributes.
func TestAttrs(t *testing.T) {
	attr := func(pairs ...string) (a []layout.Attr) {
		for i := 0; i < len(pairs); i += 2 {
			a = append(a, layout.Attr{Key: pairs[i], Value: pairs[i+1]})
		}
		return a
	}
	full := strings.Repeat("v", store.MaxAttrsLen-1)
	var many []layout.Attr
	for i := range 10_000 {
		many = append(many, layout.Attr{Key: strings.Repeat("k", i%50) + string(rune('0'+i/50)), Value: "v"})
	}
	cases := []struct {
		name  string
		attrs []layout.Attr
		ok    bool
	}{
		{"none", nil, true},
		{"order is kept", attr("z", "1", "a", "2", "m", "3"), true},
		{"empty value", attr("unit", ""), true},
		{"any UTF-8", attr("größe\n", "\x00\U0001F600"), true},
		{"long prefix of a reserved key", attr("tstore", "1", "Tstore.x", "2"), true},
		{"as large as allowed", attr("k", full), true},
		{"many", many, true},

		{"empty key", attr("", "v"), false},
		{"key twice", attr("a", "1", "b", "2", "a", "1"), false},
		{"reserved key", attr("a", "1", "tstore.name", "x"), false},
		{"reserved key, not in use", attr("tstore.", "x"), false},
		{"key is not UTF-8", attr("\xff", "v"), false},
		{"value is not UTF-8", attr("k", "\xff"), false},
		{"too large", attr("k", full+"v"), false},
		{"too large together", attr("k", full[:len(full)/2], "l", full[:len(full)/2], "m", "nnn"), false},
	}
	dir := filepath.Join(quickDir(t), "s")
	st := open(t, dir, nil)
	want := contents{}
	for _, c := range cases {
		for way, put := range map[string]func(name string) error{
			"Put": func(name string) error { return st.Put(name, scalar, c.attrs...) },
			"Tx.Put": func(name string) error {
				return st.Update(func(tx *store.Tx) error { return tx.Put(name, scalar, c.attrs...) })
			},
			"PutMessage": func(name string) error {
				return st.Update(func(tx *store.Tx) error { return tx.PutMessage(name, message(t, scalar), c.attrs...) })
			},
		} {
			name := c.name + " by " + way
			err := put(name)
			switch {
			case c.ok && err != nil:
				t.Errorf("%s: %v", name, err)
			case !c.ok && !errors.Is(err, store.ErrAttrs):
				t.Errorf("%s: %v, want ErrAttrs", name, err)
			case !c.ok && !strings.Contains(err.Error(), name):
				t.Errorf("error does not mention %q: %v", name, err)
			}
			if c.ok {
				want[name] = stored{scalar, c.attrs}
			}
		}
	}
	must(t, compare(st, want))
	closeStore(t, st)
	must(t, compare(open(t, dir, nil), want))
	must(t, compare(open(t, dir, &store.Options{ReadOnly: true}), want))
}

// TestAttrsAreCopied changes what was given to Put after it has returned.
func TestAttrsAreCopied(t *testing.T) {
	st := open(t, filepath.Join(quickDir(t), "s"), nil)
	attrs := []layout.Attr{{Key: "unit", Value: "m"}}
	x := stamped(1, 10)
	must(t, st.Put("x", x, attrs...))
	attrs[0] = layout.Attr{Key: "other", Value: "s"}
	clear(x.Data())
	must(t, compare(st, contents{"x": {stamped(1, 10), []layout.Attr{{Key: "unit", Value: "m"}}}}))
}
