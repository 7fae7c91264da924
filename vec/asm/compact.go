package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// compactFrame holds what all compactions share: arguments, cursors and the loop around the step.
type compactFrame struct {
	values, positions reg.GPVirtual // next free place
	vsize, psize      int
	src               reg.GPVirtual // next element
	n                 reg.GPVirtual // elements left
	room              reg.GPVirtual // nonzeros that still have room
	mask, base        reg.GPVirtual
	step              int  // elements that the step takes
	pairs             bool // positions are a pair of a row and a column
}

func compactFunc(g *gen, isa string, vsize, psize, step int, pairs bool) *compactFrame {
	f := &compactFrame{vsize: vsize, psize: psize, step: step, pairs: pairs}
	name, args, doc := "compact", "base", "positions of %d bytes"
	if pairs {
		name, args, doc = "compactPairs", "row, base", "pairs of row and column, of %d bytes each"
	}
	name = fmt.Sprintf("%s%dto%d%s", name, vsize, psize, isa)
	g.Function(name)
	g.SignatureExpr("func(values, positions *byte, room int, src *byte, n int, mask, " + args + " uint64) (consumed, written int)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s compacts %d-byte elements, with "+doc+". It stops short of n", name, vsize, psize),
		fmt.Sprintf("elements when the next %d might find no room.", step))
	g.Pragma("noescape")
	load := func(name string) reg.GPVirtual { return g.Load(g.Param(name), g.GP64()).(reg.GPVirtual) }
	f.values, f.positions, f.room = load("values"), load("positions"), load("room")
	f.src, f.n, f.mask, f.base = load("src"), load("n"), load("mask"), load("base")
	return f
}

// loop emits the whole steps and then one step of less than that. body gets the number of elements in a
// register for the latter, and nil for a whole step; it leaves the number of nonzeros in a register.
func (f *compactFrame) loop(g *gen, advance func(), body func(partial reg.Register) (count reg.GPVirtual)) {
	loop, tail, done := g.label("loop"), g.label("tail"), g.label("done")
	g.Label(loop)
	g.CMPQ(f.n, U8(f.step))
	g.JL(LabelRef(tail))
	g.CMPQ(f.room, U8(f.step))
	g.JL(LabelRef(done))
	count := body(nil)
	f.advance(g, count)
	advance()
	g.ADDQ(U32(f.step*f.vsize), f.src)
	g.SUBQ(U8(f.step), f.n)
	g.JMP(LabelRef(loop))

	g.Label(tail)
	g.TESTQ(f.n, f.n)
	g.JE(LabelRef(done))
	g.CMPQ(f.room, U8(f.step))
	g.JL(LabelRef(done))
	count = body(f.n)
	f.advance(g, count)
	g.XORQ(f.n, f.n)

	g.Label(done)
	f.finish(g)
}

// wholeLoop emits whole steps only; what is less than a step is left to the caller.
func (f *compactFrame) wholeLoop(g *gen, advance func(), body func() (count reg.GPVirtual)) {
	loop, done := g.label("loop"), g.label("done")
	g.Label(loop)
	g.CMPQ(f.n, U8(f.step))
	g.JL(LabelRef(done))
	g.CMPQ(f.room, U8(f.step))
	g.JL(LabelRef(done))
	count := body()
	f.advance(g, count)
	advance()
	g.ADDQ(U32(f.step*f.vsize), f.src)
	g.SUBQ(U8(f.step), f.n)
	g.JMP(LabelRef(loop))
	g.Label(done)
	f.finish(g)
}

func (f *compactFrame) finish(g *gen) {
	n, room := g.GP64(), g.GP64()
	g.Load(g.Param("n"), n)
	g.SUBQ(f.n, n)
	g.Store(n, g.Return("consumed"))
	g.Load(g.Param("room"), room)
	g.SUBQ(f.room, room)
	g.Store(room, g.Return("written"))
	g.VZEROUPPER()
	g.RET()
}

func (f *compactFrame) advance(g *gen, count reg.GPVirtual) {
	g.LEAQ(Mem{Base: f.values, Index: count, Scale: uint8(f.vsize)}, f.values)
	if f.pairs && f.psize == 8 {
		twice := g.GP64()
		g.LEAQ(Mem{Base: count, Index: count, Scale: 1}, twice)
		g.LEAQ(Mem{Base: f.positions, Index: twice, Scale: 8}, f.positions)
	} else if f.pairs {
		g.LEAQ(Mem{Base: f.positions, Index: count, Scale: 8}, f.positions)
	} else {
		g.LEAQ(Mem{Base: f.positions, Index: count, Scale: uint8(f.psize)}, f.positions)
	}
	g.SUBQ(count, f.room)
}

// bytesIota returns the bytes 0, 1, 2 … 63.
func bytesIota(g *gen) Mem {
	m := g.StaticGlobal("iota64")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 8 {
		var word uint64
		for j := range 8 {
			word |= uint64(8*i+j) << (8 * j)
		}
		g.AddDatum(8*i, U64(word))
	}
	return m
}

func compactKernels(g *gen) {
	iota := bytesIota(g)
	for _, vsize := range []int{1, 2, 4, 8} {
		for _, psize := range []int{1, 2, 4, 8} {
			compactVBMI2(g, iota, vsize, psize, false)
		}
	}
	for _, vsize := range []int{1, 2, 4, 8} {
		for _, psize := range []int{4, 8} {
			compactVBMI2(g, iota, vsize, psize, true)
		}
	}
	for _, psize := range []int{2, 4, 8} {
		compactSmall512(g, iota, 1, psize)
		compactSmall512(g, iota, 2, psize)
		compactLarge512(g, iota, 4, psize)
		compactLarge512(g, iota, 8, psize)
	}
	table8, table4 := placesTable(g, 8), placesTable(g, 4)
	pairs4 := pairsTable(g)
	for _, psize := range []int{2, 4, 8} {
		compactSmall256(g, table8, 1, psize)
		compactSmall256(g, table8, 2, psize)
		compactLarge256(g, table8, 4, psize)
		compactPairs256(g, table4, pairs4, psize)
	}
}

// compactVBMI2 takes 64 elements a step (32 of 8 bytes): one VPCOMPRESSB of the bytes 0, 1, 2 … by the
// mask of nonzeros gives their places in the step, from which permutes make the values and sign-free
// widening the positions.
func compactVBMI2(g *gen, iotaBytes Mem, vsize, psize int, pairs bool) {
	vectors := min(vsize, 4)
	step := vectors * 64 / vsize
	f := compactFunc(g, "VBMI2", vsize, psize, step, pairs)

	mask, iota, base, inc := g.ZMM(), g.ZMM(), g.ZMM(), g.ZMM()
	g.VPBROADCASTQ(f.mask, mask)
	g.VMOVDQU64(iotaBytes, iota)
	stepReg := g.GP64()
	g.MOVQ(U64(step), stepReg)
	switch psize {
	case 1:
		g.VPBROADCASTB(f.base.As32(), base)
		g.VPBROADCASTB(stepReg.As32(), inc)
	case 2:
		g.VPBROADCASTW(f.base.As32(), base)
		g.VPBROADCASTW(stepReg.As32(), inc)
	case 4:
		g.VPBROADCASTD(f.base.As32(), base)
		g.VPBROADCASTD(stepReg.As32(), inc)
	case 8:
		g.VPBROADCASTQ(f.base, base)
		g.VPBROADCASTQ(stepReg, inc)
	}
	if pairs {
		// The row in every other lane, to which nothing is added as it goes on.
		row, odd := g.ZMM(), g.K()
		lanes := g.GP32()
		g.MOVL(U32(0xaaaa), lanes)
		g.KMOVW(lanes, odd)
		if psize == 4 {
			g.VPBROADCASTD(g.gp("row").As32(), row)
			g.VMOVDQA32(base, odd, row)
			g.VMOVDQA32_Z(inc, odd, inc)
		} else {
			g.VPBROADCASTQ(g.gp("row"), row)
			g.VMOVDQA64(base, odd, row)
			g.VMOVDQA64_Z(inc, odd, inc)
		}
		base = row
	}
	pairBit := g.pairBit(vsize, step)
	advance := func() {
		map[int]func(...Op){1: g.VPADDB, 2: g.VPADDW, 4: g.VPADDD, 8: g.VPADDQ}[psize](inc, base, base)
	}

	f.loop(g, advance, func(partial reg.Register) reg.GPVirtual {
		// Load, and make one mask of nonzeros.
		data := make([]reg.VecVirtual, vectors)
		for i := range data {
			data[i] = g.ZMM()
		}
		if partial == nil {
			for i := range data {
				g.VMOVDQU64(Mem{Base: f.src, Disp: 64 * i}, data[i])
			}
			for i := range data {
				g.PREFETCHT0(Mem{Base: f.src, Disp: 4096 + 64*i})
			}
		} else {
			loadPartial(g, f, data)
		}
		return compactStep(g, f, data, mask, iota, base, pairBit)
	})
}

// loadPartial loads the f.n elements that are left, and zeros after them.
func loadPartial(g *gen, f *compactFrame, data []reg.VecVirtual) {
	left := g.GP64()
	g.MOVQ(f.n, left)
	if f.vsize > 1 {
		g.SHLQ(U8(map[int]int{2: 1, 4: 2, 8: 3}[f.vsize]), left)
	}
	zero := g.GP64()
	g.XORQ(zero, zero)
	for i := range data {
		// The lowest min(left, 64) bits; BZHI looks at the low byte of its count only.
		bits, k := g.GP64(), g.K()
		g.MOVQ(I64(-1), bits)
		g.BZHIQ(left, bits, bits)
		g.KMOVQ(bits, k)
		g.VMOVDQU8_Z(Mem{Base: f.src, Disp: 64 * i}, k, data[i])
		if i < len(data)-1 {
			g.SUBQ(U8(64), left)
			g.CMOVQLT(zero, left)
		}
	}
}

// testMask returns a mask with one bit for each element of data.
func testMask(g *gen, data []reg.VecVirtual, mask reg.VecVirtual, vsize int) reg.OpmaskVirtual {
	k := make([]reg.OpmaskVirtual, len(data))
	for i := range data {
		k[i] = g.K()
		switch vsize {
		case 1:
			g.VPTESTMB(mask, data[i], k[i])
		case 2:
			g.VPTESTMW(mask, data[i], k[i])
		case 4:
			g.VPTESTMD(mask, data[i], k[i])
		case 8:
			g.VPTESTMQ(mask, data[i], k[i])
		}
	}
	for bits := 64 / vsize; len(k) > 1; bits *= 2 {
		var next []reg.OpmaskVirtual
		for i := 0; i < len(k); i += 2 {
			both := g.K()
			switch bits {
			case 8:
				g.KUNPCKBW(k[i], k[i+1], both)
			case 16:
				g.KUNPCKWD(k[i], k[i+1], both)
			case 32:
				g.KUNPCKDQ(k[i], k[i+1], both)
			}
			next = append(next, both)
		}
		k = next
	}
	return k[0]
}

// storeBlock stores the values and positions of the next block nonzeros, whose places in the step are the
// low bytes of places. b numbers the block.
func storeBlock(g *gen, f *compactFrame, b, block int, places reg.VecVirtual, data []reg.VecVirtual, base, pairBit reg.VecVirtual) {
	valuesAt := Mem{Base: f.values, Disp: b * block * f.vsize}
	at := g.ZMM() // places as wide as the values
	switch f.vsize {
	case 1:
		if b == 0 { // all 64 at once
			v := g.ZMM()
			g.VPERMB(data[0], places, v)
			g.VMOVDQU64(v, valuesAt)
		}
	case 2:
		if b%2 == 0 { // 32 at once
			g.VPMOVZXBW(places.AsY(), at)
			g.VPERMI2W(data[1], data[0], at)
			g.VMOVDQU64(at, valuesAt)
		}
	case 4, 8:
		other, k := g.ZMM(), g.K()
		if f.vsize == 4 {
			g.VPMOVZXBD(places.AsX(), at)
			g.VPTESTMD(pairBit, at, k)
			g.VMOVDQA64(at, other)
			if f.psize == 4 && !f.pairs {
				p := g.ZMM()
				g.VPADDD(base, at, p)
				g.VMOVDQU64(p, Mem{Base: f.positions, Disp: b * block * 4})
			}
			g.VPERMI2D(data[1], data[0], at)
			g.VPERMI2D(data[3], data[2], other)
			g.VMOVDQA32(other, k, at)
		} else {
			g.VPMOVZXBQ(places.AsX(), at)
			g.VPTESTMQ(pairBit, at, k)
			g.VMOVDQA64(at, other)
			if f.psize == 8 && !f.pairs {
				p := g.ZMM()
				g.VPADDQ(base, at, p)
				g.VMOVDQU64(p, Mem{Base: f.positions, Disp: b * block * 8})
			}
			g.VPERMI2Q(data[1], data[0], at)
			g.VPERMI2Q(data[3], data[2], other)
			g.VMOVDQA64(other, k, at)
		}
		g.VMOVDQU64(at, valuesAt)
	}
	if f.pairs {
		storePairs(g, f, b, block, places, base)
		return
	}
	if f.vsize == f.psize && f.vsize >= 4 {
		return
	}
	positionsAt := Mem{Base: f.positions, Disp: b * block * f.psize}
	p := g.ZMM()
	switch f.psize {
	case 1:
		g.VPADDB(base.AsX(), places.AsX(), p.AsX())
		if block == 16 {
			g.VMOVDQU(p.AsX(), positionsAt)
		} else {
			g.VMOVQ(p.AsX(), positionsAt)
		}
	case 2:
		if block == 16 {
			g.VPMOVZXBW(places.AsX(), p.AsY())
			g.VPADDW(base.AsY(), p.AsY(), p.AsY())
			g.VMOVDQU(p.AsY(), positionsAt)
		} else {
			g.VPMOVZXBW(places.AsX(), p.AsX())
			g.VPADDW(base.AsX(), p.AsX(), p.AsX())
			g.VMOVDQU(p.AsX(), positionsAt)
		}
	case 4:
		if block == 16 {
			g.VPMOVZXBD(places.AsX(), p)
			g.VPADDD(base, p, p)
			g.VMOVDQU64(p, positionsAt)
		} else {
			g.VPMOVZXBD(places.AsX(), p.AsY())
			g.VPADDD(base.AsY(), p.AsY(), p.AsY())
			g.VMOVDQU(p.AsY(), positionsAt)
		}
	case 8:
		high, upper := g.ZMM(), g.XMM()
		g.VPMOVZXBQ(places.AsX(), p)
		g.VPADDQ(base, p, p)
		g.VMOVDQU64(p, positionsAt)
		g.VPSRLDQ(U8(8), places.AsX(), upper)
		g.VPMOVZXBQ(upper, high)
		g.VPADDQ(base, high, high)
		g.VMOVDQU64(high, positionsAt.Offset(64))
	}
}

// storePairs stores a row and a column for each of the block nonzeros: bytes of zero between the places
// make room for the row.
func storePairs(g *gen, f *compactFrame, b, block int, places, base reg.VecVirtual) {
	at := Mem{Base: f.positions, Disp: b * block * 2 * f.psize}
	zero := g.XMM()
	g.VPXOR(zero, zero, zero)
	for half := range block / 8 {
		wide := g.XMM()
		if half == 0 {
			g.VPUNPCKLBW(places.AsX(), zero, wide)
		} else {
			g.VPUNPCKHBW(places.AsX(), zero, wide)
		}
		if f.psize == 4 {
			p := g.ZMM()
			g.VPMOVZXBD(wide, p)
			g.VPADDD(base, p, p)
			g.VMOVDQU64(p, at.Offset(half*64))
			continue
		}
		for quarter := range 2 {
			p := g.ZMM()
			if quarter == 1 {
				g.VPSRLDQ(U8(8), wide, wide)
			}
			g.VPMOVZXBQ(wide, p)
			g.VPADDQ(base, p, p)
			g.VMOVDQU64(p, at.Offset(half*128+quarter*64))
		}
	}
}

// pairBit returns, for steps of four vectors, the bit of a place that says whether its element is in the second
// pair of them, in each lane.
func (g *gen) pairBit(vsize, step int) reg.VecVirtual {
	v := g.ZMM()
	bit := g.GP64()
	switch vsize {
	case 4:
		g.MOVQ(U64(step/2), bit)
		g.VPBROADCASTD(bit.As32(), v)
	case 8:
		g.MOVQ(U64(step/2), bit)
		g.VPBROADCASTQ(bit, v)
	}
	return v
}

// compactStep stores the nonzeros of a step, and their positions from base, at f.values and f.positions. It
// returns their number.
func compactStep(g *gen, f *compactFrame, data []reg.VecVirtual, mask, iota, base, pairBit reg.VecVirtual) reg.GPVirtual {
	nonzero := testMask(g, data, mask, f.vsize)
	bits, count := g.GP64(), g.GP64()
	if f.step == 64 {
		g.KMOVQ(nonzero, bits)
	} else {
		g.KMOVD(nonzero, bits.As32())
	}
	g.POPCNTQ(bits, count)
	places := g.ZMM()
	g.VPXORQ(places, places, places)
	if f.step == 64 {
		g.VPCOMPRESSB(iota, nonzero, places)
	} else {
		g.VPCOMPRESSB(iota.AsY(), nonzero, places.AsY())
	}

	// One block is what always is stored; more are there only if the step is dense.
	block := map[int]int{1: 16, 2: 16, 4: 16, 8: 8}[f.vsize]
	end := g.label("stored")
	for b := 0; b*block < f.step; b++ {
		if b > 0 {
			if b == 1 || b == f.step/block-1 {
				g.CMPQ(count, U8(b*block))
				g.JLE(LabelRef(end))
			}
			if block == 16 {
				g.VALIGND(U8(4), places, places, places)
			} else {
				g.VALIGNQ(U8(1), places, places, places)
			}
		}
		storeBlock(g, f, b, block, places, data, base, pairBit)
	}
	g.Label(end)
	return count
}
