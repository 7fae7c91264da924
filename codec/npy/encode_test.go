package npy_test

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tstore/tstore/codec/internal/golden"
	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/layout"
)

func TestDecodeSharesMemory(t *testing.T) {
	for _, c := range []struct {
		file   string
		shared bool
	}{
		{"accept/f8_c.npy", true},
		{"accept/f8_fortran.npy", true},
		{"accept/c16_c.npy", true},
		{"accept/b1_c.npy", true},
		{"accept/datetime_ns.npy", true},
		{"accept/f8_big_endian.npy", false},
		{"accept/datetime_D.npy", false},
		{"accept/bool_bytes_above_1.npy", false},
	} {
		b := golden.Read(t, c.file)
		before := bytes.Clone(b)
		d, err := npy.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		p := uintptr(unsafe.Pointer(unsafe.SliceData(d.Data())))
		start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
		if shared := start <= p && p < start+uintptr(len(b)); shared != c.shared {
			t.Errorf("%s: shares the file's memory: %v, want %v", c.file, shared, c.shared)
		}
		if !bytes.Equal(b, before) {
			t.Errorf("%s: Decode changed its input", c.file)
		}
	}
}

func TestDecodeOfMisalignedMemoryCopies(t *testing.T) {
	for _, file := range []string{"accept/f8_c.npy", "accept/f4_fortran.npy", "accept/c16_c.npy"} {
		b := golden.Read(t, file)
		want, err := npy.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		shifted := append(make([]byte, 1, len(b)+1), b...)[1:]
		got, err := npy.Decode(shifted)
		if err != nil {
			t.Fatal(err)
		}
		if uintptr(unsafe.Pointer(unsafe.SliceData(got.Data())))%8 != 0 {
			t.Errorf("%s: elements are misaligned", file)
		}
		if diff := cmp.Diff(want.AppendRowMajor(nil), got.AppendRowMajor(nil)); diff != "" {
			t.Errorf("%s: (-aligned +misaligned):\n%s", file, diff)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	zoned, err := layout.Timestamp(layout.UnitSecond, "UTC")
	if err != nil {
		t.Fatal(err)
	}
	dateMS, err := layout.Date(layout.UnitMillisecond)
	if err != nil {
		t.Fatal(err)
	}
	decimal, err := layout.Decimal(10, 2, 128)
	if err != nil {
		t.Fatal(err)
	}
	for _, dt := range []layout.DType{layout.BFloat16, layout.Float8E4M3FN, layout.Float8E5M2, zoned, dateMS, decimal} {
		d, err := layout.NewDense(dt, []int64{2}, make([]byte, 2*dt.Size()))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		err = npy.Encode(&out, d)
		if !errors.Is(err, npy.ErrUnsupported) || !strings.Contains(err.Error(), dt.String()) ||
			!strings.Contains(err.Error(), ".msg") || !strings.Contains(err.Error(), "--raw") {
			t.Errorf("%v: error %v; want ErrUnsupported with the type, .msg and --raw", dt, err)
		}
		if out.Len() != 0 {
			t.Errorf("%v: %d bytes written before the refusal", dt, out.Len())
		}

		raw, err := npy.Raw(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := npy.Decode(encode(t, raw)); err != nil {
			t.Errorf("%v: raw form: %v", dt, err)
		}
		if raw.NumBytes() != d.NumBytes() {
			t.Errorf("%v: raw form has %d bytes, not %d", dt, raw.NumBytes(), d.NumBytes())
		}
	}
}

func TestRawKeepsBits(t *testing.T) {
	d := layout.DenseOf([]layout.BF16{1, 2, 3, 0xffff}, 2, 2)
	raw, err := npy.Raw(d)
	if err != nil {
		t.Fatal(err)
	}
	got, err := layout.Values[uint16](raw)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]uint16{1, 2, 3, 0xffff}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	c, err := npy.Raw(layout.DenseOf([]complex128{1, 2, 3}, 3))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{3, 16}, c.Shape()); diff != "" {
		t.Errorf("shape of wide elements (-want +got):\n%s", diff)
	}
}

// A view with any strides is written as its row-major elements.
func TestEncodeStridedViews(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.Int64Range(0, 5), 0, 4).Draw(t, "shape")
		n := int64(1)
		for _, s := range shape {
			n *= s
		}
		values := make([]int32, n)
		for i := range values {
			values[i] = int32(i) * 1000003
		}
		d := layout.DenseOf(values, shape...)
		var err error
		for axis := range shape {
			start := rapid.Int64Range(0, shape[axis]).Draw(t, "start")
			step := rapid.Int64Range(1, 3).Draw(t, "step")
			if start > 0 && rapid.Bool().Draw(t, "down") {
				d, err = d.Slice(axis, start-1, -1, -step)
			} else {
				d, err = d.Slice(axis, start, shape[axis], step)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if rapid.Bool().Draw(t, "transpose") {
			if d, err = d.Transpose(); err != nil {
				t.Fatal(err)
			}
		}
		var b bytes.Buffer
		if err := npy.Encode(&b, d); err != nil {
			t.Fatal(err)
		}
		got, err := npy.Decode(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(append([]int64{}, d.Shape()...), append([]int64{}, got.Shape()...)); diff != "" {
			t.Fatalf("shape (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(d.AppendRowMajor(nil), got.AppendRowMajor(nil)); diff != "" {
			t.Fatalf("elements (-want +got):\n%s", diff)
		}
	})
}

// A strided tensor of 64 MiB goes out through a buffer of 1 MiB.
func TestEncodeStreams(t *testing.T) {
	d := layout.DenseOf(make([]float64, 4096*4096), 4096, 4096)
	view, err := d.Slice(1, 4095, -1, -2)
	if err != nil {
		t.Fatal(err)
	}
	var w largestWrite
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := npy.Encode(&w, view); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 2<<20 {
		t.Errorf("Encode of %d bytes allocates %d", view.NumBytes(), got)
	}
	if w > 1<<20 {
		t.Errorf("largest write has %d bytes", w)
	}
}

type largestWrite int

func (w *largestWrite) Write(b []byte) (int, error) {
	*w = max(*w, largestWrite(len(b)))
	return len(b), nil
}

func TestEncodeReturnsTheWritersError(t *testing.T) {
	days, err := layout.Date(layout.UnitDay)
	if err != nil {
		t.Fatal(err)
	}
	dates, err := layout.NewDense(days, []int64{4}, make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []*layout.Dense{layout.DenseOf([]int8{1, 2, 3, 4}, 4), dates} {
		full := len(encode(t, d))
		for n := range full {
			if err := npy.Encode(&limitedWriter{n}, d); !errors.Is(err, io.ErrShortWrite) {
				t.Fatalf("%v: writer with room for %d of %d bytes: error %v", d.DType(), n, full, err)
			}
		}
	}
}

type limitedWriter struct{ left int }

func (w *limitedWriter) Write(b []byte) (int, error) {
	if len(b) > w.left {
		return w.left, io.ErrShortWrite
	}
	w.left -= len(b)
	return len(b), nil
}
