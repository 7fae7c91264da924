package npz_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/edsrzf/mmap-go"
	"pgregory.net/rapid"

	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/layout"
)

// Whatever comes before them, elements lie at multiples of 64 bytes, and archive/zip reads what was
// written.
func TestAlignment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		w := npz.NewWriter(&out, false)
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-zé]{1,70}(/[a-z]{1,3})?`), 1, 8, rapid.ID).Draw(t, "names")
		data := map[string][]byte{}
		for _, name := range names {
			data[name] = rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "data")
			if err := w.Add(name, layout.DenseOf(data[name], int64(len(data[name])))); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if len(z.File) != len(names) {
			t.Fatalf("%d members, want %d", len(z.File), len(names))
		}
		for i, f := range z.File {
			if f.Name != names[i]+".npy" {
				t.Errorf("member %d is %s, want %s", i, f.Name, names[i])
			}
			at, err := f.DataOffset()
			if err != nil || at%64 != 0 {
				t.Errorf("member %s lies at %d, %v", f.Name, at, err)
			}
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			h, err := npy.ParseHeader(b)
			if err != nil || h.DataOffset%64 != 0 || !bytes.Equal(b[h.DataOffset:], data[names[i]]) {
				t.Errorf("member %s holds %q, %v", f.Name, b, err)
			}
		}
	})
}

func TestWriterRefuses(t *testing.T) {
	one := layout.DenseOf([]float64{1})
	sparse, err := layout.ToCOO(layout.DenseOf([]float64{1}, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	small, err := layout.NewDense(layout.BFloat16, []int64{1}, []byte{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, compress := range []bool{false, true} {
		for _, c := range []struct {
			name   string
			tensor layout.Tensor
			reason string
			is     error
		}{
			{"there", one, "there is a member of that name", npz.ErrUnsupported},
			{"", one, "it is empty", npz.ErrUnsupported},
			{"../x", one, "a part of it is ..", npz.ErrUnsupported},
			{"/x", one, "an absolute path", npz.ErrUnsupported},
			{strings.Repeat("x", 1<<16), one, "65531 bytes", npz.ErrUnsupported},
			{"x", sparse, "the tensor is coo", npz.ErrUnsupported},
			{"x", small, "bfloat16", npy.ErrUnsupported},
		} {
			var out bytes.Buffer
			w := npz.NewWriter(&out, compress)
			if err := w.Add("there", one); err != nil {
				t.Fatal(err)
			}
			if err := w.Add(c.name, c.tensor); !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.reason) {
				t.Errorf("%.10q: error %v, want %v … %s", c.name, err, c.is, c.reason)
			}
			// The archive is as if it had not been tried.
			if err := w.Add("after", one); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			f := open(t, out.Bytes())
			if len(f.Members) != 2 || f.Members[0].Name != "there" || f.Members[1].Name != "after" {
				t.Errorf("%.10q: the archive has %d members", c.name, len(f.Members))
			}
		}
	}
}

func TestWriteSparseRefuses(t *testing.T) {
	ints := layout.IndexOf([]int32{5})
	outside, err := layout.NewCOO(layout.Float64, []int64{2}, ints, make([]byte, 8), false)
	if err != nil {
		t.Fatal(err)
	}
	small, err := layout.NewCOO(layout.BFloat16, []int64{9}, ints, make([]byte, 2), false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tensor layout.Tensor
		is     error
	}{
		{layout.DenseOf([]float64{1}, 1), npz.ErrUnsupported},
		{layout.DenseOf([]float64{1}), npz.ErrUnsupported},
		{outside, layout.ErrIndex},
		{small, npy.ErrUnsupported},
	} {
		var out bytes.Buffer
		if err := npz.WriteSparse(&out, c.tensor, false); !errors.Is(err, c.is) {
			t.Errorf("%v of %v: error %v, want %v", c.tensor.DType(), c.tensor.Layout(), err, c.is)
		}
		if out.Len() > 0 {
			t.Errorf("%v: %d bytes were written", c.is, out.Len())
		}
	}
}

// Every layout and every type of index is written, and comes back with the same elements.
func TestWriteSparse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.Int64Range(0, 5), 1, 4).Draw(t, "shape")
		n, _ := layout.CheckedProduct(shape, 1)
		values := rapid.SliceOfN(rapid.SampledFrom([]float32{0, 0, 1, 2.5}), int(n), int(n)).Draw(t, "values")
		dense := layout.DenseOf(values, shape...)
		layouts := []layout.Layout{layout.LayoutCOO}
		if len(shape) == 2 {
			layouts = append(layouts, layout.LayoutCSR, layout.LayoutCSC)
		}
		if len(shape) > 1 {
			layouts = append(layouts, layout.LayoutCSF)
		}
		indexTypes := []layout.IndexType{layout.IndexAuto, layout.IndexInt8, layout.IndexUint16, layout.IndexInt32, layout.IndexUint32, layout.IndexInt64, layout.IndexUint64}
		o := &layout.ConvertOptions{Indptr: rapid.SampledFrom(indexTypes[2:]).Draw(t, "indptr"), Indices: rapid.SampledFrom(indexTypes).Draw(t, "indices")}
		x, err := layout.Convert(dense, rapid.SampledFrom(layouts).Draw(t, "layout"), o)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := npz.WriteSparse(&out, x, rapid.Bool().Draw(t, "compress")); err != nil {
			t.Fatal(err)
		}
		f, err := npz.Open(out.Bytes(), nil)
		if err != nil {
			t.Fatal(err)
		}
		again, ok, err := f.Sparse()
		if err != nil || !ok {
			t.Fatalf("recognised is %v, %v", ok, err)
		}
		want := x
		if x.Layout() == layout.LayoutCSF {
			if want, err = layout.ToCOO(x, nil); err != nil {
				t.Fatal(err)
			}
		}
		if !layout.Equal(again, want) {
			t.Errorf("%v came back as %v", x, again)
		}
		if _, indices := layout.IndexTypes(again); indices != layout.IndexInt32 {
			t.Errorf("indices are %v, SciPy would have written int32", indices)
		}
	})
}

type failingWriter struct{ left int }

var errFull = errors.New("disk full")

func (w *failingWriter) Write(b []byte) (int, error) {
	if len(b) > w.left {
		n := w.left
		w.left = 0
		return n, errFull
	}
	w.left -= len(b)
	return len(b), nil
}

func TestErrorsOfTheWriter(t *testing.T) {
	sparse, err := layout.ToCSR(layout.DenseOf([]float64{1, 0, 0, 2}, 2, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, compress := range []bool{false, true} {
		write := func(w io.Writer) error { return npz.WriteSparse(w, sparse, compress) }
		var whole bytes.Buffer
		if err := write(&whole); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < whole.Len(); n += 7 {
			if err := write(&failingWriter{n}); !errors.Is(err, errFull) {
				t.Fatalf("after %d of %d bytes: error %v, want that of the writer", n, whole.Len(), err)
			}
		}
	}
}

// Members and archives of more than 4 GiB need other forms of what zip keeps of them. Zeros are
// written to a file with a hole, so that they take neither disk nor memory.
func TestMoreThan4GiB(t *testing.T) {
	const size = 1<<32 + 12345
	one := make([]byte, 1<<20)
	large, err := layout.NewStrided(layout.Uint8, []int64{size / int64(len(one)), int64(len(one))}, []int64{0, 1}, 0, one)
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/large.npz"
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	holes := &holeWriter{file: file}
	w := npz.NewWriter(holes, false)
	small := layout.DenseOf([]float64{1, 2, 3}, 3)
	for i, x := range []*layout.Dense{small, large, small} {
		if err := w.Add(fmt.Sprint(i), x); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(holes.at); err != nil {
		t.Fatal(err)
	}
	openLarge(t, file, large.NumBytes()+128, small)
	z, err := zip.NewReader(file, holes.at)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range z.File {
		at, err := f.DataOffset()
		if err != nil || at%64 != 0 {
			t.Errorf("member %s lies at %d, %v", f.Name, at, err)
		}
		if want := uint64(large.NumBytes()) + 128; i == 1 && f.UncompressedSize64 != want {
			t.Errorf("member %s has %d bytes, want %d", f.Name, f.UncompressedSize64, want)
		}
		r, err := f.OpenRaw()
		if err != nil {
			t.Fatal(err)
		}
		head := make([]byte, 128+24)
		if _, err := io.ReadFull(r, head); err != nil {
			t.Fatal(err)
		}
		h, err := npy.ParseHeader(head)
		if err != nil || uint64(h.DataOffset+h.DataSize) != f.UncompressedSize64 {
			t.Errorf("member %s: %v, %v", f.Name, h, err)
		}
		if i != 1 {
			if d, err := npy.Decode(head); err != nil || !layout.Equal(d, small) || f.CRC32 != crc32.ChecksumIEEE(head) {
				t.Errorf("member %s: %v, %v", f.Name, d, err)
			}
		}
	}
}

// openLarge opens the archive of TestMoreThan4GiB and reads its small members.
func openLarge(t *testing.T, file *os.File, size int64, small *layout.Dense) {
	t.Helper()
	m, err := mmap.Map(file, mmap.RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Unmap()
	f := open(t, m)
	if len(f.Members) != 3 || f.Members[1].Size != size {
		t.Fatalf("members %v, want three, the second of %d bytes", f.Members, size)
	}
	for _, i := range []int{0, 2} {
		if d, err := f.Members[i].View(); err != nil || !layout.Equal(d, small) {
			t.Errorf("member %d is %v, %v", i, d, err)
		}
	}
}

// holeWriter writes a file but for zeros, which it leaves out.
type holeWriter struct {
	file *os.File
	at   int64
}

func (w *holeWriter) Write(b []byte) (int, error) {
	w.at += int64(len(b))
	if bytes.Count(b, []byte{0}) == len(b) {
		return len(b), nil
	}
	return w.file.WriteAt(b, w.at-int64(len(b)))
}
