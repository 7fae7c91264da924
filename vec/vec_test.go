package vec

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lengths are every tail length of every kernel, and some long ones that take several pieces.
func lengths() []int {
	var n []int
	for i := range 131 {
		if !underRace || i%13 == 0 {
			n = append(n, i)
		}
	}
	return append(n, 1000, 4099, 20011)
}

func TestCountNonZero(t *testing.T) {
	for _, e := range allElems {
		for _, p := range patterns {
			rng := rand.New(rand.NewPCG(1, uint64(e)))
			for _, n := range lengths() {
				src := make([]byte, n*e.Size())
				p.fill(rng, src, e)
				want := naiveCount(src, e)
				eachVersion(func(v Version) {
					if got := CountNonZero(src, e); got != want {
						t.Fatalf("%v: %v, %s, %d elements: counted %d, want %d", v, e, p.name, n, got, want)
					}
				})
			}
		}
	}
}

func TestCountNonZeroStrided(t *testing.T) {
	for _, e := range allElems {
		size := e.Size()
		rng := rand.New(rand.NewPCG(2, uint64(e)))
		for _, p := range patterns {
			for _, stride := range []int{0, 1, 2, 4, 8, size, size + 1, 2 * size, 3 * size, 7 * size, 64, 100} {
				for _, n := range []int{0, 1, 2, 3, 7, 16, 17, 33, 130, 1000, 9000} {
					if n == 9000 && stride != 3*size && stride != 7*size {
						continue // long enough for masks
					}
					src := make([]byte, max(n-1, 0)*stride+size+1)
					p.fill(rng, src[:len(src)/size*size], e)
					want := 0
					for i := range n {
						want += naiveCount(src[i*stride:i*stride+size], e)
					}
					eachVersion(func(v Version) {
						if got := CountNonZeroStrided(src, e, n, stride); got != want {
							t.Fatalf("%v: %v, %s, %d elements with stride %d: counted %d, want %d", v, e, p.name, n, stride, got, want)
						}
					})
				}
			}
		}
	}
}

func TestCompact(t *testing.T) {
	for _, e := range allElems {
		size := e.Size()
		for _, ix := range allIndexes {
			rng := rand.New(rand.NewPCG(3, uint64(e)<<8|uint64(ix)))
			for i, p := range patterns {
				for _, n := range lengths() {
					if n%len(patterns) != i && n > 40 && n < 1000 && p.name != "random bits" {
						continue // the long tails once each
					}
					src := make([]byte, n*size)
					p.fill(rng, src, e)
					nnz := naiveCount(src, e)
					base := rng.Uint64() >> rng.IntN(64)
					rooms := []int{nnz, nnz + 100, nnz / 2, max(nnz-1, 0), 0}
					if n > 130 {
						rooms = rooms[n%2 : n%2+1]
					}
					for _, room := range rooms {
						compareCompact(t, src, e, ix, base, room)
					}
				}
			}
		}
	}
}

// compareCompact compares one call with the naive reference.
func compareCompact(t *testing.T, src []byte, e Elem, ix Index, base uint64, room int) {
	t.Helper()
	wantValues, wantPositions, wantConsumed := naiveCompact(src, e, ix, base, room)
	values, positions := make([]byte, room*e.Size()), make([]byte, room*ix.Size())
	eachVersion(func(v Version) {
		clear(values)
		clear(positions)
		consumed, written := Compact(values, positions, ix, src, e, base)
		where := func() string {
			return fmt.Sprintf("%v: %v, %v positions, %d elements from %d, room for %d", v, e, ix, len(src)/e.Size(), base, room)
		}
		if consumed != wantConsumed || written*e.Size() != len(wantValues) {
			t.Fatalf("%s: used up %d and wrote %d, want %d and %d", where(), consumed, written, wantConsumed, len(wantValues)/e.Size())
		}
		if !bytes.Equal(values[:len(wantValues)], wantValues) {
			t.Fatalf("%s: values (-want +got):\n%s", where(), cmp.Diff(wantValues, values[:len(wantValues)]))
		}
		if !bytes.Equal(positions[:len(wantPositions)], wantPositions) {
			t.Fatalf("%s: positions (-want +got):\n%s", where(), cmp.Diff(wantPositions, positions[:len(wantPositions)]))
		}
	})
}

func TestCompactStream(t *testing.T) {
	// A row given in pieces to an output that is handed over whenever it is full.
	const n = 10000
	src := make([]float32, n)
	var want []int64
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range src {
		if rng.IntN(4) == 0 {
			src[i] = float32(i + 1)
			want = append(want, int64(i))
		}
	}
	var got []int64
	values, positions := make([]float32, 300), make([]int64, 300)
	for at := 0; at < n; {
		piece := src[at:min(at+777, n)]
		consumed, written := Compact(Bytes(values), Bytes(positions), I64, Bytes(piece), Float32, uint64(at))
		for i, p := range positions[:written] {
			if values[i] != float32(p+1) {
				t.Fatalf("value at position %d is %v", p, values[i])
			}
		}
		got = append(got, positions[:written]...)
		if consumed < len(piece) && written != len(values) {
			t.Fatalf("stopped after %d of %d elements with %d of %d outputs used", consumed, len(piece), written, len(values))
		}
		at += consumed
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("positions (-want +got):\n%s", diff)
	}
}

func TestScatter(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 8, 12, 16} {
		for _, ix := range allIndexes {
			rng := rand.New(rand.NewPCG(5, uint64(size)<<8|uint64(ix)))
			for _, n := range []int{1, 5, 127, 128, 1000, 30000} {
				count := rng.IntN(2 * n)
				var indices []byte
				values := make([]byte, count*size)
				want := make([]byte, n*size)
				for i := range want {
					want[i] = byte(i)
				}
				before := bytes.Clone(want)
				for i := range count {
					at := rng.IntN(int(min(uint64(n-1), ix.Max())) + 1)
					indices = appendIndex(indices, ix, uint64(at))
					for j := range size {
						values[i*size+j] = byte(rng.Uint32())
					}
					copy(want[at*size:], values[i*size:(i+1)*size])
				}
				eachVersion(func(v Version) {
					got := bytes.Clone(before)
					if err := Scatter(got, size, indices, ix, values); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got, want) {
						t.Fatalf("%v: size %d, %v, %d values into %d elements: wrong bytes", v, size, ix, count, n)
					}
				})
			}
		}
	}
}

func TestScatterChecksBeforeItWrites(t *testing.T) {
	cases := []struct {
		name    string
		ix      Index
		indices []byte
		want    string
	}{
		{"too large", U8, []byte{0, 1, 5, 200}, "index 5 at position 2 is outside [0, 5)"},
		{"negative int8", I8, []byte{0, 0xff}, "index -1 at position 1 is outside [0, 5)"},
		{"negative int64", I64, Bytes([]int64{0, 4, math.MinInt64}), "index -9223372036854775808 at position 2 is outside [0, 5)"},
		{"uint64 above int64", U64, Bytes([]uint64{0, math.MaxUint64}), "index 18446744073709551615 at position 1 is outside [0, 5)"},
		{"int32", I32, Bytes([]int32{1, 2, 3, 4, 5}), "index 5 at position 4 is outside [0, 5)"},
		{"uint16", U16, Bytes([]uint16{0x100}), "index 256 at position 0 is outside [0, 5)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dst := []int32{1, 2, 3, 4, 5}
			values := make([]byte, 4*c.ix.len(c.indices))
			err := Scatter(Bytes(dst), 4, c.indices, c.ix, values)
			var ie *IndexError
			if !errors.As(err, &ie) || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if diff := cmp.Diff([]int32{1, 2, 3, 4, 5}, dst); diff != "" {
				t.Errorf("dst was written (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckIndicesAtBoundaries(t *testing.T) {
	cases := []struct {
		ix    Index
		value uint64
		n     uint64
		ok    bool
	}{
		{I8, 127, 128, true}, {I8, 127, 1000, true}, {I8, 127, 127, false}, {I8, 1<<64 - 128, math.MaxUint64, false},
		{U8, 255, 256, true}, {U8, 255, 255, false}, {U8, 255, math.MaxUint64, true},
		{I16, 32767, 32768, true}, {I16, 1<<64 - 1, 1 << 40, false},
		{U16, 65535, 65536, true}, {U16, 65535, 65535, false},
		{I32, math.MaxInt32, math.MaxInt32 + 1, true}, {I32, math.MaxInt32, math.MaxInt32, false}, {I32, 1<<64 - 1, math.MaxUint64, false},
		{U32, math.MaxUint32, math.MaxUint32, false}, {U32, math.MaxUint32, math.MaxUint32 + 1, true},
		{I64, math.MaxInt64, 1 << 63, true}, {I64, 1 << 63, math.MaxUint64, false},
		{U64, math.MaxUint64 - 1, math.MaxUint64, true}, {U64, math.MaxUint64, math.MaxUint64, false},
		{U64, 0, 0, false},
	}
	for _, c := range cases {
		for _, at := range []int{0, 1, 15, 16, 63, 64, 100} {
			var indices []byte
			for range at {
				indices = appendIndex(indices, c.ix, 0)
			}
			indices = appendIndex(indices, c.ix, c.value)
			for range 77 { // what follows it must not matter
				indices = appendIndex(indices, c.ix, 0)
			}
			eachVersion(func(v Version) {
				err := CheckIndices(indices, c.ix, c.n)
				if (err == nil) != c.ok {
					t.Errorf("%v: %v index %d at %d in [0, %d): error %v, want ok %v", v, c.ix, c.value, at, c.n, err, c.ok)
				}
				var ie *IndexError
				if errors.As(err, &ie) && c.n > 0 && (ie.At != at || ie.Value != c.value) {
					t.Errorf("%v: %v index %d at %d: reported %d at %d", v, c.ix, c.value, at, ie.Value, ie.At)
				}
			})
		}
	}
}

// randomIndices returns n indices, each at most max and some negative if wanted, with their values as
// 64-bit integers that hold the sign.
func randomIndices(rng *rand.Rand, ix Index, n int, limit uint64, negative bool) (b []byte, v []uint64) {
	for range n {
		x := rng.Uint64() >> rng.IntN(64)
		x = min(x, limit, ix.Max())
		if negative && ix.Signed() && rng.IntN(2) == 0 {
			x = ^x
		}
		b, v = appendIndex(b, ix, x), append(v, x)
	}
	return b, v
}

func TestConvertIndices(t *testing.T) {
	for _, from := range allIndexes {
		for _, to := range allIndexes {
			rng := rand.New(rand.NewPCG(6, uint64(from)<<8|uint64(to)))
			for _, n := range lengths() {
				src, v := randomIndices(rng, from, n, to.Max(), false)
				var want []byte
				for _, x := range v {
					want = appendIndex(want, to, x)
				}
				got := make([]byte, len(want))
				eachVersion(func(v Version) {
					clear(got)
					if err := ConvertIndices(got, to, src, from); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got, want) {
						t.Fatalf("%v: %d indices from %v to %v: got %v, want %v", v, n, from, to, got, want)
					}
				})
				if n == 0 {
					continue
				}
				// One that does not fit, if the type can hold such a thing.
				bad := to.Max() + 1
				if from.Signed() {
					bad = 1<<64 - 1
				} else if from.Max() <= to.Max() {
					continue
				}
				at := rng.IntN(n)
				copy(src[at*from.Size():], appendIndex(nil, from, bad))
				clear(got)
				var ie *IndexError
				if err := ConvertIndices(got, to, src, from); !errors.As(err, &ie) || ie.At != at || ie.Value != bad {
					t.Fatalf("%d from %v to %v: error %v, want one for position %d", bad, from, to, err, at)
				}
				if !bytes.Equal(got, make([]byte, len(got))) {
					t.Fatalf("from %v to %v: dst was written in spite of the error", from, to)
				}
			}
		}
	}
}

func TestMinMax(t *testing.T) {
	for _, ix := range allIndexes {
		rng := rand.New(rand.NewPCG(7, uint64(ix)))
		for _, n := range lengths() {
			for _, negative := range []bool{false, true} {
				b, v := randomIndices(rng, ix, n, math.MaxUint64, negative)
				var wantLo int64
				var wantHi uint64
				for i, x := range v {
					lo, hi := int64(x), x
					if ix.Signed() {
						hi = uint64(max(int64(x), 0))
					} else {
						lo = int64(min(x, math.MaxInt64))
					}
					if i == 0 {
						wantLo, wantHi = lo, hi
					}
					wantLo, wantHi = min(wantLo, lo), max(wantHi, hi)
				}
				eachVersion(func(version Version) {
					if lo, hi := MinMax(b, ix); lo != wantLo || hi != wantHi {
						t.Fatalf("%v: %v %v: got %d and %d, want %d and %d", version, ix, v, lo, hi, wantLo, wantHi)
					}
				})
			}
		}
	}
}

func TestFirstDecrease(t *testing.T) {
	for _, ix := range allIndexes {
		for _, n := range lengths() {
			if n > 130 {
				break
			}
			for _, at := range []int{-1, 1, n / 2, n - 1} {
				// Equal neighbours are no decrease; from negative values up where there are any.
				var b []byte
				x := uint64(2)
				if ix.Signed() {
					x -= 40
				}
				want, wantNot := -1, -1
				prev := int64(x) - 1
				for i := range n {
					if i == at && i > 0 {
						x -= 2
					} else if i%2 == 0 {
						x++
					}
					v := int64(x)
					if i > 0 && v < prev && want < 0 {
						want = i
					}
					if i > 0 && v <= prev && wantNot < 0 {
						wantNot = i
					}
					prev = v
					b = appendIndex(b, ix, x)
				}
				eachVersion(func(v Version) {
					if got := FirstDecrease(b, ix); got != want {
						t.Errorf("%v: %v, %d, %d: FirstDecrease %d, want %d", v, ix, n, at, got, want)
					}
					if got := FirstNotIncreasing(b, ix); got != wantNot {
						t.Errorf("%v: %v, %d, %d: FirstNotIncreasing %d, want %d", v, ix, n, at, got, wantNot)
					}
				})
			}
			// Strictly increasing up to one repeated value.
			for at := 1; at < n && n <= 120; at++ {
				var b []byte
				for i := range n {
					x := i
					if i >= at {
						x--
					}
					b = appendIndex(b, ix, uint64(x))
				}
				eachVersion(func(v Version) {
					if got := FirstNotIncreasing(b, ix); got != at {
						t.Errorf("%v: %v: FirstNotIncreasing %d, want %d", v, ix, got, at)
					}
				})
			}
		}
	}
}

func TestFillAndIota(t *testing.T) {
	for _, ix := range allIndexes {
		for _, n := range lengths() {
			for _, v := range []uint64{0, 1, 250, math.MaxUint64, 1 << 40} {
				var wantFill, wantIota []byte
				for i := range n {
					wantFill, wantIota = appendIndex(wantFill, ix, v), appendIndex(wantIota, ix, v+uint64(i))
				}
				got := make([]byte, n*ix.Size())
				if Fill(got, ix, v); !bytes.Equal(got, wantFill) {
					t.Fatalf("Fill of %d %v with %d: wrong bytes", n, ix, v)
				}
				if Iota(got, ix, v); !bytes.Equal(got, wantIota) {
					t.Fatalf("Iota of %d %v from %d: wrong bytes", n, ix, v)
				}
				if Zero(got); !bytes.Equal(got, make([]byte, len(got))) {
					t.Fatalf("Zero of %d bytes: wrong bytes", len(got))
				}
			}
		}
	}
}

func TestIndexOf(t *testing.T) {
	got := []Index{
		IndexOf[int8](), IndexOf[uint8](), IndexOf[int16](), IndexOf[uint16](), IndexOf[int32](), IndexOf[uint32](),
		IndexOf[int64](), IndexOf[uint64](), IndexOf[int](), IndexOf[uint](),
	}
	if diff := cmp.Diff([]Index{I8, U8, I16, U16, I32, U32, I64, U64, I64, U64}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, ix := range allIndexes {
		if ix.At(appendIndex(appendIndex(nil, ix, 1), ix, ix.Max()), 1) != ix.Max() {
			t.Errorf("%v: the largest value does not read back", ix)
		}
	}
}

func TestMisusePanics(t *testing.T) {
	cases := map[string]func(){
		"half an element":    func() { CountNonZero(make([]byte, 7), Float32) },
		"no element type":    func() { CountNonZero(nil, 0) },
		"no index type":      func() { CheckIndices(nil, 99, 1) },
		"stride too long":    func() { CountNonZeroStrided(make([]byte, 100), Float32, 3, 49) },
		"stride overflows":   func() { CountNonZeroStrided(make([]byte, 100), Float32, 3, math.MaxInt) },
		"negative stride":    func() { CountNonZeroStrided(make([]byte, 100), Float32, 3, -4) },
		"too few values":     func() { _ = Scatter(make([]byte, 100), 4, make([]byte, 8), I32, make([]byte, 4)) },
		"half a destination": func() { _ = Scatter(make([]byte, 5), 4, nil, I32, nil) },
		"short conversion":   func() { _ = ConvertIndices(make([]byte, 3), I8, make([]byte, 16), I32) },
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func TestAdviseHuge(t *testing.T) {
	// Advice changes nothing that can be seen, whatever the address and length.
	b := make([]byte, 9<<20)
	for _, r := range [][2]int{{0, 0}, {0, 1}, {5, 2<<20 + 5}, {0, 9 << 20}, {4097, 8 << 20}} {
		part := b[r[0]:r[1]]
		AdviseHuge(part)
		for i := range part {
			part[i] = byte(i)
		}
		for i := range part {
			if part[i] != byte(i) {
				t.Fatalf("byte %d of %v has changed", i, r)
			}
		}
	}
}
