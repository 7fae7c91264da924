package vec

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// The inner loops of sorting by buckets and of tiles, for all widths.

func TestDealAndPlace(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8, 16} {
		for _, isize := range []int{1, 2, 4, 8} {
			for _, wide := range []bool{false, true} {
				rng := rand.New(rand.NewPCG(91, uint64(size<<4|isize)))
				ix, ksize := unsignedIndex(isize), 4
				if wide {
					ksize = 8
				}
				// One line is longer than what a kernel gets at a time.
				ends := []uint64{5, 5, 30, 9030, 9040, 20000}
				const start, first, width = 3, 70, 5000
				indices, values := make([]byte, 20000*isize), make([]byte, 20000*size)
				for i := range 20000 {
					putIndex(indices[i*isize:], ix, rng.Uint64N(min(width, ix.Max()+1|1)))
				}
				for i := range values {
					values[i] = byte(rng.Uint32())
				}
				n := 20000 - start
				shift := uint(lineBucketBits + (size+2*isize)%(bucketBits-lineBucketBits+1))
				buckets := make([]uint64, width>>shift+1)
				countBuckets(buckets, indices[start*isize:], ix, shift)
				for b := range buckets {
					if b > 0 {
						buckets[b] += buckets[b-1]
					}
				}
				cursors := func() []uint64 { return append([]uint64{0}, buckets[:len(buckets)-1]...) }
				wantValues, wantKeys := make([]byte, n*size), make([]byte, n*ksize)
				at, c := start, cursors()
				for line, end := range ends {
					for ; at < int(end); at++ {
						x := ix.At(indices, at)
						p := int(c[x>>shift])
						c[x>>shift]++
						copy(wantValues[p*size:], values[at*size:(at+1)*size])
						putIndex(wantKeys[p*ksize:], unsignedIndex(ksize), uint64(first+line)<<shift|x%(1<<shift))
					}
				}
				eachVersion(func(v Version) {
					gotValues, gotKeys := make([]byte, n*size), make([]byte, n*ksize)
					dealAny(gotValues, gotKeys, cursors(), indices, isize, values, size, ends, start, first, wide, shift)
					if !bytes.Equal(gotValues, wantValues) || !bytes.Equal(gotKeys, wantKeys) {
						t.Fatalf("%v: deal of values of %d bytes by indices of %d, wide %v: wrong output", v, size, isize, wide)
					}
				})

				// The first bucket goes to its place, with rows as wide as the indices were.
				n = int(buckets[0])
				keys, src := wantKeys[:n*ksize], wantValues[:n*size]
				var starts, c1 [1 << bucketBits]uint64
				for i := range n {
					starts[unsignedIndex(ksize).At(keys, i)%(1<<shift)]++
				}
				sum := uint64(0)
				for j := range starts {
					starts[j], sum = sum, sum+starts[j]
				}
				wantOut, wantRows := make([]byte, n*size), make([]byte, n*isize)
				c1 = starts
				for i := range n {
					key := unsignedIndex(ksize).At(keys, i)
					p := int(c1[key%(1<<shift)])
					c1[key%(1<<shift)]++
					copy(wantOut[p*size:], src[i*size:(i+1)*size])
					putIndex(wantRows[p*isize:], ix, key>>shift)
				}
				eachVersion(func(v Version) {
					out, rows := make([]byte, n*size), make([]byte, n*isize)
					c := starts
					placeAny(out, rows, &c, keys, ksize, src, size, isize, shift)
					if !bytes.Equal(out, wantOut) || !bytes.Equal(rows, wantRows) {
						t.Fatalf("%v: place of values of %d bytes with rows of %d, wide %v: wrong output", v, size, isize, wide)
					}
				})
			}
		}
	}
}

func TestDrop(t *testing.T) {
	for _, size := range []int{1, 2, 4, 8} {
		for _, isize := range []int{1, 2, 4, 8} {
			rng := rand.New(rand.NewPCG(92, uint64(size<<4|isize)))
			const columns, first, count, stride = 130, 30, 100, 130*8 + 8
			var rows, values []byte
			var starts, ends []uint64
			for range columns {
				starts = append(starts, uint64(len(values)/size))
				row := uint64(0)
				for range rng.IntN(20) {
					if row += rng.Uint64N(30); row > 255 || rng.IntN(50) == 0 { // seldom, one before the others
						row = 0
					}
					rows = appendIndex(rows, unsignedIndex(isize), row)
					values = append(values, make([]byte, size)...)
					for i := range size {
						values[len(values)-1-i] = byte(rng.Uint32())
					}
				}
				ends = append(ends, uint64(len(values)/size))
			}
			for range tileAhead {
				starts = append(starts, 0)
			}
			// Columns begin where an earlier tile left off: at the first row of this one, if there is none before.
			for j := range ends {
				for starts[j] < ends[j] && unsignedIndex(isize).At(rows, int(starts[j])) < first {
					starts[j]++
				}
			}
			want := make([]byte, count*stride)
			wantCursors := bytes.Clone(Bytes(starts))
			for j, end := range ends {
				p := starts[j]
				for ; p < end; p++ {
					r := int(unsignedIndex(isize).At(rows, int(p))) - first
					if r < 0 || r >= count {
						break
					}
					copy(want[r*stride+j*size:][:size], values[int(p)*size:])
				}
				putIndex(wantCursors[8*j:], U64, p)
			}
			eachVersion(func(v Version) {
				got := make([]byte, len(want))
				cursors := append([]uint64(nil), starts...)
				dropAny(got, stride, cursors, ends, rows, isize, values, size, first, count)
				if !bytes.Equal(got, want) || !bytes.Equal(Bytes(cursors), wantCursors) {
					t.Fatalf("%v: drop of values of %d bytes by rows of %d: wrong output", v, size, isize)
				}
			})
		}
	}
}
