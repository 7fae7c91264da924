package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairsKernels makes numbers of pairs of indices.
func pairsKernels(g *gen) {
	g.pairKeys4(true)
	g.pairKeys4(false)
	g.pairKeys8()
}

func (g *gen) pairKeysFunc(size int, isa string) (keys, pairs, n, factors, most reg.GPVirtual) {
	name := fmt.Sprintf("pairKeys%d%s", size, isa)
	g.Function(name)
	g.SignatureExpr("func(keys *uint64, pairs *byte, n int, factors *uint64, most *byte)")
	g.Attributes(attr.NOSPLIT)
	g.Doc(fmt.Sprintf("%s writes for each of n pairs of %d-byte indices, a multiple of 8 and not 0, the first times one", name, size),
		"of four factors, which lie beside what they are for in 32 bytes, plus the second, and to most the largest of each lane.")
	g.Pragma("noescape")
	return g.gp("keys"), g.gp("pairs"), g.gp("n"), g.gp("factors"), g.gp("most")
}

// pairKeys4 takes a pair as 8 bytes, the first index of which is what is multiplied.
func (g *gen) pairKeys4(wide bool) {
	isa, width, vector := g.isa(wide)
	keys, pairs, n, factors, most := g.pairKeysFunc(4, isa)
	factor, largest := vector(), vector()
	if wide {
		g.VBROADCASTI64X4(Mem{Base: factors}, factor)
		g.VPXORQ(largest, largest, largest)
	} else {
		g.VMOVDQU(Mem{Base: factors}, factor)
		g.VPXOR(largest, largest, largest)
	}
	loop := g.label("loop")
	g.Label(loop)
	for at := 0; at < 64; at += width {
		x, product := vector(), vector()
		if wide {
			g.VMOVDQU64(Mem{Base: pairs, Disp: at}, x)
		} else {
			g.VMOVDQU(Mem{Base: pairs, Disp: at}, x)
		}
		g.VPMAXUD(x, largest, largest)
		g.VPMULUDQ(x, factor, product)
		g.VPSRLQ(U8(32), x, x)
		g.VPADDQ(x, product, product)
		if wide {
			g.VMOVDQU64(product, Mem{Base: keys, Disp: at})
		} else {
			g.VMOVDQU(product, Mem{Base: keys, Disp: at})
		}
	}
	g.ADDQ(U8(64), pairs)
	g.ADDQ(U8(64), keys)
	g.SUBQ(U8(8), n)
	g.JNE(LabelRef(loop))
	if wide {
		g.VMOVDQU64(largest, Mem{Base: most})
	} else {
		g.VMOVDQU(largest, Mem{Base: most})
	}
	g.VZEROUPPER()
	g.RET()
}

// pairKeys8 multiplies both indices of a pair, which takes 16 bytes, and adds the second as it was to the first.
func (g *gen) pairKeys8() {
	keys, pairs, n, factors, most := g.pairKeysFunc(8, "AVX512")
	factor, largest := g.ZMM(), g.ZMM()
	g.VBROADCASTI64X4(Mem{Base: factors}, factor)
	g.VPXORQ(largest, largest, largest)
	bits, even := g.GP32(), g.K()
	g.MOVL(U32(0x55), bits)
	g.KMOVW(bits, even)
	loop := g.label("loop")
	g.Label(loop)
	for half := range 2 {
		x, product, first := g.ZMM(), g.ZMM(), g.ZMM()
		g.VMOVDQU64(Mem{Base: pairs, Disp: 64 * half}, x)
		g.VPMAXUQ(x, largest, largest)
		g.VPMULLQ(x, factor, product)
		g.VPSHUFD(U8(0x4e), x, x)
		g.VPADDQ(x, product, product)
		g.VPXORQ(first, first, first)
		g.VPCOMPRESSQ_Z(product, even, first)
		g.VMOVDQU(first.AsY(), Mem{Base: keys, Disp: 32 * half})
	}
	g.ADDQ(U32(128), pairs)
	g.ADDQ(U8(64), keys)
	g.SUBQ(U8(8), n)
	g.JNE(LabelRef(loop))
	g.VMOVDQU64(largest, Mem{Base: most})
	g.VZEROUPPER()
	g.RET()
}
