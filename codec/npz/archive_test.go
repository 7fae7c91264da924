package npz_test

import (
	"bytes"
	"testing"

	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/layout"
)

func TestWriteAndRead(t *testing.T) {
	for _, compress := range []bool{false, true} {
		var out bytes.Buffer
		w := npz.NewWriter(&out, compress)
		want := map[string]*layout.Dense{
			"a":     layout.DenseOf([]float64{1, 2, 3, 4, 5, 6}, 2, 3),
			"l/w:0": layout.DenseOf([]int8{7}),
		}
		for _, name := range []string{"a", "l/w:0"} {
			if err := w.Add(name, want[name]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		f, err := npz.Open(out.Bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Members) != 2 {
			t.Fatalf("%d members", len(f.Members))
		}
		for _, m := range f.Members {
			d, err := m.Tensor()
			if err != nil {
				t.Fatal(err)
			}
			if !layout.Equal(d, want[m.Name]) || m.Compressed != compress {
				t.Errorf("%s came back as %v", m.Name, d)
			}
		}
	}
}
