package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// streamKernels makes copies that write past the caches. Their callers end with a fence, so that
// no one who is told of the data sees it late.
func streamKernels(g *gen) {
	for _, wide := range []bool{true, false} {
		streamCopy(g, wide, false)
		streamCopy(g, wide, true)
		streamTile(g, wide)
	}
	g.Function("storeFence")
	g.SignatureExpr("func()")
	g.Attributes(attr.NOSPLIT)
	g.Doc("storeFence waits until the streamed stores before it are visible to all.")
	g.Pragma("noescape")
	g.SFENCE()
	g.RET()
}

func streamName(name string, wide bool) string {
	if wide {
		return name + "AVX512"
	}
	return name + "AVX2"
}

func streamCopy(g *gen, wide, zero bool) {
	name := streamName("streamCopy", wide)
	does := "copies"
	if zero {
		name, does = streamName("streamMove", wide), "moves"
	}
	g.Function(name)
	g.SignatureExpr("func(dst, src *byte, n int, next *[4]uintptr)")
	g.Attributes(attr.NOSPLIT)
	doc := []string{fmt.Sprintf("%s %s n bytes, a multiple of 64, to dst, which is aligned to 64, past the caches.", name, does)}
	if zero {
		doc = []string{fmt.Sprintf("%s %s n bytes, a multiple of 64, to dst, which is aligned to 64, past the caches,", name, does),
			"and leaves zeros in src."}
	}
	g.Doc(append(doc, "With each 64 bytes it prefetches from two addresses in next, and adds to each the step behind it.")...)
	g.Pragma("noescape")
	load := func(name string) reg.GPVirtual { return g.Load(g.Param(name), g.GP64()).(reg.GPVirtual) }
	dst, src, n := load("dst"), load("src"), load("n")
	none := g.ZMM()
	if zero {
		if wide {
			g.VPXORQ(none, none, none)
		} else {
			g.VPXOR(none.AsY(), none.AsY(), none.AsY())
		}
	}
	// The prefetches keep memory reading while the stores wait for it to write.
	next := g.gp("next")
	var ahead, step [2]reg.GPVirtual
	for i := range ahead {
		ahead[i], step[i] = g.GP64(), g.GP64()
		g.MOVQ(Mem{Base: next, Disp: 16 * i}, ahead[i])
		g.MOVQ(Mem{Base: next, Disp: 16*i + 8}, step[i])
	}
	line := func(i int) {
		for i := range ahead {
			g.PREFETCHT0(Mem{Base: ahead[i]})
			g.ADDQ(step[i], ahead[i])
		}
		if wide {
			v := g.ZMM()
			g.VMOVDQU64(Mem{Base: src, Disp: 64 * i}, v)
			g.VMOVNTDQ(v, Mem{Base: dst, Disp: 64 * i})
			if zero {
				g.VMOVDQU64(none, Mem{Base: src, Disp: 64 * i})
			}
			return
		}
		a, b := g.YMM(), g.YMM()
		g.VMOVDQU(Mem{Base: src, Disp: 64 * i}, a)
		g.VMOVDQU(Mem{Base: src, Disp: 64*i + 32}, b)
		g.VMOVNTDQ(a, Mem{Base: dst, Disp: 64 * i})
		g.VMOVNTDQ(b, Mem{Base: dst, Disp: 64*i + 32})
		if zero {
			g.VMOVDQU(none.AsY(), Mem{Base: src, Disp: 64 * i})
			g.VMOVDQU(none.AsY(), Mem{Base: src, Disp: 64*i + 32})
		}
	}
	long, short, done := g.label("long"), g.label("short"), g.label("done")
	g.Label(long)
	g.CMPQ(n, U32(256))
	g.JL(LabelRef(short))
	for i := range 4 {
		line(i)
	}
	g.ADDQ(U32(256), src)
	g.ADDQ(U32(256), dst)
	g.SUBQ(U32(256), n)
	g.JMP(LabelRef(long))
	g.Label(short)
	g.TESTQ(n, n)
	g.JE(LabelRef(done))
	line(0)
	g.ADDQ(U8(64), src)
	g.ADDQ(U8(64), dst)
	g.SUBQ(U8(64), n)
	g.JMP(LabelRef(short))
	g.Label(done)
	for i := range ahead {
		g.MOVQ(ahead[i], Mem{Base: next, Disp: 16 * i})
	}
	g.VZEROUPPER()
	g.RET()
}

// streamTile moves a tile to rows of a larger matrix.
func streamTile(g *gen, wide bool) {
	name := streamName("streamTile", wide)
	g.Function(name)
	g.SignatureExpr("func(dst *byte, dstStride int, src *byte, srcStride, rows, n int)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s moves rows of n bytes, a multiple of 64 and not 0, to rows at multiples of 64, past the caches,", name),
		"and leaves zeros in src.")
	g.Pragma("noescape")
	dst, dstStride, src, srcStride := g.gp("dst"), g.gp("dstStride"), g.gp("src"), g.gp("srcStride")
	rows, n := g.gp("rows"), g.gp("n")
	zero := g.ZMM()
	if wide {
		g.VPXORQ(zero, zero, zero)
	} else {
		g.VPXOR(zero.AsY(), zero.AsY(), zero.AsY())
	}
	row, line, done := g.label("row"), g.label("line"), g.label("done")
	g.Label(row)
	g.TESTQ(rows, rows)
	g.JE(LabelRef(done))
	at := g.GP64()
	g.XORQ(at, at)
	g.Label(line)
	from, to := Mem{Base: src, Index: at, Scale: 1}, Mem{Base: dst, Index: at, Scale: 1}
	if wide {
		v := g.ZMM()
		g.VMOVDQU64(from, v)
		g.VMOVNTDQ(v, to)
		g.VMOVDQU64(zero, from)
	} else {
		a, b := g.YMM(), g.YMM()
		g.VMOVDQU(from, a)
		g.VMOVDQU(from.Offset(32), b)
		g.VMOVNTDQ(a, to)
		g.VMOVNTDQ(b, to.Offset(32))
		g.VMOVDQU(zero.AsY(), from)
		g.VMOVDQU(zero.AsY(), from.Offset(32))
	}
	g.ADDQ(U8(64), at)
	g.CMPQ(at, n)
	g.JL(LabelRef(line))
	g.ADDQ(dstStride, dst)
	g.ADDQ(srcStride, src)
	g.DECQ(rows)
	g.JMP(LabelRef(row))
	g.Label(done)
	g.VZEROUPPER()
	g.RET()
}
