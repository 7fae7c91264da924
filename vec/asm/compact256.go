package main

import (
	"fmt"
	"math/bits"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// placesTable returns, for each mask of so many bits, the numbers of its set bits in so many bytes, filled
// up with zeros.
func placesTable(g *gen, width int) Mem {
	m := g.StaticGlobal(fmt.Sprintf("places%d", width))
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for mask := range 1 << width {
		var word uint64
		for i, rest := 0, uint(mask); rest != 0; i, rest = i+1, rest&(rest-1) {
			word |= uint64(bits.TrailingZeros(rest)) << (8 * i)
		}
		if width == 8 {
			g.AddDatum(8*mask, U64(word))
		} else {
			g.AddDatum(4*mask, U32(word))
		}
	}
	return m
}

// pairsTable is placesTable for 4 bits with each number n made into the pair 2n, 2n+1, to permute 8-byte
// elements as two of 4 bytes.
func pairsTable(g *gen) Mem {
	m := g.StaticGlobal("pairs4")
	g.DataAttributes(attr.RODATA | attr.NOPTR)
	for mask := range 16 {
		var word uint64
		for i, rest := 0, uint(mask); rest != 0; i, rest = i+1, rest&(rest-1) {
			at := uint64(bits.TrailingZeros(rest))
			word |= (2*at | (2*at+1)<<8) << (16 * i)
		}
		g.AddDatum(8*mask, U64(word))
	}
	return m
}

// broadcast256 puts r into every lane of 4 bytes, or of 8 for positions of 8.
func broadcast256(g *gen, r reg.GPVirtual, psize int) reg.VecVirtual {
	x, y := g.XMM(), g.YMM()
	g.VMOVQ(r, x)
	if psize <= 4 {
		g.VPBROADCASTD(x, y)
	} else {
		g.VPBROADCASTQ(x, y)
	}
	return y
}

func addPositions(g *gen, psize int, a, b, to reg.VecVirtual) {
	if psize <= 4 {
		g.VPADDD(a, b, to)
	} else {
		g.VPADDQ(a, b, to)
	}
}

// compactLarge256 compacts 4-byte elements with AVX2: the mask of eight elements picks a permutation from
// a table, which is at the same time the list of their places. A step is four vectors and is skipped as
// a whole if it has nothing but zeros.
func compactLarge256(g *gen, table8 Mem, vsize, psize int) {
	f := compactFunc(g, "AVX2", vsize, psize, 32, false)
	xmask, mask, zero := g.XMM(), g.YMM(), g.YMM()
	g.VMOVQ(f.mask, xmask)
	g.VPBROADCASTQ(xmask, mask)
	g.VPXOR(zero, zero, zero)
	table := g.GP64()
	g.LEAQ(table8, table)
	base := broadcast256(g, f.base, psize)
	inc8 := g.GP64()
	g.MOVQ(U64(8), inc8)
	inc := broadcast256(g, inc8, psize)
	f.wholeLoop(g, func() {}, func() reg.GPVirtual {
		data := make([]reg.VecVirtual, 4)
		for i := range data {
			data[i] = g.YMM()
			g.VMOVDQU(Mem{Base: f.src, Disp: 32 * i}, data[i])
		}
		g.PREFETCHT0(Mem{Base: f.src, Disp: 4096})
		g.PREFETCHT0(Mem{Base: f.src, Disp: 4096 + 64})
		total, end, some := g.GP64(), g.label("stored"), g.label("some")
		g.XORQ(total, total)
		a, b := g.YMM(), g.YMM()
		g.VPOR(data[0], data[1], a)
		g.VPOR(data[2], data[3], b)
		g.VPOR(a, b, a)
		g.VPTEST(mask, a)
		g.JNE(LabelRef(some))
		for range data {
			addPositions(g, psize, inc, base, base)
		}
		g.JMP(LabelRef(end))
		g.Label(some)
		for i := range data {
			y, bits, perm := g.YMM(), g.GP32(), g.YMM()
			g.VPAND(mask, data[i], y)
			g.VPCMPEQD(zero, y, y)
			g.VMOVMSKPS(y, bits)
			g.XORL(U32(0xff), bits)
			g.VPMOVZXBD(Mem{Base: table, Index: bits.As64(), Scale: 8}, perm)
			g.POPCNTL(bits, bits)
			g.VPERMD(data[i], perm, data[i])
			g.VMOVDQU(data[i], Mem{Base: f.values, Index: total, Scale: 4})
			storePlaces256(g, f, perm, base, total)
			addPositions(g, psize, inc, base, base)
			g.ADDQ(bits.As64(), total)
		}
		g.Label(end)
		return total
	})
}

// storePlaces256 stores eight 4-byte places as positions from base.
func storePlaces256(g *gen, f *compactFrame, places, base reg.VecVirtual, total reg.GPVirtual) {
	at := Mem{Base: f.positions, Index: total, Scale: uint8(f.psize)}
	if f.psize <= 4 {
		p := g.YMM()
		g.VPADDD(base, places, p)
		if f.psize == 4 {
			g.VMOVDQU(p, at)
			return
		}
		// The pack saturates, so the upper halves have to go first.
		upper := g.YMM()
		g.VPBLENDW(U8(0xaa), zeros(g), p, p)
		g.VEXTRACTI128(U8(1), p, upper.AsX())
		g.VPACKUSDW(upper.AsX(), p.AsX(), p.AsX())
		g.VMOVDQU(p.AsX(), at)
		return
	}
	low, high, upper := g.YMM(), g.YMM(), g.XMM()
	g.VPMOVZXDQ(places.AsX(), low)
	g.VPADDQ(base, low, low)
	g.VMOVDQU(low, at)
	g.VEXTRACTI128(U8(1), places, upper)
	g.VPMOVZXDQ(upper, high)
	g.VPADDQ(base, high, high)
	g.VMOVDQU(high, at.Offset(32))
}

// zeros returns a register of zeros, which costs next to nothing to make anew.
func zeros(g *gen) reg.VecVirtual {
	zero := g.YMM()
	g.VPXOR(zero, zero, zero)
	return zero
}

// compactPairs256 compacts 8-byte elements with AVX2, four at a time, in steps of 16.
func compactPairs256(g *gen, table4, pairs4 Mem, psize int) {
	f := compactFunc(g, "AVX2", 8, psize, 16, false)
	xmask, mask, zero := g.XMM(), g.YMM(), g.YMM()
	g.VMOVQ(f.mask, xmask)
	g.VPBROADCASTQ(xmask, mask)
	g.VPXOR(zero, zero, zero)
	places, pairs := g.GP64(), g.GP64()
	g.LEAQ(table4, places)
	g.LEAQ(pairs4, pairs)
	base := broadcast256(g, f.base, psize)
	inc4 := g.GP64()
	g.MOVQ(U64(4), inc4)
	inc := broadcast256(g, inc4, psize)
	f.wholeLoop(g, func() {}, func() reg.GPVirtual {
		data := make([]reg.VecVirtual, 4)
		for i := range data {
			data[i] = g.YMM()
			g.VMOVDQU(Mem{Base: f.src, Disp: 32 * i}, data[i])
		}
		g.PREFETCHT0(Mem{Base: f.src, Disp: 4096})
		g.PREFETCHT0(Mem{Base: f.src, Disp: 4096 + 64})
		total, end, some := g.GP64(), g.label("stored"), g.label("some")
		g.XORQ(total, total)
		a, b := g.YMM(), g.YMM()
		g.VPOR(data[0], data[1], a)
		g.VPOR(data[2], data[3], b)
		g.VPOR(a, b, a)
		g.VPTEST(mask, a)
		g.JNE(LabelRef(some))
		for range data {
			addPositions(g, psize, inc, base, base)
		}
		g.JMP(LabelRef(end))
		g.Label(some)
		for i := range data {
			y, bits, perm := g.YMM(), g.GP32(), g.YMM()
			g.VPAND(mask, data[i], y)
			g.VPCMPEQQ(zero, y, y)
			g.VMOVMSKPD(y, bits)
			g.XORL(U8(0xf), bits)
			g.VPMOVZXBD(Mem{Base: pairs, Index: bits.As64(), Scale: 8}, perm)
			g.VPERMD(data[i], perm, data[i])
			g.VMOVDQU(data[i], Mem{Base: f.values, Index: total, Scale: 8})
			at := Mem{Base: f.positions, Index: total, Scale: uint8(psize)}
			p := g.YMM()
			if psize <= 4 {
				g.VPMOVZXBD(Mem{Base: places, Index: bits.As64(), Scale: 4}, p.AsX())
				g.VPADDD(base.AsX(), p.AsX(), p.AsX())
				if psize == 4 {
					g.VMOVDQU(p.AsX(), at)
				} else {
					g.VPBLENDW(U8(0xaa), zeros(g).AsX(), p.AsX(), p.AsX())
					g.VPACKUSDW(p.AsX(), p.AsX(), p.AsX())
					g.VMOVQ(p.AsX(), at)
				}
			} else {
				g.VPMOVZXBQ(Mem{Base: places, Index: bits.As64(), Scale: 4}, p)
				g.VPADDQ(base, p, p)
				g.VMOVDQU(p, at)
			}
			g.POPCNTL(bits, bits)
			addPositions(g, psize, inc, base, base)
			g.ADDQ(bits.As64(), total)
		}
		g.Label(end)
		return total
	})
}

// compactSmall256 compacts 1- and 2-byte elements with AVX2, 32 a step: few nonzeros one at a time from
// the mask, more by a byte shuffle of eight elements that a table gives for their mask.
func compactSmall256(g *gen, table8 Mem, vsize, psize int) {
	f := compactFunc(g, "AVX2", vsize, psize, 32, false)
	xmask, mask, zero := g.XMM(), g.YMM(), g.YMM()
	g.VMOVQ(f.mask, xmask)
	g.VPBROADCASTQ(xmask, mask)
	g.VPXOR(zero, zero, zero)
	table, eight := g.GP64(), g.GP64()
	g.LEAQ(table8, table)
	g.MOVQ(U64(8), eight)
	inc := broadcast256(g, eight, psize)
	// A place n of a 2-byte element is the bytes 2n and 2n+1: n·0x0202 + 0x0100.
	twice, next := g.XMM(), g.XMM()
	if vsize == 2 {
		x := g.GP64()
		g.MOVQ(U64(0x0202), x)
		g.VMOVQ(x, twice)
		g.VPBROADCASTW(twice, twice)
		g.MOVQ(U64(0x0100), x)
		g.VMOVQ(x, next)
		g.VPBROADCASTW(next, next)
	}
	f.wholeLoop(g, func() { g.ADDQ(U8(32), f.base) }, func() reg.GPVirtual {
		bits, count := g.GP64(), g.GP64()
		y := g.YMM()
		g.VPAND(Mem{Base: f.src}, mask, y)
		if vsize == 1 {
			g.VPCMPEQB(zero, y, y)
		} else {
			other := g.YMM()
			g.VPAND(Mem{Base: f.src, Disp: 32}, mask, other)
			g.VPCMPEQW(zero, y, y)
			g.VPCMPEQW(zero, other, other)
			g.VPACKSSWB(other, y, y)
			g.VPERMQ(U8(0xd8), y, y)
		}
		g.PREFETCHT0(Mem{Base: f.src, Disp: 4096})
		g.VPMOVMSKB(y, bits.As32())
		g.XORL(I32(-1), bits.As32())
		end, many := g.label("stored"), g.label("many")
		g.POPCNTQ(bits, count)
		g.CMPQ(count, U8(4))
		g.JG(LabelRef(many))
		walk(g, f, bits, count)
		g.JMP(LabelRef(end))

		g.Label(many)
		g.XORQ(count, count)
		base := broadcast256(g, f.base, psize)
		for i := range 4 {
			low, v, perm, places := g.GP32(), g.XMM(), g.XMM(), g.YMM()
			g.MOVBLZX(bits.As8(), low)
			entry := Mem{Base: table, Index: low.As64(), Scale: 8}
			g.VPMOVZXBD(entry, places)
			at := Mem{Base: f.values, Index: count, Scale: uint8(vsize)}
			if vsize == 1 {
				g.VMOVQ(entry, perm)
				g.VMOVQ(Mem{Base: f.src, Disp: 8 * i}, v)
				g.VPSHUFB(perm, v, v)
				g.VMOVQ(v, at)
			} else {
				g.VPMOVZXBW(entry, perm)
				g.VPMULLW(twice, perm, perm)
				g.VPADDW(next, perm, perm)
				g.VMOVDQU(Mem{Base: f.src, Disp: 16 * i}, v)
				g.VPSHUFB(perm, v, v)
				g.VMOVDQU(v, at)
			}
			storePlaces256(g, f, places, base, count)
			g.POPCNTL(low, low)
			g.ADDQ(low.As64(), count)
			if i < 3 {
				g.SHRQ(U8(8), bits)
				addPositions(g, psize, inc, base, base)
			}
		}
		g.Label(end)
		return count
	})
}
