package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// fromFlags say which files become tensors of a package.
type fromFlags struct {
	roots   []string
	exclude []string
}

func (f *fromFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.roots, "from", nil, "pack the files in `DIR`, at any depth, whose extension is "+formatExtensions()+"; may be repeated")
	cmd.Flags().StringArrayVar(&f.exclude, "exclude", nil, "with --from, leave out the files and directories whose name or path in DIR is `PATTERN`, as '*.mtx' or 'old/*'; may be repeated")
}

// check checks the flags.
func (f *fromFlags) check() error {
	if len(f.roots) == 0 && len(f.exclude) > 0 {
		return usagef("--exclude is for --from DIR")
	}
	for _, pattern := range f.exclude {
		if _, err := path.Match(pattern, ""); err != nil {
			return usagef("--exclude %s: %v", pattern, err)
		}
	}
	return nil
}

// excluded reports whether a file, by its path in the directory, is to be left out.
func (f *fromFlags) excluded(inside string) bool {
	return slices.ContainsFunc(f.exclude, func(pattern string) bool {
		whole, _ := path.Match(pattern, inside)
		last, _ := path.Match(pattern, path.Base(inside))
		return whole || last
	})
}

// source is a file that becomes a tensor.
type source struct {
	name   string // of the tensor
	path   string
	format *format
	size   int64
}

// skipped is a file that does not.
type skipped struct {
	path string
	why  string
}

// packFiles packs files, one after the other, so that it takes the memory of one of them.
func packFiles(cmd *cobra.Command, from *fromFlags, out string, attrs []layout.Attr) (packed, error) {
	if err := from.check(); err != nil {
		return packed{}, err
	}
	done := packed{path: out}
	sources, err := from.find(cmd, &done.skipped)
	if err != nil {
		return packed{}, err
	}
	if len(sources) == 0 {
		return packed{}, fmt.Errorf("%s: no file there is called %s", strings.Join(from.roots, ", "), formatExtensions())
	}
	var total int64
	for _, s := range sources {
		total += s.size
	}
	done.tensors = int64(len(sources))
	err = writePackage(cmd, &done, total, attrs, func(p *store.PackageWriter) error {
		for _, s := range sources {
			if err := s.addTo(cmd, p); err != nil {
				return err
			}
		}
		return nil
	})
	return done, err
}

// find returns the files in the order of the names of their tensors.
func (f *fromFlags) find(cmd *cobra.Command, skip *[]skipped) ([]source, error) {
	var all []source
	for _, root := range f.roots {
		info, err := os.Stat(root)
		if err != nil {
			return nil, plainPathError(err)
		}
		base, start := root, root+string(filepath.Separator) // also if it is a symbolic link
		if !info.IsDir() {
			base, start = filepath.Dir(root), root
		}
		err = filepath.WalkDir(start, func(at string, d fs.DirEntry, err error) error {
			if err == nil {
				err = cmd.Context().Err()
			}
			if err != nil {
				return plainPathError(err)
			}
			inside, err := filepath.Rel(base, at)
			if err != nil {
				return err
			}
			inside = filepath.ToSlash(inside)
			s, why, err := f.look(at, inside, d)
			switch {
			case err != nil:
				return err
			case why != "":
				*skip = append(*skip, skipped{at, why})
				if d.IsDir() {
					return fs.SkipDir
				}
			case s != nil:
				all = append(all, *s)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b source) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(all); i++ {
		if all[i].name == all[i-1].name {
			return nil, usagef("%s and %s would both be called %q; leave one out with --exclude", all[i-1].path, all[i].path, all[i].name)
		}
	}
	return all, nil
}

// look returns what becomes of a file: a tensor, or why it is skipped, or neither for a directory
// that is to be looked into.
func (f *fromFlags) look(at, inside string, d fs.DirEntry) (*source, string, error) {
	if inside == "." {
		return nil, "", nil
	}
	if f.excluded(inside) {
		return nil, "excluded", nil
	}
	if strings.HasPrefix(d.Name(), ".") {
		return nil, "hidden", nil
	}
	if d.IsDir() {
		return nil, "", nil
	}
	info, err := os.Stat(at) // of what a symbolic link leads to
	if err != nil {
		return nil, "", plainPathError(err)
	}
	if info.IsDir() {
		return nil, "a symbolic link to a directory", nil
	}
	if !info.Mode().IsRegular() {
		return nil, "not a regular file", nil
	}
	stem, format := splitExtension(inside)
	if format == nil {
		return nil, "not called " + formatExtensions(), nil
	}
	if err := store.CheckName(stem); err != nil {
		return nil, "", usagef("%s: %v; leave it out with --exclude", at, err)
	}
	return &source{name: stem, path: at, format: format, size: info.Size()}, "", nil
}

// addTo adds the tensor to a package.
func (s *source) addTo(cmd *cobra.Command, p *store.PackageWriter) error {
	in, err := openInput(cmd, s.path)
	if err != nil {
		return err
	}
	defer in.close()
	c, err := s.format.read(in.bytes)
	if err != nil {
		return fmt.Errorf("%s: %w (--exclude leaves a file out)", s.path, err)
	}
	if err := p.Add(s.name, c.tensor, c.attrs...); err != nil {
		return fmt.Errorf("%s: %w", s.path, err)
	}
	return nil
}
