package main

import (
	"bufio"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/vec"
)

//go:embed compare/others.py compare/arrow_count.cc
var programs embed.FS

// others is a Python process that converts the same arrays with other libraries.
type others struct {
	cmd     *exec.Cmd
	to      io.WriteCloser
	answers *bufio.Scanner
	dir     string
}

// comparison is a line of the comparison: the best times of all that took turns.
type comparison struct {
	Name       string   `json:"name"`
	Elem       string   `json:"elem"`
	Shape      []uint64 `json:"shape"`
	Density    float64  `json:"density"`
	With       string   `json:"with"`
	Index      string   `json:"index,omitempty"`
	OtherFresh float64  `json:"other_fresh_gb_per_s"` // its memory is given back to the system before
	Other      float64  `json:"other_gb_per_s"`       // its allocator may have memory that it has used before
	Fresh      float64  `json:"fresh"`                // how many times as fast, both into memory from the system
	Reused     float64  `json:"reused"`               // both into memory that may have been used before
	Portable   float64  `json:"portable"`             // plain Go, reused
	Goroutines float64  `json:"goroutines"`           // on all processors, reused, by the clock on the wall
	Aim        float64  `json:"aim"`
	Plain      float64  `json:"portable_aim,omitempty"`
}

func startOthers(python string) (*others, error) {
	dir, err := os.MkdirTemp("", "bench-vec-")
	if err != nil {
		return nil, err
	}
	o := &others{dir: dir}
	for _, name := range []string{"others.py", "arrow_count.cc"} {
		text, err := programs.ReadFile("compare/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o666)
		}
		if err != nil {
			o.stop()
			return nil, err
		}
	}
	o.cmd = exec.Command(python, filepath.Join(dir, "others.py"), o.arrayFile())
	// A core type that is forced upon OpenBLAS may be one that it has no kernels for.
	o.cmd.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "OPENBLAS_CORETYPE=") })
	o.cmd.Stderr = os.Stderr
	if o.to, err = o.cmd.StdinPipe(); err != nil {
		o.stop()
		return nil, err
	}
	from, err := o.cmd.StdoutPipe()
	if err == nil {
		err = o.cmd.Start()
	}
	if err != nil {
		o.cmd = nil
		o.stop()
		return nil, err
	}
	o.answers = bufio.NewScanner(from)
	return o, nil
}

// arrayFile is the file that the array is passed in.
func (o *others) arrayFile() string { return filepath.Join(o.dir, "array") }

func (o *others) stop() {
	if o.cmd != nil {
		o.to.Close()
		if err := o.cmd.Wait(); err != nil {
			log.Printf("Python: %v", err)
		}
	}
	if err := os.RemoveAll(o.dir); err != nil {
		log.Print(err)
	}
}

type answer struct {
	Seconds float64 `json:"seconds"`
	NNZ     *int64  `json:"nnz"`
	Missing string  `json:"missing"`
}

func (o *others) ask(request map[string]any, answer any) {
	text, err := json.Marshal(request)
	if err == nil {
		_, err = o.to.Write(append(text, '\n'))
	}
	if err == nil && !o.answers.Scan() {
		if err = o.answers.Err(); err == nil {
			err = io.ErrUnexpectedEOF
		}
	}
	if err == nil {
		err = json.Unmarshal(o.answers.Bytes(), answer)
	}
	if err != nil {
		o.stop()
		log.Fatalf("asking Python for %s: %v", text, err)
	}
}

func (o *others) versions() {
	var v map[string]string
	o.ask(map[string]any{"do": "versions"}, &v)
	fmt.Printf("compared with SciPy %s (count: NumPy %s) and Arrow C++ %s, by one thread each, the same index types\n", v["scipy"], v["numpy"], v["arrow"])
	fmt.Println("how many times as fast: both into fresh memory; both into memory that was used before, and this in plain Go and on all processors")
}

// compare times the same on the same array with other libraries.
func (b *bench) compare(e element, density float64) {
	for _, dims := range [][]uint64{{uint64(b.matrix), uint64(b.matrix)}, b.four} {
		dense := b.dense(e, dims)
		loaded := false
		for _, from := range layouts {
			for _, to := range append([]layout.Layout{count}, layouts...) {
				name := comparisonName(from, to)
				if from == to || to == count && (from != layout.LayoutDense || len(dims) > 2) || !b.names.MatchString(name) ||
					len(dims) != 2 && (isMatrix(from) || isMatrix(to)) {
					continue
				}
				for _, with := range []string{"scipy", "arrow"} {
					if !loaded {
						b.others.load(e, dense)
						loaded = true
					}
					// The types that the other makes.
					index := layout.IndexInt32
					if with == "arrow" {
						index = layout.IndexInt64
					}
					source := layout.Tensor(dense)
					if from != layout.LayoutDense {
						source = must(layout.Convert(dense, from, &layout.ConvertOptions{Indptr: index, Indices: index}))
					}
					b.compareOne(e, density, dense, source, from, to, with, index)
				}
			}
		}
	}
}

// count stands for counting where there is a layout to convert to.
const count = layout.Layout(255)

func comparisonName(from, to layout.Layout) string {
	if to == count {
		return "count"
	}
	return fmt.Sprintf("%v to %v", from, to)
}

func (o *others) load(e element, dense *layout.Dense) {
	if err := os.WriteFile(o.arrayFile(), must(dense.Bytes()), 0o666); err != nil {
		o.stop()
		log.Fatal(err)
	}
	o.ask(map[string]any{"do": "load", "path": o.arrayFile(), "dtype": e.name, "shape": dense.Shape()}, new(struct{}))
	if err := os.Remove(o.arrayFile()); err != nil {
		log.Print(err)
	}
}

func (b *bench) compareOne(e element, density float64, dense *layout.Dense, source layout.Tensor, from, to layout.Layout, with string, index layout.IndexType) {
	request := map[string]any{"do": "run", "with": with, "from": from.String(), "to": to.String()}
	if to == count {
		request["to"] = "count"
	}
	nnz := must(layout.CountNonZero(dense))
	var result target
	run := func(threads int, fresh bool) {
		// The axes of a CSF come by ascending dimension, as Arrow C++ has them.
		o := &layout.ConvertOptions{Indptr: index, Indices: index, Goroutines: threads}
		switch {
		case to == count:
			parallel(threads, func(part int) {
				all := dense.Data()
				from, to := b.matrix*part/threads, b.matrix*(part+1)/threads
				row := b.matrix * e.size()
				vec.CountNonZero(all[from*row:to*row], e.vec)
			})
		case fresh:
			must(layout.Convert(source, to, o))
		default:
			result.convert(source, to, o)
		}
	}
	best := vec.Active()
	use := func(v vec.Version) {
		if err := vec.Use(v); err != nil {
			panic(err)
		}
	}
	defer use(best)
	all := b.threads[len(b.threads)-1]
	var other, otherFresh, fresh, reused, portable, parallel time.Duration
	for round := range b.rounds {
		keep := func(best *time.Duration, d time.Duration) {
			if round == 0 || d < *best {
				*best = d
			}
		}
		for _, f := range []bool{true, false} {
			request["fresh"] = f
			var a answer
			b.others.ask(request, &a)
			if a.Missing != "" {
				if !strings.Contains(a.Missing, "has no conversion") {
					fmt.Printf("%-14s %s: %s\n", comparisonName(from, to), with, a.Missing)
				}
				return
			}
			if a.NNZ != nil && *a.NNZ != nnz {
				b.others.stop()
				log.Fatalf("%s, %v: %s finds %d nonzeros, tstore %d", comparisonName(from, to), e.name, with, *a.NNZ, nnz)
			}
			if f {
				keep(&otherFresh, time.Duration(a.Seconds*1e9))
			} else {
				keep(&other, time.Duration(a.Seconds*1e9))
			}
		}
		debug.FreeOSMemory() // so that fresh memory is fresh
		keep(&fresh, alone(func() { run(1, true) }))
		// Once before, as the other does.
		run(1, false)
		keep(&reused, alone(func() { run(1, false) }))
		use(vec.Portable)
		run(1, false)
		keep(&portable, alone(func() { run(1, false) }))
		use(best)
		start := time.Now()
		run(all, false)
		keep(&parallel, time.Since(start))
	}
	bytes := int(dense.NumBytes())
	times := func(d time.Duration) float64 { return other.Seconds() / d.Seconds() }
	c := comparison{
		Name: comparisonName(from, to), Elem: e.name, Density: density, With: with,
		OtherFresh: gbs(bytes, otherFresh), Other: gbs(bytes, other),
		Fresh: otherFresh.Seconds() / fresh.Seconds(), Reused: times(reused), Portable: times(portable), Goroutines: times(parallel),
	}
	for _, d := range dense.Shape() {
		c.Shape = append(c.Shape, uint64(d))
	}
	switch {
	case to == count:
		if with == "arrow" {
			c.Plain = 1.2
		}
	case from == layout.LayoutDense || to == layout.LayoutDense:
		c.Aim = 10
		if with == "arrow" {
			c.Plain = 3
		}
	default:
		c.Aim = 1.5
	}
	if to != count {
		c.Index = vec.Index(index).String()
	}
	b.comparisons = append(b.comparisons, c)
	c.print()
}

func (c *comparison) print() {
	mark := func(x, aim float64) string {
		switch {
		case aim == 0:
			return " "
		case x >= aim:
			return "+"
		}
		return "−"
	}
	fmt.Printf("%-14s %d-D %-8s %5.3g %% %-5s %6.2f GB/s fresh, %6.2f reused: fresh %5.1f×%s reused %5.1f×%s portable %5.1f×%s all %5.1f×\n", c.Name, len(c.Shape), c.Elem, 100*c.Density,
		c.With, c.OtherFresh, c.Other, c.Fresh, mark(c.Fresh, c.Aim), c.Reused, mark(c.Reused, c.Aim), c.Portable, mark(c.Portable, c.Plain), c.Goroutines)
}
