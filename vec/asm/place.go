package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// placeKernels makes the second half of a counting sort: values and rows go to the places that the cursors
// of their columns say. The line after each place is fetched, since no hardware keeps up with so many streams.
func placeKernels(g *gen) {
	for _, vsize := range []int{1, 2, 4, 8} {
		for _, psize := range []int{1, 2, 4, 8} {
			place(g, vsize, psize)
		}
	}
}

func place(g *gen, vsize, psize int) {
	name := fmt.Sprintf("place%dto%dAVX2", vsize, psize)
	g.Function(name)
	g.SignatureExpr("func(values, rows *byte, cursors *uint64, keys *uint32, src *byte, n int, shift, base uint64)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s stores n values of %d bytes, and the upper bits of their keys plus base in %d bytes, at", name, vsize, psize),
		"the places in values and rows that the cursors of the lower shift bits say, and moves these on.")
	g.Pragma("noescape")
	values, rows, cursors := g.gp("values"), g.gp("rows"), g.gp("cursors")
	keys, src, n, shift, base := g.gp("keys"), g.gp("src"), g.gp("n"), g.gp("shift"), g.gp("base")
	mask := g.GP64()
	g.MOVQ(I64(-1), mask)
	g.BZHIQ(shift, mask, mask)
	loop, done := g.label("loop"), g.label("done")
	i := g.GP64()
	g.XORQ(i, i)
	g.Label(loop)
	g.CMPQ(i, n)
	g.JGE(LabelRef(done))
	key, col, p, next, v := g.GP64(), g.GP64(), g.GP64(), g.GP64(), g.GP64()
	g.MOVL(Mem{Base: keys, Index: i, Scale: 4}, key.As32())
	g.MOVQ(mask, col)
	g.ANDQ(key, col)
	g.MOVQ(Mem{Base: cursors, Index: col, Scale: 8}, p)
	g.LEAQ(Mem{Base: p, Disp: 1}, next)
	g.MOVQ(next, Mem{Base: cursors, Index: col, Scale: 8})
	g.SHRXQ(shift, key, key)
	g.ADDQ(base, key)
	store := func(size int, from reg.GPVirtual, to Mem) {
		switch size {
		case 1:
			g.MOVB(from.As8(), to)
		case 2:
			g.MOVW(from.As16(), to)
		case 4:
			g.MOVL(from.As32(), to)
		case 8:
			g.MOVQ(from, to)
		}
	}
	in := Mem{Base: src, Index: i, Scale: uint8(vsize)}
	switch vsize {
	case 1:
		g.MOVBLZX(in, v.As32())
	case 2:
		g.MOVWLZX(in, v.As32())
	case 4:
		g.MOVL(in, v.As32())
	case 8:
		g.MOVQ(in, v)
	}
	atV := Mem{Base: values, Index: p, Scale: uint8(vsize)}
	atP := Mem{Base: rows, Index: p, Scale: uint8(psize)}
	store(vsize, v, atV)
	store(psize, key, atP)
	g.PREFETCHT0(atV.Offset(64))
	g.PREFETCHT0(atP.Offset(64))
	g.INCQ(i)
	g.JMP(LabelRef(loop))
	g.Label(done)
	g.RET()
}
