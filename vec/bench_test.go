package vec

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
)

func hugeBuffer(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n+4<<20, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(err)
	}
	syscall.Madvise(b, 14)
	for i := range b {
		b[i] = 0
	}
	return b[:n]
}

func sparseInput(b []byte, e Elem, density float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	clear(b)
	size := e.Size()
	thr := uint64(density * (1 << 63) * 2)
	if density >= 1 {
		thr = ^uint64(0)
	}
	for i := 0; i < len(b); i += size {
		if rng.Uint64() < thr {
			b[i] = byte(1 + i%100)
		}
	}
}

var bigBuf = map[string][]byte{}

func getBuf(name string, n int) []byte {
	b := bigBuf[name]
	if len(b) < n {
		b = hugeBuffer(n)
		bigBuf[name] = b
	}
	return b[:n]
}

func BenchmarkCount(b *testing.B) {
	src := getBuf("src", 256<<20)
	for _, e := range []Elem{Float32, Float64, Bits8, Bits16} {
		for _, v := range Available() {
			b.Run(fmt.Sprintf("%v/%v", e, v), func(b *testing.B) {
				Use(v)
				b.SetBytes(int64(len(src)))
				for b.Loop() {
					CountNonZero(src, e)
				}
			})
		}
	}
}

func BenchmarkCompact(b *testing.B) {
	src := getBuf("src", 256<<20)
	values, positions := getBuf("values", 256<<20), getBuf("positions", 512<<20)
	for _, e := range []Elem{Float32, Float64, Bits8, Bits16} {
		for _, d := range []float64{0.001, 0.01, 0.1, 0.5} {
			sparseInput(src, e, d)
			for _, ix := range []Index{I32, I64} {
				for _, v := range Available() {
					b.Run(fmt.Sprintf("%v/%v/%v/%v", e, d, ix, v), func(b *testing.B) {
						Use(v)
						size := e.Size()
						b.SetBytes(int64(len(src)))
						for b.Loop() {
							// rows of 32 KiB
							k := 0
							row := 32 << 10
							for at := 0; at < len(src); at += row {
								_, w := Compact(values[k*size:len(values)&^63], positions[k*ix.Size():], ix, src[at:at+row], e, 0)
								k += w
								if k > len(values)/size/2 || k > len(positions)/8/2 {
									k = 0
								}
							}
						}
					})
				}
			}
		}
	}
}
