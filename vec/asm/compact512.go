package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// compactLarge512 is the compaction of 4- and 8-byte elements without VBMI2: in steps of four vectors, each
// of which is compressed by itself, values and positions alike. The result goes to a register and is
// stored whole, because VPCOMPRESS to memory is slow on AMD.
func compactLarge512(g *gen, iotaBytes Mem, vsize, psize int) {
	lanes := 64 / vsize
	step := 4 * lanes
	f := compactFunc(g, "AVX512", vsize, psize, step, false)

	mask, iota, base, inc := g.ZMM(), g.ZMM(), g.ZMM(), g.ZMM()
	g.VPBROADCASTQ(f.mask, mask)
	// Places within the vector, as wide as the values so that the same mask compresses them.
	stepReg := g.GP64()
	g.MOVQ(U64(lanes), stepReg)
	if vsize == 4 {
		g.VPMOVZXBD(iotaBytes, iota)
	} else {
		g.VPMOVZXBQ(iotaBytes, iota)
	}
	// Positions are added up with 4 bytes, or 8.
	if psize <= 4 {
		g.VPBROADCASTD(f.base.As32(), base)
		g.VPBROADCASTD(stepReg.As32(), inc)
	} else {
		g.VPBROADCASTQ(f.base, base)
		g.VPBROADCASTQ(stepReg, inc)
	}
	step1 := func() {
		if psize <= 4 {
			g.VPADDD(inc, base, base)
		} else {
			g.VPADDQ(inc, base, base)
		}
	}

	f.loop(g, func() {}, func(partial reg.Register) reg.GPVirtual {
		data, k := make([]reg.VecVirtual, 4), make([]reg.OpmaskVirtual, 4)
		for i := range data {
			data[i], k[i] = g.ZMM(), g.K()
		}
		if partial == nil {
			for i := range data {
				g.VMOVDQU64(Mem{Base: f.src, Disp: 64 * i}, data[i])
			}
			for i := range data {
				g.PREFETCHT0(Mem{Base: f.src, Disp: 4096 + 64*i})
			}
		} else {
			loadPartial(g, f, data)
		}
		for i := range data {
			if vsize == 4 {
				g.VPTESTMD(mask, data[i], k[i])
			} else {
				g.VPTESTMQ(mask, data[i], k[i])
			}
		}
		total, one := g.GP64(), g.GP64()
		g.XORQ(total, total)
		some, end := g.label("some"), g.label("stored")
		a, b := g.K(), g.K()
		g.KORW(k[0], k[1], a)
		g.KORW(k[2], k[3], b)
		g.KORTESTW(a, b)
		g.JNE(LabelRef(some))
		for range data {
			step1()
		}
		g.JMP(LabelRef(end))
		g.Label(some)
		for i := range data {
			g.KMOVW(k[i], one.As32())
			g.POPCNTQ(one, one)
			v, p := g.ZMM(), g.ZMM()
			if vsize == 4 {
				g.VPCOMPRESSD_Z(data[i], k[i], v)
				g.VPCOMPRESSD_Z(iota, k[i], p)
			} else {
				g.VPCOMPRESSQ_Z(data[i], k[i], v)
				g.VPCOMPRESSQ_Z(iota, k[i], p)
			}
			g.VMOVDQU64(v, Mem{Base: f.values, Index: total, Scale: uint8(vsize)})
			at := Mem{Base: f.positions, Index: total, Scale: uint8(psize)}
			switch {
			case vsize == 4 && psize == 4:
				g.VPADDD(base, p, p)
				g.VMOVDQU64(p, at)
			case vsize == 8 && psize == 8:
				g.VPADDQ(base, p, p)
				g.VMOVDQU64(p, at)
			case vsize == 4 && psize == 2:
				g.VPADDD(base, p, p)
				g.VPMOVDW(p, p.AsY())
				g.VMOVDQU(p.AsY(), at)
			case vsize == 8 && psize <= 4:
				narrow := g.YMM()
				g.VPMOVQD(p, narrow)
				g.VPADDD(base.AsY(), narrow, narrow)
				if psize == 4 {
					g.VMOVDQU(narrow, at)
				} else {
					g.VPMOVDW(narrow, narrow.AsX())
					g.VMOVDQU(narrow.AsX(), at)
				}
			default:
				storeWide(g, p, base, at)
			}
			step1()
			g.ADDQ(one, total)
		}
		g.Label(end)
		return total
	})
}

// storeWide stores the 16 4-byte places p as 8-byte positions from base.
func storeWide(g *gen, p, base reg.VecVirtual, at Mem) {
	low, high, upper := g.ZMM(), g.ZMM(), g.YMM()
	g.VPMOVZXDQ(p.AsY(), low)
	g.VPADDQ(base, low, low)
	g.VMOVDQU64(low, at)
	g.VEXTRACTI64X4(U8(1), p, upper)
	g.VPMOVZXDQ(upper, high)
	g.VPADDQ(base, high, high)
	g.VMOVDQU64(high, at.Offset(64))
}

// compactSmall512 is the compaction of 1- and 2-byte elements without VBMI2, 64 a step. Few nonzeros are
// taken one at a time from the mask; more by widening 16 elements to 4 bytes and compressing those.
func compactSmall512(g *gen, iotaBytes Mem, vsize, psize int) {
	f := compactFunc(g, "AVX512", vsize, psize, 64, false)
	mask, iota := g.ZMM(), g.ZMM()
	g.VPBROADCASTQ(f.mask, mask)
	g.VPMOVZXBD(iotaBytes, iota)
	f.loop(g, func() { g.ADDQ(U8(64), f.base) }, func(partial reg.Register) reg.GPVirtual {
		data := make([]reg.VecVirtual, vsize)
		for i := range data {
			data[i] = g.ZMM()
		}
		if partial == nil {
			for i := range data {
				g.VMOVDQU64(Mem{Base: f.src, Disp: 64 * i}, data[i])
			}
			for i := range data {
				g.PREFETCHT0(Mem{Base: f.src, Disp: 4096 + 64*i})
			}
		} else {
			loadPartial(g, f, data)
		}
		bits, count := g.GP64(), g.GP64()
		g.KMOVQ(testMask(g, data, mask, vsize), bits)
		if partial != nil {
			walk(g, f, bits, count)
			return count
		}
		end, many := g.label("stored"), g.label("many")
		g.POPCNTQ(bits, count)
		g.CMPQ(count, U8(6))
		g.JG(LabelRef(many))
		walk(g, f, bits, count)
		g.JMP(LabelRef(end))

		g.Label(many)
		g.XORQ(count, count)
		base, sixteen := g.ZMM(), g.ZMM()
		step := g.GP64()
		g.MOVQ(U64(16), step)
		if psize <= 4 {
			g.VPBROADCASTD(f.base.As32(), base)
			g.VPBROADCASTD(step.As32(), sixteen)
		} else {
			g.VPBROADCASTQ(f.base, base)
			g.VPBROADCASTQ(step, sixteen)
		}
		for i := range 4 {
			k, v, p, one := g.K(), g.ZMM(), g.ZMM(), g.GP32()
			g.KMOVW(bits.As32(), k)
			if vsize == 1 {
				g.VPMOVZXBD(Mem{Base: f.src, Disp: 16 * i}, v)
			} else {
				g.VPMOVZXWD(Mem{Base: f.src, Disp: 32 * i}, v)
			}
			g.VPCOMPRESSD_Z(v, k, v)
			g.VPCOMPRESSD_Z(iota, k, p)
			at := Mem{Base: f.values, Index: count, Scale: uint8(vsize)}
			narrow := g.YMM()
			if vsize == 1 {
				g.VPMOVDB(v, narrow.AsX())
				g.VMOVDQU(narrow.AsX(), at)
			} else {
				g.VPMOVDW(v, narrow)
				g.VMOVDQU(narrow, at)
			}
			at = Mem{Base: f.positions, Index: count, Scale: uint8(psize)}
			switch psize {
			case 2:
				g.VPADDD(base, p, p)
				g.VPMOVDW(p, p.AsY())
				g.VMOVDQU(p.AsY(), at)
			case 4:
				g.VPADDD(base, p, p)
				g.VMOVDQU64(p, at)
			case 8:
				storeWide(g, p, base, at)
			}
			g.MOVWLZX(bits.As16(), one)
			g.POPCNTL(one, one)
			g.ADDQ(one.As64(), count)
			if i < 3 {
				g.SHRQ(U8(16), bits)
				if psize <= 4 {
					g.VPADDD(sixteen, base, base)
				} else {
					g.VPADDQ(sixteen, base, base)
				}
			}
		}
		g.Label(end)
		return count
	})
}

// walk stores the nonzeros of the step whose bits are set one at a time, and leaves their number in count.
func walk(g *gen, f *compactFrame, bits, count reg.GPVirtual) {
	loop, done := g.label("walk"), g.label("walked")
	g.XORQ(count, count)
	g.Label(loop)
	i, v := g.GP64(), g.GP64()
	g.TZCNTQ(bits, i)
	g.JCS(LabelRef(done)) // no bit left
	from := Mem{Base: f.src, Index: i, Scale: uint8(f.vsize)}
	to := Mem{Base: f.values, Index: count, Scale: uint8(f.vsize)}
	load(g, f.vsize, from, v)
	store(g, f.vsize, v, to)
	g.ADDQ(f.base, i)
	at := Mem{Base: f.positions, Index: count, Scale: uint8(f.psize)}
	store(g, f.psize, i, at)
	g.BLSRQ(bits, bits)
	g.INCQ(count)
	g.JMP(LabelRef(loop))
	g.Label(done)
}
