package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// renameFlags give tensors other names on their way from files to a store, or back.
type renameFlags struct {
	strip  string
	prefix string
	maps   []string

	pairs [][2]string // beginnings, old and new
}

func (r *renameFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.strip, "strip", "", "`TEXT` to take away from the beginning of names that have it")
	cmd.Flags().StringArrayVar(&r.maps, "map", nil, "`OLD=NEW`: names that begin with OLD begin with NEW instead; may be repeated, the first that fits counts")
	cmd.Flags().StringVar(&r.prefix, "prefix", "", "`TEXT` to put before each name, as train/; what --strip and --map do comes first")
}

func (r *renameFlags) parse() error {
	r.pairs = nil
	for _, m := range r.maps {
		old, new, ok := strings.Cut(m, "=")
		if !ok || old == "" {
			return usagef("--map %s: it has to be OLD=NEW", m)
		}
		r.pairs = append(r.pairs, [2]string{old, new})
	}
	if r.strip != "" {
		r.pairs = append(r.pairs, [2]string{r.strip, ""})
	}
	return nil
}

// apply returns the new name.
func (r *renameFlags) apply(name string) string {
	for _, p := range r.pairs {
		if rest, ok := strings.CutPrefix(name, p[0]); ok {
			name = p[1] + rest
			break
		}
	}
	return r.prefix + name
}
