package npy_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/tstore/tstore/codec/internal/golden"
	"github.com/tstore/tstore/codec/npy"
)

// FuzzDecode makes sure that no input panics or gives a tensor that can't be read, and that what
// is accepted can be written and read again.
func FuzzDecode(f *testing.F) {
	for _, m := range manifest(f) {
		f.Add(golden.Read(f, m.File))
	}
	f.Add([]byte("\x93NUMPY\x01\x00\x36\x00{'descr':'|b1','fortran_order':True,'shape':(0,9,9,)}  \n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := npy.Decode(b)
		if err != nil {
			if !errors.Is(err, npy.ErrInvalid) && !errors.Is(err, npy.ErrTruncated) && !errors.Is(err, npy.ErrUnsupported) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		elements := d.AppendRowMajor(nil)
		var out bytes.Buffer
		if err := npy.Encode(&out, d); err != nil {
			t.Fatalf("%v %v can be read but not written: %v", d.DType(), d.Shape(), err)
		}
		again, err := npy.Decode(out.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if again.DType() != d.DType() || !bytes.Equal(again.AppendRowMajor(nil), elements) {
			t.Fatalf("%v %v came back as %v %v", d.DType(), d.Shape(), again.DType(), again.Shape())
		}
	})
}
