package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// fromFlags say which files become tensors of a package.
type fromFlags struct {
	roots   []string
	sources sourceFlags
}

func (f *fromFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.roots, "from", nil, "pack the files in `DIR`, at any depth, whose extension is "+formatExtensions(reads)+"; may be repeated")
	addExclude(cmd, &f.sources.exclude, "with --from, the files, directories and tensors whose name or path in DIR")
	headerFlag(cmd, &f.sources.read.header)
	skipFlag(cmd, &f.sources.skip, "with --from, ")
}

// check checks the flags.
func (f *fromFlags) check() error {
	if len(f.roots) == 0 && len(f.sources.exclude) > 0 {
		return usagef("--exclude is for --from DIR")
	}
	if len(f.roots) == 0 && f.sources.skip {
		return usagef("--skip is for --from DIR")
	}
	if err := checkHeader(f.sources.read.header); err != nil {
		return err
	}
	return checkPatterns(f.sources.exclude)
}

// packFiles packs files, one tensor after the other, so that it takes the memory of one of them.
func packFiles(cmd *cobra.Command, from *fromFlags, out string, attrs []layout.Attr) (packed, error) {
	if err := from.check(); err != nil {
		return packed{}, err
	}
	from.sources.read.inPlace = true
	s, err := findSources(cmd, from.roots, &from.sources)
	if err != nil {
		return packed{}, err
	}
	defer s.close()
	done := packed{path: out}
	if len(s.all) == 0 && len(s.refused.all) == 0 {
		return packed{}, fmt.Errorf("%s: no file there is called %s", strings.Join(from.roots, ", "), formatExtensions(reads))
	}
	r := s.reader(&contentFlags{})
	err = writePackage(cmd, &done, s.size, attrs, func(p *store.PackageWriter) error {
		for {
			x, err := r.next()
			if x == nil || err != nil {
				return err
			}
			if err := x.addTo(p, x.name); err != nil {
				return fmt.Errorf("%s: %w", x.in.path, err)
			}
		}
	})
	done.tensors, done.skipped = r.taken, s.left()
	return done, plainInput(err)
}
