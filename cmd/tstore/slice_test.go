package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/layout"
)

// Every index gives what NumPy gives, whatever the layout of the tensor, and what NumPy refuses is
// refused. testdata/make_slices.py has made the cases.
func TestIndexAsNumPy(t *testing.T) {
	f, err := os.Open("testdata/slices.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	n := 0
	for lines.Scan() {
		var c struct {
			Shape    []int64
			Index    string
			Result   []int64
			Elements []int64
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		n++
		size, _ := layout.CheckedProduct(c.Shape, 1)
		dense := layout.DenseOf(arange[int64](size), c.Shape...)
		tensors := []layout.Tensor{dense}
		for _, to := range []layout.Layout{layout.LayoutCOO, layout.LayoutCSR, layout.LayoutCSC, layout.LayoutCSF} {
			if len(c.Shape) == 0 {
				continue
			}
			s, err := layout.Convert(dense, to, nil)
			if errors.Is(err, layout.ErrLayout) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			tensors = append(tensors, s)
		}
		for _, x := range tensors {
			part, err := indexed(c.Index, x)
			if c.Elements == nil {
				if err == nil {
					t.Errorf("%v %v[%s]: shape %v, want an error", x.Layout(), c.Shape, c.Index, part.Shape())
				}
				continue
			}
			if err != nil {
				t.Errorf("%v %v[%s]: %v", x.Layout(), c.Shape, c.Index, err)
				continue
			}
			d, err := layout.Convert(part, layout.LayoutDense, nil)
			if err != nil {
				t.Errorf("%v %v[%s]: %v", x.Layout(), c.Shape, c.Index, err)
				continue
			}
			got, err := layout.Values[int64](d.(*layout.Dense).Contiguous())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.Result, part.Shape(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%v %v[%s]: shape (-NumPy +tstore):\n%s", x.Layout(), c.Shape, c.Index, diff)
			}
			if diff := cmp.Diff(c.Elements, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%v %v[%s]: elements (-NumPy +tstore):\n%s", x.Layout(), c.Shape, c.Index, diff)
			}
		}
	}
	if err := lines.Err(); err != nil || n < 400 {
		t.Errorf("%d cases, %v", n, err)
	}
}

func indexed(text string, t layout.Tensor) (layout.Tensor, error) {
	x, err := parseIndex(text)
	if err != nil {
		return nil, err
	}
	return x.of(t)
}

// A slice of a dense tensor lies in the tensor's memory.
func TestIndexCopiesNothing(t *testing.T) {
	values := arange[float32](60)
	part, err := indexed("1:, ::-2, None, 3", layout.DenseOf(values, 3, 4, 5))
	if err != nil {
		t.Fatal(err)
	}
	values[1*20+3*5+3] = 1000
	d := part.(*layout.Dense).Contiguous()
	got, err := layout.Values[float32](d)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{1000, 28, 58, 48}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{2, 2, 1}, d.Shape()); diff != "" {
		t.Error(diff)
	}
}

// What is no index says why.
func TestParseIndexErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":         "nothing stands between the brackets",
		"  ":       "nothing stands between the brackets",
		"a":        `"a" is neither a number, a slice like 0:10:2, ..., nor None`,
		"1.5":      `"1.5" is neither a number, a slice like 0:10:2, ..., nor None`,
		"0,,1":     `"" is neither a number, a slice like 0:10:2, ..., nor None`,
		"0:1:0":    `"0:1:0": the step can't be 0`,
		"0:1:2:3":  `"0:1:2:3" has more than start:stop:step`,
		"0:x":      `"0:x": "x" is not a whole number`,
		"..., ...": "... may stand there only once",
		"True":     `"True" is neither a number, a slice like 0:10:2, ..., nor None`,
	} {
		if _, err := parseIndex(text); err == nil || err.Error() != want {
			t.Errorf("[%s]: %v, want %s", text, err, want)
		}
	}
}

func FuzzParseIndex(f *testing.F) {
	for _, s := range []string{"0", "0:2,:,::-1", "..., None", "-1:-9223372036854775808:9223372036854775807", "1,"} {
		f.Add(s, int64(3), int64(4))
	}
	f.Fuzz(func(t *testing.T, s string, n, m int64) {
		x, err := parseIndex(s)
		if err != nil || n < 0 || m < 0 {
			return
		}
		axes, err := x.resolve([]int64{n, m})
		if err != nil {
			return
		}
		for _, a := range axes {
			if a.from < 0 || a.count == 0 {
				continue
			}
			length := []int64{n, m}[a.from]
			last := a.start + (a.count-1)*a.step
			if a.start < 0 || a.start >= length || last < 0 || last >= length {
				t.Errorf("[%s] of %d x %d: %+v", s, n, m, a)
			}
		}
	})
}
