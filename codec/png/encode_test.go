package png_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	stdpng "image/png"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tstore/tstore/codec/internal/golden"
	"github.com/tstore/tstore/codec/png"
	"github.com/tstore/tstore/layout"
)

// comesBack writes a tensor and reads it again.
func comesBack(t testing.TB, d *layout.Dense) {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, d); err != nil {
		t.Fatal(err)
	}
	again, err := png.Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	want := d
	if d.NDim() == 3 && d.Shape()[2] == 1 {
		if want, err = d.Index(2, 0); err != nil {
			t.Fatal(err)
		}
	}
	if !layout.Equal(want, again) {
		t.Fatalf("%v %v came back as %v %v", d.DType(), d.Shape(), again.DType(), again.Shape())
	}
}

// Every image comes back, of each number of channels and however it lies in memory.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shape := []int64{rapid.Int64Range(1, 12).Draw(rt, "height"), rapid.Int64Range(1, 12).Draw(rt, "width")}
		n := shape[0] * shape[1]
		if channels := rapid.Int64Range(0, 4).Draw(rt, "channels"); channels > 0 {
			shape = append(shape, channels)
			n *= channels
		}
		level := rapid.IntRange(1, math.MaxUint16).Draw(rt, "level") // even images take other filters than noise
		var d *layout.Dense
		if rapid.Bool().Draw(rt, "16 bits") {
			d = layout.DenseOf(rapid.SliceOfN(rapid.Uint16Max(uint16(level)), int(n), int(n)).Draw(rt, "pixels"), shape...)
		} else {
			d = layout.DenseOf(rapid.SliceOfN(rapid.Uint8Max(uint8(max(1, level>>8))), int(n), int(n)).Draw(rt, "pixels"), shape...)
		}
		if rapid.Bool().Draw(rt, "strided") {
			var err error
			if d, err = d.Transpose([]int{1, 0, 2}[:len(shape)]...); err != nil {
				rt.Fatal(err)
			}
		}
		comesBack(t, d)
	})
}

// The rows of a smooth image are written with filters, which make it smaller than the pixels compressed
// as they are.
func TestFiltersMakeSmaller(t *testing.T) {
	pixels := make([]uint8, 256*256*3)
	for i := range pixels {
		x, y, c := i/3%256, i/3/256, i%3
		pixels[i] = uint8(x*x/300 + y*(c+1)/2)
	}
	d := layout.DenseOf(pixels, 256, 256, 3)
	var ours, theirs bytes.Buffer
	if err := png.Encode(&ours, d); err != nil {
		t.Fatal(err)
	}
	img, err := stdpng.Decode(bytes.NewReader(ours.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if err := stdpng.Encode(&theirs, img); err != nil {
		t.Fatal(err)
	}
	if ours.Len() > theirs.Len()*21/20 {
		t.Errorf("%d bytes, image/png takes %d", ours.Len(), theirs.Len())
	}
}

func TestEncodeRefuses(t *testing.T) {
	sparse, err := layout.ToCOO(layout.DenseOf([]uint8{0, 1}, 1, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := layout.NewStrided(layout.Uint8, []int64{1, 1 << 31}, []int64{0, 0}, 0, []byte{1})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x      layout.Tensor
		reason string
	}{
		{sparse, "convert it to dense first"},
		{layout.DenseOf([]float32{1}, 1, 1), "pixels of uint8 or uint16, not float32"},
		{layout.DenseOf([]bool{true}, 1, 1), "not bool"},
		{layout.DenseOf([]uint8{1}, 1), "shape [1]"},
		{layout.DenseOf([]uint8{1}, 1, 1, 1, 1), "shape [1 1 1 1]"},
		{layout.DenseOf(make([]uint8, 5), 1, 1, 5), "1 to 4"},
		{layout.DenseOf([]uint8{}, 1, 1, 0), "1 to 4"},
		{layout.DenseOf([]uint8{}, 0, 3), "has 0 and 3"},
		{wide, "has 1 and 2147483648"},
	} {
		var b bytes.Buffer
		if err := png.Encode(&b, c.x); !errors.Is(err, png.ErrUnsupported) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%v %v: error %v, want one that says %s", c.x.DType(), c.x.Shape(), err, c.reason)
		}
		if b.Len() > 0 {
			t.Errorf("%v: %d bytes were written", c.x.Shape(), b.Len())
		}
	}
}

// head makes the beginning of a file.
func head(width, height uint32, depth, colors byte) []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR")
	b = binary.BigEndian.AppendUint32(b, width)
	b = binary.BigEndian.AppendUint32(b, height)
	b = append(b, depth, colors, 0, 0, 0)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[12:]))
}

// What a file declares is refused before memory is taken for it.
func TestHostileSizes(t *testing.T) {
	padded := func(b []byte, n int) []byte { return append(b, make([]byte, n)...) }
	for _, c := range []struct {
		file   []byte
		is     error
		reason string
	}{
		{head(1<<31-1, 1<<31-1, 16, 6), png.ErrUnsupported, "2147483647 × 2147483647 pixels take more than"},
		{head(1<<14, 1<<14+1, 8, 0), png.ErrUnsupported, "16384 × 16385 pixels take more than the 1073741824 bytes"},
		{head(1<<14, 1<<13+1, 16, 2), png.ErrUnsupported, "take more"},
		{head(1<<14, 1<<14, 8, 6), png.ErrTruncated, "can't be in 33 bytes"},
		{padded(head(1<<12, 1<<12, 1, 0), 1000), png.ErrTruncated, "can't be in 1033 bytes"},
		{head(0, 1, 8, 0), png.ErrInvalid, "no head of an image"},
		{head(1, 0, 8, 0), png.ErrInvalid, "no head of an image"},
		{head(1, 1, 0, 0), png.ErrInvalid, "no head of an image"},
		{head(1, 1, 8, 0), png.ErrTruncated, "before the image does"},
		{padded(head(1, 1, 3, 0), 100), png.ErrUnsupported, ""},
		{[]byte("GIF89a"), png.ErrInvalid, "does not begin with"},
		{nil, png.ErrTruncated, "0 bytes"},
	} {
		_, err := png.Decode(c.file)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("% x: error %v, want %v: %s", c.file[:min(33, len(c.file))], err, c.is, c.reason)
		}
	}
}

// FuzzDecode makes sure that no input panics, and that an image that is accepted can be written and read
// again.
func FuzzDecode(f *testing.F) {
	for _, m := range manifest(f) {
		f.Add(golden.Read(f, m.File))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := png.Decode(b)
		if err != nil {
			if !errors.Is(err, png.ErrInvalid) && !errors.Is(err, png.ErrTruncated) && !errors.Is(err, png.ErrUnsupported) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		comesBack(t, d)
	})
}
