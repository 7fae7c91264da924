package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dropKernels makes the scatter of a tile: of each of some columns, those values that lie in some rows.
func dropKernels(g *gen) {
	for _, vsize := range []int{1, 2, 4, 8} {
		for _, isize := range []int{1, 2, 4, 8} {
			drop(g, vsize, isize)
		}
	}
}

func drop(g *gen, vsize, isize int) {
	name := fmt.Sprintf("drop%dby%dAVX2", vsize, isize)
	g.Function(name)
	g.SignatureExpr("func(tile *byte, stride uint64, cursors, ends *uint64, n int, rows, values *byte, first, count uint64)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s stores values of %d bytes of n columns to a tile of count rows from first, stride bytes apart. It", name, vsize),
		fmt.Sprintf("goes through each column from its cursor, which it moves on, to its end or to the first row, of %d bytes,", isize),
		"that is not in the tile. It prefetches eight lines from the cursor of the eighth column after each.")
	g.Pragma("noescape")
	tile, stride, cursors, ends, n := g.gp("tile"), g.gp("stride"), g.gp("cursors"), g.gp("ends"), g.gp("n")
	rows, values, first, count := g.gp("rows"), g.gp("values"), g.gp("first"), g.gp("count")
	column, done := g.label("column"), g.label("done")
	j := g.GP64()
	g.XORQ(j, j)
	g.Label(column)
	g.CMPQ(j, n)
	g.JGE(LabelRef(done))
	p, end := g.GP64(), g.GP64()
	g.MOVQ(Mem{Base: cursors, Index: j, Scale: 8, Disp: 64}, p)
	for line := range 8 { // of a dense column; no hardware follows so many short streams
		g.PREFETCHT0(Mem{Base: rows, Index: p, Scale: uint8(isize), Disp: 64 * line})
		g.PREFETCHT0(Mem{Base: values, Index: p, Scale: uint8(vsize), Disp: 64 * line})
	}
	g.MOVQ(Mem{Base: cursors, Index: j, Scale: 8}, p)
	g.MOVQ(Mem{Base: ends, Index: j, Scale: 8}, end)
	value, next := g.label("value"), g.label("next")
	g.Label(value)
	g.CMPQ(p, end)
	g.JAE(LabelRef(next))
	row, v := g.GP64(), g.GP64()
	load(g, isize, Mem{Base: rows, Index: p, Scale: uint8(isize)}, row)
	g.SUBQ(first, row)
	g.CMPQ(row, count)
	g.JAE(LabelRef(next))
	load(g, vsize, Mem{Base: values, Index: p, Scale: uint8(vsize)}, v)
	g.IMULQ(stride, row)
	store(g, vsize, v, Mem{Base: tile, Index: row, Scale: 1})
	g.INCQ(p)
	g.JMP(LabelRef(value))
	g.Label(next)
	g.MOVQ(p, Mem{Base: cursors, Index: j, Scale: 8})
	g.ADDQ(U8(vsize), tile)
	g.INCQ(j)
	g.JMP(LabelRef(column))
	g.Label(done)
	g.RET()
}

// load loads an unsigned integer of so many bytes.
func load(g *gen, size int, from Mem, to reg.GPVirtual) {
	switch size {
	case 1:
		g.MOVBLZX(from, to.As32())
	case 2:
		g.MOVWLZX(from, to.As32())
	case 4:
		g.MOVL(from, to.As32())
	case 8:
		g.MOVQ(from, to)
	}
}

// store stores the low bytes of a register.
func store(g *gen, size int, from reg.GPVirtual, to Mem) {
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
