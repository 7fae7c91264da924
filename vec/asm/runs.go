package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// runsKernels makes what takes those values of compressed lines that lie in a range of columns.
func runsKernels(g *gen) {
	for _, vsize := range []int{4, 8} {
		for _, isize := range []int{2, 4, 8} {
			takeRuns(g, vsize, isize)
		}
	}
}

// takeRuns copies a run of each line. Vectors are written whole, what is too much is overwritten by the next line.
func takeRuns(g *gen, vsize, isize int) {
	lanes := 64 / max(vsize, isize)
	name := fmt.Sprintf("takeRuns%dby%dAVX512", vsize, isize)
	g.Function(name)
	g.SignatureExpr("func(values, keys *byte, cursors, ends *uint64, indices, src *byte, lines int, line, first, limit, shift uint64) (count int)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s goes through lines with ascending indices of %d bytes, from their cursors to their ends or to the first index", name, isize),
		fmt.Sprintf("that is not less than limit, and moves the cursors there. It writes these values of %d bytes, and keys of 4: the number of the line", vsize),
		fmt.Sprintf("with shift bits behind it for the index less first. It writes up to %d more of both. It fetches from 8 cursors further on.", lanes))
	g.Pragma("noescape")
	values, keys, cursors, ends := g.gp("values"), g.gp("keys"), g.gp("cursors"), g.gp("ends")
	indices, src, lines := g.gp("indices"), g.gp("src"), g.gp("lines")
	line, shift := g.gp("line"), g.gp("shift")
	firstKey := g.GP64()
	g.MOVQ(keys, firstKey)
	// Indices are compared as wide as they are here, keys are always of 4 bytes.
	vector := func() reg.VecVirtual { // of keys
		if lanes == 16 {
			return g.ZMM()
		}
		return g.YMM()
	}
	limit, base := g.ZMM(), vector()
	if isize == 8 {
		g.VPBROADCASTQ(g.gp("limit"), limit)
	} else {
		limit = vector()
		g.VPBROADCASTD(g.gp("limit").As32(), limit)
	}
	one, first := g.GP64(), g.gp("first")
	g.SHLXQ(shift, line, line)
	g.SUBQ(first, line)
	g.MOVL(U32(1), one.As32())
	g.SHLXQ(shift, one, one)
	all, most := g.GP64(), g.GP64()
	g.MOVQ(I64(-1), all)
	g.MOVL(U32(lanes), most.As32())

	nextLine, nextVector, lineDone, done := g.label("line"), g.label("vector"), g.label("ended"), g.label("done")
	g.Label(nextLine)
	g.SUBQ(U8(1), lines)
	g.JLT(LabelRef(done))
	ahead, at, left := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(Mem{Base: cursors, Disp: 8 * 8}, ahead)
	g.PREFETCHT0(Mem{Base: indices, Index: ahead, Scale: uint8(isize)})
	g.PREFETCHT0(Mem{Base: src, Index: ahead, Scale: uint8(vsize)})
	g.PREFETCHT0(Mem{Base: indices, Index: ahead, Scale: uint8(isize), Disp: 64})
	g.PREFETCHT0(Mem{Base: src, Index: ahead, Scale: uint8(vsize), Disp: 64})
	g.MOVQ(Mem{Base: cursors}, at)
	g.VPBROADCASTD(line.As32(), base)
	g.ADDQ(one, line)
	g.Label(nextVector)
	g.MOVQ(Mem{Base: ends}, left)
	g.SUBQ(at, left)
	g.CMPQ(left, most)
	g.CMOVQGT(most, left)
	bits, inside, taken, count := g.GP64(), g.K(), g.K(), g.GP64()
	g.BZHIQ(left, all, bits)
	g.KMOVQ(bits, inside)
	from := Mem{Base: indices, Index: at, Scale: uint8(isize)}
	key := vector()
	switch isize {
	case 2:
		g.VPMOVZXWD_Z(from, inside, key)
		g.VPCMPUD(U8(1), limit, key, inside, taken)
	case 4:
		g.VMOVDQU32_Z(from, inside, key)
		g.VPCMPUD(U8(1), limit, key, inside, taken)
	case 8:
		index := g.ZMM()
		g.VMOVDQU64_Z(from, inside, index)
		g.VPCMPUQ(U8(1), limit, index, inside, taken)
		g.VPMOVQD(index, key)
	}
	g.VPADDD(base, key, key)
	value := g.ZMM()
	at2 := Mem{Base: src, Index: at, Scale: uint8(vsize)}
	switch {
	case vsize == 8:
		g.VMOVDQU64_Z(at2, inside, value)
		g.VMOVDQU64(value, Mem{Base: values})
	case lanes == 16:
		g.VMOVDQU32_Z(at2, inside, value)
		g.VMOVDQU64(value, Mem{Base: values})
	default:
		g.VMOVDQU32_Z(at2, inside, value.AsY())
		g.VMOVDQU(value.AsY(), Mem{Base: values})
	}
	if lanes == 16 {
		g.VMOVDQU64(key, Mem{Base: keys})
	} else {
		g.VMOVDQU(key, Mem{Base: keys})
	}
	g.KMOVQ(taken, count)
	g.POPCNTQ(count, count)
	g.ADDQ(count, at)
	g.LEAQ(Mem{Base: keys, Index: count, Scale: 4}, keys)
	g.LEAQ(Mem{Base: values, Index: count, Scale: uint8(vsize)}, values)
	g.CMPQ(count, U8(lanes))
	g.JNE(LabelRef(lineDone))
	// The line further on is as long, most likely.
	g.PREFETCHT0(Mem{Base: indices, Index: ahead, Scale: uint8(isize), Disp: 128})
	g.PREFETCHT0(Mem{Base: src, Index: ahead, Scale: uint8(vsize), Disp: 128})
	g.ADDQ(U8(lanes), ahead)
	g.JMP(LabelRef(nextVector))
	g.Label(lineDone)
	g.MOVQ(at, Mem{Base: cursors})
	g.ADDQ(U8(8), cursors)
	g.ADDQ(U8(8), ends)
	g.JMP(LabelRef(nextLine))
	g.Label(done)
	g.SUBQ(firstKey, keys)
	g.SHRQ(U8(2), keys)
	g.Store(keys, g.ReturnIndex(0))
	g.VZEROUPPER()
	g.RET()
}
