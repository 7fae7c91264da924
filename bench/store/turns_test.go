package main

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTakeTurns(t *testing.T) {
	var order []string
	measure := func(name string, v float64) func() (float64, error) {
		return func() (float64, error) {
			order = append(order, name)
			return v, nil
		}
	}
	got, err := takeTurns(4, measure("a", 1), measure("b", 2), measure("c", 4))
	if err != nil {
		t.Fatal(err)
	}
	want := turns{{1, 1, 1, 1}, {2, 2, 2, 2}, {4, 4, 4, 4}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	wantOrder := []string{"a", "b", "c", "b", "c", "a", "c", "a", "b", "a", "b", "c"}
	if diff := cmp.Diff(wantOrder, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if r := got.ratio(2, 1); r != (spread{2, 2, 2}) {
		t.Errorf("ratio of 4 to 2: %v, want 2 throughout", r)
	}

	wrong := errors.New("wrong")
	if _, err := takeTurns(2, func() (float64, error) { return 0, wrong }); !errors.Is(err, wrong) {
		t.Errorf("an error in a measurement: %v, want it back", err)
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		values []float64
		q      float64
		want   float64
	}{
		{[]float64{7}, 0.5, 7},
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 2, 3}, 0.5, 2.5},
		{[]float64{5, 1, 3, 2, 4}, 0, 1},
		{[]float64{5, 1, 3, 2, 4}, 0.25, 2},
		{[]float64{5, 1, 3, 2, 4}, 1, 5},
	} {
		if got := quantile(c.values, c.q); got != c.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", c.values, c.q, got, c.want)
		}
	}
}

func TestAims(t *testing.T) {
	for _, c := range []struct {
		aim  *aim
		v    float64
		want bool
	}{
		{atLeast(0.9), 0.9, true},
		{atLeast(0.9), 0.89, false},
		{atMost(4), 4, true},
		{atMost(4), 4.1, false},
	} {
		if got := c.aim.met(c.v); got != c.want {
			t.Errorf("%v meets %v: %v, want %v", c.v, *c.aim, got, c.want)
		}
	}
}

func TestQuantities(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{0.8123, "×", "0.812×"},
		{123456.7, "tensors/s", "123457 tensors/s"},
		{1.3, "µs", "1.3 µs"},
		{1, "", "1"},
	} {
		if got := quantity(c.v, c.unit); got != c.want {
			t.Errorf("quantity(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

// TestDurable makes one of the measurements, small: it adds figures and leaves nothing behind.
// For all of them there is -quick.
func TestDurable(t *testing.T) {
	b := &bench{dir: t.TempDir(), quick: true, log: io.Discard}
	if err := b.durable(); err != nil {
		t.Fatal(err)
	}
	if len(b.table.figures) == 0 {
		t.Error("no figures")
	}
	for _, f := range b.table.figures {
		if !(f.Measured > 0) {
			t.Errorf("%s is %v", f.Name, f.Measured)
		}
	}
	if left, err := filepath.Glob(filepath.Join(b.dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left %v behind, %v", left, err)
	}
}
