package measure

import (
	"errors"
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
	got, err := TakeTurns(4, measure("a", 1), measure("b", 2), measure("c", 4))
	if err != nil {
		t.Fatal(err)
	}
	want := Turns{{1, 1, 1, 1}, {2, 2, 2, 2}, {4, 4, 4, 4}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	wantOrder := []string{"a", "b", "c", "b", "c", "a", "c", "a", "b", "a", "b", "c"}
	if diff := cmp.Diff(wantOrder, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if r := got.Ratio(2, 1); r != (Spread{2, 2, 2}) {
		t.Errorf("ratio of 4 to 2: %v, want 2 throughout", r)
	}

	wrong := errors.New("wrong")
	if _, err := TakeTurns(2, func() (float64, error) { return 0, wrong }); !errors.Is(err, wrong) {
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
		if got := Quantile(c.values, c.q); got != c.want {
			t.Errorf("quantile(%v, %v) = %v, want %v", c.values, c.q, got, c.want)
		}
	}
}

func TestAims(t *testing.T) {
	for _, c := range []struct {
		aim  *Aim
		v    float64
		want bool
	}{
		{AtLeast(0.9), 0.9, true},
		{AtLeast(0.9), 0.89, false},
		{AtMost(4), 4, true},
		{AtMost(4), 4.1, false},
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
		{1.001, "×", "1.001×"},
		{1.00037, "×", "1.0004×"},
		{1, "×", "1×"},
	} {
		if got := quantity(c.v, c.unit); got != c.want {
			t.Errorf("quantity(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}
