package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

// sourceFlags say which files tensors come from, and what they are called.
type sourceFlags struct {
	exclude []string
	rename  renameFlags
	format  string // of all files, or empty
	read    readOptions
}

// addExclude adds --exclude to a command.
func addExclude(cmd *cobra.Command, to *[]string, what string) {
	cmd.Flags().StringArrayVar(to, "exclude", nil, "leave out "+what+" is `PATTERN`, as '*.mtx' or 'old/*'; may be repeated")
}

// checkPatterns checks the patterns of --exclude.
func checkPatterns(patterns []string) error {
	for _, pattern := range patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return usagef("--exclude %s: %v", pattern, err)
		}
	}
	return nil
}

// excluded reports whether a path, or the last part of it, fits one of the patterns.
func excluded(patterns []string, inside string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		whole, _ := path.Match(pattern, inside)
		last, _ := path.Match(pattern, path.Base(inside))
		return whole || last
	})
}

// source is a tensor that comes from a file.
type source struct {
	name   string // that it gets
	file   *sourceFile
	member int // which of the file
}

// sourceFile is a file that tensors come from.
type sourceFile struct {
	path  string // as the user gave it, or found below what was given
	stem  string // what its tensors are called, or begin with
	size  int64
	names []string // of the members

	in      *input // while it is open
	archive *archive
}

// open opens the file and says what is in it.
func (f *sourceFile) open(cmd *cobra.Command, flags *sourceFlags) (*archive, error) {
	if f.archive != nil {
		return f.archive, nil
	}
	in, err := openInput(cmd, f.path)
	if err != nil {
		return nil, err
	}
	_, a, err := readArchive(in, flags.format, flags.read)
	if err != nil {
		in.close()
		return nil, err
	}
	f.in, f.archive = in, a
	return a, nil
}

// close closes the file.
func (f *sourceFile) close() {
	if f.in != nil {
		f.in.close()
	}
	f.in, f.archive = nil, nil
}

// load returns a tensor of the file, which has to be open.
func (f *sourceFile) load(member int) (content, error) {
	if member >= len(f.archive.members) || f.archive.members[member].name != f.names[member] {
		return content{}, fmt.Errorf("%s: it was changed meanwhile", f.path)
	}
	return f.archive.members[member].load()
}

// sources are the tensors that come from files.
type sources struct {
	cmd     *cobra.Command
	flags   *sourceFlags
	all     []source
	skipped []skipped
	size    int64 // of the files
}

// findSources looks into files and, at any depth, into directories. Tensors of a file that was given are
// called after its name without directory, those of a file in a directory after its path there.
func findSources(cmd *cobra.Command, roots []string, flags *sourceFlags) (*sources, error) {
	s := &sources{cmd: cmd, flags: flags}
	for _, root := range roots {
		files, err := s.find(root)
		if err != nil {
			s.close()
			return nil, err
		}
		for _, f := range files {
			if err := s.list(f); err != nil {
				s.close()
				return nil, err
			}
		}
	}
	if err := s.checkNames(); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// close closes all files.
func (s *sources) close() {
	for _, x := range s.all {
		x.file.close()
	}
}

// find returns the files that a file or directory stands for.
func (s *sources) find(root string) ([]*sourceFile, error) {
	if root == "-" {
		return []*sourceFile{{path: root}}, nil
	}
	info, err := os.Stat(root)
	if err != nil {
		return nil, plainPathError(err)
	}
	if !info.IsDir() {
		stem, _, _ := splitExtension(filepath.Base(root))
		return []*sourceFile{{path: root, stem: stem, size: info.Size()}}, nil
	}
	var files []*sourceFile
	parts := map[string]bool{} // of sets
	err = filepath.WalkDir(root+string(filepath.Separator), func(at string, d fs.DirEntry, err error) error {
		if err == nil {
			err = s.cmd.Context().Err()
		}
		if err != nil {
			return plainPathError(err)
		}
		inside, err := filepath.Rel(root, at) // also if it is a symbolic link
		if err != nil {
			return err
		}
		f, why, err := s.look(at, filepath.ToSlash(inside), d)
		switch {
		case err != nil:
			return err
		case why != "":
			s.skipped = append(s.skipped, skipped{at, why})
			if d.IsDir() {
				return fs.SkipDir
			}
		case f != nil:
			files = append(files, f)
			return s.findParts(f, parts)
		}
		return nil
	})
	return slices.DeleteFunc(files, func(f *sourceFile) bool { return parts[f.path] }), err
}

// findParts adds the files of a set, if f is an index of one.
func (s *sources) findParts(f *sourceFile, parts map[string]bool) error {
	if _, format, _ := splitExtension(f.path); format != indexFormat {
		return nil
	}
	in, err := openInput(s.cmd, f.path)
	if err != nil {
		return err
	}
	defer in.close()
	shards, err := shardsOf(f.path, in.bytes)
	for _, shard := range shards {
		parts[shard] = true
	}
	return err
}

// look returns what becomes of a file in a directory: tensors, or why it is skipped, or neither for a
// directory that is to be looked into.
func (s *sources) look(at, inside string, d fs.DirEntry) (*sourceFile, string, error) {
	if inside == "." {
		return nil, "", nil
	}
	if excluded(s.flags.exclude, inside) {
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
	stem, format, _ := splitExtension(inside)
	if format == nil && s.flags.format == "" {
		return nil, "no known extension", nil
	}
	return &sourceFile{path: at, stem: stem, size: info.Size()}, "", nil
}

// list adds the tensors of a file.
func (s *sources) list(f *sourceFile) error {
	s.size += f.size
	f.names = []string{""}
	if f.path == "-" || !s.isSingle(f.path) {
		a, err := f.open(s.cmd, s.flags)
		if err != nil {
			return err
		}
		f.names = make([]string, len(a.members))
		for i, m := range a.members {
			f.names[i] = m.name
		}
		for _, x := range a.skipped {
			s.skipped = append(s.skipped, skipped{f.path + ": " + x.path, x.why})
		}
		s.size = max(s.size, int64(len(f.in.bytes)))
		if !f.in.lasts {
			defer f.close()
		}
	}
	used := false
	for i, member := range f.names {
		name := f.stem
		switch {
		case member == "":
		case name == "":
			name = member
		default:
			name += "/" + member
		}
		if name == "" {
			return usagef("standard input has no name to store its tensor under; use \"tstore put STORE NAME -\"")
		}
		if member != "" && excluded(s.flags.exclude, name) {
			s.skipped = append(s.skipped, skipped{f.path + ": " + member, "excluded"})
			continue
		}
		name = s.flags.rename.apply(name)
		if err := store.CheckName(name); err != nil {
			return usagef("%s: %v; --exclude leaves it out, --map gives it another name", f.what(i), err)
		}
		s.all = append(s.all, source{name: name, file: f, member: i})
		used = true
	}
	if !used {
		f.close()
	}
	return nil
}

// isSingle reports whether a file is one tensor, by its name.
func (s *sources) isSingle(path string) bool {
	f, _, err := pickFormat(s.flags.format, path, reads)
	return err == nil && f != nil && f.writeAll == nil && f != indexFormat
}

// what says where a tensor comes from.
func (f *sourceFile) what(member int) string {
	if f.names[member] == "" {
		return f.path
	}
	return fmt.Sprintf("%s: %q", f.path, f.names[member])
}

// checkNames checks that all tensors have names of their own.
func (s *sources) checkNames() error {
	from := make(map[string]source, len(s.all))
	for _, x := range s.all {
		if other, ok := from[x.name]; ok {
			return usagef("%s and %s would both be called %q; leave one out with --exclude, or give it another name", other.file.what(other.member), x.file.what(x.member), x.name)
		}
		from[x.name] = x
	}
	return nil
}

// errNoTensors says that there is nothing in what was given.
var errNoTensors = errors.New("no tensors there")
