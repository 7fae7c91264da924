package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// convertKernels makes the widening and narrowing of unsigned integers.
func convertKernels(g *gen) {
	for _, from := range []int{1, 2, 4, 8} {
		for _, to := range []int{1, 2, 4, 8} {
			if from != to {
				convert512(g, from, to)
			}
		}
	}
	for _, from := range []int{1, 2, 4, 8} {
		for _, to := range []int{1, 2, 4, 8} {
			if from < to || from == 2*to {
				convert256(g, from, to)
			}
		}
	}
}

func convertFunc(g *gen, isa string, from, to, step int) (dst, src, n reg.GPVirtual) {
	name := fmt.Sprintf("convert%dto%d%s", from, to, isa)
	g.Function(name)
	g.SignatureExpr("func(dst, src *byte, n int)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s makes n integers of %d bytes from as many of %d; n is a multiple of %d.", name, to, from, step))
	g.Pragma("noescape")
	load := func(name string) reg.GPVirtual { return g.Load(g.Param(name), g.GP64()).(reg.GPVirtual) }
	return load("dst"), load("src"), load("n")
}

// convertLoop emits the loop over steps of so many integers.
func convertLoop(g *gen, dst, src, n reg.GPVirtual, from, to, step int, body func()) {
	loop, done := g.label("loop"), g.label("done")
	g.TESTQ(n, n)
	g.JE(LabelRef(done))
	g.Label(loop)
	body()
	g.ADDQ(U32(step*from), src)
	g.ADDQ(U32(step*to), dst)
	g.SUBQ(U8(step), n)
	g.JNE(LabelRef(loop))
	g.Label(done)
	g.VZEROUPPER()
	g.RET()
}

// A step is as many integers as fill a vector in the wider of the two widths, twice.
func convert512(g *gen, from, to int) {
	lanes := 64 / max(from, to)
	dst, src, n := convertFunc(g, "AVX512", from, to, 2*lanes)
	change := map[[2]int]func(...Op){
		{1, 2}: g.VPMOVZXBW, {1, 4}: g.VPMOVZXBD, {1, 8}: g.VPMOVZXBQ, {2, 4}: g.VPMOVZXWD, {2, 8}: g.VPMOVZXWQ, {4, 8}: g.VPMOVZXDQ,
		{2, 1}: g.VPMOVWB, {4, 1}: g.VPMOVDB, {8, 1}: g.VPMOVQB, {4, 2}: g.VPMOVDW, {8, 2}: g.VPMOVQW, {8, 4}: g.VPMOVQD,
	}[[2]int{from, to}]
	convertLoop(g, dst, src, n, from, to, 2*lanes, func() {
		for i := range 2 {
			wide := g.ZMM()
			if from < to {
				change(Mem{Base: src, Disp: i * lanes * from}, wide)
				g.VMOVDQU64(wide, Mem{Base: dst, Disp: i * lanes * to})
				continue
			}
			g.VMOVDQU64(Mem{Base: src, Disp: i * lanes * from}, wide)
			narrow := g.YMM()
			at := Mem{Base: dst, Disp: i * lanes * to}
			switch lanes * to {
			case 32:
				change(wide, narrow)
				g.VMOVDQU(narrow, at)
			case 16:
				change(wide, narrow.AsX())
				g.VMOVDQU(narrow.AsX(), at)
			case 8:
				change(wide, narrow.AsX())
				g.VMOVQ(narrow.AsX(), at)
			}
		}
		g.PREFETCHT0(Mem{Base: src, Disp: 4096})
	})
}

func convert256(g *gen, from, to int) {
	lanes := 32 / max(from, to)
	dst, src, n := convertFunc(g, "AVX2", from, to, 2*lanes)
	widen := map[[2]int]func(...Op){
		{1, 2}: g.VPMOVZXBW, {1, 4}: g.VPMOVZXBD, {1, 8}: g.VPMOVZXBQ, {2, 4}: g.VPMOVZXWD, {2, 8}: g.VPMOVZXWQ, {4, 8}: g.VPMOVZXDQ,
	}[[2]int{from, to}]
	convertLoop(g, dst, src, n, from, to, 2*lanes, func() {
		g.PREFETCHT0(Mem{Base: src, Disp: 4096})
		if from < to {
			for i := range 2 {
				wide := g.YMM()
				widen(Mem{Base: src, Disp: i * lanes * from}, wide)
				g.VMOVDQU(wide, Mem{Base: dst, Disp: i * lanes * to})
			}
			return
		}
		// Two vectors become one of half the width; the packs work on 16-byte halves, so that the
		// middle quarters have to be exchanged.
		a, b := g.YMM(), g.YMM()
		g.VMOVDQU(Mem{Base: src}, a)
		g.VMOVDQU(Mem{Base: src, Disp: 32}, b)
		switch from {
		case 2:
			g.VPACKUSWB(b, a, a)
		case 4:
			g.VPACKUSDW(b, a, a)
		case 8:
			g.VSHUFPS(U8(0x88), b, a, a)
		}
		g.VPERMQ(U8(0xd8), a, a)
		g.VMOVDQU(a, Mem{Base: dst})
	})
}
