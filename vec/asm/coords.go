package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// coordsKernels makes what turns positions into coordinates. Positions are 2 bytes wide, relative to a
// piece of the tensor, so that a vector holds 32 of them.
func coordsKernels(g *gen) {
	split(g, true)
	split(g, false)
	for ndim := 2; ndim <= 6; ndim++ {
		interleave(g, ndim)
	}
	for _, size := range []int{2, 4, 8} {
		widenAdd(g, size, false)
	}
	for _, size := range []int{4, 8} {
		widenAdd(g, size, true)
	}
	distinct(g)
}

func (g *gen) gp(name string) reg.GPVirtual { return g.Load(g.Param(name), g.GP64()).(reg.GPVirtual) }

// split divides by multiplication: with m = ⌈2^s ÷ d⌉, 2^15 ≤ m < 2^16, the quotient of x < 2^15 by d is
// x·m ÷ 2^s exactly, because m·d exceeds 2^s by less than d, so by less than 2^s ÷ x.
func split(g *gen, wide bool) {
	isa, lanes := "AVX2", 16
	if wide {
		isa, lanes = "AVX512", 32
	}
	g.Function("split" + isa)
	g.SignatureExpr("func(quotients, remainders *uint16, n int, start, divisor, magic, shift uint64)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("split%s divides start plus each of n quotients by divisor, in place, and stores the remainders.", isa),
		fmt.Sprintf("It goes on to a multiple of %d; the sums must be less than 2^15.", lanes))
	g.Pragma("noescape")
	q, r, n := g.gp("quotients"), g.gp("remainders"), g.gp("n")
	word := func(name string) reg.VecVirtual {
		v := g.ZMM()
		if wide {
			g.VPBROADCASTW(g.gp(name).As32(), v)
			return v
		}
		g.VMOVQ(g.gp(name), v.AsX())
		g.VPBROADCASTW(v.AsX(), v.AsY())
		return v
	}
	start, divisor, magic := word("start"), word("divisor"), word("magic")
	shift := g.XMM()
	g.VMOVQ(g.gp("shift"), shift)
	loop, done := g.label("loop"), g.label("done")
	g.Label(loop)
	g.CMPQ(n, U8(0))
	g.JLE(LabelRef(done))
	x, t, back := g.ZMM(), g.ZMM(), g.ZMM()
	if wide {
		g.VPADDW(Mem{Base: q}, start, x)
		g.VPMULHUW(magic, x, t)
		g.VPSRLW(shift, t, t)
		g.VMOVDQU64(t, Mem{Base: q})
		g.VPMULLW(divisor, t, back)
		g.VPSUBW(back, x, x)
		g.VMOVDQU64(x, Mem{Base: r})
	} else {
		g.VPADDW(Mem{Base: q}, start.AsY(), x.AsY())
		g.VPMULHUW(magic.AsY(), x.AsY(), t.AsY())
		g.VPSRLW(shift, t.AsY(), t.AsY())
		g.VMOVDQU(t.AsY(), Mem{Base: q})
		g.VPMULLW(divisor.AsY(), t.AsY(), back.AsY())
		g.VPSUBW(back.AsY(), x.AsY(), x.AsY())
		g.VMOVDQU(x.AsY(), Mem{Base: r})
	}
	g.ADDQ(U8(2*lanes), q)
	g.ADDQ(U8(2*lanes), r)
	g.SUBQ(U8(lanes), n)
	g.JMP(LabelRef(loop))
	g.Label(done)
	g.VZEROUPPER()
	g.RET()
}

// interleave makes rows of coordinates of one array for each axis: every lane of an output vector comes
// from the same place of some axis, so one index vector serves all axes, each with its mask.
func interleave(g *gen, ndim int) {
	// Output vector v, lane j is number 32·v+j of the rows.
	index := g.StaticGlobal(fmt.Sprintf("row%d", ndim))
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for v := range ndim {
		for j := 0; j < 32; j += 4 {
			var word uint64
			for k := range 4 {
				word |= uint64((32*v+j+k)/ndim) << (16 * k)
			}
			g.AddDatum(64*v+2*j, U64(word))
		}
	}
	name := fmt.Sprintf("interleave%dAVX512", ndim)
	g.Function(name)
	g.SignatureExpr("func(dst *uint16, src **uint16, n int)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s makes n rows of %d from the %d arrays at src. It goes on to a multiple of 32.", name, ndim, ndim))
	g.Pragma("noescape")
	dst, table, n := g.gp("dst"), g.gp("src"), g.gp("n")
	src := make([]reg.GPVirtual, ndim)
	for a := range src {
		src[a] = g.GP64()
		g.MOVQ(Mem{Base: table, Disp: 8 * a}, src[a])
	}
	at := g.GP64()
	g.XORQ(at, at)
	loop, done := g.label("loop"), g.label("done")
	g.Label(loop)
	g.CMPQ(n, U8(0))
	g.JLE(LabelRef(done))
	in := make([]reg.VecVirtual, ndim)
	for a := range in {
		in[a] = g.ZMM()
		g.VMOVDQU64(Mem{Base: src[a], Index: at, Scale: 2}, in[a])
	}
	for v := range ndim {
		idx, out, bits, k := g.ZMM(), g.ZMM(), g.GP32(), g.K()
		g.VMOVDQU64(index.Offset(64*v), idx)
		for a := range ndim {
			var mask uint32
			for j := range 32 {
				if (32*v+j)%ndim == a {
					mask |= 1 << j
				}
			}
			if a == 0 {
				g.VPERMW(in[a], idx, out)
				continue
			}
			g.MOVL(U32(mask), bits)
			g.KMOVD(bits, k)
			g.VPERMW(in[a], idx, k, out)
		}
		g.VMOVDQU64(out, Mem{Base: dst, Disp: 64 * v})
	}
	g.ADDQ(U32(64*ndim), dst)
	g.ADDQ(U8(32), at)
	g.SUBQ(U8(32), n)
	g.JMP(LabelRef(loop))
	g.Label(done)
	g.VZEROUPPER()
	g.RET()
}

// widenAdd widens 2-byte integers and adds a pattern that repeats after some vectors.
func widenAdd(g *gen, size int, past bool) {
	name := fmt.Sprintf("widenAdd2to%dAVX512", size)
	doc := []string{fmt.Sprintf("%s makes n integers of %d bytes of as many of 2 and adds the pattern of period bytes,", name, size),
		"a multiple of 64, over and over."}
	if past {
		name = fmt.Sprintf("widenPast2to%dAVX512", size)
		doc = []string{fmt.Sprintf("%s is widenAdd2to%dAVX512 past the caches, to a dst that is aligned to 64. With each vector it", name, size),
			"prefetches from next, to which it adds step."}
	}
	lanes := 64 / size
	g.Function(name)
	more := ""
	if past {
		more = ", next, step uintptr"
	}
	g.SignatureExpr("func(dst *byte, src *uint16, n int, pattern *byte, period int" + more + ")")
	g.Attributes(attr.NOSPLIT)
	g.Doc(doc...)
	g.Pragma("noescape")
	dst, src, n, pattern, period := g.gp("dst"), g.gp("src"), g.gp("n"), g.gp("pattern"), g.gp("period")
	store := func(x, to Op) { g.VMOVDQU64(x, to) }
	if past {
		next, step := g.gp("next"), g.gp("step")
		store = func(x, to Op) {
			g.VMOVNTDQ(x, to)
			g.PREFETCHT1(Mem{Base: next})
			g.ADDQ(step, next)
		}
	}
	at, zero := g.GP64(), g.GP64()
	g.XORQ(at, at)
	g.XORQ(zero, zero)
	loop, tail, done := g.label("loop"), g.label("tail"), g.label("done")
	g.Label(loop)
	g.CMPQ(n, U8(lanes))
	g.JL(LabelRef(tail))
	x := g.ZMM()
	add := map[int]func(...Op){2: g.VPADDW, 4: g.VPADDD, 8: g.VPADDQ}[size]
	switch size {
	case 2:
		g.VMOVDQU64(Mem{Base: src}, x)
	case 4:
		g.VPMOVZXWD(Mem{Base: src}, x)
	case 8:
		g.VPMOVZXWQ(Mem{Base: src}, x)
	}
	add(Mem{Base: pattern, Index: at, Scale: 1}, x, x)
	store(x, Mem{Base: dst})
	g.ADDQ(U8(64), at)
	g.CMPQ(at, period)
	g.CMOVQGE(zero, at)
	g.ADDQ(U8(2*lanes), src)
	g.ADDQ(U8(64), dst)
	g.SUBQ(U8(lanes), n)
	g.JMP(LabelRef(loop))

	g.Label(tail)
	g.TESTQ(n, n)
	g.JE(LabelRef(done))
	bits, k := g.GP64(), g.K()
	g.MOVQ(I64(-1), bits)
	g.BZHIQ(n, bits, bits)
	g.KMOVQ(bits, k)
	x = g.ZMM()
	switch size {
	case 2:
		g.VMOVDQU16_Z(Mem{Base: src}, k, x)
		g.VPADDW(Mem{Base: pattern, Index: at, Scale: 1}, x, x)
		g.VMOVDQU16(x, k, Mem{Base: dst})
	case 4:
		g.VPMOVZXWD_Z(Mem{Base: src}, k, x)
		g.VPADDD(Mem{Base: pattern, Index: at, Scale: 1}, x, x)
		g.VMOVDQU32(x, k, Mem{Base: dst})
	case 8:
		g.VPMOVZXWQ_Z(Mem{Base: src}, k, x)
		g.VPADDQ(Mem{Base: pattern, Index: at, Scale: 1}, x, x)
		g.VMOVDQU64(x, k, Mem{Base: dst})
	}
	g.Label(done)
	g.VZEROUPPER()
	g.RET()
}

// distinct keeps the first of equal neighbours.
func distinct(g *gen) {
	iota := g.StaticGlobal("iota32")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := 0; i < 32; i += 4 {
		g.AddDatum(2*i, U64(uint64(i)|uint64(i+1)<<16|uint64(i+2)<<32|uint64(i+3)<<48))
	}
	g.Function("distinctVBMI2")
	g.SignatureExpr("func(values, places, src *uint16, n int) int")
	g.Attributes(attr.NOSPLIT)
	g.Doc("distinctVBMI2 stores those of n integers that differ from the one before them (the first, too, is compared",
		"with what lies before it), and their places, and returns how many. It stores whole vectors of 32.")
	g.Pragma("noescape")
	values, places, src, n := g.gp("values"), g.gp("places"), g.gp("src"), g.gp("n")
	at, inc, step := g.ZMM(), g.ZMM(), g.GP64()
	g.VMOVDQU64(iota, at)
	g.MOVQ(U64(32), step)
	g.VPBROADCASTW(step.As32(), inc)
	count := g.GP64()
	g.XORQ(count, count)
	loop, done := g.label("loop"), g.label("done")
	g.Label(loop)
	g.CMPQ(n, U8(0))
	g.JLE(LabelRef(done))
	bits, in, k, x, first, place := g.GP64(), g.K(), g.K(), g.ZMM(), g.ZMM(), g.ZMM()
	// The lanes that are there: all, or the last n.
	lanes := g.GP64()
	g.MOVQ(U64(32), lanes)
	g.CMPQ(n, lanes)
	g.CMOVQLT(n, lanes)
	g.MOVQ(I64(-1), bits)
	g.BZHIQ(lanes, bits, bits)
	g.KMOVD(bits.As32(), in)
	g.VMOVDQU16_Z(Mem{Base: src}, in, x)
	g.VPCMPUW(U8(4), Mem{Base: src, Disp: -2}, x, in, k)
	g.KMOVD(k, bits.As32())
	g.POPCNTL(bits.As32(), bits.As32())
	g.VPCOMPRESSW_Z(x, k, first)
	g.VPCOMPRESSW_Z(at, k, place)
	g.VMOVDQU64(first, Mem{Base: values, Index: count, Scale: 2})
	g.VMOVDQU64(place, Mem{Base: places, Index: count, Scale: 2})
	g.ADDQ(bits, count)
	g.VPADDW(inc, at, at)
	g.ADDQ(U8(64), src)
	g.SUBQ(U8(32), n)
	g.JMP(LabelRef(loop))
	g.Label(done)
	g.Store(count, g.ReturnIndex(0))
	g.VZEROUPPER()
	g.RET()
}
