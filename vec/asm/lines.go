package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// linesKernels makes coordinates of the elements of compressed rows, and the other way round.
func linesKernels(g *gen) {
	for _, isize := range []int{4, 8} {
		for _, osize := range []int{1, 2, 4, 8} {
			coordLines(g, isize, osize)
		}
	}
	for _, wide := range []bool{true, false} {
		for _, osize := range []int{4, 8} {
			for isize := 1; isize <= osize; isize *= 2 {
				lineCoords(g, wide, isize, osize, true)
			}
		}
		for _, isize := range []int{1, 2, 4, 8} {
			lineCoords(g, wide, isize, max(isize, 4), false)
		}
	}
}

// coordsFrame is what the steps of lineCoords share.
type coordsFrame struct {
	*gen
	wide                bool
	isize, osize, lanes int
	write               bool // or check only
	vector              func() reg.VecVirtual

	dst, src  reg.GPVirtual // of the element at hand
	row, last reg.VecVirtual
	bad       reg.Register
	most      reg.VecVirtual // AVX-512: the largest index of each lane
	low, high reg.VecVirtual // AVX-512: where the lanes of pairs come from
	ones      reg.VecVirtual // AVX2
	numbers   reg.VecVirtual // AVX2: 1, 2, 3 …
}

func lineCoords(g *gen, wide bool, isize, osize int, write bool) {
	isa, width, vector := g.isa(wide)
	f := &coordsFrame{gen: g, wide: wide, isize: isize, osize: osize, lanes: width / osize, write: write, vector: vector}
	name := fmt.Sprintf("lineOrder%d%s", isize, isa)
	does := []string{fmt.Sprintf("%s goes through lines of indices of %d bytes, which begin with number at, at src, and have the given", name, isize),
		"ends. It returns 0 if no index is greater than last, and each less than the one behind it in its line. It reads",
		fmt.Sprintf("up to %d more behind the last.", f.lanes+1)}
	signature := "func(src *byte, ends *uint64, lines int, at, last uint64) uint64"
	if write {
		name = fmt.Sprintf("lineCoords%dto%d%s", isize, osize, isa)
		does = []string{fmt.Sprintf("%s goes through lines of indices of %d bytes, which begin with number at, at src, and have the given", name, isize),
			fmt.Sprintf("ends. It writes the number of its line and each index to dst, as %d bytes, and returns 0 if no index is greater than", osize),
			fmt.Sprintf("last, and each less than the one behind it in its line. It reads and writes up to %d more behind the last.", f.lanes)}
		signature = "func(dst, src *byte, ends *uint64, lines int, at, line, last uint64) uint64"
	}
	g.Function(name)
	g.SignatureExpr(signature)
	g.Attributes(attr.NOSPLIT)
	g.Doc(does...)
	g.Pragma("noescape")
	f.src = g.gp("src")
	ends, lines, at := g.gp("ends"), g.gp("lines"), g.gp("at")
	var line reg.GPVirtual
	if write {
		f.dst, line, f.row = g.gp("dst"), g.gp("line"), vector()
	}
	f.last = vector()
	f.broadcast(g.gp("last"), f.last)
	f.begin()
	pair := map[int]uint64{4: 3, 8: 4}[osize] // its bytes are 1<<pair
	nextLine, full, rest, lineDone, done := g.label("line"), g.label("full"), g.label("rest"), g.label("ended"), g.label("done")
	left := g.GP64()
	g.Label(nextLine)
	g.SUBQ(U8(1), lines)
	g.JLT(LabelRef(done))
	g.MOVQ(Mem{Base: ends}, left)
	g.SUBQ(at, left)
	g.JE(LabelRef(lineDone))
	g.ADDQ(left, at)
	if write {
		f.broadcast(line, f.row)
	}
	g.Label(full)
	g.CMPQ(left, U8(f.lanes))
	g.JLE(LabelRef(rest))
	f.step(nil)
	g.ADDQ(U8(f.lanes*isize), f.src)
	if write {
		g.ADDQ(U32(f.lanes<<pair), f.dst)
	}
	g.SUBQ(U8(f.lanes), left)
	g.JMP(LabelRef(full))
	g.Label(rest)
	f.step(left)
	g.LEAQ(Mem{Base: f.src, Index: left, Scale: uint8(isize)}, f.src)
	if write {
		g.SHLQ(U8(pair), left)
		g.ADDQ(left, f.dst)
	}
	g.Label(lineDone)
	g.ADDQ(U8(8), ends)
	if write {
		g.INCQ(line)
	}
	g.JMP(LabelRef(nextLine))
	g.Label(done)
	f.end()
}

func (f *coordsFrame) broadcast(from reg.GPVirtual, to reg.VecVirtual) {
	switch {
	case f.wide && f.osize == 4:
		f.VPBROADCASTD(from.As32(), to)
	case f.wide:
		f.VPBROADCASTQ(from, to)
	default:
		f.VMOVQ(from, to.AsX())
		if f.osize == 4 {
			f.VPBROADCASTD(to.AsX(), to)
		} else {
			f.VPBROADCASTQ(to.AsX(), to)
		}
	}
}

// table returns a constant of integers as wide as coordinates.
func (f *coordsFrame) table(name string, n int, value func(i int) int) Mem {
	m := f.StaticGlobal(fmt.Sprintf("%s%dto%d%t", name, f.isize, f.osize, f.write))
	f.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range n {
		if f.osize == 4 {
			f.AddDatum(4*i, U32(value(i)))
		} else {
			f.AddDatum(8*i, U64(value(i)))
		}
	}
	return m
}

func (f *coordsFrame) begin() {
	if f.wide {
		bad := f.K()
		f.bad, f.most, f.low, f.high = bad, f.vector(), f.vector(), f.vector()
		f.KXORQ(bad, bad, bad)
		f.VPXORQ(f.most, f.most, f.most)
		if !f.write {
			return
		}
		// The first table of the permutation has indices, the second the row.
		order := f.table("turns", 2*f.lanes, func(i int) int {
			if i%2 == 0 {
				return f.lanes
			}
			return i / 2
		})
		f.VMOVDQU64(order, f.low)
		f.VMOVDQU64(order.Offset(64), f.high)
		return
	}
	bad := f.vector()
	f.bad, f.ones, f.numbers = bad, f.vector(), f.vector()
	f.VPXOR(bad, bad, bad)
	f.VPCMPEQD(f.ones, f.ones, f.ones)
	f.VMOVDQU(f.table("numbers", f.lanes, func(i int) int { return i + 1 }), f.numbers)
}

// load reads indices and makes them as wide as coordinates.
func (f *coordsFrame) load(at Mem, v reg.VecVirtual) {
	switch {
	case f.isize != f.osize:
		map[[2]int]func(...Op){
			{1, 4}: f.VPMOVZXBD, {2, 4}: f.VPMOVZXWD, {1, 8}: f.VPMOVZXBQ, {2, 8}: f.VPMOVZXWQ, {4, 8}: f.VPMOVZXDQ,
		}[[2]int{f.isize, f.osize}](at, v)
	case f.wide:
		f.VMOVDQU64(at, v)
	default:
		f.VMOVDQU(at, v)
	}
}

// step makes a vector of coordinates. If left is not nil, so many of them are the last ones of the line.
func (f *coordsFrame) step(left reg.Register) {
	// Each index is compared with the one behind it: before the first of all there may be no memory.
	x, next := f.vector(), f.vector()
	f.load(Mem{Base: f.src}, x)
	f.load(Mem{Base: f.src, Disp: f.isize}, next)
	if f.wide {
		compare, most, permute := f.VPCMPUD, f.VPMAXUD, f.VPERMT2D
		if f.osize == 8 {
			compare, most, permute = f.VPCMPUQ, f.VPMAXUQ, f.VPERMT2Q
		}
		const notLess = 5
		k, bad := f.K(), f.bad
		if left == nil {
			compare(U8(notLess), next, x, k)
		} else {
			bits, inside := f.GP64(), f.K()
			f.MOVQ(I64(-1), bits)
			f.BZHIQ(left, bits, bits)
			f.SHRQ(U8(1), bits)
			f.KMOVQ(bits, inside)
			compare(U8(notLess), next, x, inside, k)
		}
		f.KORQ(k, bad, bad)
		most(x, f.most, f.most)
		if !f.write {
			return
		}
		a := f.vector()
		f.VMOVDQA64(x, a)
		permute(f.row, f.low, a)
		permute(f.row, f.high, x)
		f.VMOVDQU64(a, Mem{Base: f.dst})
		f.VMOVDQU64(x, Mem{Base: f.dst, Disp: 64})
		return
	}
	greater, unpackLow, unpackHigh := f.VPCMPGTD, f.VPUNPCKLDQ, f.VPUNPCKHDQ
	if f.osize == 8 {
		greater, unpackLow, unpackHigh = f.VPCMPGTQ, f.VPUNPCKLQDQ, f.VPUNPCKHQDQ
	}
	bad := f.bad.(reg.VecVirtual)
	less, above, inside := f.vector(), f.vector(), f.ones
	greater(x, next, less)
	if left != nil {
		count := f.vector()
		inside = f.vector()
		f.broadcast(left.(reg.GPVirtual), count)
		greater(f.numbers, count, inside)
	}
	f.VPANDN(inside, less, less)
	f.VPOR(less, bad, bad)
	greater(f.last, x, above)
	f.VPOR(above, bad, bad)
	f.VPOR(x, bad, bad) // a negative one
	if !f.write {
		return
	}
	low, high, out := f.vector(), f.vector(), f.vector()
	unpackLow(x, f.row, low)
	unpackHigh(x, f.row, high)
	f.VPERM2I128(U8(0x20), high, low, out)
	f.VMOVDQU(out, Mem{Base: f.dst})
	f.VPERM2I128(U8(0x31), high, low, out)
	f.VMOVDQU(out, Mem{Base: f.dst, Disp: 32})
}

func (f *coordsFrame) end() {
	result := f.GP64()
	if f.wide {
		compare := f.VPCMPUD
		if f.osize == 8 {
			compare = f.VPCMPUQ
		}
		above := f.K()
		const greater = 6
		compare(U8(greater), f.last, f.most, above)
		f.KORQ(above, f.bad, above)
		f.KMOVQ(above, result)
	} else {
		bad := f.bad.(reg.VecVirtual)
		if f.osize == 4 {
			f.VMOVMSKPS(bad, result.As32())
		} else {
			f.VMOVMSKPD(bad, result.As32())
		}
	}
	f.Store(result, f.ReturnIndex(0))
	f.VZEROUPPER()
	f.RET()
}

// coordLines finds where rows begin among pairs of row and column, and takes the columns.
func coordLines(g *gen, isize, osize int) {
	name := fmt.Sprintf("coordLines%dto%dAVX512", isize, osize)
	g.Function(name)
	g.SignatureExpr("func(columns, pairs *byte, n int, starts *uint32, last *[2]uint64) (count int, bad uint64)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s goes through n pairs of row and column of %d bytes, a multiple of 8 and not 0. It writes the columns, as", name, isize),
		fmt.Sprintf("%d bytes, and to starts the numbers of those pairs whose row is not that of the pair before; room for 8 more numbers", osize),
		"must be there. bad is 0 if each pair comes after the one before, before the first, too, and no row or column is greater than the last.")
	g.Pragma("noescape")
	columns, pairs, n, starts, lastArg := g.gp("columns"), g.gp("pairs"), g.gp("n"), g.gp("starts"), g.gp("last")
	first, number, step := g.GP64(), g.YMM(), g.YMM()
	g.MOVQ(starts, first)
	iota := g.StaticGlobal(fmt.Sprintf("eight%dto%d", isize, osize))
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		g.AddDatum(4*i, U32(i))
	}
	eight := g.GP32()
	g.MOVL(U32(8), eight)
	g.VPBROADCASTD(eight, step)
	g.VMOVDQU(iota.Offset(0), number)
	bad, most, mostColumn := g.K(), g.ZMM(), g.ZMM()
	g.KXORQ(bad, bad, bad)
	g.VPXORQ(most, most, most)
	g.VPXORQ(mostColumn, mostColumn, mostColumn)
	low, even, odd := g.ZMM(), g.ZMM(), g.ZMM()
	if isize == 4 {
		mask := g.GP32()
		g.MOVL(U32(0xffffffff), mask)
		g.VPBROADCASTQ(mask.As64(), low)
	} else {
		even, odd = g.apart(name)
	}
	loop := g.label("loop")
	g.Label(loop)
	for at := 0; at < 16*isize; at += 64 {
		g.PREFETCHT0(Mem{Base: pairs, Disp: 4096 + at})
	}
	const notEqual, notGreater, greater = 4, 2, 6
	column, changed, wrong := g.ZMM(), g.K(), g.K()
	if isize == 4 {
		// A pair is one integer, with the row above once its halves have changed places.
		before, difference := g.ZMM(), g.ZMM()
		g.VMOVDQU64(Mem{Base: pairs}, column)
		g.VMOVDQU64(Mem{Base: pairs, Disp: -8}, before)
		g.VPXORQ(column, before, difference)
		g.VPTESTMQ(low, difference, changed)
		g.VPMAXUD(column, most, most)
		g.VPROLQ(U8(32), column, column)
		g.VPROLQ(U8(32), before, before)
		g.VPCMPUQ(U8(notGreater), before, column, wrong)
	} else {
		row, col := g.split(Mem{Base: pairs}, even, odd)
		rowBefore, columnBefore := g.split(Mem{Base: pairs, Disp: -16}, even, odd)
		column = col
		g.VPMAXUQ(row, most, most)
		g.VPMAXUQ(column, mostColumn, mostColumn)
		same, less := g.K(), g.K()
		g.VPCMPUQ(U8(notEqual), rowBefore, row, changed)
		g.KNOTQ(changed, same)
		g.VPCMPUQ(U8(notGreater), columnBefore, column, same, wrong)
		g.VPCMPUQ(U8(1), rowBefore, row, less)
		g.KORQ(less, wrong, wrong)
	}
	g.KORQ(wrong, bad, bad)
	if isize == 4 && osize == 8 {
		g.VPANDQ(low, column, column)
	}
	g.narrow(column, osize, Mem{Base: columns})
	found, bits := g.YMM(), g.GP64()
	g.VPXOR(found, found, found)
	g.VPCOMPRESSD_Z(number, changed, found)
	g.VMOVDQU(found, Mem{Base: starts})
	g.KMOVQ(changed, bits)
	g.POPCNTQ(bits, bits)
	g.LEAQ(Mem{Base: starts, Index: bits, Scale: 4}, starts)
	g.VPADDD(step, number, number)
	g.ADDQ(U32(16*isize), pairs)
	g.ADDQ(U8(8*osize), columns)
	g.SUBQ(U8(8), n)
	g.JNE(LabelRef(loop))

	last, above := g.ZMM(), g.K()
	if isize == 4 {
		// Row and column by turns.
		both := g.GP64()
		g.MOVQ(Mem{Base: lastArg, Disp: 8}, both)
		g.SHLQ(U8(32), both)
		g.ORQ(Mem{Base: lastArg}, both)
		g.VPBROADCASTQ(both, last)
		g.VPCMPUD(U8(greater), last, most, above)
		g.KORQ(above, bad, bad)
	} else {
		for i, m := range []reg.VecVirtual{most, mostColumn} {
			g.VPBROADCASTQ(Mem{Base: lastArg, Disp: 8 * i}, last)
			g.VPCMPUQ(U8(greater), last, m, above)
			g.KORQ(above, bad, bad)
		}
	}
	result := g.GP64()
	g.KMOVQ(bad, result)
	g.SUBQ(first, starts)
	g.SHRQ(U8(2), starts)
	g.Store(starts, g.ReturnIndex(0))
	g.Store(result, g.ReturnIndex(1))
	g.VZEROUPPER()
	g.RET()
}
