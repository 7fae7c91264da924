package layout

import (
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"
)

// A page that can't be read, as of a mapped file that was cut short, is a panic of the caller if that asked for it, in
// whichever goroutine it is found.
func TestFaultInAGoroutine(t *testing.T) {
	fineGrain(t, 4096)
	size := 64 * syscall.Getpagesize()
	for _, page := range []int{0, 20, 63} {
		memory, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < size; i += 64 {
			memory[i] = 1
		}
		d := must(NewDense(Float32, []int64{64, int64(size) / 256}, memory))
		columns := must(d.Transpose())
		csr := must(ToCSR(d, nil))
		csr.data = memory[:csr.nnz*4]
		bad := memory[page*syscall.Getpagesize():][:syscall.Getpagesize()]
		if page*syscall.Getpagesize() >= len(csr.data) {
			csr = nil
		}
		if err := syscall.Mprotect(bad, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
		sources := map[string]Tensor{"rows": d, "columns": columns}
		if csr != nil {
			sources["csr"] = csr
		}
		for name, s := range sources {
			for _, to := range allLayouts {
				if s.Layout() == to {
					continue
				}
				func() {
					before := debug.SetPanicOnFault(true)
					defer debug.SetPanicOnFault(before)
					defer func() {
						if fault, ok := recover().(interface{ Addr() uintptr }); !ok {
							t.Errorf("page %d, %s to %v: no fault", page, name, to)
						} else if lo := addressOf(bad); fault.Addr() < lo || fault.Addr() >= lo+uintptr(len(bad)) {
							t.Errorf("page %d, %s to %v: fault at %x, the page is at %x", page, name, to, fault.Addr(), lo)
						}
					}()
					_, err := Convert(s, to, &ConvertOptions{Goroutines: 4})
					t.Errorf("page %d, %s to %v: %v", page, name, to, err)
				}()
			}
		}
		if err := syscall.Munmap(memory); err != nil {
			t.Fatal(err)
		}
	}
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }
