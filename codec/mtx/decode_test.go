package mtx_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/codec/internal/golden"
	"github.com/tstore/tstore/codec/mtx"
	"github.com/tstore/tstore/layout"
)

func zip(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRefused(t *testing.T) {
	const (
		banner   = "%%MatrixMarket matrix "
		coo      = banner + "coordinate real general\n"
		array    = banner + "array real general\n"
		integers = banner + "array integer general\n"
	)
	zipped := zip(t, coo+"1 1 1\n1 1 1\n")
	for _, c := range []struct {
		name, text string
		is         error
		reason     string // of the message; with the line
	}{
		{"empty", "", mtx.ErrTruncated, "it is empty"},
		{"blank lines only", "\n\n", mtx.ErrTruncated, "it is empty"},
		{"no banner", "3 3 1\n1 1 1\n", mtx.ErrInvalid, "line 1: it does not begin with %%MatrixMarket"},
		{"banner in line 2", "\n" + coo, mtx.ErrInvalid, "line 2: it does not begin with"},
		{"four words", "%%MatrixMarket matrix coordinate real\n", mtx.ErrInvalid, "line 1: the first line has 4 words"},
		{"vector", "%%MatrixMarket vector coordinate real general\n", mtx.ErrUnsupported, "line 1: a \"vector\""},
		{"format", banner + "list real general\n", mtx.ErrInvalid, "line 1: format \"list\""},
		{"field", banner + "array quaternion general\n", mtx.ErrInvalid, "line 1: field \"quaternion\""},
		{"symmetry", banner + "array real round\n", mtx.ErrInvalid, "line 1: symmetry \"round\""},
		{"array pattern", banner + "array pattern general\n", mtx.ErrInvalid, "a pattern has coordinates only"},
		{"hermitian real", banner + "array real hermitian\n", mtx.ErrInvalid, "only complex ones are hermitian"},
		{"skew pattern", banner + "coordinate pattern skew-symmetric\n", mtx.ErrInvalid, "no negative numbers"},
		{"no sizes", coo + "% x\n", mtx.ErrTruncated, "ends after line 2, before the sizes"},
		{"two sizes of three", coo + "3 3\n", mtx.ErrInvalid, "line 2: 2 numbers; the sizes are rows, columns and entries"},
		{"three sizes of two", array + "3 3 9\n", mtx.ErrInvalid, "line 2: 3 numbers; the sizes are rows and columns"},
		{"negative size", array + "-3 3\n", mtx.ErrInvalid, "line 2: \"-3\""},
		{"size beyond 63 bits", array + "9223372036854775808 3\n", mtx.ErrInvalid, "line 2: \"9223372036854775808\""},
		{"size not whole", array + "3.0 3\n", mtx.ErrInvalid, "line 2: \"3.0\""},
		{"too many elements", array + "4294967296 4294967296\n", mtx.ErrUnsupported, "line 2: 4294967296 × 4294967296"},
		{"too many elements of coordinates", coo + "4294967296 4294967296 1\n1 1 1\n", mtx.ErrUnsupported, "line 2: 4294967296 × 4294967296"},
		{"symmetric not square", banner + "array real symmetric\n2 3\n", mtx.ErrInvalid, "line 2: 2 rows and 3 columns"},
		{"fewer entries", coo + "3 3 2\n1 1 1\n", mtx.ErrTruncated, "ends after line 3, with 1 of 2 entries"},
		{"more entries", coo + "3 3 1\n1 1 1\n\n2 2 2\n", mtx.ErrInvalid, "line 5: another entry after the 1"},
		{"row 0", coo + "3 3 1\n0 1 1\n", mtx.ErrInvalid, "line 3: row 0 of a matrix with rows 1 to 3"},
		{"row too large", coo + "3 3 1\n4 1 1\n", mtx.ErrInvalid, "line 3: row 4 of a matrix with rows 1 to 3"},
		{"column too large", coo + "3 3 1\n1 4 1\n", mtx.ErrInvalid, "line 3: column 4 of a matrix with columns 1 to 3"},
		{"row not whole", coo + "3 3 1\n1.0 1 1\n", mtx.ErrInvalid, "line 3: row \"1.0\" is not a whole number"},
		{"no column", coo + "3 3 1\n1\n", mtx.ErrInvalid, "line 3: the column is missing"},
		{"no value", coo + "3 3 1\n1 1\n", mtx.ErrInvalid, "line 3: a number is missing"},
		{"value and more", coo + "3 3 1\n1 1 1 2\n", mtx.ErrInvalid, "line 3: \"2\" after the entry"},
		{"no number", coo + "3 3 1\n1 1 one\n", mtx.ErrInvalid, "line 3: \"one\" is not a number"},
		{"hexadecimal", coo + "3 3 1\n1 1 0x1p-2\n", mtx.ErrInvalid, "line 3: \"0x1p-2\" is not a number"},
		{"underscore", coo + "3 3 1\n1 1 1_0\n", mtx.ErrInvalid, "line 3: \"1_0\" is not a number"},
		{"beyond float64", coo + "3 3 1\n1 1 1e400\n", mtx.ErrInvalid, "line 3: \"1e400\" is not a number that fits"},
		{"no imaginary part", banner + "array complex general\n1 1\n1\n", mtx.ErrInvalid, "line 3: a number is missing"},
		{"integer with a point", integers + "1 1\n1.0\n", mtx.ErrInvalid, "line 3: \"1.0\" is not a whole number that fits in int64"},
		{"integer beyond 64 bits", integers + "1 1\n9223372036854775808\n", mtx.ErrInvalid, "line 3: \"9223372036854775808\""},
		{"integer below 64 bits", integers + "1 1\n-9223372036854775809\n", mtx.ErrInvalid, "line 3: \"-9223372036854775809\""},
		{"two signs", integers + "1 1\n-+1\n", mtx.ErrInvalid, "line 3: \"-+1\""},
		{"negative unsigned", banner + "array unsigned-integer general\n1 1\n-1\n", mtx.ErrInvalid, "line 3: \"-1\" is not a whole number that fits in uint64"},
		{"above the diagonal", banner + "coordinate real symmetric\n3 3 1\n1 2 1\n", mtx.ErrInvalid, "line 3: element (1, 2) above the diagonal"},
		{"skew diagonal", banner + "coordinate real skew-symmetric\n3 3 1\n2 2 0\n", mtx.ErrInvalid, "line 3: element (2, 2) on the diagonal"},
		{"hermitian diagonal", banner + "coordinate complex hermitian\n3 3 1\n2 2 1 1\n", mtx.ErrInvalid, "line 3: an element with an imaginary part"},
		{"hermitian diagonal of an array", banner + "array complex hermitian\n2 2\n1 0\n2 2\n1 1\n", mtx.ErrInvalid, "line 5: an element with an imaginary part"},
		{"no negative", banner + "coordinate integer skew-symmetric\n2 2 1\n2 1 -9223372036854775808\n", mtx.ErrInvalid, "line 3: -9223372036854775808 has no negative"},
		{"no negative in an array", banner + "array integer skew-symmetric\n2 2\n-9223372036854775808\n", mtx.ErrInvalid, "line 3: -9223372036854775808 has no negative"},
		{"a long line", coo + "3 3 1\n1 1 " + strings.Repeat("1", 70000), mtx.ErrInvalid, "line 3: it is longer than"},
		{"a long first line", "%" + strings.Repeat("%", 70000), mtx.ErrInvalid, "line 1: it is longer than"},
		{"gzip header", "\x1f\x8bnot gzip at all", mtx.ErrInvalid, "gzip"},
		{"gzip cut", zipped[:len(zipped)/2], mtx.ErrTruncated, "gzip stream ends"},
		{"gzip checksum", zipped[:len(zipped)-8] + "xxxxxxxx", mtx.ErrInvalid, "checksum"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, err := mtx.Decode([]byte(c.text))
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.reason) {
				t.Fatalf("%v, error %v\nwant %v … %s", x, err, c.is, c.reason)
			}
			if len(err.Error()) > 300 || strings.ContainsRune(err.Error(), '\n') {
				t.Errorf("error is not one short line: %q", err)
			}
		})
	}
}

func TestNumbersAsFortranAndPythonWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"1.5D+03": "1500", "1.5d3": "1500", "+2": "2", ".5": "0.5", "5.": "5", "-0": "-0",
		"NaN": "nan", "nan": "nan", "Inf": "inf", "-inf": "-inf", "+Infinity": "inf", "1e-400": "0",
	} {
		x := decode(t, []byte("%%MatrixMarket matrix array real general\n1 1\n"+text))
		if got := string(encode(t, x)); got != "%%MatrixMarket matrix array real general\n1 1\n"+want+"\n" {
			t.Errorf("%s is written as %q", text, got)
		}
	}
}

// A matrix of coordinates may have more elements than memory has bytes: what is written is read again.
func TestSizesUpToTheLargest(t *testing.T) {
	for _, size := range []int64{1 << 31, 3037000499} { // whose squares times 8 are above 2^63-1
		x, err := layout.NewCOO(layout.Float64, []int64{size, size}, layout.IndexOf([]int64{size - 1, size - 2}), layout.BytesOf([]float64{1.5}), true)
		if err != nil {
			t.Fatal(err)
		}
		text := encode(t, x)
		y := decode(t, text)
		if diff := cmp.Diff(x.Shape(), y.Shape()); diff != "" {
			t.Errorf("shape (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(string(text), string(encode(t, y))); diff != "" {
			t.Errorf("text (-want +got):\n%s", diff)
		}
	}
}

// A size that is only claimed takes neither memory nor time.
func TestHostileSizesCostNothing(t *testing.T) {
	for _, text := range []string{
		"%%MatrixMarket matrix coordinate real general\n1000000000000 1000000 9000000000000000000\n1 1 1\n",
		"%%MatrixMarket matrix coordinate pattern symmetric\n1000000000 1000000000 9000000000000000000\n1 1\n",
		"%%MatrixMarket matrix array real general\n1000000000 1000000000\n1\n",
		"%%MatrixMarket matrix array complex hermitian\n500000000 500000000\n1 0\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		if _, err := mtx.Decode([]byte(text)); !errors.Is(err, mtx.ErrTruncated) {
			t.Errorf("%q: error %v", text, err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 1<<20 {
			t.Errorf("%q: %d bytes allocated", text, got)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%q takes %v", text, d)
		}
	}
}

// FuzzDecode makes sure that no input panics, and that what is accepted can be written and read
// again.
func FuzzDecode(f *testing.F) {
	for _, m := range manifest(f) {
		f.Add(golden.Read(f, m.File))
	}
	f.Add([]byte("%%MatrixMarket matrix array integer skew-symmetric\n2 2\n-5\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := mtx.Decode(b)
		if err != nil {
			if !errors.Is(err, mtx.ErrInvalid) && !errors.Is(err, mtx.ErrTruncated) && !errors.Is(err, mtx.ErrUnsupported) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		text := encode(t, x)
		again, err := mtx.Decode(text)
		if err != nil {
			t.Fatalf("can't read what was written: %v", err)
		}
		// Compared as text, in which every NaN is the same.
		if !bytes.Equal(encode(t, again), text) {
			t.Fatalf("%v %v %v came back different", x.Layout(), x.DType(), x.Shape())
		}
	})
}
