// Command vec measures the kernels of package vec, and the conversions of package layout that are made of them,
// against what memory can do: the read bandwidth, memset and memcpy of the same machine, measured in the same
// process around each of them.
//
//	go run ./bench/vec                 # everything; 4 GB of memory
//	go run ./bench/vec -quick          # a check that it works, seconds
//	go run ./bench/vec -run compact    # what has a name that the expression matches
//	go run ./bench/vec -python PATH    # compare with SciPy and Arrow C++, which that Python must have, too
//	go run ./bench/vec -json FILE      # the table as JSON, too
//
// Everything takes hours. -groups, -run, -elems, -densities, -versions, -one and -reused narrow it to what takes a
// minute.
//
// A speed counts bytes of the dense array, whatever the other side takes. Behind it come its share of the read
// bandwidth and how many times as fast as plain Go it is.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/tstore/tstore/vec"
)

// bench is what a run measures, and how.
type bench struct {
	rounds    int
	names     *regexp.Regexp
	groups    []string
	elems     []element
	densities []float64
	versions  []vec.Version
	matrix    int // rows and columns of the matrix
	four      []uint64
	threads   []int
	fresh     []bool

	arrays      *arrays
	results     []result
	others      *others // nil if nothing is compared with
	comparisons []comparison
}

// result is a line of the table.
type result struct {
	Name       string   `json:"name"`
	Elem       string   `json:"elem"`
	Shape      []uint64 `json:"shape"`
	Density    float64  `json:"density"`
	Index      string   `json:"index,omitempty"`
	Version    string   `json:"version"`
	Goroutines int      `json:"goroutines"`
	Fresh      bool     `json:"fresh"` // outputs are allocated in the time measured
	GBs        float64  `json:"gb_per_s"`
	OfRead     float64  `json:"of_read_bandwidth"`
	OfMemset   float64  `json:"of_memset"`
	OfPortable float64  `json:"of_portable,omitempty"`
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("vec: ")
	b := &bench{}
	names := flag.String("run", "", "measure only what has a name that this `expression` matches")
	groups := flag.String("groups", "kernels,conversions,comparison", "measure these `groups`")
	quick := flag.Bool("quick", false, "small arrays and one round: a check that it works")
	flag.IntVar(&b.rounds, "rounds", 5, "take the best of so many `times`")
	elems := flag.String("elems", "float32,float64,int8", "element `types`")
	densities := flag.String("densities", "0.001,0.01,0.1,0.5", "`shares` of nonzeros")
	versions := flag.String("versions", "", "`versions` of the kernels (all that the machine has)")
	onlyOne := flag.Bool("one", false, "one goroutine only")
	onlyReused := flag.Bool("reused", false, "reused outputs only")
	python := flag.String("python", "", "compare with SciPy and Arrow C++ in the Python with this `path`")
	file := flag.String("json", "", "write the table as JSON to this `file`, too")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("unexpected argument %q", flag.Arg(0))
	}
	var err error
	if b.names, err = regexp.Compile(*names); err != nil {
		log.Fatalf("-run: %v", err)
	}
	if b.elems, err = parseElements(*elems); err != nil {
		log.Fatalf("-elems: %v", err)
	}
	for _, g := range strings.Split(*groups, ",") {
		if !slices.Contains([]string{"kernels", "conversions", "comparison"}, g) {
			log.Fatalf("-groups: there is no group %q", g)
		}
		b.groups = append(b.groups, g)
	}
	for _, text := range strings.Split(*densities, ",") {
		d, err := strconv.ParseFloat(text, 64)
		if err != nil || !(d >= 0 && d <= 1) {
			log.Fatalf("-densities: %q is not a share between 0 and 1", text)
		}
		b.densities = append(b.densities, d)
	}
	if b.versions, err = parseVersions(*versions); err != nil {
		log.Fatalf("-versions: %v", err)
	}
	b.matrix, b.four = 8192, []uint64{30, 80, 200, 90}
	if *quick {
		b.rounds, b.matrix, b.four = 1, 512, []uint64{3, 8, 20, 90}
	}
	b.threads = []int{1}
	if n := runtime.GOMAXPROCS(0); n > 1 && !*onlyOne {
		b.threads = append(b.threads, n)
	}
	b.fresh = []bool{false, true}
	if *onlyReused {
		b.fresh = b.fresh[:1]
	}

	b.machine()
	if *python != "" && b.does("comparison") {
		if b.others, err = startOthers(*python); err != nil {
			log.Fatalf("starting %s: %v", *python, err)
		}
		defer b.others.stop()
		b.others.versions()
	}
	if b.does("kernels") {
		b.indices()
	}
	b.arrays = newArrays(max(b.matrix*b.matrix, product(b.four)), slices.MaxFunc(b.elems, func(x, y element) int { return x.size() - y.size() }).size())
	for _, e := range b.elems {
		for _, d := range b.densities {
			b.arrays.fill(e, d)
			if b.does("kernels") {
				b.kernels(e, d)
			}
			if b.does("conversions") {
				b.conversions(e, d)
			}
			if b.others != nil {
				b.compare(e, d)
			}
		}
	}
	if *file != "" {
		text, err := json.MarshalIndent(map[string]any{"kernels": b.results, "comparisons": b.comparisons}, "", "\t")
		if err == nil {
			err = os.WriteFile(*file, append(text, '\n'), 0o666)
		}
		if err != nil {
			log.Printf("writing the results: %v", err)
		}
	}
}

// does reports whether a group is measured.
func (b *bench) does(group string) bool { return slices.Contains(b.groups, group) }

func parseVersions(text string) ([]vec.Version, error) {
	if text == "" {
		return vec.Available(), nil
	}
	var versions []vec.Version
	for _, name := range strings.Split(text, ",") {
		i := slices.IndexFunc(vec.Available(), func(v vec.Version) bool { return v.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("this machine has no version %q, but %v", name, vec.Available())
		}
		versions = append(versions, vec.Available()[i])
	}
	return versions, nil
}

func product(dims []uint64) int {
	n := 1
	for _, d := range dims {
		n *= int(d)
	}
	return n
}
