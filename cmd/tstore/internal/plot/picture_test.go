package plot

import (
	"errors"
	"fmt"
	"image"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/tstore/tstore/cmd/tstore/internal/summary"
	"github.com/tstore/tstore/layout"
)

func filled(n int, v float64) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = v
	}
	return all
}

func ramp(n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = float64(i)
	}
	return all
}

// subjects are tensors that are hard to draw.
func subjects(t testing.TB) map[string]layout.Tensor {
	t.Helper()
	nan, inf := math.NaN(), math.Inf(1)
	pattern := layout.DenseOf([]float64{0, 1, 0, 0, 0, 2, 3, 0, 0, 0, 0, -4}, 3, 4)
	m := map[string]layout.Tensor{
		"scalar":      layout.DenseOf([]float64{7.5}),
		"vector":      layout.DenseOf(ramp(1000), 1000),
		"empty":       layout.DenseOf([]float64{}, 0, 5),
		"empty rows":  layout.DenseOf([]float64{}, 5, 0),
		"no vector":   layout.DenseOf([]float64{}, 0),
		"one":         layout.DenseOf([]float64{3.25}, 1, 1),
		"row":         layout.DenseOf(ramp(5000), 1, 5000),
		"column":      layout.DenseOf(ramp(5000), 5000, 1),
		"large":       layout.DenseOf(make([]uint8, 900*700), 900, 700),
		"NaN":         layout.DenseOf(filled(12, nan), 3, 4),
		"infinite":    layout.DenseOf(filled(12, inf), 3, 4),
		"mixed":       layout.DenseOf([]float64{nan, inf, -inf, 1, -1, 0}, 2, 3),
		"constant":    layout.DenseOf(filled(100, 42), 10, 10),
		"zeros":       layout.DenseOf(filled(100, 0), 10, 10),
		"huge":        layout.DenseOf([]float64{math.MaxFloat64, -math.MaxFloat64, 1, 0}, 2, 2),
		"least":       layout.DenseOf([]float64{5e-324, 0, -5e-324, 0}, 2, 2),
		"tiny":        layout.DenseOf([]float64{5e-324, 1e-323, 0, 3e-320}, 2, 2),
		"close":       layout.DenseOf([]float64{1e9, 1e9 + 1e-6, 1e9 + 2e-6, 1e9 + 3e-6}, 2, 2),
		"neighbours":  layout.DenseOf([]float64{1, math.Nextafter(1, 2)}, 1, 2),
		"bool":        layout.DenseOf([]bool{true, false, true, true}, 2, 2),
		"all true":    layout.DenseOf([]bool{true, true}, 1, 2),
		"complex":     layout.DenseOf([]complex64{3 + 4i, 0, 1, 2i}, 2, 2),
		"uint64":      layout.DenseOf([]uint64{math.MaxUint64, 0, 5, 1 << 63}, 2, 2),
		"int64":       layout.DenseOf([]int64{math.MaxInt64, math.MinInt64}, 1, 2),
		"mostly zero": layout.DenseOf(append(make([]float32, 100_000), 1, 2, 3), 100_003),
		"image":       layout.DenseOf(ramp(784), 1, 28, 28),
	}
	for _, l := range []layout.Layout{layout.LayoutCOO, layout.LayoutCSR, layout.LayoutCSC, layout.LayoutCSF} {
		m[l.String()] = must(t)(layout.Convert(pattern, l, nil))
		m["empty "+l.String()] = must(t)(layout.Convert(layout.DenseOf([]float32{}, 0, 3), l, nil))
		m["zero "+l.String()] = must(t)(layout.Convert(layout.DenseOf(make([]float32, 6), 2, 3), l, nil))
	}
	return m
}

// checkWords makes sure that all words can be read: none lies over others or outside.
func checkWords(t testing.TB, c *canvas) {
	t.Helper()
	for i, r := range c.texts {
		if !r.In(c.Bounds()) {
			t.Errorf("words at %v are not inside %v", r, c.Bounds())
		}
		for _, other := range c.texts[:i] {
			if r.Overlaps(other) {
				t.Errorf("words at %v and %v lie over each other", r, other)
			}
		}
	}
}

// Everything can be drawn, in every size, and all words in it can be read.
func TestWordsCanBeRead(t *testing.T) {
	for what, x := range subjects(t) {
		for _, k := range Kinds {
			for title, size := range map[string]image.Point{
				"train/x":                          {800, 600},
				strings.Repeat("a long name ", 80): {MinSize, MinSize},
				"":                                 {700, MinSize},
			} {
				o := Options{Kind: k, Title: title, Subtitle: "float64 (1, 2)", Unit: "W/m²"}
				c, err := paint(t.Context(), x, o, size.X, size.Y)
				if err != nil {
					t.Fatalf("%s, %s: %v", what, k, err)
				}
				if c.Bounds().Dx() < size.X || c.Bounds().Dx() > size.X+300 || c.Bounds().Dy() != size.Y {
					t.Errorf("%s, %s: %v was asked for, is %v", what, k, size, c.Bounds())
				}
				checkWords(t, c)
				if t.Failed() {
					t.Fatalf("%s, %s, %v, title of %d letters", what, k, size, len(title))
				}
			}
		}
	}
}

// Each element of a small matrix is a rectangle of its colour.
func TestColours(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	v := []float64{0, 1, 2, 3, nan, inf, -inf, 10, 4}
	p := painter{title: newFace(titleSize), label: newFace(labelSize), width: 800, height: 600}
	area := p.areaFor(3, 3)
	at := func(c *canvas, i int) any {
		return c.RGBAAt(area.Min.X+(2*(i%3)+1)*area.Dx()/6, area.Min.Y+(2*(i/3)+1)*area.Dy()/6)
	}
	c, err := paint(t.Context(), layout.DenseOf(v, 3, 3), Options{}, 800, 600)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]any{0: viridis[0], 4: nanFill, 5: upFill, 6: downFill, 7: viridis[len(viridis)-1], 1: viridis.at(0.1)}
	for i, col := range want {
		if got := at(c, i); got != col {
			t.Errorf("heat map: element %d is %v, want %v", i, got, col)
		}
	}
	c, err = paint(t.Context(), layout.DenseOf(v, 3, 3), Options{Kind: Spy}, 800, 600)
	if err != nil {
		t.Fatal(err)
	}
	for i := range v {
		if got := at(c, i); (got == white) != (i == 0) {
			t.Errorf("pattern: element %d is %v", i, got)
		}
	}
}

// No line of a picture of characters is too long, and there are not too many.
func TestTextFits(t *testing.T) {
	for what, x := range subjects(t) {
		for _, k := range Kinds {
			for _, size := range []image.Point{{minColumns, minLines}, {40, 12}, {80, 25}, {200, 60}} {
				text, err := Text(t.Context(), x, Options{Kind: k, Title: strings.Repeat("long name ", 30), Subtitle: "float64 (1, 2)"}, size.X, size.Y, NoColours)
				if err != nil {
					t.Fatalf("%s, %s: %v", what, k, err)
				}
				lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
				if len(lines) > size.Y+2 {
					t.Errorf("%s, %s: %d lines in %v:\n%s", what, k, len(lines), size, text)
				}
				for _, l := range lines {
					if w := uniseg.StringWidth(l); w > size.X {
						t.Errorf("%s, %s, %v: a line of %d letters: %s", what, k, size, w, l)
					}
				}
			}
		}
	}
}

func TestText(t *testing.T) {
	pattern := layout.DenseOf([]float64{0, 1, 0, 0, 0, 2, 3, 0, 0, 0, 0, -4}, 3, 4)
	csr := must(t)(layout.Convert(pattern, layout.LayoutCSR, nil))
	named := must(t)(layout.DenseOf(ramp(6), 2, 3).WithDimNames("time", "station"))
	for _, c := range []struct {
		what string
		x    layout.Tensor
		o    Options
		c    Colours
		want string
	}{
		{"a pattern", csr, Options{Title: "p", Subtitle: "csr"}, NoColours, `
p
csr
  ↓ row
  │     ⣿⣿⣿⣿⣿
0 ┤     ⣿⣿⣿⣿⣿
  │     ⣿⣿⣿⣿⣿⣤⣤⣤⣤⣤
  │     ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
1 ┤     ⣿⣿⣿⣿⣿⣿⣿⣿⣿⣿
  │               ⣿⣿⣿⣿⣿
2 ┤               ⣿⣿⣿⣿⣿
  │               ⠛⠛⠛⠛⠛
  └──┬────┬────┬────┬──
     0    1    2    3  → column
`},
		{"shades", named, Options{Title: "x", Subtitle: "float64", Unit: "m"}, NoColours, `
x
float64 · 0 to 5
  ↓ time
  │        ░░░░░░░░▒▒▒▒▒▒▒▒
  │        ░░░░░░░░▒▒▒▒▒▒▒▒
0 ┤        ░░░░░░░░▒▒▒▒▒▒▒▒
  │        ░░░░░░░░▒▒▒▒▒▒▒▒
  │▓▓▓▓▓▓▓▓████████████████
  │▓▓▓▓▓▓▓▓████████████████
1 ┤▓▓▓▓▓▓▓▓████████████████
  │▓▓▓▓▓▓▓▓████████████████
  └────┬───────┬───────┬───
       0       1       2  → station
   0  ░▒▓█ 5  value [m]
`},
		{"bars", layout.DenseOf([]int8{1, 2, 2, 2, 4, 4}, 6), Options{Title: "n", Subtitle: "int8"}, NoColours, `
n
int8 · 6 elements, mean 2.5, std 1.118
  │         ▆▆▆▆▆▆▆▆
  │         ████████
2 ┤         ████████          ▁▁▁▁▁▁▁▁
  │         ████████          ████████
  │         ████████          ████████
  │▅▅▅▅▅▅▅▅ ████████          ████████
  │████████ ████████          ████████
0 ┤████████ ████████          ████████
  └────┬────────┬────────┬────────┬────
       1        2        3        4
`},
	} {
		got, err := Text(t.Context(), c.x, c.o, 40, 13, c.c)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want[1:], got); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", c.what, diff, got)
		}
	}
}

// With colours, every line ends in the terminal's own.
func TestTextColours(t *testing.T) {
	x := layout.DenseOf([]float64{0, 1, math.NaN(), 3}, 2, 2)
	for c, want := range map[Colours]string{ColoursTrue: "\x1b[38;2;68;1;84m", Colours256: "\x1b[38;5;53m"} {
		text, err := Text(t.Context(), x, Options{}, 40, 13, c)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
		for line := range strings.Lines(text) {
			if last := strings.LastIndex(line, "\x1b["); last >= 0 && !strings.HasPrefix(line[last:], reset) {
				t.Errorf("a line ends in another colour: %q", line)
			}
		}
	}
	text, err := Text(t.Context(), x, Options{}, 40, 13, NoColours)
	if err != nil || strings.Contains(text, "\x1b") {
		t.Errorf("without colours: %q, %v", text, err)
	}
}

func TestDefault(t *testing.T) {
	date, err := layout.FixedSizeBinary(3)
	if err != nil {
		t.Fatal(err)
	}
	opaque := func(shape ...int64) layout.Tensor {
		n, _ := layout.CheckedProduct(shape, 3)
		return must(t)(layout.NewDense(date, shape, make([]byte, n)))
	}
	dense := func(shape ...int64) layout.Tensor {
		n, _ := layout.CheckedProduct(shape, 1)
		return layout.DenseOf(make([]int8, n), shape...)
	}
	csr := must(t)(layout.Convert(dense(2, 3), layout.LayoutCSR, nil))
	coo3 := must(t)(layout.Convert(dense(2, 3, 4), layout.LayoutCOO, nil))
	for _, c := range []struct {
		x    layout.Tensor
		want Kind
		err  error
	}{
		{dense(), Hist, nil},
		{dense(5), Hist, nil},
		{dense(5, 6), Heatmap, nil},
		{dense(1, 6), Heatmap, nil},
		{dense(1, 5, 6), Heatmap, nil},
		{dense(5, 1, 6, 1), Heatmap, nil},
		{dense(5, 6, 7), Hist, nil},
		{csr, Spy, nil},
		{coo3, Hist, nil},
		{opaque(5), Spy, nil},
		{opaque(5, 6), Spy, nil},
		{opaque(5, 6, 7), Spy, ErrKind},
	} {
		got, err := Default(c.x)
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%v %v: %s, %v, want %s, %v", c.x.Layout(), c.x.Shape(), got, err, c.want, c.err)
		}
	}
	for k, x := range map[Kind]layout.Tensor{Heatmap: opaque(2, 3), Hist: opaque(2)} {
		if _, err := Draw(t.Context(), x, Options{Kind: k}, 400, 400); !errors.Is(err, summary.ErrType) {
			t.Errorf("%s of what is no number: %v", k, err)
		}
	}
	for _, k := range []Kind{Spy, Heatmap} {
		if _, err := Draw(t.Context(), dense(2, 3, 4), Options{Kind: k}, 400, 400); !errors.Is(err, ErrKind) || !strings.Contains(err.Error(), "[0, :, :]") {
			t.Errorf("%s of three dimensions: %v", k, err)
		}
	}
}

// Ticks are round numbers inside of a range, ascending, with different labels.
func TestTicks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo, hi := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "lo"), 0.0
		if rapid.Bool().Draw(t, "tiny") {
			least := rapid.Int64Range(-30, 30)
			lo, hi = float64(least.Draw(t, "least"))*math.SmallestNonzeroFloat64, float64(least.Draw(t, "other"))*math.SmallestNonzeroFloat64
		} else if rapid.Bool().Draw(t, "close") {
			hi = lo + math.Abs(lo)*rapid.Float64Range(0, 1e-9).Draw(t, "share")
		} else {
			hi = rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "hi")
		}
		lo, hi = min(lo, hi), max(lo, hi)
		if math.IsInf(hi, 0) {
			return
		}
		most := rapid.IntRange(1, 20).Draw(t, "most")
		ticks := span{lo: lo, hi: hi}.ticks(most)
		if len(ticks) == 0 || len(ticks) > 3*most+7 {
			t.Fatalf("%d ticks, %d were asked for", len(ticks), most)
		}
		for i, k := range ticks {
			if !(-1e-6 <= k.at && k.at <= 1+1e-6) {
				t.Errorf("tick %q is at %v", k.label, k.at)
			}
			if i > 0 && (k.at <= ticks[i-1].at || k.label == ticks[i-1].label) {
				t.Errorf("tick %v follows %v", k, ticks[i-1])
			}
		}
	})
}

func TestTickLabels(t *testing.T) {
	for _, c := range []struct {
		s    span
		most int
		want string
	}{
		{span{lo: 0, hi: 16}, 8, "0 2 4 6 8 10 12 14 16"},
		{span{lo: -1, hi: 1}, 4, "-1.0 -0.5 0 0.5 1.0"},
		{span{lo: 0, hi: 3e-7}, 3, "0 1e-07 2e-07 3e-07"},
		{span{lo: 0, hi: 1.7e308}, 4, "0 5e+307 1e+308 1.5e+308"},
		{span{lo: 1e6, hi: 4e6}, 3, "1000000 2000000 3000000 4000000"},
		{span{lo: 5, hi: 5}, 3, "5"},
		{span{lo: 1, hi: 1000, log: true}, 8, "1 10 100 1e+03"},
		{span{lo: 2, hi: 6, log: true}, 8, "2 6"},
	} {
		var labels []string
		for _, k := range c.s.ticks(c.most) {
			labels = append(labels, k.label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%v: %s, want %s", c.s, got, c.want)
		}
	}
	for n, want := range map[int64]string{1: "0", 2: "0 1", 9: "0 1 2 3 4 5 6 7 8", 100: "0 20 40 60 80", math.MaxInt64: "0 2e+18 4e+18 6e+18 8e+18"} {
		var labels []string
		for _, k := range indexTicks(n, 8) {
			labels = append(labels, k.label)
		}
		if got := strings.Join(labels, " "); got != want {
			t.Errorf("%d elements: %s, want %s", n, got, want)
		}
	}
}

func TestShorten(t *testing.T) {
	for n, want := range map[int]string{10: "0123456789", 9: "0123…6789", 2: "0…", 1: "…", 0: "…"} {
		if got := shorten("0123456789", n, uniseg.StringWidth); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		rows, cols    int64
		height, width int
	}{
		{8, 8, 400, 400}, {1, 100_000, 150, 600}, {100_000, 1, 400, 100}, {0, 5, 400, 400}, {3, 4, 399, 532}, {10_000, 10_000, 400, 400},
	} {
		if h, w := fit(c.rows, c.cols, 400, 600); h != c.height || w != c.width {
			t.Errorf("%d × %d: %s, want %d × %d", c.rows, c.cols, fmt.Sprint(h, " × ", w), c.height, c.width)
		}
	}
}
