package vec

import (
	"bytes"
	"cmp"
	"slices"
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

// FuzzArrays compares what is made of whole arrays, coordinates, trees and columns, with what loops over elements and levels
// make, and makes the array again of rows and of columns.
func FuzzArrays(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0x80, 1, 2, 3, 4, 0, 0, 0, 0}, uint8(7), uint8(6), uint8(3), uint8(5), uint8(6), uint8(9), uint8(1))
	f.Add([]byte{1}, uint8(0), uint8(4), uint8(1), uint8(2), uint8(1), uint8(200), uint8(0))
	f.Add(bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 1}, 20), uint8(8), uint8(3), uint8(2), uint8(1), uint8(7), uint8(70), uint8(3))
	f.Add([]byte{0, 9, 0, 0, 0}, uint8(1), uint8(5), uint8(9), uint8(3), uint8(2), uint8(33), uint8(2))
	f.Fuzz(func(t *testing.T, some []byte, elem, index, d0, d1, d2, d3, swap uint8) {
		e, ix := allElems[int(elem)%len(allElems)], allIndexes[2+int(index)%6] // coordinates fit them
		dims := []uint64{1 + uint64(d0)%20, 1 + uint64(d1)%9, 1 + uint64(d2)%9, 1 + uint64(d3)}
		n, size := size(dims), e.Size()
		src := make([]byte, n*size)
		for at := 0; at < len(src) && len(some) > 0; {
			at += copy(src[at:], some)
		}
		values, positions, _ := naiveCompact(src, e, U64, 0, naiveCount(src, e))
		numbers := view[uint64](positions)
		nnz := len(numbers)
		var coords []byte
		for _, at := range numbers {
			for _, c := range naiveCoords(dims, at) {
				coords = appendIndex(coords, ix, c)
			}
		}
		wantIdx, wantPtr := naiveTree(dims, numbers, ix, I64)

		// Another order of the axes: the numbers that elements have in it, in order.
		order := []int{0, 1, 2, 3}
		order[swap%4], order[3] = order[3], order[swap%4]
		turned := make([]uint64, 4)
		for l, axis := range order {
			turned[l] = dims[axis]
		}
		type entry struct {
			number uint64
			value  []byte
		}
		var entries []entry
		for k, at := range numbers {
			c, number := naiveCoords(dims, at), uint64(0)
			for l, axis := range order {
				number = number*turned[l] + c[axis]
			}
			entries = append(entries, entry{number, values[k*size : (k+1)*size]})
		}
		slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.number, b.number) })
		var turnedNumbers []uint64
		var turnedValues []byte
		for _, x := range entries {
			turnedNumbers, turnedValues = append(turnedNumbers, x.number), append(turnedValues, x.value...)
		}
		turnedIdx, turnedPtr := naiveTree(turned, turnedNumbers, ix, I64)

		// The matrix of the same elements, with the first three axes as rows, by rows and by columns.
		rows, cols := n/int(dims[3]), int(dims[3])
		wantColumns, wantRows, wantPointers := naiveColumns(src, e, rows, cols, cols*size, I32, I64, 0)
		wantPointers = append(make([]byte, 8), wantPointers...)
		var lineIndices []byte
		linePointers := make([]uint64, rows+1)
		for _, at := range numbers {
			lineIndices = appendIndex(lineIndices, I16, at%uint64(cols))
			linePointers[at/uint64(cols)+1]++
		}
		for r := range rows {
			linePointers[r+1] += linePointers[r]
		}
		dense := make([]byte, len(src)) // without what zeros are, as −0.0
		for k, at := range numbers {
			copy(dense[int(at)*size:], values[k*size:(k+1)*size])
		}

		eachVersion(func(v Version) {
			gotValues, gotCoords := make([]byte, len(values)), make([]byte, len(coords))
			if used, found := CompactCoords(gotValues, gotCoords, ix, src, e, dims, 0); used != n || found != nnz || !bytes.Equal(gotValues, values) || !bytes.Equal(gotCoords, coords) {
				t.Fatalf("%v: coordinates of %v in %v as %v are wrong", v, e, dims, ix)
			}
			grow := func() *Tree {
				tree := &Tree{Indices: ix, Pointers: I64, Levels: make([]Level, 4)}
				for l := range 4 {
					tree.growLevel(l, nnz, size)
				}
				return tree
			}
			tree := grow()
			if used, short := tree.Append(src, e, dims, 0); used != n || short >= 0 {
				t.Fatalf("%v: tree of %v stops at %d, level %d is short", v, dims, used, short)
			}
			checkTree(t, v.String(), tree, size, values, wantIdx, wantPtr)
			if CanAppendOrder(dims, order) {
				tree = grow()
				if used, short := tree.AppendOrder(src, e, dims, order, 0); used != n || short >= 0 {
					t.Fatalf("%v: tree of %v in order %v stops at %d, level %d is short", v, dims, order, used, short)
				}
				checkTree(t, v.String(), tree, size, turnedValues, turnedIdx, turnedPtr)
			}
			var c Columns
			outValues, outRows, outPointers := make([]byte, nnz*size), make([]byte, nnz*4), make([]byte, 8*(cols+1))
			write := func(what string) {
				t.Helper()
				k := 0
				for c.Next() {
					from, _ := c.Columns()
					c.Write(outValues[k*size:], outRows[k*4:], I32, outPointers[(from+1)*8:], I64, uint64(k))
					k += c.Len()
				}
				if k != nnz || !bytes.Equal(outValues, wantColumns) || !bytes.Equal(outRows, wantRows) || !bytes.Equal(outPointers, wantPointers) {
					t.Fatalf("%v: columns of %d×%d %v by %s are wrong", v, rows, cols, e, what)
				}
			}
			c.Start(src, e, rows, cols, cols*size)
			write("elements")
			if _, err := c.StartLines(Bytes(linePointers), U64, lineIndices, I16, values, size, cols); err != nil {
				t.Fatal(err)
			}
			write("lines")
			got := bytes.Repeat([]byte{0x55}, len(src))
			if err := ScatterRows(got, false, size, cols, Bytes(linePointers), U64, lineIndices, I16, values); err != nil || !bytes.Equal(got, dense) {
				t.Fatalf("%v: rows of %v in %d×%d are wrong: %v", v, e, rows, cols, err)
			}
			clear(got)
			if err := ScatterAscending(got, false, size, cols, Bytes(linePointers), U64, lineIndices, I16, values); err != nil || !bytes.Equal(got, dense) {
				t.Fatalf("%v: ascending rows of %v in %d×%d are wrong: %v", v, e, rows, cols, err)
			}
			clear(got)
			if err := ScatterAscendingColumns(got, false, size, cols, wantPointers, I64, wantRows, I32, wantColumns); err != nil || !bytes.Equal(got, dense) {
				t.Fatalf("%v: ascending columns of %v in %d×%d are wrong: %v", v, e, rows, cols, err)
			}
			if err := ScatterColumns(got, false, size, cols, wantPointers, I64, wantRows, I32, wantColumns); err != nil || !bytes.Equal(got, dense) {
				t.Fatalf("%v: columns of %v in %d×%d are wrong: %v", v, e, rows, cols, err)
			}
		})
	})
}
