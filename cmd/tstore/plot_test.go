package main

import (
	"testing"

	"github.com/tstore/tstore/cmd/tstore/internal/plot"
)

func TestColoursOf(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want plot.Colours
	}{
		{map[string]string{"TERM": "xterm-256color"}, plot.Colours256},
		{map[string]string{"TERM": "xterm-256color", "COLORTERM": "truecolor"}, plot.ColoursTrue},
		{map[string]string{"COLORTERM": "24bit"}, plot.ColoursTrue},
		{map[string]string{"COLORTERM": "truecolor", "NO_COLOR": "1"}, plot.NoColours},
		{map[string]string{"COLORTERM": "truecolor", "NO_COLOR": ""}, plot.ColoursTrue},
		{map[string]string{"TERM": "dumb"}, plot.NoColours},
	} {
		if got := coloursOf(func(key string) string { return c.env[key] }); got != c.want {
			t.Errorf("%v: %v, want %v", c.env, got, c.want)
		}
	}
}
