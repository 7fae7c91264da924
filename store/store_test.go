package store_test

import (
	"testing"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func TestSmoke(t *testing.T) {
	dir := t.TempDir() + "/s"
	for round := range 3 {
		st, err := store.Open(dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		x := layout.DenseOf([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
		if err := st.Put("x", x, layout.Attr{Key: "unit", Value: "m"}); err != nil {
			t.Fatal(err)
		}
		got, err := st.Get("x")
		if err != nil {
			t.Fatal(err)
		}
		v, err := layout.Values[float32](got)
		t.Log(round, v, err)
		ro, err := store.Open(dir, &store.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range ro.List("") {
			t.Log(e, err)
		}
		if err := ro.Close(); err != nil {
			t.Fatal(err)
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
