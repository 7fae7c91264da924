package vec

import (
	"bytes"
	"testing"
)

// FuzzCompact compares counting and compacting with the naive reference, for outputs with any room.
func FuzzCompact(f *testing.F) {
	f.Add([]byte{}, uint8(0), uint8(0), uint64(0), uint16(0))
	f.Add(bytes.Repeat([]byte{0, 0, 0, 0x80, 1, 2, 3, 4}, 100), uint8(7), uint8(5), uint64(1<<32-3), uint16(99))
	f.Add(bytes.Repeat([]byte{1}, 640), uint8(0), uint8(6), uint64(7), uint16(640))
	f.Add(make([]byte, 4096), uint8(8), uint8(3), uint64(250), uint16(1))
	f.Fuzz(func(t *testing.T, src []byte, elem, index uint8, base uint64, room uint16) {
		e, ix := allElems[int(elem)%len(allElems)], allIndexes[int(index)%len(allIndexes)]
		src = src[:len(src)/e.Size()*e.Size()]
		want := naiveCount(src, e)
		eachVersion(func(v Version) {
			if got := CountNonZero(src, e); got != want {
				t.Fatalf("%v: counted %d %v, want %d", v, got, e, want)
			}
		})
		compareCompact(t, src, e, ix, base, min(int(room), len(src)))
	})
}

// FuzzIndices compares the checks and conversions of every version with those of plain Go.
func FuzzIndices(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, uint8(0), uint8(3), uint64(9))
	f.Add(bytes.Repeat([]byte{0xff, 0x7f}, 80), uint8(2), uint8(0), uint64(1<<15))
	f.Add(bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 0x80}, 40), uint8(6), uint8(4), uint64(1<<63))
	f.Fuzz(func(t *testing.T, b []byte, from, to uint8, n uint64) {
		ix, other := allIndexes[int(from)%8], allIndexes[int(to)%8]
		b = b[:len(b)/ix.Size()*ix.Size()]
		type result struct {
			lo                  int64
			hi                  uint64
			decrease, increases int
			check, convert      string
		}
		text := func(err error) string {
			if err == nil {
				return ""
			}
			return err.Error()
		}
		var want result
		var wantBytes []byte
		eachVersion(func(v Version) {
			var got result
			got.lo, got.hi = MinMax(b, ix)
			got.decrease, got.increases = FirstDecrease(b, ix), FirstNotIncreasing(b, ix)
			got.check = text(CheckIndices(b, ix, n))
			out := make([]byte, len(b)/ix.Size()*other.Size())
			got.convert = text(ConvertIndices(out, other, b, ix))
			if v == Portable {
				want, wantBytes = got, out
			}
			if got != want || !bytes.Equal(out, wantBytes) {
				t.Fatalf("%v: %+v, want %+v", v, got, want)
			}
		})
	})
}

// FuzzScatter makes sure that an index outside changes nothing, and compares the rest with plain loops.
func FuzzScatter(f *testing.F) {
	f.Add([]byte{3, 1, 4, 1, 5}, uint8(1), uint8(4), uint16(6))
	f.Add([]byte{0xff}, uint8(0), uint8(1), uint16(300))
	f.Fuzz(func(t *testing.T, indices []byte, index, size uint8, n uint16) {
		ix, w := allIndexes[int(index)%8], 1+int(size)%20
		indices = indices[:len(indices)/ix.Size()*ix.Size()]
		count := len(indices) / ix.Size()
		values := make([]byte, count*w)
		for i := range values {
			values[i] = byte(i*7 + 1)
		}
		dst, want := make([]byte, int(n)*w), make([]byte, int(n)*w)
		inside := true
		for i := range count {
			inside = inside && ix.At(indices, i) < uint64(n)
		}
		for i := 0; inside && i < count; i++ {
			copy(want[int(ix.At(indices, i))*w:], values[i*w:(i+1)*w])
		}
		eachVersion(func(v Version) {
			clear(dst)
			if err := Scatter(dst, w, indices, ix, values); (err == nil) != inside {
				t.Fatalf("%v: error %v, all inside: %v", v, err, inside)
			}
			if !bytes.Equal(dst, want) {
				t.Fatalf("%v: wrong bytes", v)
			}
		})
	})
}
