package main

import (
	"fmt"
	"github.com/mmcloughlin/avo/attr"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// countKernels makes the counts of nonzero elements. An element y (with the bits that do not matter
// cleared) is turned into min(y, 1), and these are added up lane by lane. A call gets at most 32 KiB, so
// that no lane passes 255: one byte lane gets one element in 256 bytes.
func countKernels(g *gen) {
	for _, size := range []int{1, 2, 4, 8, 16} {
		count512(g, size)
	}
	for _, size := range []int{1, 2, 4, 8, 16} {
		count256(g, size)
	}
	for _, size := range []int{1, 2, 4, 8} {
		countMasks(g, size)
	}
}

func countFunc(g *gen, size int, isa string) (src, n reg.GPVirtual, mask reg.Register) {
	g.Function(fmt.Sprintf("count%d%s", size, isa))
	g.SignatureExpr("func(src *byte, n int, mask uint64) int")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("count%d%s counts the nonzero %d-byte elements in n bytes.", size, isa, size))
	g.Pragma("noescape")
	src = g.Load(g.Param("src"), g.GP64()).(reg.GPVirtual)
	n = g.Load(g.Param("n"), g.GP64()).(reg.GPVirtual)
	mask = g.Load(g.Param("mask"), g.GP64())
	return src, n, mask
}

func count512(g *gen, size int) {
	src, n, mask := countFunc(g, size, "AVX512")
	zmask := g.ZMM()
	g.VPBROADCASTQ(mask, zmask)
	ones := ones512(g, size)
	var acc [4]reg.VecVirtual
	for i := range acc {
		acc[i] = g.ZMM()
		g.VPXORQ(acc[i], acc[i], acc[i])
	}
	add := func(y, acc reg.VecVirtual) { addOnes512(g, size, ones, y, acc) }
	long, short, tail, done := g.label("long"), g.label("short"), g.label("tail"), g.label("done")
	g.Label(long)
	g.CMPQ(n, U32(256))
	g.JL(LabelRef(short))
	for i := range acc {
		y := g.ZMM()
		g.VPANDQ(Mem{Base: src, Disp: 64 * i}, zmask, y)
		add(y, acc[i])
	}
	for i := range 4 {
		g.PREFETCHT0(Mem{Base: src, Disp: 4096 + 64*i})
	}
	g.ADDQ(U32(256), src)
	g.SUBQ(U32(256), n)
	g.JMP(LabelRef(long))

	g.Label(short)
	g.CMPQ(n, U8(64))
	g.JL(LabelRef(tail))
	y := g.ZMM()
	g.VPANDQ(Mem{Base: src}, zmask, y)
	add(y, acc[0])
	g.ADDQ(U8(64), src)
	g.SUBQ(U8(64), n)
	g.JMP(LabelRef(short))

	g.Label(tail)
	g.TESTQ(n, n)
	g.JE(LabelRef(done))
	bytes, k := g.GP64(), g.K()
	g.MOVQ(I64(-1), bytes)
	g.BZHIQ(n, bytes, bytes)
	g.KMOVQ(bytes, k)
	y = g.ZMM()
	g.VMOVDQU8_Z(Mem{Base: src}, k, y)
	g.VPANDQ(y, zmask, y)
	add(y, acc[1])

	g.Label(done)
	for i := range acc {
		widen512(g, size, acc[i], ones)
	}
	g.VPADDQ(acc[1], acc[0], acc[0])
	g.VPADDQ(acc[3], acc[2], acc[2])
	storeCount512(g, size, acc[0], acc[2])
}

// countMasks counts the elements that masks leave, vector by vector: those with a stride.
func countMasks(g *gen, size int) {
	g.Function(fmt.Sprintf("countMasks%dAVX512", size))
	g.SignatureExpr("func(src *byte, n int, masks *byte, period int) int")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("countMasks%dAVX512 counts the %d-byte elements in n bytes, a multiple of 128, that have a bit of their mask set.", size, size),
		"The masks repeat after period bytes, a multiple of 128.")
	g.Pragma("noescape")
	src, n, masks, period := g.gp("src"), g.gp("n"), g.gp("masks"), g.gp("period")
	ones := ones512(g, size)
	acc := [2]reg.VecVirtual{g.ZMM(), g.ZMM()}
	for _, a := range acc {
		g.VPXORQ(a, a, a)
	}
	at, less := g.GP64(), g.GP64()
	g.XORQ(at, at)
	loop, done := g.label("loop"), g.label("done")
	g.Label(loop)
	g.TESTQ(n, n)
	g.JE(LabelRef(done))
	for i, a := range acc {
		y := g.ZMM()
		g.VMOVDQU64(Mem{Base: src, Disp: 64 * i}, y)
		g.VPANDQ(Mem{Base: masks, Index: at, Scale: 1, Disp: 64 * i}, y, y)
		addOnes512(g, size, ones, y, a)
		g.PREFETCHT0(Mem{Base: src, Disp: 4096 + 64*i})
	}
	g.ADDQ(U32(128), src)
	g.SUBQ(U32(128), n)
	g.ADDQ(U32(128), at)
	g.MOVQ(at, less)
	g.SUBQ(period, less)
	g.CMOVQGE(less, at)
	g.JMP(LabelRef(loop))
	g.Label(done)
	for _, a := range acc {
		widen512(g, size, a, ones)
	}
	storeCount512(g, size, acc[0], acc[1])
}

// ones512 returns a 1 in each lane: −1 shifted, or its absolute value.
func ones512(g *gen, size int) reg.VecVirtual {
	ones := g.ZMM()
	g.VPTERNLOGD(U8(0xff), ones, ones, ones)
	switch size {
	case 1:
		g.VPABSB(ones, ones)
	case 2:
		g.VPABSW(ones, ones)
	case 4:
		g.VPABSD(ones, ones)
	case 8, 16:
		g.VPABSQ(ones, ones)
	}
	return ones
}

// addOnes512 adds 1 to each lane of acc whose element in y is not zero.
func addOnes512(g *gen, size int, ones, y, acc reg.VecVirtual) {
	switch size {
	case 1:
		g.VPMINUB(ones, y, y)
		g.VPADDB(y, acc, acc)
	case 2:
		g.VPMINUW(ones, y, y)
		g.VPADDW(y, acc, acc)
	case 4:
		g.VPMINUD(ones, y, y)
		g.VPADDD(y, acc, acc)
	case 8:
		g.VPMINUQ(ones, y, y)
		g.VPADDQ(y, acc, acc)
	case 16:
		// Either half makes the pair nonzero; both halves then count it.
		other := g.ZMM()
		g.VPSHUFD(U8(0x4e), y, other)
		g.VPORQ(other, y, y)
		g.VPMINUQ(ones, y, y)
		g.VPADDQ(y, acc, acc)
	}
}

// storeCount512 returns the sum of the 8-byte lanes of both.
func storeCount512(g *gen, size int, a, b reg.VecVirtual) {
	g.VPADDQ(b, a, a)
	half := g.YMM()
	g.VEXTRACTI64X4(U8(1), a, half)
	g.VPADDQ(a.AsY(), half, half)
	storeCount(g, size, half)
}

// widen512 adds neighbouring lanes until the lanes have 8 bytes.
func widen512(g *gen, size int, acc, ones reg.VecVirtual) {
	switch size {
	case 1:
		zero := g.ZMM()
		g.VPXORQ(zero, zero, zero)
		g.VPSADBW(zero, acc, acc)
	case 2, 4:
		if size == 2 {
			g.VPMADDWD(ones, acc, acc)
		}
		odd := g.ZMM()
		g.VPSRLQ(U8(32), acc, odd)
		if size == 4 || size == 2 {
			g.VPSLLQ(U8(32), acc, acc)
			g.VPSRLQ(U8(32), acc, acc)
		}
		g.VPADDQ(odd, acc, acc)
	}
}

// storeCount returns the sum of the four 8-byte lanes of sum.
func storeCount(g *gen, size int, sum reg.VecVirtual) {
	upper := g.XMM()
	g.VEXTRACTI128(U8(1), sum, upper)
	g.VPADDQ(sum.AsX(), upper, upper)
	total, second := g.GP64(), g.GP64()
	g.VPEXTRQ(U8(1), upper, second)
	g.VMOVQ(upper, total)
	g.ADDQ(second, total)
	if size == 16 {
		g.SHRQ(U8(1), total)
	}
	g.Store(total, g.ReturnIndex(0))
	g.VZEROUPPER()
	g.RET()
}

func count256(g *gen, size int) {
	src, n, mask := countFunc(g, size, "AVX2")
	g.Doc(fmt.Sprintf("count%dAVX2 counts the nonzero %d-byte elements in n bytes, a multiple of 32.", size, size))
	xmask, ymask, ones := g.XMM(), g.YMM(), g.YMM()
	g.VMOVQ(mask, xmask)
	g.VPBROADCASTQ(xmask, ymask)
	g.VPCMPEQD(ones, ones, ones)
	zero := g.YMM()
	g.VPXOR(zero, zero, zero)
	switch size {
	case 1:
		g.VPABSB(ones, ones)
	case 2:
		g.VPABSW(ones, ones)
	case 4:
		g.VPABSD(ones, ones)
	case 8, 16:
		g.VPSRLQ(U8(63), ones, ones)
	}
	var acc [4]reg.VecVirtual
	for i := range acc {
		acc[i] = g.YMM()
		g.VPXOR(acc[i], acc[i], acc[i])
	}
	add := func(y, acc reg.VecVirtual) {
		switch size {
		case 1:
			g.VPMINUB(ones, y, y)
			g.VPADDB(y, acc, acc)
		case 2:
			g.VPMINUW(ones, y, y)
			g.VPADDW(y, acc, acc)
		case 4:
			g.VPMINUD(ones, y, y)
			g.VPADDD(y, acc, acc)
		case 8, 16:
			if size == 16 {
				other := g.YMM()
				g.VPSHUFD(U8(0x4e), y, other)
				g.VPOR(other, y, y)
			}
			// AVX2 has no unsigned minimum of 8 bytes: −1 for zero, so that 1 is added to it.
			g.VPCMPEQQ(zero, y, y)
			g.VPADDQ(ones, y, y)
			g.VPADDQ(y, acc, acc)
		}
	}
	long, short, done := g.label("long"), g.label("short"), g.label("done")
	g.Label(long)
	g.CMPQ(n, U32(128))
	g.JL(LabelRef(short))
	for i := range acc {
		y := g.YMM()
		g.VPAND(Mem{Base: src, Disp: 32 * i}, ymask, y)
		add(y, acc[i])
	}
	g.PREFETCHT0(Mem{Base: src, Disp: 4096})
	g.PREFETCHT0(Mem{Base: src, Disp: 4096 + 64})
	g.ADDQ(U32(128), src)
	g.SUBQ(U32(128), n)
	g.JMP(LabelRef(long))

	g.Label(short)
	g.CMPQ(n, U8(32))
	g.JL(LabelRef(done))
	y := g.YMM()
	g.VPAND(Mem{Base: src}, ymask, y)
	add(y, acc[0])
	g.ADDQ(U8(32), src)
	g.SUBQ(U8(32), n)
	g.JMP(LabelRef(short))

	g.Label(done)
	for i := range acc {
		switch size {
		case 1:
			g.VPSADBW(zero, acc[i], acc[i])
		case 2, 4:
			if size == 2 {
				g.VPMADDWD(ones, acc[i], acc[i])
			}
			odd := g.YMM()
			g.VPSRLQ(U8(32), acc[i], odd)
			g.VPBLENDD(U8(0xaa), zero, acc[i], acc[i])
			g.VPADDQ(odd, acc[i], acc[i])
		}
	}
	g.VPADDQ(acc[1], acc[0], acc[0])
	g.VPADDQ(acc[3], acc[2], acc[2])
	g.VPADDQ(acc[2], acc[0], acc[0])
	storeCount(g, size, acc[0])
}
