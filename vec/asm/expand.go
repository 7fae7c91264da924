package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// expandKernels makes dense rows of values with ascending indices: for 64 elements at a time, the indices become a mask by which
// the values are expanded.
func expandKernels(g *gen) {
	for _, size := range []int{1, 2, 4, 8} {
		for _, loads := range []int{2, 5} {
			expand(g, size, loads)
		}
	}
}

func expand(g *gen, size, loads int) {
	const step = 128 // elements
	isa, kind := "AVX512", "Few"
	if size < 4 {
		isa = "VBMI2"
	}
	if loads > 2 {
		kind = "Many"
	}
	name := fmt.Sprintf("expand%s%d%s", kind, size, isa)
	g.Function(name)
	g.SignatureExpr("func(dst *byte, n int, values *byte, indices *uint32, count int, base uint32, next uintptr, shift uint64) (used int)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s writes n bytes, a multiple of 64, to dst, which is aligned to 64, past the caches: elements of %d bytes,", name, size),
		"all zeros but for those of count values whose indices, which ascend, are base, base+1 and so on. It returns",
		"how many values have been used. Nothing outside is read or written whatever the indices are. It prefetches",
		"from next, moved on by 1<<shift bytes for each value.")
	g.Pragma("noescape")
	dst, n, values, indices, count := g.gp("dst"), g.gp("n"), g.gp("values"), g.gp("indices"), g.gp("count")
	next, shift := g.gp("next"), g.gp("shift")
	lanes := 64 / size // elements of a vector
	vectors := step / lanes
	base := g.ZMM()
	first := g.GP32()
	g.Load(g.Param("base"), first)
	g.VPBROADCASTD(first, base)
	number := func(x uint32) reg.VecVirtual {
		t, v := g.GP32(), g.ZMM()
		g.MOVL(U32(x), t)
		g.VPBROADCASTD(t, v)
		return v
	}
	one, whole := number(1), number(step)
	word := [4]reg.VecVirtual{1: number(32), 2: number(64), 3: number(96)}
	p, limit := g.GP64(), g.GP64()
	g.XORQ(p, p)
	g.MOVQ(count, limit)
	g.SUBQ(U32(uint32(16*loads)), limit)

	var bits [4]reg.VecVirtual // of each lane
	for w := range bits {
		bits[w] = g.ZMM()
	}
	from := g.GP64() // where the values of this step are
	// take adds a vector of indices to the bits, and returns how many are of this step.
	take := func(x reg.VecVirtual, set bool) reg.GPVirtual {
		k, found := g.K(), g.GP64()
		g.VPCMPUD(U8(1), whole, x, k)
		g.KMOVW(k, found.As32())
		g.POPCNTQ(found, found)
		for w := range bits {
			y := x
			if w > 0 {
				y = g.ZMM()
				g.VPSUBD(word[w], x, y)
			}
			if set {
				g.VPSLLVD(y, one, bits[w])
				continue
			}
			z := g.ZMM()
			g.VPSLLVD(y, one, z)
			g.VPORD(z, bits[w], bits[w])
		}
		return found
	}
	loop, more, finish, last, done := g.label("loop"), g.label("more"), g.label("finish"), g.label("last"), g.label("done")
	start := g.label("start")
	g.Label(loop)
	g.TESTQ(n, n)
	g.JE(LabelRef(done))
	g.LEAQ(Mem{Base: values, Index: p, Scale: uint8(size)}, from)
	g.CMPQ(p, limit)
	g.JG(LabelRef(start))
	total := g.GP64()
	for i := range loads {
		x := g.ZMM()
		g.VMOVDQU32(Mem{Base: indices, Index: p, Scale: 4, Disp: 64 * i}, x)
		g.VPSUBD(base, x, x)
		found := take(x, i == 0)
		if i == 0 {
			g.MOVQ(found, total)
		} else {
			g.ADDQ(found, total)
		}
	}
	// The values soon to come, and the indices that will be looked at before their turn.
	ahead := g.GP64()
	g.SHLXQ(shift, p, ahead)
	g.ADDQ(next, ahead)
	for i := range loads {
		g.PREFETCHT0(Mem{Base: from, Disp: 4096 + 64*i})
		g.PREFETCHT0(Mem{Base: ahead, Disp: 64 * i})
	}
	g.ADDQ(total, p)
	g.CMPQ(total, U8(16*loads))
	g.JE(LabelRef(more))

	g.Label(finish)
	g.VPADDD(whole, base, base)
	// The bits of all lanes together.
	unpack := func(low, high func(...Op), a, b reg.VecVirtual) reg.VecVirtual {
		x, y := g.ZMM(), g.ZMM()
		low(b, a, x)
		high(b, a, y)
		g.VPORD(x, y, x)
		return x
	}
	all := unpack(g.VPUNPCKLQDQ, g.VPUNPCKHQDQ, unpack(g.VPUNPCKLDQ, g.VPUNPCKHDQ, bits[0], bits[1]), unpack(g.VPUNPCKLDQ, g.VPUNPCKHDQ, bits[2], bits[3]))
	y, x := g.YMM(), g.XMM()
	g.VEXTRACTI64X4(U8(1), all, y)
	g.VPORD(all.AsY(), y, y)
	g.VEXTRACTI32X4(U8(1), y, x)
	g.VPORD(y.AsX(), x, x)
	masks := [2]reg.GPVirtual{g.GP64(), g.GP64()}
	g.VMOVQ(x, masks[0])
	g.VPEXTRQ(U8(1), x, masks[1])
	expand := func(at Mem, k reg.OpmaskVirtual) reg.VecVirtual {
		v := g.ZMM()
		g.VPXORQ(v, v, v)
		map[int]func(v, k, to Op){1: g.VPEXPANDB_Z, 2: g.VPEXPANDW_Z, 4: g.VPEXPANDD_Z, 8: g.VPEXPANDQ_Z}[size](at, k, v)
		return v
	}
	g.CMPQ(n, U32(uint32(64*vectors)))
	g.JL(LabelRef(last))
	for half, mask := range masks {
		k := g.K()
		g.KMOVQ(mask, k)
		for i := range vectors / 2 {
			at, shifted := Mem{Base: from}, k
			if i > 0 {
				before := g.GP64()
				g.MOVQ(mask, before)
				g.SHLQ(U8(64-i*lanes), before)
				g.POPCNTQ(before, before)
				at.Index, at.Scale = before, uint8(size)
				shifted = g.K()
				g.KSHIFTRQ(U8(i*lanes), k, shifted)
			}
			g.VMOVNTDQ(expand(at, shifted), Mem{Base: dst, Disp: 64 * (half*vectors/2 + i)})
		}
		if half == 0 {
			g.POPCNTQ(mask, mask)
			g.LEAQ(Mem{Base: from, Index: mask, Scale: uint8(size)}, from)
		}
	}
	g.ADDQ(I32(int32(64*vectors)), dst)
	g.SUBQ(I32(int32(64*vectors)), n)
	g.JMP(LabelRef(loop))

	// The last indices, or more than expected, so many at a time.
	g.Label(start)
	for _, b := range bits {
		g.VPXORQ(b, b, b)
	}
	g.Label(more)
	left, most, ones := g.GP64(), g.GP64(), g.GP64()
	g.MOVQ(count, left)
	g.SUBQ(p, left)
	g.MOVQ(U32(16), most)
	g.CMPQ(left, most)
	g.CMOVQGT(most, left)
	g.MOVQ(I64(-1), ones)
	g.BZHIQ(left, ones, ones)
	some, rest, outside := g.K(), g.ZMM(), g.ZMM()
	g.KMOVW(ones.As32(), some)
	g.VPTERNLOGD(U8(0xff), outside, outside, outside)
	g.VMOVDQU32_Z(Mem{Base: indices, Index: p, Scale: 4}, some, rest)
	g.VPSUBD(base, rest, some, outside)
	found := take(outside, false)
	g.ADDQ(found, p)
	g.CMPQ(found, U8(16))
	g.JE(LabelRef(more))
	g.JMP(LabelRef(finish))

	// The last vectors.
	g.Label(last)
	k, low, high := g.K(), masks[0], masks[1]
	g.KMOVQ(low, k)
	g.VMOVNTDQ(expand(Mem{Base: from}, k), Mem{Base: dst})
	used := g.GP64()
	g.MOVQ(low, used)
	if lanes < 64 {
		g.SHLQ(U8(64-lanes), used)
		// The mask of 128 bits moves down.
		g.SHRQ(U8(lanes), high, low)
		g.SHRQ(U8(lanes), high)
	}
	g.POPCNTQ(used, used)
	g.LEAQ(Mem{Base: from, Index: used, Scale: uint8(size)}, from)
	g.ADDQ(U8(64), dst)
	g.SUBQ(U8(64), n)
	g.JNE(LabelRef(last))
	// Indices of this step that lie behind the last vector have been counted, too.
	g.MOVQ(from, p)
	g.SUBQ(values, p)
	if size > 1 {
		g.SHRQ(U8(map[int]int{2: 1, 4: 2, 8: 3}[size]), p)
	}
	g.Label(done)
	g.Store(p, g.ReturnIndex(0))
	g.VZEROUPPER()
	g.RET()
}
