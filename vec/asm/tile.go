package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tileKernels makes the compaction of columns of a row-major matrix.
func tileKernels(g *gen) {
	iota := bytesIota(g)
	words := weaveIndex(g, 2)
	for _, vsize := range []int{1, 2, 4, 8} {
		if vsize < 4 {
			weave(g, vsize, words)
		} else {
			square(g, vsize)
		}
		lines(g, iota, vsize, 4)
	}
}

// square transposes a square of rows, and those to the right of it, to a scratch buffer that has 256 bytes
// for each column.
func square(g *gen, vsize int) {
	lanes := 64 / vsize
	name := fmt.Sprintf("square%dAVX512", vsize)
	g.Function(name)
	g.SignatureExpr("func(dst, src *byte, stride, n int, next *byte)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s transposes %d rows of %d-byte elements, stride bytes apart, in n squares. A row of the result is", name, lanes, vsize),
		"64 bytes, at a multiple of 256 from dst. It prefetches as many rows from next.")
	g.Pragma("noescape")
	dst, src, stride, n, next := g.gp("dst"), g.gp("src"), g.gp("stride"), g.gp("n"), g.gp("next")
	three := g.GP64()
	g.LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	loop, done := g.label("loop"), g.label("done")
	g.Label(loop)
	g.TESTQ(n, n)
	g.JE(LabelRef(done))
	from, ahead := g.GP64(), g.GP64()
	g.MOVQ(src, from)
	g.MOVQ(next, ahead)
	z := make([]reg.VecVirtual, lanes)
	for i := range z {
		z[i] = g.ZMM()
		row := func(p reg.GPVirtual) Mem {
			switch i % 4 {
			case 1:
				return Mem{Base: p, Index: stride, Scale: 1}
			case 2:
				return Mem{Base: p, Index: stride, Scale: 2}
			case 3:
				return Mem{Base: p, Index: three, Scale: 1}
			}
			return Mem{Base: p}
		}
		g.VMOVDQU64(row(from), z[i])
		g.PREFETCHT1(row(ahead))
		if i%4 == 3 {
			g.LEAQ(Mem{Base: from, Index: stride, Scale: 4}, from)
			g.LEAQ(Mem{Base: ahead, Index: stride, Scale: 4}, ahead)
		}
	}
	transpose(g, z, vsize)
	for i := range z {
		g.VMOVDQU64(z[i], Mem{Base: dst, Disp: 256 * i})
	}
	g.ADDQ(U32(uint32(256*lanes)), dst)
	g.ADDQ(U8(64), src)
	g.ADDQ(U8(64), next)
	g.DECQ(n)
	g.JMP(LabelRef(loop))
	g.Label(done)
	g.VZEROUPPER()
	g.RET()
}

// weaveIndex returns two vectors of indices, which take the elements of two vectors by turns.
func weaveIndex(g *gen, vsize int) Mem {
	m := g.StaticGlobal(fmt.Sprintf("weave%d", vsize))
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	n := 64 / vsize
	for at := 0; at < 128; at += 8 {
		var word uint64
		for j := 0; j < 8; j += vsize {
			i := (at + j) / vsize
			word |= uint64(i/2+i%2*n) << (8 * j)
		}
		g.AddDatum(at, U64(word))
	}
	return m
}

// weave makes elements of 4 bytes of those that lie below each other in 4 or 2 rows. Squares of these have lines of the narrow
// elements.
func weave(g *gen, vsize int, words Mem) {
	isa, rows, tables := "AVX512", 2, map[int]Mem{2: words}
	if vsize == 1 {
		isa, rows = "VBMI2", 4
		tables[1] = weaveIndex(g, 1)
	}
	name := fmt.Sprintf("weave%d%s", vsize, isa)
	g.Function(name)
	g.SignatureExpr("func(dst, src *byte, stride, n, count int, next *byte)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s makes a row of elements of 4 bytes of every %d rows of n bytes, a multiple of 64, stride bytes apart, of", name, rows),
		"which there are count times as many. It prefetches as many rows from next.")
	g.Pragma("noescape")
	dst, src, stride, n, count, next := g.gp("dst"), g.gp("src"), g.gp("stride"), g.gp("n"), g.gp("count"), g.gp("next")
	index := make(map[int][2]reg.VecVirtual)
	for size := vsize; size <= 2; size++ {
		index[size] = [2]reg.VecVirtual{g.ZMM(), g.ZMM()}
		for i, v := range index[size] {
			g.VMOVDQU64(tables[size].Offset(64*i), v)
		}
	}
	three := g.GP64()
	if rows > 2 {
		g.LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, three)
	}
	// both returns the elements of two vectors by turns.
	both := func(size int, a, b reg.VecVirtual) (low, high reg.VecVirtual) {
		low, high = g.ZMM(), a
		g.VMOVDQA64(a, low)
		permute := g.VPERMT2W
		if size == 1 {
			permute = g.VPERMT2B
		}
		permute(b, index[size][0], low)
		permute(b, index[size][1], high)
		return low, high
	}
	row, column, done := g.label("row"), g.label("column"), g.label("done")
	g.Label(row)
	g.TESTQ(count, count)
	g.JE(LabelRef(done))
	from, ahead, left := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(src, from)
	g.MOVQ(next, ahead)
	g.MOVQ(n, left)
	g.Label(column)
	in := make([]reg.VecVirtual, rows)
	for i := range in {
		in[i] = g.ZMM()
		at := func(p reg.GPVirtual) Mem {
			return []Mem{{Base: p}, {Base: p, Index: stride, Scale: 1}, {Base: p, Index: stride, Scale: 2}, {Base: p, Index: three, Scale: 1}}[i]
		}
		g.VMOVDQU64(at(from), in[i])
		g.PREFETCHT1(at(ahead))
	}
	var out []reg.VecVirtual
	if vsize == 1 {
		a, b := both(1, in[0], in[1])
		c, d := both(1, in[2], in[3])
		e, f := both(2, a, c)
		h, i := both(2, b, d)
		out = []reg.VecVirtual{e, f, h, i}
	} else {
		e, f := both(2, in[0], in[1])
		out = []reg.VecVirtual{e, f}
	}
	for i, v := range out {
		g.VMOVDQU64(v, Mem{Base: dst, Disp: 64 * i})
	}
	g.ADDQ(U32(uint32(64*len(out))), dst)
	g.ADDQ(U8(64), from)
	g.ADDQ(U8(64), ahead)
	g.SUBQ(U8(64), left)
	g.JNE(LabelRef(column))
	for _, p := range []reg.GPVirtual{src, next} {
		g.LEAQ(Mem{Base: p, Index: stride, Scale: uint8(rows)}, p)
	}
	g.DECQ(count)
	g.JMP(LabelRef(row))
	g.Label(done)
	g.VZEROUPPER()
	g.RET()
}

// lines compacts short lines to the places that their cursors say.
func lines(g *gen, iotaBytes Mem, vsize, psize int) {
	vectors := min(vsize, 4) // of a step
	step := vectors * 64 / vsize
	name := fmt.Sprintf("lines%dto%dVBMI2", vsize, psize)
	g.Function(name)
	g.SignatureExpr("func(values, positions *byte, cursors *uint64, src *byte, n int, mask, base uint64)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s compacts n lines of %d elements of %d bytes each, with positions of %d bytes from base. It stores", name, 256/vsize, vsize, psize),
		fmt.Sprintf("at each line's cursor in values and positions, where there must be room for %d more than there are, and moves", step),
		"the cursor on.")
	g.Pragma("noescape")
	f := &compactFrame{vsize: vsize, psize: psize, step: step, values: g.GP64(), positions: g.GP64()}
	values, positions, cursors, src, n := g.gp("values"), g.gp("positions"), g.gp("cursors"), g.gp("src"), g.gp("n")
	mask, iota := g.ZMM(), g.ZMM()
	g.VPBROADCASTQ(g.gp("mask"), mask)
	g.VMOVDQU64(iotaBytes, iota)
	base := make([]reg.VecVirtual, 4/vectors)
	from := g.gp("base")
	for i := range base {
		base[i] = g.ZMM()
		g.VPBROADCASTD(from.As32(), base[i])
		g.ADDQ(U8(step), from)
	}
	pairBit := g.pairBit(vsize, step)
	loop, done := g.label("loop"), g.label("done")
	g.Label(loop)
	g.TESTQ(n, n)
	g.JE(LabelRef(done))
	place := g.GP64()
	g.MOVQ(Mem{Base: cursors}, place)
	for i := range base {
		data := make([]reg.VecVirtual, vectors)
		for j := range data {
			data[j] = g.ZMM()
			g.VMOVDQU64(Mem{Base: src, Disp: 64 * (vectors*i + j)}, data[j])
		}
		g.LEAQ(Mem{Base: values, Index: place, Scale: uint8(vsize)}, f.values)
		g.LEAQ(Mem{Base: positions, Index: place, Scale: uint8(psize)}, f.positions)
		g.ADDQ(compactStep(g, f, data, mask, iota, base[i], pairBit), place)
	}
	g.MOVQ(place, Mem{Base: cursors})
	g.ADDQ(U8(8), cursors)
	g.ADDQ(U32(256), src)
	g.DECQ(n)
	g.JMP(LabelRef(loop))
	g.Label(done)
	g.VZEROUPPER()
	g.RET()
}

// transpose transposes the square matrix whose rows are z: first within 16 bytes, then of those.
func transpose(g *gen, z []reg.VecVirtual, vsize int) {
	both := func(low, high func(...Op), i, j int) {
		t := g.ZMM()
		low(z[j], z[i], t)
		high(z[j], z[i], z[j])
		z[i] = t
	}
	n := len(z)
	if vsize == 4 {
		for i := 0; i < n; i += 2 {
			both(g.VPUNPCKLDQ, g.VPUNPCKHDQ, i, i+1)
		}
		// Now z[i] has columns 0, 1 and z[i+1] columns 2, 3 of each four, for rows i and i+1.
		for i := 0; i < n; i += 4 {
			both(g.VPUNPCKLQDQ, g.VPUNPCKHQDQ, i, i+2)
			both(g.VPUNPCKLQDQ, g.VPUNPCKHQDQ, i+1, i+3)
			z[i+1], z[i+2] = z[i+2], z[i+1]
		}
		// z[4q+c] has column c of each four for rows 4q to 4q+3: the squares of 16 bytes remain.
		for c := range 4 {
			quarters(g, []*reg.VecVirtual{&z[c], &z[4+c], &z[8+c], &z[12+c]})
		}
		return
	}
	for i := 0; i < n; i += 2 {
		both(g.VPUNPCKLQDQ, g.VPUNPCKHQDQ, i, i+1)
	}
	// z[2q+c] has column c of each two for rows 2q and 2q+1.
	for c := range 2 {
		quarters(g, []*reg.VecVirtual{&z[c], &z[2+c], &z[4+c], &z[6+c]})
	}
}

// quarters transposes the 4×4 matrix of the 16-byte quarters of four vectors.
func quarters(g *gen, v []*reg.VecVirtual) {
	shuffle := func(imm uint64, a, b reg.VecVirtual) reg.VecVirtual {
		t := g.ZMM()
		g.VSHUFI32X4(U8(imm), b, a, t)
		return t
	}
	a, b := shuffle(0x44, *v[0], *v[1]), shuffle(0xee, *v[0], *v[1])
	c, d := shuffle(0x44, *v[2], *v[3]), shuffle(0xee, *v[2], *v[3])
	*v[0], *v[1] = shuffle(0x88, a, c), shuffle(0xdd, a, c)
	*v[2], *v[3] = shuffle(0x88, b, d), shuffle(0xdd, b, d)
}
