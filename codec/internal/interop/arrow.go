package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/codec/internal/peers"
	"github.com/tstore/tstore/layout"
)

// compareArrow writes messages for Arrow C++ to read and reads those that it
// writes.
func compareArrow(python, source, dir string) error {
	program, err := compileArrow(python, filepath.Join(source, "arrow", "messages.cc"), dir)
	if err != nil {
		return err
	}
	ours := filepath.Join(dir, "ours.messages")
	counts, err := writeMessages(ours)
	if err != nil {
		return err
	}
	line, err := peers.Output(program, "check", ours)
	if err != nil {
		return err
	}
	checked, err := strconv.Atoi(line)
	if err != nil {
		return fmt.Errorf("%s: %w", program, err)
	}
	total := 0
	for _, l := range layouts {
		total += counts[l]
		if err := peers.AtLeastOne(fmt.Sprintf("%v messages of tstore read by Arrow C++", l), counts[l]); err != nil {
			return err
		}
	}
	if checked != total {
		return fmt.Errorf("tstore wrote %d messages, Arrow C++ read %d", total, checked)
	}

	theirs := filepath.Join(dir, "theirs.messages")
	if _, err := peers.Output(program, "write", theirs); err != nil {
		return err
	}
	if counts, err = readMessages(theirs); err != nil {
		return err
	}
	for _, l := range layouts[1:] {
		if err := peers.AtLeastOne(fmt.Sprintf("%v messages of Arrow C++ read by tstore", l), counts[l]); err != nil {
			return err
		}
	}
	return nil
}

var layouts = []layout.Layout{layout.LayoutDense, layout.LayoutCOO, layout.LayoutCSR, layout.LayoutCSC, layout.LayoutCSF}

// compileArrow compiles the C++ program against the library and the headers
// that come with pyarrow.
func compileArrow(python, source, dir string) (program string, err error) {
	where, err := peers.Output(python, "-c", `import glob, os, pyarrow
lib = pyarrow.get_library_dirs()[0]
print(pyarrow.get_include(), lib, os.path.basename(sorted(glob.glob(lib + "/libarrow.so.*") + glob.glob(lib + "/libarrow.*.dylib"))[0]), sep="\t")`)
	if err != nil {
		return "", fmt.Errorf("pyarrow with its headers and library is needed: %w", err)
	}
	parts := strings.Split(where, "\t")
	if len(parts) != 3 {
		return "", fmt.Errorf("pyarrow is at %q", where)
	}
	compiler := os.Getenv("CXX")
	if compiler == "" {
		compiler = "c++"
	}
	program = filepath.Join(dir, "messages")
	_, err = peers.Output(compiler, "-std=c++20", "-Wno-deprecated-declarations", "-I"+parts[0], source,
		filepath.Join(parts[1], parts[2]), "-Wl,-rpath,"+parts[1], "-o", program)
	if err != nil {
		return "", fmt.Errorf("a C++ compiler is needed, %s or what CXX names: %w", compiler, err)
	}
	return program, nil
}

// writeMessages writes dense and sparse messages with their descriptions and
// returns how many there are of each layout.
func writeMessages(file string) (map[layout.Layout]int, error) {
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	counts := make(map[layout.Layout]int)
	random := rand.New(rand.NewPCG(3, 4))
	for _, t := range slices.Concat(tensors(denseTensors()), sparseTensors(random)) {
		msg, err := encodeRandomly(random, t)
		if err != nil {
			return nil, err
		}
		decoded, err := codec.Decode(msg)
		if err != nil {
			return nil, err
		}
		if !layout.Equal(t, decoded) {
			return nil, fmt.Errorf("a %v of %v %v is another when it is decoded", t.Layout(), t.DType(), t.Shape())
		}
		meta, err := metadata(msg)
		if err != nil {
			return nil, err
		}
		text, err := describe(decoded, meta)
		if err != nil {
			return nil, err
		}
		for _, b := range [][]byte{msg, []byte(text)} {
			if _, err := f.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(b))), b...)); err != nil {
				return nil, err
			}
		}
		counts[t.Layout()]++
	}
	return counts, f.Close()
}

func tensors(dense []*layout.Dense) []layout.Tensor {
	all := make([]layout.Tensor, len(dense))
	for i, d := range dense {
		all[i] = d
	}
	return all
}

// encodeRandomly encodes a tensor with up to three pairs of metadata, keys
// that occur twice among them.
func encodeRandomly(random *rand.Rand, t layout.Tensor) ([]byte, error) {
	var meta []layout.Attr
	for range random.IntN(4) {
		meta = append(meta, layout.Attr{
			Key:   []string{"tstore.name", "unit", "größe", ""}[random.IntN(4)],
			Value: []string{"m", "", "a longer value"}[random.IntN(3)],
		})
	}
	r, err := codec.Encode(t, meta)
	if err != nil {
		return nil, err
	}
	return r.AppendTo(nil), nil
}

// sparseTensors returns tensors of 1,000 random shapes in every sparse layout
// that the shape allows, of all element types that Arrow C++ reads sparsely,
// and with all index types; uint64, which it does not read, is written as
// int64.
func sparseTensors(random *rand.Rand) []layout.Tensor {
	types := slices.Clone(arrowTypes)
	types = slices.DeleteFunc(types, func(dt layout.DType) bool { return dt == layout.Float16 })
	types = append(types, layout.Bool, layout.BFloat16, layout.Float8E4M3FN, layout.Float8E5M2, layout.Complex64)
	var all []layout.Tensor
	for range 1000 {
		dt := types[random.IntN(len(types))]
		shape := make([]int64, 1+random.IntN(4))
		for i := range shape {
			shape[i] = random.Int64N(7)
		}
		data := peers.RandomElements(random, dt, shape)
		size := dt.Size()
		for i := 0; i < len(data); i += size {
			if random.IntN(3) > 0 {
				clear(data[i : i+size])
			}
		}
		d, err := layout.NewDense(dt, shape, data)
		if err != nil {
			panic(err) // the cases are right by their making
		}
		if random.IntN(2) == 0 {
			if d, err = d.WithDimNames([]string{"x", "größe", "", "w"}[:len(shape)]...); err != nil {
				panic(err)
			}
		}
		for _, l := range layouts[1:] {
			t, err := layout.Convert(d, l, &layout.ConvertOptions{
				Indptr:  layout.IndexType(random.IntN(9)),
				Indices: layout.IndexType(random.IntN(9)),
			})
			if errors.Is(err, layout.ErrLayout) || errors.Is(err, layout.ErrIndexType) {
				continue // not for this number of dimensions, or not this type
			}
			if err != nil {
				panic(err)
			}
			all = append(all, t)
		}
	}
	return all
}

// readMessages reads what Arrow C++ wrote and returns how many messages of each
// layout agreed with their descriptions.
func readMessages(file string) (map[layout.Layout]int, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := bytes.NewReader(b)
	next := func() ([]byte, error) {
		var n int64
		if err := binary.Read(r, binary.LittleEndian, &n); err != nil {
			return nil, err
		}
		part := make([]byte, n)
		_, err := io.ReadFull(r, part)
		return part, err
	}
	counts := make(map[layout.Layout]int)
	for {
		msg, err := next()
		if err == io.EOF {
			return counts, nil
		}
		if err != nil {
			return nil, err
		}
		want, err := next()
		if err != nil {
			return nil, err
		}
		t, err := codec.Decode(msg)
		if err != nil {
			return nil, err
		}
		meta, err := metadata(msg)
		if err != nil {
			return nil, err
		}
		got, err := describe(t, meta)
		if err != nil {
			return nil, err
		}
		if got != string(want) {
			return nil, fmt.Errorf("a message differs: Arrow C++ wrote\n%ststore reads\n%s", want, got)
		}
		counts[t.Layout()]++
	}
}
