//go:build unix

package vec

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
)

// A guard is memory between two pages that can be neither read nor written. What a test does not use of it
// is filled with canary bytes.
type guard struct {
	inside []byte
	where  string
}

const canary = 0xa5

func newGuard(t *testing.T, where string, pages int) *guard {
	t.Helper()
	page := os.Getpagesize()
	b, err := syscall.Mmap(-1, 0, (pages+2)*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(b); err != nil {
			t.Error(err)
		}
	})
	for _, p := range [][]byte{b[:page], b[(pages+1)*page:]} {
		if err := syscall.Mprotect(p, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	g := &guard{inside: b[page : (pages+1)*page], where: where}
	for i := range g.inside {
		g.inside[i] = canary
	}
	return g
}

// place returns n bytes that begin align bytes after the lower guard page, or end align bytes before the
// upper one.
func (g *guard) place(n, align int, atEnd bool) []byte {
	at := align
	if atEnd {
		at = len(g.inside) - align - n
	}
	return g.inside[at : at+n : at+n]
}

// check fails if a byte near the n placed ones has changed, and puts canary bytes in their place.
func (g *guard) check(t *testing.T, n, align int, atEnd bool, what func() string) {
	t.Helper()
	at := align
	if atEnd {
		at = len(g.inside) - align - n
	}
	for i := max(at-600, 0); i < min(at+n+600, len(g.inside)); i++ {
		if (i < at || i >= at+n) && g.inside[i] != canary {
			t.Fatalf("%s: byte %d of %s was written, outside its slice of %d bytes at %d", what(), i, g.where, n, at)
		}
	}
	for i := at; i < at+n; i++ {
		g.inside[i] = canary
	}
}

// faults turns a fault at a guard page into a failed test.
func faults(t *testing.T, what func() string) {
	if r := recover(); r != nil {
		t.Fatalf("%s: %v", what(), r)
	}
}

// guardElems has one element type for each kernel.
var guardElems = []Elem{Bits8, Float16, Float32, Float64, Complex128}

// placements calls f for every alignment up to a cache line, below and above.
func placements(f func(align int, atEnd bool)) {
	for align := range 64 {
		if underRace && align%9 != 0 {
			continue
		}
		f(align, false)
		f(align, true)
	}
}

// TestGuardCountStrided counts elements that are far enough apart that whole vectors of them would reach beyond the last.
func TestGuardCountStrided(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	src := newGuard(t, "src", 10)
	for _, e := range guardElems {
		size := e.Size()
		for _, stride := range []int{3 * size, 7 * size, 48} {
			for n := 32<<10/stride - 3; n <= 32<<10/stride+3; n++ {
				input := make([]byte, (n-1)*stride+size)
				pattern{make: sparse(3)}.fill(rand.New(rand.NewPCG(22, uint64(n))), input, e)
				want := countStridedGo(input, e, n, stride)
				eachVersion(func(v Version) {
					for _, atEnd := range []bool{false, true} {
						what := func() string {
							return fmt.Sprintf("%v: count of %d %v with stride %d, at end %v", v, n, e, stride, atEnd)
						}
						defer faults(t, what)
						in := src.place(len(input), 0, atEnd)
						copy(in, input)
						if got := CountNonZeroStrided(in, e, n, stride); got != want {
							t.Fatalf("%s: %d, want %d", what(), got, want)
						}
					}
				})
			}
		}
	}
}

func TestGuardCount(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	src := newGuard(t, "src", 2)
	for _, e := range guardElems {
		rng := rand.New(rand.NewPCG(21, uint64(e)))
		input := make([]byte, 131*e.Size())
		pattern{make: sparse(3)}.fill(rng, input, e)
		for _, n := range lengths() {
			if n > 130 {
				break
			}
			want := naiveCount(input[:n*e.Size()], e)
			eachVersion(func(v Version) {
				placements(func(align int, atEnd bool) {
					what := func() string {
						return fmt.Sprintf("%v: count of %d %v at alignment %d, at end %v", v, n, e, align, atEnd)
					}
					defer faults(t, what)
					in := src.place(n*e.Size(), align, atEnd)
					copy(in, input)
					if got := CountNonZero(in, e); got != want {
						t.Fatalf("%s: %d, want %d", what(), got, want)
					}
				})
			})
		}
	}
}

func TestGuardMoments(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	src := newGuard(t, "src", 3)
	edges := edgesFor(10, 0, 1)
	for _, e := range floatElems {
		rng := rand.New(rand.NewPCG(25, uint64(e)))
		input := make([]byte, 600*e.Size())
		for i := range 600 {
			putFloat(input, e, i, rng.Float64())
		}
		for _, n := range append(lengths()[1:], 256, 600) {
			if n > 600 {
				continue
			}
			used := input[:n*e.Size()]
			want, _ := FloatMoments(used, e, 0.5)
			wantCounts := naiveHistogram(edges, used, e)
			eachVersion(func(v Version) {
				placements(func(align int, atEnd bool) {
					what := func() string {
						return fmt.Sprintf("%v: moments of %d %v at alignment %d, at end %v", v, n, e, align, atEnd)
					}
					defer faults(t, what)
					in := src.place(len(used), align, atEnd)
					copy(in, used)
					got, finite := FloatMoments(in, e, 0.5)
					if !finite || got.Min != want.Min || got.Max != want.Max || got.NonZero != want.NonZero || math.Abs(got.Sum-want.Sum) > 1e-12 {
						t.Fatalf("%s: %+v, want %+v", what(), got, want)
					}
					var counts [10]int64
					Histogram(counts[:], edges, in, e, align%2 == 0)
					if !slices.Equal(counts[:], wantCounts) {
						t.Fatalf("%s: histogram %v, want %v", what(), counts, wantCounts)
					}
				})
			})
		}
	}
}

func TestGuardPairKeys(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	src, out := newGuard(t, "pairs", 2), newGuard(t, "keys", 2)
	for _, ix := range []Index{U8, U16, I32, I64} {
		rng := rand.New(rand.NewPCG(26, uint64(ix)))
		for _, n := range lengths()[1:] {
			if n > 130 {
				break
			}
			pairs := make([]byte, 2*n*ix.Size())
			for i := range pairs {
				pairs[i] = byte(rng.Uint32())
			}
			want := make([]uint64, n)
			for k := range want {
				want[k] = unsignedIndex(ix.Size()).At(pairs, 2*k)*77 + unsignedIndex(ix.Size()).At(pairs, 2*k+1)
			}
			eachVersion(func(v Version) {
				placements(func(align int, atEnd bool) {
					what := func() string {
						return fmt.Sprintf("%v: keys of %d pairs of %v at alignment %d, at end %v", v, n, ix, align, atEnd)
					}
					defer faults(t, what)
					in := src.place(len(pairs), align, atEnd)
					copy(in, pairs)
					keys := out.place(8*n, align&^7, atEnd)
					PairKeys(view[uint64](keys), in, ix, [2]uint64{77, 77})
					if !bytes.Equal(keys, Bytes(want)) {
						t.Fatalf("%s: wrong keys", what())
					}
					out.check(t, 8*n, align&^7, atEnd, what)
				})
			})
		}
	}
}

func TestGuardLineCoords(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	src, out := newGuard(t, "indices", 2), newGuard(t, "coords", 3)
	for _, ix := range []Index{U8, U16, I32, I64} {
		for _, ct := range []Index{I32, I64} {
			for _, n := range []int{1, 2, 15, 16, 17, 18, 33, 34, 64, 130, 200} {
				// Lines of 1, 2, 3 … and of all that is left.
				pointers := []uint64{0}
				var indices, want []byte
				for line, at := 0, 0; at < n; line++ {
					stop := min(at+line+1, n)
					if line == 9 {
						stop = n
					}
					for k := range stop - at {
						indices = appendIndex(indices, ix, uint64(k))
						want = appendIndex(appendIndex(want, ct, uint64(line)), ct, uint64(k))
					}
					at = stop
					pointers = append(pointers, uint64(at))
				}
				eachVersion(func(v Version) {
					placements(func(align int, atEnd bool) {
						what := func() string {
							return fmt.Sprintf("%v: coordinates of %d indices of %v as %v at alignment %d, at end %v", v, n, ix, ct, align, atEnd)
						}
						defer faults(t, what)
						in := src.place(len(indices), align, atEnd)
						copy(in, indices)
						coords := out.place(len(want), (align*7)%64, atEnd)
						if !LinesInOrder(Bytes(pointers), U64, in, ix, 200) || !LineCoords(coords, ct, Bytes(pointers), U64, in, ix, 0, 200) || !bytes.Equal(coords, want) {
							t.Fatalf("%s: wrong coordinates", what())
						}
						out.check(t, len(want), (align*7)%64, atEnd, what)
					})
				})
			}
		}
	}
}

func TestGuardCoordLines(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	src, out, ends := newGuard(t, "coords", 2), newGuard(t, "columns", 1), newGuard(t, "pointers", 1)
	for _, ix := range []Index{U16, I32, I64} {
		for _, ct := range []Index{U8, U16, I32, I64} {
			for _, n := range []int{1, 2, 7, 8, 9, 10, 17, 64, 130} {
				var coords, columns []byte
				pointers := make([]uint32, n)
				for k := range n {
					coords = appendIndex(appendIndex(coords, ix, uint64(k/3)), ix, uint64(k%3))
					columns = appendIndex(columns, ct, uint64(k%3))
					pointers[k/3] = uint32(k / 3 * 3)
				}
				rows := (n + 2) / 3
				want := Bytes(append(pointers[:rows:rows], 0))
				eachVersion(func(v Version) {
					placements(func(align int, atEnd bool) {
						what := func() string {
							return fmt.Sprintf("%v: %d coordinates of %v to %v at alignment %d, at end %v", v, n, ix, ct, align, atEnd)
						}
						defer faults(t, what)
						in := src.place(len(coords), align, atEnd)
						copy(in, coords)
						got, p := out.place(len(columns), (align*7)%64, atEnd), ends.place(4*rows+4, align&^3, atEnd)
						clear(p)
						if !CoordLines(p, U32, got, ct, in, ix, [2]int{2 * ix.Size(), ix.Size()}, 0, n, uint64(rows), 3) || !bytes.Equal(got, columns) || !bytes.Equal(p, want) {
							t.Fatalf("%s: wrong columns or pointers", what())
						}
						out.check(t, len(columns), (align*7)%64, atEnd, what)
						ends.check(t, 4*rows+4, align&^3, atEnd, what)
					})
				})
			}
		}
	}
}

func TestGuardStartLines(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func(n int) { recordBytes = n }(recordBytes)
	src, in, a, b := newGuard(t, "values", 4), newGuard(t, "indices", 4), newGuard(t, "out", 4), newGuard(t, "rows", 4)
	var c Columns
	for _, recordBytes = range []int{recordBytes, 0} {
		for _, size := range []int{4, 8} {
			for _, ix := range []Index{I16, I32, I64} {
				m := denseLines(rand.New(rand.NewPCG(29, 1)), 9, 300, size, .5)
				wantValues, wantRows, _ := m.transposed(ix)
				indices := m.index(ix)
				eachVersion(func(v Version) {
					for _, atEnd := range []bool{false, true} {
						what := func() string {
							return fmt.Sprintf("%v: lines of %d bytes with %v at end %v, records %d", v, size, ix, atEnd, recordBytes)
						}
						func() {
							defer faults(t, what)
							values, x := src.place(len(m.values), 0, atEnd), in.place(len(indices), 0, atEnd)
							copy(values, m.values)
							copy(x, indices)
							outV, outR := a.place(len(wantValues), 0, atEnd), b.place(len(wantRows), 0, atEnd)
							pointers := make([]byte, 4*300)
							if _, err := c.StartLines(Bytes(m.pointers), U32, x, ix, values, size, 300); err != nil {
								t.Fatal(err)
							}
							n := 0
							for c.Next() {
								from, to := c.Columns()
								end := n + c.Len()
								c.Write(outV[n*size:end*size], outR[n*ix.Size():end*ix.Size()], ix, pointers[4*from:4*to], I32, uint64(n))
								n = end
							}
							if !bytes.Equal(outV, wantValues) || !bytes.Equal(outR, wantRows) {
								t.Fatalf("%s: wrong values or rows", what())
							}
							a.check(t, len(wantValues), 0, atEnd, what)
							b.check(t, len(wantRows), 0, atEnd, what)
						}()
					}
				})
			}
		}
	}
}

func TestGuardCompact(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	src, values, positions := newGuard(t, "src", 2), newGuard(t, "values", 2), newGuard(t, "positions", 2)
	for _, e := range guardElems {
		size := e.Size()
		for _, ix := range []Index{U8, U16, I32, I64} {
			psize := ix.Size()
			rng := rand.New(rand.NewPCG(22, uint64(e)<<8|uint64(ix)))
			for _, n := range lengths() {
				if n > 130 {
					break
				}
				input := make([]byte, n*size)
				if n%2 == 0 {
					pattern{make: sparse([]int{1, 2, 5, 20}[n/2%4])}.fill(rng, input, e)
				} else { // a run of nonzeros, often a whole step of a kernel but for a few elements
					run := min(n, []int{16, 32, 64, 128}[n/2%4]-rng.IntN(8))
					pattern{make: sparse(1)}.fill(rng, input[:run*size], e)
				}
				nnz := naiveCount(input, e)
				room := nnz
				if n%3 == 0 {
					room = rng.IntN(nnz + 1)
				}
				wantValues, wantPositions, wantConsumed := naiveCompact(input, e, ix, 5, room)
				eachVersion(func(v Version) {
					placements(func(align int, atEnd bool) {
						if e == Complex128 && align%8 != 0 || psize < 4 && align%4 != 0 {
							return
						}
						what := func() string {
							return fmt.Sprintf("%v: compact of %d %v to %v positions, room for %d, at alignment %d, at end %v", v, n, e, ix, room, align, atEnd)
						}
						defer faults(t, what)
						in := src.place(len(input), align, atEnd)
						copy(in, input)
						outV, outP := values.place(room*size, align, atEnd), positions.place(room*psize, (align*7)%64, atEnd)
						consumed, written := Compact(outV, outP, ix, in, e, 5)
						if consumed != wantConsumed || written*size != len(wantValues) {
							t.Fatalf("%s: used up %d and wrote %d, want %d and %d", what(), consumed, written, wantConsumed, len(wantValues)/size)
						}
						if !bytes.Equal(outV[:len(wantValues)], wantValues) || !bytes.Equal(outP[:len(wantPositions)], wantPositions) {
							t.Fatalf("%s: wrong values or positions", what())
						}
						if !bytes.Equal(in, input) {
							t.Fatalf("%s: the source was written", what())
						}
						values.check(t, room*size, align, atEnd, what)
						positions.check(t, room*psize, (align*7)%64, atEnd, what)
					})
				})
			}
		}
	}
}

func TestGuardIndices(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	src, dst := newGuard(t, "src", 2), newGuard(t, "dst", 2)
	for _, from := range allIndexes {
		rng := rand.New(rand.NewPCG(23, uint64(from)))
		for _, n := range lengths() {
			if n > 130 {
				break
			}
			input, _ := randomIndices(rng, from, n, 100, false)
			ascending := make([]byte, n*from.Size())
			Iota(ascending, from, 0)
			eachVersion(func(v Version) {
				placements(func(align int, atEnd bool) {
					what := func() string {
						return fmt.Sprintf("%v: %d %v indices at alignment %d, at end %v", v, n, from, align, atEnd)
					}
					defer faults(t, what)
					in := src.place(len(input), align, atEnd)
					copy(in, input)
					if err := CheckIndices(in, from, 101); err != nil {
						t.Fatalf("%s: %v", what(), err)
					}
					if lo, hi := MinMax(in, from); lo < 0 || hi > 100 {
						t.Fatalf("%s: from %d to %d", what(), lo, hi)
					}
					if align%8 == 0 { // all pairs of types, at fewer places
						for _, to := range allIndexes {
							out := dst.place(n*to.Size(), (align*5)%64, atEnd)
							if err := ConvertIndices(out, to, in, from); err != nil {
								t.Fatalf("%s: %v", what(), err)
							}
							dst.check(t, len(out), (align*5)%64, atEnd, what)
						}
					}
					copy(in, ascending)
					if at := FirstNotIncreasing(in, from); at >= 0 && at != 128 {
						t.Fatalf("%s: not increasing at %d", what(), at)
					}
				})
			})
		}
	}
}

// TestGuardArrays puts the outputs of everything that is made of several kernels between guard pages, above and
// below, with no byte to spare. What they contain is compared with what plain Go gives elsewhere.
func TestGuardArrays(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	before := Active()
	defer func() {
		if err := Use(before); err != nil {
			t.Error(err)
		}
	}()
	const pages = 2400 // enough for an output that is written past the caches
	a, b, c, src := newGuard(t, "values", pages), newGuard(t, "indices", pages), newGuard(t, "pointers", 20), newGuard(t, "src", pages)
	cases := []struct {
		rows, cols, one int
		e               Elem
		ix              Index
	}{
		{1, 1, 1, Bits8, I32}, {7, 5, 2, Float32, I64}, {64, 64, 1, Float32, I32}, {65, 130, 3, Float64, I32}, {300, 33, 1, Float32, I64},
		{100, 600, 2, Bits16, I32}, {70, 515, 40, Float64, I64}, {33, 999, 3, Bits8, I64}, {130, 700, 1, Float64, I64}, {1040, 2048, 15, Float32, I32},
		{1040, 2048, 400, Float32, I32}, {2001, 1050, 30, Float32, U32},
	}
	for _, k := range cases {
		if underRace && k.rows > 200 {
			continue
		}
		size, isize := k.e.Size(), k.ix.Size()
		rng := rand.New(rand.NewPCG(24, uint64(k.rows)))
		input := make([]byte, k.rows*k.cols*size)
		pattern{make: sparse(k.one)}.fill(rng, input, k.e)
		nnz := naiveCount(input, k.e)
		dims := []uint64{uint64(k.rows), uint64(k.cols)}

		// The outputs of plain Go.
		if err := Use(Portable); err != nil {
			t.Fatal(err)
		}
		columnValues, columnRows, columnPointers := naiveColumns(input, k.e, k.rows, k.cols, k.cols*size, k.ix, I64, 0)
		columnPointers = append(make([]byte, 8), columnPointers...)
		rowValues, rowColumns := make([]byte, nnz*size), make([]byte, nnz*isize)
		rowPointers := make([]byte, 8*(k.rows+1))
		n := 0
		for r := range k.rows {
			_, found := Compact(rowValues[n*size:], rowColumns[n*isize:], k.ix, input[r*k.cols*size:(r+1)*k.cols*size], k.e, 0)
			n += found
			putIndex(rowPointers[8*(r+1):], U64, uint64(n))
		}
		coords := make([]byte, nnz*2*isize)
		CompactCoords(rowValues, coords, k.ix, input, k.e, dims, 0)
		dense := make([]byte, len(input))
		if err := ScatterRows(dense, false, size, k.cols, rowPointers, I64, rowColumns, k.ix, rowValues); err != nil {
			t.Fatal(err)
		}

		var columns Columns
		eachVersion(func(v Version) {
			for _, atEnd := range []bool{false, true} {
				what := func() string { return fmt.Sprintf("%v: %+v at end %v", v, k, atEnd) }
				func() {
					defer faults(t, what)
					in := src.place(len(input), 0, atEnd)
					copy(in, input)
					compare := func(name string, outputs ...[]byte) {
						t.Helper()
						for i := 0; i < len(outputs); i += 2 {
							if !bytes.Equal(outputs[i], outputs[i+1]) {
								t.Fatalf("%s: %s: output %d is wrong", what(), name, i/2)
							}
						}
					}
					values, indices := a.place(nnz*size, 0, atEnd), b.place(nnz*2*isize, 0, atEnd)
					if consumed, written := CompactCoords(values, indices, k.ix, in, k.e, dims, 0); consumed != k.rows*k.cols || written != nnz {
						t.Fatalf("%s: CompactCoords used up %d and wrote %d", what(), consumed, written)
					}
					compare("CompactCoords", values, rowValues, indices, coords)
					a.check(t, nnz*size, 0, atEnd, what)
					b.check(t, nnz*2*isize, 0, atEnd, what)

					// Column after column, in turns from the matrix and from its compressed rows.
					for _, compressed := range []bool{false, true} {
						values, indices := a.place(nnz*size, 0, atEnd), b.place(nnz*isize, 0, atEnd)
						pointers := c.place(8*k.cols, 0, atEnd)
						if compressed {
							if _, err := columns.StartLines(rowPointers, I64, rowColumns, k.ix, rowValues, size, k.cols); err != nil {
								t.Fatal(err)
							}
						} else {
							columns.Start(in, k.e, k.rows, k.cols, k.cols*size)
						}
						n := 0
						for columns.Next() {
							from, to := columns.Columns()
							m := n + columns.Len()
							columns.Write(values[n*size:m*size], indices[n*isize:m*isize], k.ix, pointers[8*from:8*to], I64, uint64(n))
							n = m
						}
						compare("Columns", values, columnValues, indices, columnRows, pointers, columnPointers[8:])
						a.check(t, nnz*size, 0, atEnd, what)
						b.check(t, nnz*isize, 0, atEnd, what)
						c.check(t, 8*k.cols, 0, atEnd, what)
					}

					for i := range 4 {
						out := a.place(len(dense), 0, atEnd)
						var err error
						switch i {
						case 0:
							err = ScatterRows(out, false, size, k.cols, rowPointers, I64, rowColumns, k.ix, rowValues)
						case 1:
							err = ScatterAscending(out, false, size, k.cols, rowPointers, I64, rowColumns, k.ix, rowValues)
						case 2:
							err = ScatterAscendingColumns(out, false, size, k.cols, columnPointers, I64, columnRows, k.ix, columnValues)
						default:
							err = ScatterColumns(out, false, size, k.cols, columnPointers, I64, columnRows, k.ix, columnValues)
						}
						if err != nil {
							t.Fatal(err)
						}
						compare("scatter", out, dense)
						a.check(t, len(dense), 0, atEnd, what)
					}

					// A tree in exactly the room that it needs.
					tree := &Tree{Values: a.place(nnz*size, 0, atEnd), Indices: k.ix, Pointers: I64, Levels: make([]Level, 2)}
					rows := 0
					for r := range k.rows {
						if U64.At(rowPointers, r) < U64.At(rowPointers, r+1) {
							rows++
						}
					}
					tree.Levels[0] = Level{Indices: make([]byte, rows*isize), Pointers: c.place(8*rows, 0, atEnd)}
					tree.Levels[1].Indices = b.place(nnz*isize, 0, atEnd)
					if _, short := tree.Append(in, k.e, dims, 0); short >= 0 || tree.Levels[0].Len != rows || tree.Levels[1].Len != nnz {
						t.Fatalf("%s: level %d of the tree is short", what(), short)
					}
					compare("tree", tree.Values, rowValues, tree.Levels[1].Indices, rowColumns)
					a.check(t, nnz*size, 0, atEnd, what)
					b.check(t, nnz*isize, 0, atEnd, what)
					c.check(t, 8*rows, 0, atEnd, what)
					if !bytes.Equal(in, input) {
						t.Fatalf("%s: the source was written", what())
					}
				}()
			}
		})
	}
}
