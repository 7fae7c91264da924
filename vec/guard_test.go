//go:build unix

package vec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
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
		f(align, false)
		f(align, true)
	}
}

func TestGuardCount(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	src := newGuard(t, "src", 2)
	for _, e := range guardElems {
		rng := rand.New(rand.NewPCG(21, uint64(e)))
		input := make([]byte, 131*e.Size())
		pattern{make: sparse(3)}.fill(rng, input, e)
		for n := range 131 {
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

func TestGuardCompact(t *testing.T) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	src, values, positions := newGuard(t, "src", 2), newGuard(t, "values", 2), newGuard(t, "positions", 2)
	for _, e := range guardElems {
		size := e.Size()
		for _, ix := range []Index{U8, U16, I32, I64} {
			psize := ix.Size()
			rng := rand.New(rand.NewPCG(22, uint64(e)<<8|uint64(ix)))
			for n := range 131 {
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
		for n := range 131 {
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
