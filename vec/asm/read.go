package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// readKernels makes what bench/vec measures the machine's read bandwidth with: loads and next to nothing else.
func readKernels(g *gen) {
	for _, wide := range []bool{true, false} {
		name, width := "readAVX2", 32
		if wide {
			name, width = "readAVX512", 64
		}
		g.Function(name)
		g.SignatureExpr("func(src *byte, n int) uint64")
		g.Attributes(attr.NOSPLIT)
		g.Doc(name + " reads n bytes, a multiple of 256 and not 0, and returns some of them or'ed together.")
		g.Pragma("noescape")
		src, n := g.gp("src"), g.gp("n")
		sum := make([]reg.VecVirtual, 256/width)
		for i := range sum {
			sum[i] = g.ZMM()
			if wide {
				g.VPXORQ(sum[i], sum[i], sum[i])
			} else {
				g.VPXOR(sum[i].AsY(), sum[i].AsY(), sum[i].AsY())
			}
		}
		loop := g.label("loop")
		g.Label(loop)
		for i := range sum {
			at := Mem{Base: src, Disp: width * i}
			if wide {
				g.VPORQ(at, sum[i], sum[i])
			} else {
				g.VPOR(at, sum[i].AsY(), sum[i].AsY())
			}
		}
		g.ADDQ(U32(256), src)
		g.SUBQ(U32(256), n)
		g.JNE(LabelRef(loop))
		for i := range sum[1:] {
			g.VPOR(sum[i+1].AsY(), sum[0].AsY(), sum[0].AsY())
		}
		some := g.GP64()
		g.VMOVQ(sum[0].AsX(), some)
		g.Store(some, g.ReturnIndex(0))
		g.VZEROUPPER()
		g.RET()
	}
}
