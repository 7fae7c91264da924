package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// recordsKernels makes the parts of a counting sort of records, which are pairs of a line and a value of the same width.
func recordsKernels(g *gen) {
	for _, size := range []int{4, 8} {
		for _, isize := range []int{1, 2, 4, 8} {
			sendRecords(g, size, isize)
		}
		for _, psize := range []int{1, 2, 4, 8} {
			splitRecords(g, size, psize)
		}
	}
}

func sendRecords(g *gen, size, isize int) {
	name := fmt.Sprintf("sendRecords%dby%dAVX2", size, isize)
	g.Function(name)
	g.SignatureExpr("func(dst *byte, cursors *uint32, src, indices *byte, n int)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s stores n records, a multiple of 4 and not 0, of two words of %d bytes at the places in dst that the cursors", name, size),
		fmt.Sprintf("of their indices of %d bytes say, and moves these on.", isize))
	g.Pragma("noescape")
	dst, cursors, src, indices, n := g.gp("dst"), g.gp("cursors"), g.gp("src"), g.gp("indices"), g.gp("n")
	loop := g.label("loop")
	g.Label(loop)
	for i := range 4 {
		index, p, next := g.GP64(), g.GP64(), g.GP64()
		load(g, isize, Mem{Base: indices, Disp: i * isize}, index)
		g.MOVL(Mem{Base: cursors, Index: index, Scale: 4}, p.As32())
		g.LEAL(Mem{Base: p, Disp: 1}, next.As32())
		g.MOVL(next.As32(), Mem{Base: cursors, Index: index, Scale: 4})
		if size == 4 {
			record := g.GP64()
			g.MOVQ(Mem{Base: src, Disp: 8 * i}, record)
			g.MOVQ(record, Mem{Base: dst, Index: p, Scale: 8})
			continue
		}
		record := g.XMM()
		g.ADDQ(p, p)
		g.VMOVDQU(Mem{Base: src, Disp: 16 * i}, record)
		g.VMOVDQU(record, Mem{Base: dst, Index: p, Scale: 8})
	}
	g.ADDQ(U8(4*isize), indices)
	g.ADDQ(U8(8*size), src)
	g.SUBQ(U8(4), n)
	g.JNE(LabelRef(loop))
	g.RET()
}

func splitRecords(g *gen, size, psize int) {
	name := fmt.Sprintf("splitRecords%dto%dAVX512", size, psize)
	g.Function(name)
	g.SignatureExpr("func(values, lines, src *byte, n int)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s takes n records, a multiple of 8 and not 0, of two words of %d bytes apart: lines of %d bytes, and values.", name, size, psize))
	g.Pragma("noescape")
	values, lines, src, n := g.gp("values"), g.gp("lines"), g.gp("src"), g.gp("n")
	low, even, odd := g.ZMM(), g.ZMM(), g.ZMM()
	if size == 4 {
		mask := g.GP64()
		g.MOVL(U32(0xffffffff), mask.As32())
		g.VPBROADCASTQ(mask, low)
	} else {
		even, odd = g.apart(name)
	}
	loop := g.label("loop")
	g.Label(loop)
	for at := 0; at < 16*size; at += 64 {
		g.PREFETCHT0(Mem{Base: src, Disp: 4096 + at})
	}
	line := g.ZMM()
	if size == 4 {
		value := g.ZMM()
		g.VMOVDQU64(Mem{Base: src}, line)
		g.VPSRLQ(U8(32), line, value)
		g.VPMOVQD(value, Mem{Base: values})
		if psize == 8 {
			g.VPANDQ(low, line, line)
		}
	} else {
		var value reg.VecVirtual
		line, value = g.split(Mem{Base: src}, even, odd)
		g.VMOVDQU64(value, Mem{Base: values})
	}
	g.narrow(line, psize, Mem{Base: lines})
	g.ADDQ(U32(16*size), src)
	g.ADDQ(U8(8*size), values)
	g.ADDQ(U8(8*psize), lines)
	g.SUBQ(U8(8), n)
	g.JNE(LabelRef(loop))
	g.VZEROUPPER()
	g.RET()
}

// apart loads the permutations that split uses.
func (g *gen) apart(name string) (even, odd reg.VecVirtual) {
	order := g.StaticGlobal("apart_" + name)
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		g.AddDatum(8*i, U64(2*(i%8)+i/8))
	}
	even, odd = g.ZMM(), g.ZMM()
	g.VMOVDQU64(order.Offset(0), even)
	g.VMOVDQU64(order.Offset(64), odd)
	return even, odd
}

// split loads 8 pairs of 8-byte integers, the first of each to one vector and the second to another.
func (g *gen) split(at Mem, even, odd reg.VecVirtual) (first, second reg.VecVirtual) {
	first, second = g.ZMM(), g.ZMM()
	g.VMOVDQU64(at, first)
	g.VMOVDQA64(first, second)
	g.VPERMT2Q(at.Offset(64), even, first)
	g.VPERMT2Q(at.Offset(64), odd, second)
	return first, second
}

// narrow stores 8 integers of 8 bytes as such of size bytes.
func (g *gen) narrow(v reg.VecVirtual, size int, at Mem) {
	switch size {
	case 1:
		g.VPMOVQB(v, at)
	case 2:
		g.VPMOVQW(v, at)
	case 4:
		g.VPMOVQD(v, at)
	case 8:
		g.VMOVDQU64(v, at)
	}
}
