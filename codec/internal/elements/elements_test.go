package elements_test

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/tstore/tstore/codec/internal/elements"
)

func TestAligned(t *testing.T) {
	memory := make([]byte, 64)
	for i := range memory {
		memory[i] = byte(i)
	}
	for _, width := range []int{1, 2, 4, 8} {
		for at := range 9 {
			data := memory[at : at+8]
			got := elements.Aligned(data, width)
			if !bytes.Equal(got, data) {
				t.Fatalf("at %d, width %d: other bytes", at, width)
			}
			address := uintptr(unsafe.Pointer(&got[0]))
			if address%uintptr(width) != 0 {
				t.Errorf("at %d, width %d: address %#x", at, width, address)
			}
			aligned := uintptr(unsafe.Pointer(&data[0]))%uintptr(width) == 0
			if shared := &got[0] == &data[0]; shared != aligned {
				t.Errorf("at %d, width %d: shared is %v", at, width, shared)
			}
		}
	}
}

func TestBools(t *testing.T) {
	for _, c := range []struct{ data, want []byte }{
		{nil, nil},
		{[]byte{0, 1, 1, 0}, []byte{0, 1, 1, 0}},
		{[]byte{0, 1, 2, 0, 255, 1}, []byte{0, 1, 1, 0, 1, 1}},
	} {
		before := bytes.Clone(c.data)
		got := elements.Bools(c.data)
		if !bytes.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.data, got, c.want)
		}
		if !bytes.Equal(c.data, before) {
			t.Errorf("%v was changed to %v", before, c.data)
		}
	}
}
