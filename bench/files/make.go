package main

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/tstore/tstore/bench/internal/measure"
	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/codec/safetensors"
	"github.com/tstore/tstore/layout"
)

// tensorBytes is the size of each of the tensors of a file.
const tensorBytes = 32 << 20

// makeFile makes a file of count tensors of 32 MiB, all the same, behind as many bytes as before.
func makeFile(name string, count, before int, write func(w io.Writer, names []string, d *layout.Dense) error) (err error) {
	data := make([]byte, tensorBytes)
	measure.Fill(data, 1)
	d, err := layout.NewDense(layout.Float32, []int64{1024, tensorBytes / 4 / 1024}, data)
	if err != nil {
		return err
	}
	names := make([]string, count)
	for i := range names {
		names[i] = fmt.Sprintf("layer.%d.weight", i)
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Sync(), f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	w.Write(make([]byte, before))
	if err := write(w, names, d); err != nil {
		return err
	}
	return w.Flush()
}

// importSafetensors measures a file whose data are aligned, and one whose header has an odd length,
// as older writers left it.
func importSafetensors(b *measure.Bench) error {
	file := b.Path("model.safetensors")
	defer os.Remove(file)
	for _, c := range []struct {
		what string
		odd  bool
	}{{"1 GiB of .safetensors", false}, {"the same, misaligned", true}} {
		err := makeFile(file, b.Size(1<<30, 128<<20)/tensorBytes, 0, func(w io.Writer, names []string, d *layout.Dense) error {
			tensors := make([]safetensors.Named, len(names))
			for i, name := range names {
				tensors[i] = safetensors.Named{Name: name, Tensor: d}
			}
			if c.odd {
				w = &spaceDropper{w: w}
			}
			return safetensors.Encode(w, tensors, nil)
		})
		if err != nil {
			return err
		}
		if err := compare(b, c.what, "safetensors", file, measure.AtLeast(0.7), measure.AtMost(64)); err != nil {
			return err
		}
	}
	return nil
}

// spaceDropper makes a header end at its brace, and one more space if that is needed for an odd
// length.
type spaceDropper struct {
	w    io.Writer
	done bool
}

func (s *spaceDropper) Write(b []byte) (int, error) {
	if s.done {
		return s.w.Write(b)
	}
	s.done = true
	n := len(b)
	for b[n-1] == ' ' {
		n--
	}
	n |= 1
	header := append([]byte(nil), b[:n]...)
	for i := range 8 {
		header[i] = byte(uint64(n-8) >> (8 * i))
	}
	if _, err := s.w.Write(header); err != nil {
		return 0, err
	}
	return len(b), nil
}

// writeNPZ returns what writes an archive.
func writeNPZ(compress bool) func(io.Writer, []string, *layout.Dense) error {
	return func(w io.Writer, names []string, d *layout.Dense) error {
		archive := npz.NewWriter(w, compress)
		for _, name := range names {
			if err := archive.Add(name, d); err != nil {
				return err
			}
		}
		return archive.Close()
	}
}

// importNPZ measures an archive whose arrays are aligned, and one where they lie at odd addresses,
// as NumPy leaves them.
func importNPZ(b *measure.Bench) error {
	file := b.Path("arrays.npz")
	defer os.Remove(file)
	for _, c := range []struct {
		what   string
		before int
	}{{"1 GiB of .npz", 0}, {"the same, misaligned", 13}} {
		if err := makeFile(file, b.Size(1<<30, 128<<20)/tensorBytes, c.before, writeNPZ(false)); err != nil {
			return err
		}
		if err := compare(b, c.what, "npz", file, measure.AtLeast(0.7), measure.AtMost(64)); err != nil {
			return err
		}
	}
	return nil
}

// importDeflated measures a compressed archive, whose members go through temporary files.
func importDeflated(b *measure.Bench) error {
	file := b.Path("compressed.npz")
	defer os.Remove(file)
	if err := makeFile(file, b.Size(256<<20, 64<<20)/tensorBytes, 0, writeNPZ(true)); err != nil {
		return err
	}
	return compare(b, "256 MiB of compressed .npz", "npz", file, nil, measure.AtMost(64))
}

// checksum measures the CRC-32 of members against copying memory.
func checksum(b *measure.Bench) error {
	data, other := make([]byte, b.Size(256<<20, 64<<20)), make([]byte, b.Size(256<<20, 64<<20))
	measure.Fill(data, 1)
	var sum uint32
	times, err := measure.TakeTurns(b.Size(15, 3),
		func() (float64, error) {
			return measure.ProcessorSeconds(func() error { copy(other, data); return nil })
		},
		func() (float64, error) {
			return measure.ProcessorSeconds(func() error { sum += crc32.ChecksumIEEE(data); return nil })
		})
	if err != nil {
		return err
	}
	r := times.Ratio(0, 1)
	b.Table.Add("CRC-32 of a member, speed : copying memory", r.Median, "×", nil,
		"%.1f GB/s, copying %.1f; %v (sum %08x)", float64(len(data))/times.Median(1)/1e9, float64(len(data))/times.Median(0)/1e9, r, sum)
	return nil
}
