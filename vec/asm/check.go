package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// checkKernels makes the checks of index arrays: smallest and largest integer, and order.
func checkKernels(g *gen) {
	for _, size := range []int{1, 2, 4, 8} {
		minMax512(g, size)
		order512(g, size)
	}
	for _, size := range []int{1, 2, 4, 8} {
		minMax256(g, size)
		order256(g, size)
	}
}

func minMaxFunc(g *gen, isa string, size int) (src, n, bias, out reg.GPVirtual) {
	name := fmt.Sprintf("minMax%d%s", size, isa)
	g.Function(name)
	g.SignatureExpr("func(src *byte, n int, bias uint64, out *[2][16]byte)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s reduces the %d-byte integers x ⊕ bias in n bytes, a multiple of 64 and not 0,", name, size),
		"to 16 bytes that have the least of them as unsigned integers, and 16 that have the greatest.")
	g.Pragma("noescape")
	load := func(name string) reg.GPVirtual { return g.Load(g.Param(name), g.GP64()).(reg.GPVirtual) }
	return load("src"), load("n"), load("bias"), load("out")
}

func minMax512(g *gen, size int) {
	src, n, biasArg, out := minMaxFunc(g, "AVX512", size)
	bias, lo, hi := g.ZMM(), g.ZMM(), g.ZMM()
	g.VPBROADCASTQ(biasArg, bias)
	g.VPTERNLOGD(U8(0xff), lo, lo, lo)
	g.VPXORQ(hi, hi, hi)
	least := map[int]func(...Op){1: g.VPMINUB, 2: g.VPMINUW, 4: g.VPMINUD, 8: g.VPMINUQ}[size]
	most := map[int]func(...Op){1: g.VPMAXUB, 2: g.VPMAXUW, 4: g.VPMAXUD, 8: g.VPMAXUQ}[size]
	loop := g.label("loop")
	g.Label(loop)
	y := g.ZMM()
	g.VPXORQ(Mem{Base: src}, bias, y)
	g.PREFETCHT0(Mem{Base: src, Disp: 4096})
	least(y, lo, lo)
	most(y, hi, hi)
	g.ADDQ(U8(64), src)
	g.SUBQ(U8(64), n)
	g.JNE(LabelRef(loop))
	for i, v := range []reg.VecVirtual{lo, hi} {
		pick := least
		if i == 1 {
			pick = most
		}
		other := g.YMM()
		g.VEXTRACTI64X4(U8(1), v, other)
		pick(other, v.AsY(), v.AsY())
		g.VEXTRACTI128(U8(1), v.AsY(), other.AsX())
		pick(other.AsX(), v.AsX(), v.AsX())
		g.VMOVDQU(v.AsX(), Mem{Base: out, Disp: 16 * i})
	}
	g.VZEROUPPER()
	g.RET()
}

func minMax256(g *gen, size int) {
	src, n, biasArg, out := minMaxFunc(g, "AVX2", size)
	bias, lo, hi := g.YMM(), g.YMM(), g.YMM()
	sign := g.YMM()
	if size == 8 {
		// AVX2 compares 8-byte integers as signed ones only.
		top := g.GP64()
		g.MOVQ(U64(1<<63), top)
		g.XORQ(top, biasArg)
		g.VMOVQ(top, sign.AsX())
		g.VPBROADCASTQ(sign.AsX(), sign)
	}
	g.VMOVQ(biasArg, bias.AsX())
	g.VPBROADCASTQ(bias.AsX(), bias)
	g.VPCMPEQD(lo, lo, lo)
	g.VPXOR(hi, hi, hi)
	if size == 8 {
		g.VPXOR(sign, lo, lo)
		g.VPXOR(sign, hi, hi)
	}
	pick := func(y, x reg.Register, greatest bool) {
		switch {
		case size == 8:
			take := g.YMM()
			if greatest {
				g.VPCMPGTQ(x, y, take)
			} else {
				g.VPCMPGTQ(y, x, take)
			}
			g.VBLENDVPD(take, y, x, x)
		case greatest:
			map[int]func(...Op){1: g.VPMAXUB, 2: g.VPMAXUW, 4: g.VPMAXUD}[size](y, x, x)
		default:
			map[int]func(...Op){1: g.VPMINUB, 2: g.VPMINUW, 4: g.VPMINUD}[size](y, x, x)
		}
	}
	loop := g.label("loop")
	g.Label(loop)
	a, b := g.YMM(), g.YMM()
	g.VPXOR(Mem{Base: src}, bias, a)
	g.VPXOR(Mem{Base: src, Disp: 32}, bias, b)
	g.PREFETCHT0(Mem{Base: src, Disp: 4096})
	pick(a, lo, false)
	pick(b, lo, false)
	pick(a, hi, true)
	pick(b, hi, true)
	g.ADDQ(U8(64), src)
	g.SUBQ(U8(64), n)
	g.JNE(LabelRef(loop))
	for i, v := range []reg.VecVirtual{lo, hi} {
		other := g.YMM()
		g.VPERMQ(U8(0x4e), v, other) // exchange the halves
		pick(other, v, i == 1)
		if size == 8 {
			g.VPXOR(sign, v, v)
		}
		g.VMOVDQU(v.AsX(), Mem{Base: out, Disp: 16 * i})
	}
	g.VZEROUPPER()
	g.RET()
}

func orderFunc(g *gen, isa string, size int) (src, n, bias, strict reg.GPVirtual) {
	name := fmt.Sprintf("order%d%s", size, isa)
	g.Function(name)
	g.SignatureExpr("func(src *byte, n int, bias, strict uint64) int")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s compares the %d-byte integers x ⊕ bias in n bytes, a multiple of 64, each with the", name, size),
		"one before it (before the first, too) as unsigned integers. It returns after how many bytes, a",
		"multiple of 64, the next 64 have one that is smaller or, if strict is −1 and not 0, as large.")
	g.Pragma("noescape")
	load := func(name string) reg.GPVirtual { return g.Load(g.Param(name), g.GP64()).(reg.GPVirtual) }
	return load("src"), load("n"), load("bias"), load("strict")
}

func order512(g *gen, size int) {
	src, n, biasArg, strictArg := orderFunc(g, "AVX512", size)
	bias, strict := g.ZMM(), g.K()
	g.VPBROADCASTQ(biasArg, bias)
	g.KMOVQ(strictArg, strict)
	compare := map[int]func(...Op){1: g.VPCMPUB, 2: g.VPCMPUW, 4: g.VPCMPUD, 8: g.VPCMPUQ}[size]
	loop, done := g.label("loop"), g.label("done")
	at := g.GP64()
	g.XORQ(at, at)
	g.Label(loop)
	g.CMPQ(at, n)
	g.JGE(LabelRef(done))
	x, before, less, equal := g.ZMM(), g.ZMM(), g.K(), g.K()
	g.VPXORQ(Mem{Base: src, Index: at, Scale: 1}, bias, x)
	g.VPXORQ(Mem{Base: src, Index: at, Scale: 1, Disp: -size}, bias, before)
	g.PREFETCHT0(Mem{Base: src, Index: at, Scale: 1, Disp: 4096})
	compare(U8(1), before, x, less)          // x < before
	compare(U8(0), before, x, strict, equal) // x = before, if strict
	g.KORTESTQ(less, equal)
	g.JNE(LabelRef(done))
	g.ADDQ(U8(64), at)
	g.JMP(LabelRef(loop))
	g.Label(done)
	g.Store(at, g.ReturnIndex(0))
	g.VZEROUPPER()
	g.RET()
}

func order256(g *gen, size int) {
	src, n, biasArg, strictArg := orderFunc(g, "AVX2", size)
	bias, strict := g.YMM(), g.YMM()
	if size == 8 {
		top := g.GP64()
		g.MOVQ(U64(1<<63), top)
		g.XORQ(top, biasArg)
	}
	g.VMOVQ(biasArg, bias.AsX())
	g.VPBROADCASTQ(bias.AsX(), bias)
	g.VMOVQ(strictArg, strict.AsX())
	g.VPBROADCASTQ(strict.AsX(), strict)
	loop, done := g.label("loop"), g.label("done")
	at := g.GP64()
	g.XORQ(at, at)
	g.Label(loop)
	g.CMPQ(at, n)
	g.JGE(LabelRef(done))
	g.PREFETCHT0(Mem{Base: src, Index: at, Scale: 1, Disp: 4096})
	var bad [2]reg.VecVirtual
	for i := range bad {
		x, before, equal := g.YMM(), g.YMM(), g.YMM()
		bad[i] = g.YMM()
		g.VPXOR(Mem{Base: src, Index: at, Scale: 1, Disp: 32 * i}, bias, x)
		g.VPXOR(Mem{Base: src, Index: at, Scale: 1, Disp: 32*i - size}, bias, before)
		switch size {
		case 1:
			g.VPCMPEQB(x, before, equal)
			g.VPMAXUB(x, before, before)
			g.VPCMPEQB(x, before, bad[i])
		case 2:
			g.VPCMPEQW(x, before, equal)
			g.VPMAXUW(x, before, before)
			g.VPCMPEQW(x, before, bad[i])
		case 4:
			g.VPCMPEQD(x, before, equal)
			g.VPMAXUD(x, before, before)
			g.VPCMPEQD(x, before, bad[i])
		case 8:
			g.VPCMPEQQ(x, before, equal)
			g.VPCMPGTQ(x, before, bad[i])
		}
		if size < 8 { // so far −1 where x is at least the one before
			ones := g.YMM()
			g.VPCMPEQD(ones, ones, ones)
			g.VPXOR(ones, bad[i], bad[i])
		}
		g.VPAND(strict, equal, equal)
		g.VPOR(equal, bad[i], bad[i])
	}
	g.VPOR(bad[0], bad[1], bad[0])
	g.VPTEST(bad[0], bad[0])
	g.JNE(LabelRef(done))
	g.ADDQ(U8(64), at)
	g.JMP(LabelRef(loop))
	g.Label(done)
	g.Store(at, g.ReturnIndex(0))
	g.VZEROUPPER()
	g.RET()
}
