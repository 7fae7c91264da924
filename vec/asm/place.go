package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
)

// placeKernels makes the two halves of a counting sort by buckets. In the second, values and rows go to the places that the cursors
// of their columns say. The line after each place is fetched, since no hardware keeps up with so many streams.
func placeKernels(g *gen) {
	for _, vsize := range []int{1, 2, 4, 8} {
		for _, psize := range []int{1, 2, 4, 8} {
			place(g, vsize, psize)
			deal(g, vsize, psize)
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
	in := Mem{Base: src, Index: i, Scale: uint8(vsize)}
	load(g, vsize, in, v)
	atV := Mem{Base: values, Index: p, Scale: uint8(vsize)}
	atP := Mem{Base: rows, Index: p, Scale: uint8(psize)}
	store(g, vsize, v, atV)
	store(g, psize, key, atP)
	g.PREFETCHT0(atV.Offset(64))
	g.PREFETCHT0(atP.Offset(64))
	g.INCQ(i)
	g.JMP(LabelRef(loop))
	g.Label(done)
	g.RET()
}

// deal makes the first half for a matrix that is compressed line by line: values and keys go to buckets.
func deal(g *gen, vsize, isize int) {
	name := fmt.Sprintf("deal%dby%dAVX2", vsize, isize)
	g.Function(name)
	g.SignatureExpr("func(values, keys *byte, cursors *uint64, indices, src *byte, ends *uint64, lines int, at, line, shift uint64)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s goes through lines of values of %d bytes with indices of %d, which begin at number at and have", name, vsize, isize),
		"the given ends. Each value, and 4 bytes of its line's number with the lower shift bits of its index behind it,",
		"goes to the place that the cursor of the upper bits of its index says, which it moves on.")
	g.Pragma("noescape")
	values, keys, cursors := g.gp("values"), g.gp("keys"), g.gp("cursors")
	indices, src, ends := g.gp("indices"), g.gp("src"), g.gp("ends")
	at, line, shift := g.gp("at"), g.gp("line"), g.gp("shift")
	lines := NewParamAddr("lines", 48)
	g.SHLXQ(shift, line, line)
	nextLine, nextValue, lineDone, done := g.label("line"), g.label("value"), g.label("ended"), g.label("done")
	g.Label(nextLine)
	g.SUBQ(U8(1), lines)
	g.JLT(LabelRef(done))
	g.Label(nextValue)
	g.CMPQ(at, Mem{Base: ends})
	g.JAE(LabelRef(lineDone))
	index, bucket, p := g.GP64(), g.GP64(), g.GP64()
	load(g, isize, Mem{Base: indices, Index: at, Scale: uint8(isize)}, index)
	g.SHRXQ(shift, index, bucket)
	g.MOVQ(Mem{Base: cursors, Index: bucket, Scale: 8}, p)
	g.INCQ(Mem{Base: cursors, Index: bucket, Scale: 8})
	g.BZHIQ(shift, index, index)
	g.ORQ(line, index)
	g.MOVL(index.As32(), Mem{Base: keys, Index: p, Scale: 4})
	load(g, vsize, Mem{Base: src, Index: at, Scale: uint8(vsize)}, index)
	store(g, vsize, index, Mem{Base: values, Index: p, Scale: uint8(vsize)})
	g.INCQ(at)
	g.JMP(LabelRef(nextValue))
	g.Label(lineDone)
	g.ADDQ(U8(8), ends)
	one := g.GP64()
	g.MOVQ(U32(1), one)
	g.SHLXQ(shift, one, one)
	g.ADDQ(one, line)
	g.JMP(LabelRef(nextLine))
	g.Label(done)
	g.RET()
}
