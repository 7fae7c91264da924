package npy

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/layout"
)

// fileOf returns a file of version 1 with this text as its header.
func fileOf(text string, data ...byte) []byte {
	b := append([]byte(magic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(text)))
	return append(append(b, text...), data...)
}

func TestHeaderSpellings(t *testing.T) {
	for _, text := range []string{
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3)}",
		"{'descr':'<i2','fortran_order':False,'shape':(2,3,)}",
		" { \"shape\" : ( 2 , 3 ) ,\t'fortran_order' : False , 'descr' : '<i2' , } \r\n",
		"{'descr': '<i2', 'fortran_order': False, 'shape': (2L, 3L), }\n", // Python 2
		"{'descr': '=i2', 'fortran_order': False, 'shape': (2, 3), }\n",
	} {
		h, err := ParseHeader(fileOf(text))
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		want := Header{Version: 1, DType: layout.Int16, Shape: []int64{2, 3}, DataOffset: int64(10 + len(text)), DataSize: 12, elem: element{size: 2, width: 2}}
		if diff := cmp.Diff(want, h, cmp.AllowUnexported(Header{}, element{}, layout.DType{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestHeaderRefused(t *testing.T) {
	const order = "'fortran_order': False"
	for _, c := range []struct {
		text, reason string
		is           error
	}{
		{"", "'{' expected", ErrInvalid},
		{"{}", "\"descr\" is missing", ErrInvalid},
		{"{'descr': '<i2', 'shape': (2,)}", "\"fortran_order\" is missing", ErrInvalid},
		{"{'descr': '<i2', " + order + "}", "\"shape\" is missing", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (2,), 'shape': (2,)}", "twice", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (2,), 'extra': 1}", "unknown key \"extra\"", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (2,)} x", "the end expected", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (2,)", "'}' expected", ErrInvalid},
		{"{'descr': '<i2' " + order + ", 'shape': (2,)}", "'}' expected", ErrInvalid},
		{"{'descr' '<i2', " + order + ", 'shape': (2,)}", "':' expected", ErrInvalid},
		{"{'descr': '<i2', 'fortran_order': 0, 'shape': (2,)}", "True or False", ErrInvalid},
		{"{'descr': '<i2', 'fortran_order': Tru", "True or False", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': 2}", "'(' expected", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (2)}", "is a number", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (2 3)}", "',' or ')' expected", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (,)}", "a length expected", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (2,,3)}", "a length expected", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (-1,)}", "a length expected", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (2.0,)}", "',' or ')' expected", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (9223372036854775808,)}", "63 bits", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (4611686018427387904,)}", "2^63-1 bytes", ErrInvalid},
		{"{'descr': '<i2', " + order + ", 'shape': (4294967296, 4294967296)}", "2^63-1 bytes", ErrInvalid},
		{"{'descr': '|i1', " + order + ", 'shape': (9223372036854775807,)}", "2^63-1 bytes", ErrInvalid}, // the header adds to it
		{"{'descr': '<i2', " + order + ", 'shape': (" + strings.Repeat("1,", 65) + ")}", "dimensions", ErrUnsupported},
		{"{'descr': '<i2, ", "a string without an end", ErrInvalid},
		{"{'descr': '\\x3ci2', ", "a string with '\\\\'", ErrInvalid},
		{"{'descr': <i2, ", "a string expected", ErrInvalid},
		{"{'descr': '', ", "unknown element type", ErrInvalid},
		{"{'descr': '<', ", "unknown element type", ErrInvalid},
		{"{'descr': 'i2', ", "byte order", ErrInvalid},
		{"{'descr': '|f8', ", "byte order", ErrInvalid},
		{"{'descr': '<i3', ", "unknown element type", ErrInvalid},
		{"{'descr': '<z4', ", "unknown element type", ErrInvalid},
		{"{'descr': '<M8[', ", "unknown element type", ErrInvalid},
		{"{'descr': '<M8ns]', ", "unknown element type", ErrInvalid},
		{"{'descr': '<M9[ns]', ", "unknown element type", ErrInvalid},
		{"{'descr': ('<f4', (2,)), ", "shape of its own", ErrUnsupported},
		{"{'descr': __import__('os'), ", "a string expected", ErrInvalid},
		{"[" + strings.Repeat("[", 1000), "'{' expected", ErrInvalid},
	} {
		_, err := ParseHeader(fileOf(c.text))
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%.80q: error %v\nwant %v … %s", c.text, err, c.is, c.reason)
		}
	}
}

func TestNotAnNPYFile(t *testing.T) {
	for _, c := range []struct {
		b  string
		is error
	}{
		{"", ErrTruncated},
		{"PK\x03\x04", ErrInvalid},
		{"PK\x03\x04 and more, a .npz file", ErrInvalid},
		{"\x93NUMPY", ErrTruncated},
		{"\x93NUMPY\x04\x00\x00\x00\x00\x00", ErrUnsupported},
		{"\x93NUMPY\x01\x01\x00\x00\x00\x00", ErrUnsupported},
		{"\x93NUMPY\x00\x00\x00\x00\x00\x00", ErrUnsupported},
		{"\x93NUMPY\x01\x00\xff\xff{", ErrTruncated},
		{"\x93NUMPY\x02\x00\xff\xff\xff\xff{", ErrTruncated},
		{"\x93NUMPY\x03\x00\x02\x00\x00\x00{\xff", ErrInvalid},
	} {
		if _, err := Decode([]byte(c.b)); !errors.Is(err, c.is) {
			t.Errorf("%q: error %v, want %v", c.b, err, c.is)
		}
	}
}

// A claim costs nothing: neither a shape of petabytes nor a header of megabytes without an end.
func TestHostileHeaderIsCheap(t *testing.T) {
	text := "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 1000), }"
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := Decode(fileOf(text)); !errors.Is(err, ErrTruncated) {
			t.Fatalf("error %v, want ErrTruncated", err)
		}
	})
	if allocs > 40 {
		t.Errorf("%v allocations", allocs)
	}

	const size = 16 << 20
	b := append([]byte(magic), 2, 0)
	b = binary.LittleEndian.AppendUint32(b, size)
	for _, filler := range []string{" ", "{", "(", "'", "1,", "'a':"} {
		start := time.Now()
		long := append(b[:len(b):len(b)], strings.Repeat(filler, size/len(filler)+1)[:size]...)
		if _, err := ParseHeader(long); err == nil {
			t.Errorf("%q repeated is taken for a header", filler)
		} else if len(err.Error()) > 500 {
			t.Errorf("%q repeated: the error has %d bytes", filler, len(err.Error()))
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%q repeated takes %v", filler, d)
		}
	}
}
