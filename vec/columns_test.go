package vec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// naiveColumns goes through a matrix column by column.
func naiveColumns(src []byte, e Elem, rows, cols, stride int, t, pt Index, base uint64) (values, ix, pointers []byte) {
	size, n := e.Size(), uint64(0)
	for j := range cols {
		for i := range rows {
			x := src[i*stride+j*size:][:size]
			if naiveNonZero(x, e) {
				values = append(values, x...)
				ix = appendIndex(ix, t, uint64(i))
				n++
			}
		}
		pointers = appendIndex(pointers, pt, base+n)
	}
	return values, ix, pointers
}

func TestColumns(t *testing.T) {
	cases := []struct {
		rows, cols, pad int
	}{
		{0, 0, 0}, {0, 5, 0}, {5, 0, 3}, {1, 1, 0}, {7, 3, 0}, {7, 3, 1}, {100, 90, 0}, {3000, 5, 0}, {2, 3000, 7}, {64, 64, 0},
		{65, 130, 0}, {300, 130, 64}, {64, 300, 0}, {1000, 260, 0}, {130, 1100, 0}, {129, 127, 1}, {9000, 1, 0},
	}
	var c Columns
	for _, shape := range cases {
		for i, p := range patterns {
			if underRace && i%4 != 0 {
				continue
			}
			for _, e := range []Elem{[]Elem{Float32, Float64, Bits8, Float16}[(i+shape.rows)%4], allElems[i%len(allElems)]} {
				size := e.Size()
				ix := []Index{I32, I64, I16, U32, I8}[(i+shape.rows)%5]
				if ix == I8 && shape.rows > 128 {
					ix = I16
				}
				px := []Index{I64, I32}[i%2]
				rng := rand.New(rand.NewPCG(61, uint64(i)))
				stride := (shape.cols + shape.pad) * size
				src := make([]byte, shape.rows*stride)
				p.fill(rng, src, e)
				wantValues, wantRows, wantPointers := naiveColumns(src, e, shape.rows, shape.cols, stride, ix, px, 7)
				nnz := len(wantValues) / size
				eachVersion(func(v Version) {
					what := fmt.Sprintf("%v: %v, %+v, %s, %v rows", v, e, shape, p.name, ix)
					values, rows := make([]byte, nnz*size), make([]byte, nnz*ix.Size())
					pointers := make([]byte, shape.cols*px.Size())
					estimate, exact := c.Start(src, e, shape.rows, shape.cols, stride)
					if exact && estimate != nnz {
						t.Fatalf("%s: %d nonzeros, want %d", what, estimate, nnz)
					}
					n, next := 0, 0
					for c.Next() {
						from, to := c.Columns()
						if from != next || to <= from {
							t.Fatalf("%s: columns %d to %d after %d", what, from, to, next)
						}
						if n+c.Len() > nnz {
							t.Fatalf("%s: more than %d nonzeros up to column %d", what, nnz, to)
						}
						c.Write(values[n*size:], rows[n*ix.Size():], ix, pointers[from*px.Size():], px, uint64(7+n))
						n, next = n+c.Len(), to
					}
					if n != nnz || next != shape.cols {
						t.Fatalf("%s: %d nonzeros in %d columns, want %d in %d", what, n, next, nnz, shape.cols)
					}
					if !bytes.Equal(values, wantValues) {
						t.Fatalf("%s: wrong values", what)
					}
					if !bytes.Equal(rows, wantRows) {
						t.Fatalf("%s: rows (-want +got):\n%s", what, cmp.Diff(wantRows, rows))
					}
					if !bytes.Equal(pointers, wantPointers) {
						t.Fatalf("%s: pointers (-want +got):\n%s", what, cmp.Diff(wantPointers, pointers))
					}
				})
			}
		}
	}
}

func TestColumnsLarge(t *testing.T) {
	// Enough to be written past the caches, and to take several chunks, buckets and panels.
	const rows, cols = 2003, 2500
	var c Columns
	for _, e := range []Elem{Float32, Bits64, Bits8} {
		for _, one := range []int{3, 200} {
			rng := rand.New(rand.NewPCG(62, uint64(one)))
			src := make([]byte, rows*cols*e.Size())
			for i := 0; i < len(src); i += e.Size() {
				if rng.Uint32()%uint32(one) == 0 {
					src[i] = byte(i) | 1
				}
			}
			wantValues, wantRows, wantPointers := naiveColumns(src, e, rows, cols, cols*e.Size(), I32, I64, 0)
			nnz := len(wantRows) / 4
			eachVersion(func(v Version) {
				values, ix, pointers := make([]byte, nnz*e.Size()), make([]byte, nnz*4), make([]byte, cols*8)
				estimate, exact := c.Start(src, e, rows, cols, cols*e.Size())
				if off := float64(estimate)/float64(nnz) - 1; exact && off != 0 || off < -0.1 || off > 0.1 {
					t.Fatalf("%v: estimate %d, exact %v, of %d nonzeros", v, estimate, exact, nnz)
				}
				n := 0
				for c.Next() {
					from, _ := c.Columns()
					c.Write(values[n*e.Size():], ix[n*4:], I32, pointers[from*8:], I64, uint64(n))
					n += c.Len()
				}
				if !bytes.Equal(values, wantValues) || !bytes.Equal(ix, wantRows) || !bytes.Equal(pointers, wantPointers) {
					t.Fatalf("%v: %v, one in %d: wrong output", v, e, one)
				}
			})
		}
	}
}

func TestColumnsTall(t *testing.T) {
	// So many rows that a row and a column don't fit 4 bytes together.
	const rows = 1<<22 + 5
	for _, stride := range []int{1, 2} {
		src := make([]byte, rows*stride)
		want := []uint64{0, 1, 1 << 21, 1<<22 - 1, 1 << 22, 1<<22 + 4}
		for _, r := range want {
			src[int(r)*stride] = byte(r) | 1
		}
		var c Columns
		eachVersion(func(v Version) {
			if nnz, exact := c.Start(src, Bits8, rows, 1, stride); nnz != len(want) || !exact {
				t.Fatalf("%v: %d nonzeros, exact %v", v, nnz, exact)
			}
			c.Next()
			values, got, pointers := make([]byte, 6), make([]uint64, 6), make([]uint32, 1)
			c.Write(values, Bytes(got), U64, Bytes(pointers), U32, 1)
			if diff := cmp.Diff(want, got); diff != "" || pointers[0] != 7 {
				t.Errorf("%v: pointer %d, rows (-want +got):\n%s", v, pointers[0], diff)
			}
		})
	}
}
