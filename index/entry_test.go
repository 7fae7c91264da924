package index

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tstore/tstore/layout"
)

// equateEntries compares entries as they come back from disk: nil and empty slices are the same.
var equateEntries = cmp.Options{cmpopts.EquateEmpty(), cmpopts.EquateComparable(layout.DType{})}

func mustDType(t testing.TB, name string) layout.DType {
	t.Helper()
	d, err := layout.ParseDType(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func image(name string, seq uint64) *Entry {
	return &Entry{
		Name: name, Seq: seq, Segment: 3, Offset: 64 * int64(seq), Length: 3392, CRC: 0xDEADBEEF,
		DType: layout.Float32, Shape: []int64{28, 28}, NNZ: 784, Bytes: 3136,
	}
}

func sampleEntries(t testing.TB) []*Entry {
	return []*Entry{
		image("digits/x", 7),
		{Name: "gone", Seq: math.MaxUint64, Deleted: true},
		{Name: "scalar", Seq: 1, Offset: 128, Length: 320, DType: layout.Bool, NNZ: 1, Bytes: 1},
		{
			Name: "sparse", Seq: 9, Segment: math.MaxUint64, Offset: math.MaxInt64 - 127, Length: 64, CRC: math.MaxUint32,
			DType: layout.Complex128, Layout: layout.LayoutCSF, Shape: []int64{math.MaxInt64, 0, 1}, NNZ: 12345, Bytes: math.MaxInt64,
			DimNames: []string{"zeit", "", "höhe"}, IndptrType: layout.Int64, IndicesType: layout.Int16,
			Attrs: []layout.Attr{{Key: "unit", Value: "m"}, {Key: "", Value: ""}, {Key: "unit", Value: strings.Repeat("long ", 1000)}},
		},
		{
			Name: "coo", Seq: 9, Segment: 1, Offset: 64, Length: 64, DType: layout.Int8, Layout: layout.LayoutCOO,
			Shape: []int64{4}, NNZ: 2, Bytes: 4, IndicesType: layout.Uint8,
		},
		{
			Name: "wide", Segment: 1, Offset: 0, Length: 64, DType: mustDType(t, "timestamp[ns, Europe/Vienna]"),
			Shape: make([]int64, layout.MaxDims), DimNames: make([]string, layout.MaxDims),
		},
	}
}

func TestEntrySurvivesItsEncoding(t *testing.T) {
	for _, e := range sampleEntries(t) {
		t.Run(e.Name, func(t *testing.T) {
			b := AppendEntry([]byte("before"), e)
			got, err := DecodeEntry(e.Name, b[len("before"):])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(e, got, equateEntries); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if again := AppendEntry(nil, got); string(again) != string(b[len("before"):]) {
				t.Errorf("encoded again: %x, want %x", again, b[len("before"):])
			}
		})
	}
}

func TestEntryOfAnImageIsSmall(t *testing.T) {
	if n := len(AppendEntry(nil, image("digits/x", 7))); n > 64 {
		t.Errorf("a dense matrix without attributes takes %d bytes, want at most 64", n)
	}
}

func TestDecodeEntryRefuses(t *testing.T) {
	change := func(e *Entry, f func(b []byte) []byte) []byte { return f(AppendEntry(nil, e)) }
	at := func(i int, v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[i] = v; return b }
	}
	dense, coo, dead := image("x", 1), sampleEntries(t)[4], &Entry{Name: "x", Deleted: true}
	named := image("x", 1)
	named.DimNames = []string{"r", "c"}
	d := entryPutSize
	for _, c := range []struct {
		name string
		b    []byte
		want error
		text string
	}{
		{"nothing", nil, ErrCorrupt, "0 bytes"},
		{"newer version", change(dense, at(0, 2)), ErrNewerFormat, "version 2"},
		{"version 0", change(dense, at(0, 0)), ErrNewerFormat, "version 0"},
		{"newer kind", change(dense, at(1, 3)), ErrNewerFormat, "kind 3"},
		{"reserved byte", change(dense, at(3, 1)), ErrCorrupt, "reserved"},
		{"tombstone with a tail", change(dead, func(b []byte) []byte { return append(b, 0) }), ErrCorrupt, "17 bytes"},
		{"tombstone with a checksum", change(dead, at(4, 1)), ErrCorrupt, "tombstone"},
		{"put without description", change(dense, func(b []byte) []byte { return b[:d] }), ErrCorrupt, "cut short"},
		{"put without location", change(dense, func(b []byte) []byte { return b[:d-1] }), ErrCorrupt, "39 bytes"},
		{"negative offset", change(dense, at(31, 0x80)), ErrCorrupt, "not possible"},
		{"misaligned offset", change(dense, at(24, 8)), ErrCorrupt, "not possible"},
		{"empty record", change(dense, func(b []byte) []byte { clear(b[32:40]); return b }), ErrCorrupt, "not possible"},
		{"end past 2^63", change(dense, func(b []byte) []byte { copy(b[24:32], "\xc0\xff\xff\xff\xff\xff\xff\x7f"); return b }), ErrCorrupt, "not possible"},
		{"newer layout", change(dense, at(d, 5)), ErrNewerFormat, "layout number 5"},
		{"newer flag", change(dense, at(d+1, 4)), ErrNewerFormat, "flags"},
		{"too many dimensions", change(dense, at(d+2, 65)), ErrCorrupt, "65 dimensions"},
		{"dimension names of a scalar", change(sampleEntries(t)[2], at(d+1, 1)), ErrCorrupt, "without dimensions"},
		{"index types of a dense tensor", change(dense, at(d+1, 2)), ErrCorrupt, "sparse"},
		{"sparse without index types", change(coo, at(d+1, 0)), ErrCorrupt, "sparse"},
		{"no such element type", change(dense, at(d+4, 'F')), ErrCorrupt, "no element type is called"},
		{"no element type", append(AppendEntry(nil, dense)[:d], 0, 0, 0, 0, 0, 0, 0), ErrCorrupt, "no element type"},
		{"sparse without type of indices", append(AppendEntry(nil, coo)[:d], 1, 2, 0, 4, 'i', 'n', 't', '8', 0, 0, 0, 0, 0), ErrCorrupt, "no type of indices"},
		{"type longer than the entry", change(dense, at(d+3, 120)), ErrCorrupt, "a string of 120 bytes"},
		{"length of 2^63", append(AppendEntry(nil, dense)[:d+3], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"...), ErrCorrupt, "below 2^63"},
		{"number longer than needed", append(AppendEntry(nil, dense)[:d+11], 0x9c, 0x00, 28, 0, 0, 0), ErrCorrupt, "shortest form"},
		{"more attributes than bytes", append(AppendEntry(nil, dense)[:d+11], 28, 28, 1, 1, 200, 1), ErrCorrupt, "200 attributes"},
		{"attribute cut short", append(AppendEntry(nil, dense)[:d+11], 28, 28, 1, 1, 1, 3, 'k', 'k', 'k'), ErrCorrupt, "below 2^63"},
		{"something follows", change(dense, func(b []byte) []byte { return append(b, 0) }), ErrCorrupt, "1 bytes too many"},
		{"dimension name cut short", change(named, func(b []byte) []byte { return b[:len(b)-2] }), ErrCorrupt, "where 0 are left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := DecodeEntry("some/name", c.b)
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "some/name") {
				t.Errorf("error %q does not say %q and the name", err, c.text)
			}
		})
	}
}

func TestEveryTruncatedEntryIsRefused(t *testing.T) {
	for _, e := range sampleEntries(t) {
		b := AppendEntry(nil, e)
		for n := range len(b) {
			if _, err := DecodeEntry(e.Name, b[:n]); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("%s cut to %d of %d bytes: %v", e.Name, n, len(b), err)
			}
		}
	}
}

// entries generates entries of every kind with the given name.
func entries(name string) *rapid.Generator[*Entry] {
	types := []layout.DType{layout.Int8, layout.Float64, layout.Complex64, layout.BFloat16}
	return rapid.Custom(func(t *rapid.T) *Entry {
		e := &Entry{Name: name, Seq: rapid.Uint64().Draw(t, "seq"), Deleted: rapid.Bool().Draw(t, "deleted")}
		if e.Deleted {
			return e
		}
		e.Segment = rapid.Uint64().Draw(t, "segment")
		e.Offset = rapid.Int64Range(0, math.MaxInt64/128).Draw(t, "offset") * 64
		e.Length = rapid.Int64Range(1, math.MaxInt64/128).Draw(t, "length") * 64
		e.CRC = rapid.Uint32().Draw(t, "crc")
		e.DType = rapid.SampledFrom(types).Draw(t, "type")
		e.Layout = layout.Layout(rapid.IntRange(0, int(layout.LayoutCSF)).Draw(t, "layout"))
		e.Shape = rapid.SliceOfN(rapid.Int64Range(0, math.MaxInt64), 0, 5).Draw(t, "shape")
		if rapid.Bool().Draw(t, "named") {
			e.DimNames = rapid.SliceOfN(rapid.String(), len(e.Shape), len(e.Shape)).Draw(t, "dims")
		}
		e.NNZ = rapid.Int64Range(0, math.MaxInt64).Draw(t, "nnz")
		e.Bytes = rapid.Int64Range(0, math.MaxInt64).Draw(t, "bytes")
		for range rapid.IntRange(0, 3).Draw(t, "attrs") {
			e.Attrs = append(e.Attrs, layout.Attr{Key: rapid.String().Draw(t, "key"), Value: rapid.String().Draw(t, "value")})
		}
		if e.Layout != layout.LayoutDense {
			e.IndicesType = layout.Uint32
		}
		if e.Layout > layout.LayoutCOO {
			e.IndptrType = layout.Uint16
		}
		return e
	})
}

func TestAnyEntrySurvivesItsEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := entries("x").Draw(t, "entry")
		b := AppendEntry(nil, e)
		got, err := DecodeEntry("x", b)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, got, equateEntries); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}

func FuzzDecodeEntry(f *testing.F) {
	for _, e := range sampleEntries(f) {
		f.Add(AppendEntry(nil, e))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := DecodeEntry("x", b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNewerFormat) {
				t.Fatalf("an error of no kind: %v", err)
			}
			return
		}
		// Whatever is accepted has one encoding.
		if again := AppendEntry(nil, e); string(again) != string(b) {
			t.Fatalf("accepted %x, which is encoded %x", b, again)
		}
	})
}

func TestCheckName(t *testing.T) {
	for _, c := range []struct {
		name string
		want string // empty: a good name; else a part of the error
	}{
		{"x", ""},
		{"train/x.0", ""},
		{"../../etc/passwd", ""}, // names are never made into paths
		{"höhe 山", ""},
		{"replacement \uFFFD character", ""},
		{strings.Repeat("n", MaxName), ""},
		{"", "empty"},
		{strings.Repeat("n", MaxName+1), "1025 bytes"},
		{"a\x00b", "control character at byte 1"},
		{"a\nb", "control character at byte 1"},
		{"ab\x7f", "control character at byte 2"},
		{"ä\u0085", "control character at byte 2"},
		{"ab\xff", "not UTF-8 at byte 2"},
		{"ab\xe5\xb1", "not UTF-8 at byte 2"},
		{"\xed\xa0\x80", "not UTF-8 at byte 0"}, // a surrogate
	} {
		err := CheckName(c.name)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrName) || !strings.Contains(fmt.Sprint(err), c.want)) {
			t.Errorf("CheckName(%.20q) = %v, want %q", c.name, err, c.want)
		}
	}
}
