package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// Values are written as JSON has them, nested as the shape is, and as strings where JSON has no number.
func TestGetJSON(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	st, err := store.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	csr, err := layout.Convert(layout.DenseOf([]int8{0, 5, 0, 0, 0, -6}, 2, 3), layout.LayoutCSR, nil)
	if err != nil {
		t.Fatal(err)
	}
	day, err := layout.Date(layout.UnitDay)
	if err != nil {
		t.Fatal(err)
	}
	dates, err := layout.NewDense(day, []int64{2}, layout.BytesOf([]int32{0, 1}))
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name string
		x    layout.Tensor
		want string
	}{
		{"scalar", layout.DenseOf([]float64{0.1}), `"dtype":"float64","shape":[],"layout":"dense","values":0.1`},
		{"vector", layout.DenseOf([]float32{0.1, 1e20, -0}, 3), `"dtype":"float32","shape":[3],"layout":"dense","values":[0.1,1e+20,0]`},
		{"odd", layout.DenseOf([]float64{nan, inf, -inf, math.MaxFloat64}, 2, 2), `"dtype":"float64","shape":[2,2],"layout":"dense","values":[["NaN","Infinity"],["-Infinity",1.7976931348623157e+308]]`},
		{"cube", layout.DenseOf([]uint8{1, 2, 3, 4, 5, 255}, 1, 3, 2), `"dtype":"uint8","shape":[1,3,2],"layout":"dense","values":[[[1,2],[3,4],[5,255]]]`},
		{"large", layout.DenseOf([]int64{math.MinInt64, math.MaxInt64}, 2), `"dtype":"int64","shape":[2],"layout":"dense","values":[-9223372036854775808,9223372036854775807]`},
		{"unsigned", layout.DenseOf([]uint64{math.MaxUint64}, 1), `"dtype":"uint64","shape":[1],"layout":"dense","values":[18446744073709551615]`},
		{"int16", layout.DenseOf([]int16{-3}, 1), `"dtype":"int16","shape":[1],"layout":"dense","values":[-3]`},
		{"uint16", layout.DenseOf([]uint16{3}, 1), `"dtype":"uint16","shape":[1],"layout":"dense","values":[3]`},
		{"int32", layout.DenseOf([]int32{-3}, 1), `"dtype":"int32","shape":[1],"layout":"dense","values":[-3]`},
		{"uint32", layout.DenseOf([]uint32{3}, 1), `"dtype":"uint32","shape":[1],"layout":"dense","values":[3]`},
		{"bool", layout.DenseOf([]bool{true, false}, 2), `"dtype":"bool","shape":[2],"layout":"dense","values":[true,false]`},
		{"complex", layout.DenseOf([]complex64{1 - 2i}, 1), `"dtype":"complex64","shape":[1],"layout":"dense","values":[[1,-2]]`},
		{"wide", layout.DenseOf([]complex128{complex(nan, 0.5)}, 1), `"dtype":"complex128","shape":[1],"layout":"dense","values":[["NaN",0.5]]`},
		{"half", layout.DenseOf([]layout.F16{layout.F16FromFloat32(1.5)}, 1), `"dtype":"float16","shape":[1],"layout":"dense","values":[1.5]`},
		{"bf16", layout.DenseOf([]layout.BF16{layout.BF16FromFloat32(-2)}, 1), `"dtype":"bfloat16","shape":[1],"layout":"dense","values":[-2]`},
		{"e4m3", layout.DenseOf([]layout.F8E4M3{0x38}, 1), `"shape":[1],"layout":"dense","values":[1]`},
		{"e5m2", layout.DenseOf([]layout.F8E5M2{0x3c}, 1), `"shape":[1],"layout":"dense","values":[1]`},
		{"empty", layout.DenseOf([]float64{}, 2, 0, 3), `"shape":[2,0,3],"layout":"dense","values":[]`},
		{"sparse", csr, `"dtype":"int8","shape":[2,3],"layout":"csr","coordinates":[[0,1],[1,2]],"values":[5,-6]`},
		{"dates", dates, `"shape":[2],"layout":"dense","values":["1970-01-01","1970-01-02"]`},
	}
	for _, c := range cases {
		if err := st.Put(c.name, c.x); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		code, stdout, stderr := inside(t, "get", "--json", dir, c.name)
		if code != exitDone || !json.Valid([]byte(stdout)) || !strings.HasSuffix(stdout, c.want+"}\n") {
			t.Errorf("%s: exit code %d, %s\n%s\nwant …%s", c.name, code, stderr, stdout, c.want)
		}
	}
	_, stdout, _ := inside(t, "get", "--json", dir, "cube[0, ::-1, 1]")
	if diff := cmp.Diff(`{"name":"cube[0, ::-1, 1]","dtype":"uint8","shape":[3],"layout":"dense","values":[255,4,2]}`+"\n", stdout); diff != "" {
		t.Errorf("a part (-want +got):\n%s", diff)
	}
	if code, _, stderr := inside(t, "get", "--json", dir, "cube", "-o", "x.npy"); code != exitUsage {
		t.Errorf("--json with -o: exit code %d: %s", code, stderr)
	}
}
