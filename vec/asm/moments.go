package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// momentsKernels makes what describes floating-point numbers: minimum, maximum, sums and nonzeros in one pass, and how
// many numbers are at least each of some thresholds, of which histograms are made.
func momentsKernels(g *gen) {
	for _, size := range []int{4, 8} {
		for _, wide := range []bool{true, false} {
			g.moments(size, wide)
		}
		g.atLeast(size)
	}
}

// isa returns the suffix of a kernel's name, the bytes of its vectors, and a function for new ones.
func (g *gen) isa(wide bool) (name string, width int, vector func() reg.VecVirtual) {
	if wide {
		return "AVX512", 64, g.ZMM
	}
	return "AVX2", 32, g.YMM
}

// moments makes a kernel for floats of a size. Sums are in float64, in several independent lanes.
func (g *gen) moments(size int, wide bool) {
	isa, width, vector := g.isa(wide)
	name := fmt.Sprintf("moments%d%s", size, isa)
	g.Function(name)
	g.SignatureExpr("func(src *byte, n int, pivot float64, lanes *byte)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s goes through floats of %d bytes in n bytes, a multiple of 256 and not 0. lanes is a momentLanes.", name, size))
	g.Pragma("noescape")
	src, n, lanes := g.gp("src"), g.gp("n"), g.gp("lanes")
	x := g.Load(g.Param("pivot"), g.XMM()).(reg.VecVirtual)
	pivot, mask, ones, nonzero, lo, hi := vector(), vector(), vector(), vector(), vector(), vector()
	g.VBROADCASTSD(x.AsX(), pivot)
	sums := make([]reg.VecVirtual, 2)
	if wide {
		sums = make([]reg.VecVirtual, 4)
	}
	squares := make([]reg.VecVirtual, len(sums))
	zero := func(v reg.VecVirtual) {
		if wide {
			g.VPXORQ(v, v, v)
		} else {
			g.VPXOR(v, v, v)
		}
	}
	zero(nonzero)
	for i := range sums {
		sums[i], squares[i] = vector(), vector()
		zero(sums[i])
		zero(squares[i])
	}
	// The mask leaves out the sign; 1 in each lane is what it shifts out.
	if wide {
		g.VPTERNLOGD(U8(0xff), ones, ones, ones)
	} else {
		g.VPCMPEQD(ones, ones, ones)
	}
	if size == 4 {
		g.VPSRLD(U8(1), ones, mask)
		g.VPSRLD(U8(31), ones, ones)
		g.VBROADCASTSS(Mem{Base: src}, lo)
	} else {
		g.VPSRLQ(U8(1), ones, mask)
		g.VPSRLQ(U8(63), ones, ones)
		g.VBROADCASTSD(Mem{Base: src}, lo)
	}
	g.VMOVAPD(lo, hi)
	none := g.YMM()
	if size == 8 && !wide {
		zero(none)
	}

	loop := g.label("loop")
	g.Label(loop)
	for i := range 4 {
		at := Mem{Base: src, Disp: width * i}
		v := vector()
		g.VMOVUPS(at, v)
		if size == 4 {
			g.VMINPS(v, lo, lo)
			g.VMAXPS(v, hi, hi)
		} else {
			g.VMINPD(v, lo, lo)
			g.VMAXPD(v, hi, hi)
		}
		switch k, y := g.K(), vector(); {
		case wide && size == 4:
			g.VPTESTMD(v, mask, k)
			g.VPADDD(ones, nonzero, k, nonzero)
		case wide:
			g.VPTESTMQ(v, mask, k)
			g.VPADDQ(ones, nonzero, k, nonzero)
		case size == 4:
			g.VPAND(v, mask, y)
			g.VPMINUD(ones, y, y)
			g.VPADDD(y, nonzero, nonzero)
		default: // AVX2 has no unsigned minimum of 8 bytes
			g.VPAND(v, mask, y)
			g.VPCMPEQQ(none, y, y)
			g.VPADDQ(ones, y, y)
			g.VPADDQ(y, nonzero, nonzero)
		}
		doubles := []reg.VecVirtual{v}
		if size == 4 {
			doubles = []reg.VecVirtual{vector(), vector()}
			g.VCVTPS2PD(at, doubles[0])
			g.VCVTPS2PD(Mem{Base: src, Disp: width*i + width/2}, doubles[1])
		}
		for k, d := range doubles {
			lane := (i*len(doubles) + k) % len(sums)
			g.VSUBPD(pivot, d, d)
			g.VADDPD(d, sums[lane], sums[lane])
			if wide {
				g.VFMADD231PD(d, d, squares[lane])
			} else {
				g.VMULPD(d, d, d)
				g.VADDPD(d, squares[lane], squares[lane])
			}
		}
	}
	g.ADDQ(U32(uint32(4*width)), src)
	g.SUBQ(U32(uint32(4*width)), n)
	g.JNE(LabelRef(loop))
	for l := len(sums) / 2; l > 0; l /= 2 {
		for i := range l {
			g.VADDPD(sums[i+l], sums[i], sums[i])
			g.VADDPD(squares[i+l], squares[i], squares[i])
		}
	}
	for i, v := range []reg.VecVirtual{lo, hi, sums[0], squares[0], nonzero} {
		g.VMOVUPS(v, Mem{Base: lanes, Disp: 64 * i})
	}
	g.VZEROUPPER()
	g.RET()
}

// atLeast makes a kernel that counts what is at least each of three thresholds. Vectors of 64 bytes, whose comparisons set masks,
// were slower on Zen 4.
func (g *gen) atLeast(size int) {
	name := fmt.Sprintf("atLeast%dAVX2", size)
	g.Function(name)
	g.SignatureExpr("func(src *byte, n int, thresholds, next *byte, counts *[3]int64)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s adds to counts how many floats of %d bytes are at least each of three thresholds, in n bytes, a multiple", name, size),
		"of 256 and not 0. It prefetches half as many bytes from next.")
	g.Pragma("noescape")
	src, n, at, next, counts := g.gp("src"), g.gp("n"), g.gp("thresholds"), g.gp("next"), g.gp("counts")
	zero := g.YMM()
	g.VPXOR(zero, zero, zero)
	var thresholds [3]reg.VecVirtual
	var sums [3][2]reg.VecVirtual // two, so that not every subtraction waits for the one before
	for t := range thresholds {
		thresholds[t] = g.YMM()
		if size == 4 {
			g.VBROADCASTSS(Mem{Base: at, Disp: 4 * t}, thresholds[t])
		} else {
			g.VBROADCASTSD(Mem{Base: at, Disp: 8 * t}, thresholds[t])
		}
		for i := range sums[t] {
			sums[t][i] = g.YMM()
			g.VPXOR(sums[t][i], sums[t][i], sums[t][i])
		}
	}
	loop := g.label("loop")
	g.Label(loop)
	const greaterOrEqual = 0x1d // false for NaN, without an exception
	for i := range 8 {
		x := g.YMM()
		g.VMOVUPS(Mem{Base: src, Disp: 32 * i}, x)
		for t := range thresholds {
			y, sum := g.YMM(), sums[t][i%2]
			if size == 4 {
				g.VCMPPS(U8(greaterOrEqual), thresholds[t], x, y)
				g.VPSUBD(y, sum, sum)
			} else {
				g.VCMPPD(U8(greaterOrEqual), thresholds[t], x, y)
				g.VPSUBQ(y, sum, sum)
			}
		}
	}
	g.PREFETCHT0(Mem{Base: next})
	g.PREFETCHT0(Mem{Base: next, Disp: 64})
	g.SUBQ(I8(-128), next)
	g.ADDQ(U32(256), src)
	g.SUBQ(U32(256), n)
	g.JNE(LabelRef(loop))
	for t := range sums {
		for i := range sums[t] {
			if size == 4 {
				odd := g.YMM()
				g.VPSRLQ(U8(32), sums[t][i], odd)
				g.VPBLENDD(U8(0xaa), zero, sums[t][i], sums[t][i])
				g.VPADDQ(odd, sums[t][i], sums[t][i])
			}
		}
		sum, upper := sums[t][0], g.XMM()
		g.VPADDQ(sums[t][1], sum, sum)
		g.VEXTRACTI128(U8(1), sum, upper)
		g.VPADDQ(sum.AsX(), upper, upper)
		total, second := g.GP64(), g.GP64()
		g.VPEXTRQ(U8(1), upper, second)
		g.VMOVQ(upper, total)
		g.ADDQ(second, total)
		g.ADDQ(total, Mem{Base: counts, Disp: 8 * t})
	}
	g.VZEROUPPER()
	g.RET()
}
