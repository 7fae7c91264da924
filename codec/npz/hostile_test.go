package npz_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/layout"
)

// entry is a member of an archive as a hostile writer might make it. What is zero is as it should
// be.
type entry struct {
	name         string
	method       uint16
	flags        uint16
	data         []byte // as it lies in the archive
	size, csize  uint64 // what the directory says, if not 0
	crc          uint32 // if not 0
	uncompressed []byte // for size and CRC, if method is not Store
	extra        []byte
	sameBytesAs  string // data is that of an earlier member
	headerOffset int64  // what the directory says, if not 0
}

// archiveOf returns an archive of entries whose data lie one after the other.
func archiveOf(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b, directory []byte
	offsets := map[string]uint32{}
	for _, e := range entries {
		plain := e.data
		if e.uncompressed != nil {
			plain = e.uncompressed
		}
		size, csize, sum := uint64(len(plain)), uint64(len(e.data)), crc32.ChecksumIEEE(plain)
		if e.size != 0 {
			size = e.size
		}
		if e.csize != 0 {
			csize = e.csize
		}
		if e.crc != 0 {
			sum = e.crc
		}
		header := func(b []byte) []byte {
			b = binary.LittleEndian.AppendUint16(b, 20)
			b = binary.LittleEndian.AppendUint16(b, e.flags)
			b = binary.LittleEndian.AppendUint16(b, e.method)
			b = append(b, 0, 0, 33, 0)
			b = binary.LittleEndian.AppendUint32(b, sum)
			b = binary.LittleEndian.AppendUint32(b, uint32(csize))
			b = binary.LittleEndian.AppendUint32(b, uint32(size))
			b = binary.LittleEndian.AppendUint16(b, uint16(len(e.name)))
			return binary.LittleEndian.AppendUint16(b, uint16(len(e.extra)))
		}
		offset, shared := offsets[e.sameBytesAs]
		if e.sameBytesAs == "" || !shared {
			offset = uint32(len(b))
			b = append(b, "PK\x03\x04"...)
			b = header(b)
			b = append(append(append(b, e.name...), e.extra...), e.data...)
		}
		offsets[e.name] = offset
		if e.headerOffset != 0 {
			offset = uint32(e.headerOffset)
		}
		directory = append(directory, "PK\x01\x02\x14\x00"...)
		directory = header(directory)
		directory = append(directory, make([]byte, 2+2+2+4)...)
		directory = binary.LittleEndian.AppendUint32(directory, offset)
		directory = append(append(directory, e.name...), e.extra...)
	}
	end := append([]byte("PK\x05\x06"), make([]byte, 4)...)
	end = binary.LittleEndian.AppendUint16(end, uint16(len(entries)))
	end = binary.LittleEndian.AppendUint16(end, uint16(len(entries)))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(directory)))
	end = binary.LittleEndian.AppendUint32(end, uint32(len(b)))
	return append(append(append(b, directory...), end...), 0, 0)
}

// npyOf returns a .npy file.
func npyOf(t testing.TB, x layout.Tensor) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := npy.Encode(&b, x); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func deflated(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestArchivesThatAreRefused(t *testing.T) {
	one := npyOf(t, layout.DenseOf([]float64{1, 2}, 2))
	small := deflated(t, one)
	offset64 := func(at int64) []byte {
		b := []byte{1, 0, 8, 0}
		return binary.LittleEndian.AppendUint64(b, uint64(at))
	}
	named := func(name string) []entry { return []entry{{name: name, data: one}} }
	for _, c := range []struct {
		what    string
		entries []entry
		reason  string
		is      error
	}{
		{"no name", named(".npy"), "it is empty", npz.ErrInvalid},
		{"parent", named("../x.npy"), "a part of it is ..", npz.ErrInvalid},
		{"parent inside", named("a/../../x.npy"), "a part of it is ..", npz.ErrInvalid},
		{"parent at the end", named("a/...npy"), "a part of it is ..", npz.ErrInvalid},
		{"here", named("./x.npy"), "a part of it is .", npz.ErrInvalid},
		{"empty part", named("a//x.npy"), "a part of it is empty", npz.ErrInvalid},
		{"empty last part", named("a/.npy"), "a part of it is empty", npz.ErrInvalid},
		{"absolute", named("/etc/x.npy"), "an absolute path", npz.ErrInvalid},
		{"drive", named("C:/x.npy"), "an absolute path", npz.ErrInvalid},
		{"backslash", named("..\\x.npy"), "a backslash", npz.ErrInvalid},
		{"drive with backslash", named("C:\\x.npy"), "a backslash", npz.ErrInvalid},
		{"NUL", named("x\x00.npy"), "a control character", npz.ErrInvalid},
		{"newline", named("x\n.npy"), "a control character", npz.ErrInvalid},
		{"not UTF-8", named("x\xff.npy"), "not UTF-8", npz.ErrInvalid},
		{"name of another member", named("../readme"), "a part of it is ..", npz.ErrInvalid},
		{"twice", []entry{{name: "a.npy", data: one}, {name: "b.npy", data: one}, {name: "a.npy", data: one}}, `two members are called "a.npy"`, npz.ErrInvalid},
		{"same bytes", []entry{{name: "a.npy", data: one}, {name: "b.npy", data: one, sameBytesAs: "a.npy"}}, "lie in the same bytes", npz.ErrInvalid},
		{"same bytes as no array", []entry{{name: "a", data: one}, {name: "b.npy", data: one, sameBytesAs: "a"}}, "lie in the same bytes", npz.ErrInvalid},
		{"one in the other", []entry{{name: "a.npy", data: archiveOf(t, entry{name: "b.npy", data: one})}, {name: "b.npy", data: one, headerOffset: 30 + 5}}, "lie in the same bytes", npz.ErrInvalid},
		{"encrypted", []entry{{name: "a.npy", data: one, flags: 1}}, "encrypted", npz.ErrUnsupported},
		{"strongly encrypted", []entry{{name: "a.npy", data: one, flags: 1 << 6}}, "encrypted", npz.ErrUnsupported},
		{"bzip2", []entry{{name: "a.npy", data: one, method: 12}}, "method 12", npz.ErrUnsupported},
		{"LZMA", []entry{{name: "a.npy", data: one, method: 14}}, "method 14", npz.ErrUnsupported},
		{"Zstandard", []entry{{name: "a.npy", data: one, method: 93}}, "method 93", npz.ErrUnsupported},
		{"stored and larger", []entry{{name: "a.npy", data: one, size: 1000}}, "the directory says 1000", npz.ErrInvalid},
		{"stored and smaller", []entry{{name: "a.npy", data: one, size: 100}}, "the directory says 100", npz.ErrInvalid},
		{"beyond the archive", []entry{{name: "a.npy", data: one, size: 5000, csize: 5000}}, "has 5000 bytes", npz.ErrInvalid},
		{"far beyond the archive", []entry{{name: "a.npy", data: one, size: math.MaxUint32 - 1, csize: math.MaxUint32 - 1}}, "has 4294967294 bytes", npz.ErrInvalid},
		{"impossible expansion", []entry{{name: "a.npy", data: small, uncompressed: one, method: 8, size: uint64(len(small))*1032 + 1}}, "can't have", npz.ErrInvalid},
		{"no header there", []entry{{name: "a.npy", data: one, headerOffset: 3}}, "does not begin where the directory says", npz.ErrInvalid},
		{"header beyond the archive", []entry{{name: "a.npy", data: one, headerOffset: 1 << 30}}, "does not begin where the directory says", npz.ErrInvalid},
		{"negative offset", []entry{{name: "a.npy", data: one, headerOffset: math.MaxUint32, extra: offset64(math.MinInt64)}}, "does not begin where the directory says", npz.ErrInvalid},
		{"largest offset", []entry{{name: "a.npy", data: one, headerOffset: math.MaxUint32, extra: offset64(math.MaxInt64)}}, "does not begin where the directory says", npz.ErrInvalid},
	} {
		_, err := npz.Open(archiveOf(t, c.entries...), nil)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: error %v, want %v … %s", c.what, err, c.is, c.reason)
		}
	}
	for _, c := range []struct {
		file, reason string
		is           error
	}{
		{"", "the directory at its end is missing", npz.ErrTruncated},
		{"\x93NUMPY and so on", "does not begin with PK", npz.ErrInvalid},
		{strings.Repeat("x", 100), "does not begin with PK", npz.ErrInvalid},
		{"PK\x03\x04" + strings.Repeat("x", 100), "the directory at its end is missing", npz.ErrTruncated},
	} {
		_, err := npz.Open([]byte(c.file), nil)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%.10q: error %v, want %v … %s", c.file, err, c.is, c.reason)
		}
	}
}

func TestMembersThatAreRefused(t *testing.T) {
	one := npyOf(t, layout.DenseOf([]float64{1, 2, 3, 4}, 4))
	sum := crc32.ChecksumIEEE(one)
	small := deflated(t, one)
	for _, c := range []struct {
		what   string
		entry  entry
		reason string
		is     error
	}{
		{"CRC", entry{data: one, crc: sum + 1}, "is damaged: CRC-32", npz.ErrInvalid},
		{"CRC of a deflated one", entry{data: small, uncompressed: one, method: 8, crc: sum + 1}, "is damaged: CRC-32", npz.ErrInvalid},
		{"more than said", entry{data: small, uncompressed: one[:len(one)-1], method: 8}, "has more than the 159 bytes", npz.ErrInvalid},
		{"much more than said", entry{data: deflated(t, make([]byte, 1<<16)), uncompressed: make([]byte, 200), method: 8}, "has more than the 200 bytes", npz.ErrInvalid},
		{"less than said", entry{data: small, uncompressed: append(bytes.Clone(one), 0), method: 8}, "has 160 bytes, and the directory says 161", npz.ErrInvalid},
		{"deflate cut short", entry{data: small[:len(small)-4], uncompressed: one, method: 8}, "unexpected EOF", npz.ErrInvalid},
		{"not deflate", entry{data: []byte("\xff\xff\xff\xff"), uncompressed: one, method: 8}, "corrupt", npz.ErrInvalid},
		{"nothing deflated", entry{data: deflated(t, nil), uncompressed: []byte{}, method: 8}, "too few for a header", npy.ErrTruncated},
		{"no .npy file", entry{data: []byte("this is no array")}, "does not begin with", npy.ErrInvalid},
		{"two arrays", entry{data: append(bytes.Clone(one), one...)}, "follow the array", npy.ErrInvalid},
		{"half an array", entry{data: one[:len(one)-8]}, "24 are there", npy.ErrTruncated},
	} {
		c.entry.name = "a/b.npy"
		m := open(t, archiveOf(t, c.entry)).Members[0]
		for _, read := range []func() (*layout.Dense, error){m.Tensor, m.View} {
			_, err := read()
			if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.reason) || !strings.Contains(err.Error(), `member "a/b"`) {
				t.Errorf("%s: error %v, want %v … %s", c.what, err, c.is, c.reason)
			}
		}
	}
}

// A bomb is refused by what it says, before anything of it is decompressed.
func TestZipBombs(t *testing.T) {
	junk := bytes.Repeat([]byte{0}, 2<<20) // refused before anyone finds out that it is no deflate
	bomb := func(n int) []byte {
		var all []entry
		for i := range n {
			all = append(all, entry{name: fmt.Sprint(i, ".npy"), data: junk[:(2<<20)/n], method: 8, size: uint64(2<<30) / uint64(n), crc: 1})
		}
		return archiveOf(t, all...)
	}
	for _, n := range []int{1, 2, 64} { // of several, each may be small
		b := bomb(n)
		if _, err := npz.Open(b, nil); !errors.Is(err, npz.ErrTooLarge) {
			t.Errorf("%d members of 2 GiB in 2 MiB: error %v, want ErrTooLarge", n, err)
		}
		if _, err := npz.Open(b, &npz.Options{MaxBytes: 2<<30 - 1}); !errors.Is(err, npz.ErrTooLarge) {
			t.Errorf("%d members, one byte more than allowed: error %v, want ErrTooLarge", n, err)
		}
		f, err := npz.Open(b, &npz.Options{MaxBytes: 2 << 30})
		if err != nil {
			t.Fatalf("%d members of 2 GiB, which is allowed: %v", n, err)
		}
		// It does not keep what it says, and costs no more than what it has.
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := f.Members[0].Tensor(); !errors.Is(err, npz.ErrInvalid) {
			t.Errorf("error %v, want ErrInvalid", err)
		}
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 32<<20 {
			t.Errorf("%d bytes of memory for a member of %d", taken, f.Members[0].Size)
		}
	}

	// What says little and expands to much is stopped at what it says.
	zeros := deflated(t, make([]byte, 8<<20))
	m := open(t, archiveOf(t, entry{name: "a.npy", data: zeros, uncompressed: make([]byte, 1<<20), method: 8})).Members[0]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := m.Tensor(); !errors.Is(err, npz.ErrInvalid) {
		t.Errorf("error %v, want ErrInvalid", err)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 4<<20 {
		t.Errorf("%d bytes of memory for a member of %d", taken, m.Size)
	}
}

func TestSparseArchivesThatAreRefused(t *testing.T) {
	text := func(s string) *layout.Dense { return layout.DenseOf([]byte(s), int64(len(s))) }
	ints := func(v ...int32) *layout.Dense { return layout.DenseOf(v, int64(len(v))) }
	floats := func(v ...float64) *layout.Dense { return layout.DenseOf(v, int64(len(v))) }
	matrix := func(d *layout.Dense, shape ...int64) *layout.Dense {
		d, err := d.Reshape(shape...)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	type members map[string]*layout.Dense
	for _, c := range []struct {
		format  string
		members members
		reason  string
		is      error
	}{
		{"lil", members{"data": floats(), "shape": ints(1, 1)}, `format "lil"`, npz.ErrUnsupported},
		{"csr", members{"data": floats(1), "indices": ints(0), "indptr": ints(0, 1), "shape": ints(-1, 1)}, "negative", npz.ErrInvalid},
		{"csr", members{"data": floats(1), "indices": ints(0), "indptr": ints(0, 1), "shape": floats(1, 1)}, "not a list of integers", npz.ErrInvalid},
		{"csr", members{"data": floats(1), "indices": ints(0), "indptr": ints(0, 1), "shape": matrix(ints(1, 1), 1, 2)}, "not a list of integers", npz.ErrInvalid},
		{"csr", members{"data": floats(1), "indices": ints(0), "indptr": ints(0, 1), "shape": ints(make([]int32, 65)...)}, "65 dimensions", npz.ErrUnsupported},
		{"csr", members{"data": floats(1), "indices": ints(0), "indptr": ints(0, 1), "shape": ints(1, 1, 1)}, "", npz.ErrInvalid},
		{"csr", members{"data": floats(1), "indices": ints(0), "indptr": ints(0, 1), "shape": ints()}, "", npz.ErrInvalid},
		{"csr", members{"data": floats(1), "indices": ints(1), "indptr": ints(0, 1), "shape": ints(1, 1)}, "", npz.ErrInvalid},
		{"csr", members{"data": floats(1), "indices": ints(-1), "indptr": ints(0, 1), "shape": ints(1, 1)}, "", npz.ErrInvalid},
		{"csr", members{"data": floats(1), "indices": ints(0), "indptr": ints(0, 2), "shape": ints(1, 1)}, "", npz.ErrInvalid},
		{"csr", members{"data": floats(1), "indices": ints(0), "indptr": ints(0), "shape": ints(1, 1)}, "", npz.ErrInvalid},
		{"csr", members{"data": floats(1, 2), "indices": ints(0), "indptr": ints(0, 1), "shape": ints(1, 1)}, "", npz.ErrInvalid},
		{"csr", members{"data": matrix(floats(1), 1, 1), "indices": ints(0), "indptr": ints(0, 1), "shape": ints(1, 1)}, "not a list", npz.ErrInvalid},
		{"csr", members{"data": floats(1), "indices": ints(0), "indptr": ints(0, 1), "shape": ints(1)}, "", nil},
		{"csr", members{"data": floats(1), "indices": ints(0), "indptr": ints(1, 1), "shape": ints(1)}, "indptr of one dimension", npz.ErrInvalid},
		{"csr", members{"data": floats(1), "indices": ints(7), "indptr": ints(0, 1), "shape": ints(1)}, "", npz.ErrInvalid},
		{"csc", members{"data": floats(1), "indices": ints(1), "indptr": ints(0, 1), "shape": ints(1, 1)}, "", npz.ErrInvalid},
		{"csc", members{"data": floats(1), "indices": floats(0), "indptr": ints(0, 1), "shape": ints(1, 1)}, "not a list of integers", npz.ErrInvalid},
		{"coo", members{"data": floats(1), "row": ints(0), "col": ints(1), "shape": ints(1, 1)}, "", npz.ErrInvalid},
		{"coo", members{"data": floats(1), "row": ints(0), "col": ints(), "shape": ints(1, 1)}, "1 rows and 0 columns", npz.ErrInvalid},
		{"coo", members{"data": floats(1), "row": ints(0), "col": ints(0), "shape": ints(1, 1, 1)}, "for 1 elements", npz.ErrInvalid},
		{"coo", members{"data": floats(1), "coords": ints(0, 0), "shape": ints(1, 1)}, "coords is int32 of [2]", npz.ErrInvalid},
		{"coo", members{"data": floats(1), "coords": matrix(ints(0, 0), 1, 2), "shape": ints(1, 1)}, "coords is int32 of [1 2]", npz.ErrInvalid},
		{"coo", members{"data": floats(1), "coords": matrix(ints(0, 1), 2, 1), "shape": ints(1, 1)}, "", npz.ErrInvalid},
		{"coo", members{"data": floats(1), "coords": matrix(floats(0, 0), 2, 1), "shape": ints(1, 1)}, "coords is float64", npz.ErrInvalid},
		{"bsr", members{"data": floats(1), "indices": ints(0), "indptr": ints(0, 1), "shape": ints(1, 1)}, "data of blocks", npz.ErrInvalid},
		{"bsr", members{"data": matrix(floats(1, 2), 1, 1, 2), "indices": ints(0), "indptr": ints(0, 1), "shape": ints(1, 3)}, "not a multiple", npz.ErrInvalid},
		{"bsr", members{"data": matrix(floats(), 1, 0, 2), "indices": ints(0), "indptr": ints(0, 1), "shape": ints(1, 2)}, "not a multiple", npz.ErrInvalid},
		{"bsr", members{"data": matrix(floats(1, 2), 1, 1, 2), "indices": ints(1), "indptr": ints(0, 1), "shape": ints(1, 2)}, "", npz.ErrInvalid},
		{"bsr", members{"data": matrix(floats(1, 2), 1, 1, 2), "indices": ints(0), "indptr": ints(0, 1, 1), "shape": ints(1, 2)}, "", npz.ErrInvalid},
		{"dia", members{"data": floats(1), "offsets": ints(0), "shape": ints(1, 1)}, "data of 1 diagonals", npz.ErrInvalid},
		{"dia", members{"data": matrix(floats(1, 2), 2, 1), "offsets": ints(0), "shape": ints(1, 1)}, "data of 1 diagonals", npz.ErrInvalid},
		{"gcxs", members{"data": floats(1), "indices": ints(0), "indptr": ints(0, 1), "compressed_axes": ints(2), "shape": ints(1, 1)}, "ascending order", npz.ErrInvalid},
		{"gcxs", members{"data": floats(1), "indices": ints(0), "indptr": ints(0, 1), "compressed_axes": ints(0, 0), "shape": ints(1, 1)}, "ascending order", npz.ErrInvalid},
		{"gcxs", members{"data": floats(1), "indices": ints(4), "indptr": ints(0, 1), "compressed_axes": ints(0), "shape": ints(1, 2, 2)}, "", npz.ErrInvalid},
		{"coo", members{"data": floats(1), "coords": matrix(ints(0, 0), 2, 1), "shape": ints(1, 1), "fill_value": floats(0)}, "", nil},
		{"coo", members{"data": floats(1), "coords": matrix(ints(0, 0), 2, 1), "shape": ints(1, 1), "fill_value": layout.DenseOf([]float64{math.Copysign(0, -1)})}, "", nil},
		{"coo", members{"data": floats(1), "coords": matrix(ints(0, 0), 2, 1), "shape": ints(1, 1), "fill_value": floats(0, 0)}, "fill value is not 0", npz.ErrUnsupported},
		{"coo", members{"data": floats(1), "coords": matrix(ints(0, 0), 2, 1), "shape": ints(1, 1), "fill_value": layout.DenseOf([]float32{1})}, "fill value is not 0", npz.ErrUnsupported},
	} {
		var entries []entry
		for name, d := range c.members {
			entries = append(entries, entry{name: name + ".npy", data: npyOf(t, d)})
		}
		// The text of a format, as NumPy has it.
		header := npyOf(t, layout.DenseOf([]uint8{0}))
		header = bytes.Replace(header[:len(header)-1], []byte("|u1"), fmt.Appendf(nil, "|S%d", len(c.format)), 1)
		raw, err := text(c.format).Bytes()
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry{name: "format.npy", data: append(header, raw...)})
		_, ok, err := open(t, archiveOf(t, entries...)).Sparse()
		if !ok || !errors.Is(err, c.is) || err != nil && !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s %v: recognised is %v, error %v, want %v … %s", c.format, c.members, ok, err, c.is, c.reason)
		}
	}
}

// A matrix may claim rows without number; what is made of it has the size of what is there.
func TestClaimsOfSparseArchives(t *testing.T) {
	const far = 1 << 31
	shape := layout.DenseOf([]int64{far, far}, 2)
	for _, c := range []struct {
		format  string
		members map[string]*layout.Dense
	}{
		{"dia", map[string]*layout.Dense{"data": layout.DenseOf([]float64{1, 2, 3, 4}, 2, 2), "offsets": layout.DenseOf([]int64{0, -far + 2}, 2)}},
		{"dia", map[string]*layout.Dense{"data": layout.DenseOf([]float64{1, 2, 3, 4}, 2, 2), "offsets": layout.DenseOf([]int64{math.MinInt64, math.MaxInt64}, 2)}},
		{"coo", map[string]*layout.Dense{"data": layout.DenseOf([]float64{1}, 1), "row": layout.DenseOf([]int64{far - 1}, 1), "col": layout.DenseOf([]int64{0}, 1)}},
		{"bsr", map[string]*layout.Dense{"data": layout.DenseOf([]float64{}, 0, far, far), "indices": layout.DenseOf([]int64{}, 0), "indptr": layout.DenseOf([]int64{0, 0}, 2)}},
	} {
		entries := []entry{{name: "shape.npy", data: npyOf(t, shape)}}
		for name, d := range c.members {
			entries = append(entries, entry{name: name + ".npy", data: npyOf(t, d)})
		}
		header := npyOf(t, layout.DenseOf([]uint8{0}))
		header = bytes.Replace(header[:len(header)-1], []byte("|u1"), []byte("|S3"), 1)
		entries = append(entries, entry{name: "format.npy", data: append(header, c.format...)})
		x, ok, err := open(t, archiveOf(t, entries...)).Sparse()
		if err != nil || !ok || x.Layout() != layout.LayoutCOO {
			t.Errorf("%s: %v, %v, %v, want a COO", c.format, x, ok, err)
		}
	}
}

// Load gets the bytes of compressed members alone, and its errors and what it returns are checked.
func TestLoad(t *testing.T) {
	want := layout.DenseOf([]float64{1, 2, 3}, 3)
	data := npyOf(t, want)
	b := archiveOf(t,
		entry{name: "stored.npy", data: data},
		entry{name: "deflated.npy", data: deflated(t, data), uncompressed: data, method: zip.Deflate},
		entry{name: "damaged.npy", data: deflated(t, data), uncompressed: data, method: zip.Deflate, crc: 1})
	failure := errors.New("disk full")
	readAll := func(size int64, r io.Reader) ([]byte, error) {
		if size != int64(len(data)) {
			t.Errorf("size %d, want %d", size, len(data))
		}
		return io.ReadAll(r)
	}
	for _, c := range []struct {
		what, member string
		load         func(size int64, r io.Reader) ([]byte, error)
		reason       string
	}{
		{"all", "deflated", readAll, ""},
		{"all and not the end", "deflated", func(size int64, r io.Reader) ([]byte, error) {
			b := make([]byte, size)
			_, err := io.ReadFull(r, b)
			return b, err
		}, ""},
		{"by single bytes", "deflated", func(size int64, r io.Reader) ([]byte, error) {
			var b []byte
			for one := make([]byte, 1); ; {
				n, err := r.Read(one)
				if b = append(b, one[:n]...); err == io.EOF {
					return b, nil
				} else if err != nil {
					return nil, err
				}
			}
		}, ""},
		{"not called", "stored", func(int64, io.Reader) ([]byte, error) { return nil, failure }, ""},
		{"its error", "deflated", func(int64, io.Reader) ([]byte, error) { return nil, failure }, "disk full"},
		{"nothing", "deflated", func(int64, io.Reader) ([]byte, error) { return nil, nil }, "returned 0 of the"},
		{"half", "deflated", func(size int64, r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, size/2)) }, "returned 76 of the 152 bytes"},
		{"more", "deflated", func(size int64, r io.Reader) ([]byte, error) {
			b, err := io.ReadAll(r)
			return append(b, 0), err
		}, "returned 153 of the 152 bytes"},
		{"damage", "damaged", readAll, "is damaged"},
		{"damage, not at the end", "damaged", func(size int64, r io.Reader) ([]byte, error) {
			b := make([]byte, size)
			_, err := io.ReadFull(r, b)
			return b, err
		}, "is damaged"},
	} {
		f, err := npz.Open(b, &npz.Options{Load: c.load})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range f.Members {
			if m.Name != c.member {
				continue
			}
			d, err := m.Tensor()
			if c.reason == "" && (err != nil || !layout.Equal(d, want)) {
				t.Errorf("%s: %v, %v", c.what, d, err)
			}
			if c.reason != "" && (err == nil || !strings.Contains(err.Error(), c.reason)) {
				t.Errorf("%s: error %v, want %s", c.what, err, c.reason)
			}
		}
	}
}
