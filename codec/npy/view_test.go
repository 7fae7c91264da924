package npy_test

import (
	"bytes"
	"errors"
	"testing"
	"unsafe"

	"github.com/tstore/tstore/codec/internal/golden"
	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/layout"
)

// A view is what Decode gives, and lies in the file wherever that is, while what Decode gives can
// be had as Go values.
func TestView(t *testing.T) {
	for _, m := range manifest(t) {
		if m.Error != "" {
			continue
		}
		file := golden.Read(t, m.File)
		for shift := range 9 {
			b := append(make([]byte, shift, shift+len(file)), file...)[shift:]
			want, err := npy.Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			got, err := npy.View(b)
			if err != nil || !layout.Equal(got, want) || got.IsColumnMajor() != want.IsColumnMajor() {
				t.Errorf("%s, shifted by %d: %v, %v", m.File, shift, got, err)
			}
			if want.Len() == 0 {
				continue
			}
			width := want.DType().Size()
			if k := want.DType().Kind(); k == layout.KindComplex64 || k == layout.KindComplex128 {
				width /= 2
			}
			if uintptr(unsafe.Pointer(&want.Data()[0]))%uintptr(width) != 0 {
				t.Errorf("%s, shifted by %d: Decode gives elements at %p", m.File, shift, &want.Data()[0])
			}
		}
	}

	const prefix = 1 // so that the elements lie at an odd address
	var file bytes.Buffer
	file.Write(make([]byte, prefix))
	if err := npy.Encode(&file, layout.DenseOf([]float64{1, 2}, 2)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, file.Len()+64)
	b = b[-uintptr(unsafe.Pointer(&b[0]))%64:][:file.Len()]
	copy(b, file.Bytes())
	d, err := npy.View(b[prefix:])
	if err != nil {
		t.Fatal(err)
	}
	if &d.Data()[0] != &b[len(b)-16] {
		t.Error("the view is a copy")
	}
	if _, err := layout.Values[float64](d); !errors.Is(err, layout.ErrMisaligned) {
		t.Errorf("values at an odd address: error %v, want ErrMisaligned", err)
	}
}

func TestAppendHeader(t *testing.T) {
	for _, d := range []*layout.Dense{
		layout.DenseOf([]float64{1, 2, 3, 4}, 2, 2), layout.DenseOf([]uint8{1}), layout.DenseOf([]complex64{}, 0, 3),
	} {
		b, err := npy.AppendHeader([]byte("before"), d.DType(), d.Shape(), false)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(d.AppendRowMajor(b)), "before"+string(encode(t, d)); got != want {
			t.Errorf("got %q\nwant %q", got, want)
		}
	}
	d, err := layout.NewColumnMajor(layout.Int8, []int64{2, 2}, []byte{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	b, err := npy.AppendHeader(nil, d.DType(), d.Shape(), true)
	if err != nil || string(append(b, d.Data()...)) != string(encode(t, d)) {
		t.Errorf("got %q, %v", b, err)
	}
	if _, err := npy.AppendHeader(nil, layout.BFloat16, nil, false); !errors.Is(err, npy.ErrUnsupported) {
		t.Errorf("error %v, want ErrUnsupported", err)
	}
}
