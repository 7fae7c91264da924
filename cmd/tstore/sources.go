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
	skip    bool // see refused
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
	in, err := openArchive(cmd, f.path, flags.format)
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

// load returns a tensor of the file, which it opens if it has to.
func (f *sourceFile) load(cmd *cobra.Command, flags *sourceFlags, member int) (content, error) {
	if _, err := f.open(cmd, flags); err != nil {
		return content{}, err
	}
	if member >= len(f.archive.names) || f.archive.names[member] != f.names[member] {
		return content{}, fmt.Errorf("%s: it was changed meanwhile", f.path)
	}
	return f.archive.loadFrom(f.in, member)
}

// sources are the tensors that come from files.
type sources struct {
	cmd     *cobra.Command
	flags   *sourceFlags
	all     []source
	skipped []skipped
	refused refused
	size    int64 // of the files
	open    int   // files that were opened to list them
}

// findSources looks into files and, at any depth, into directories. Tensors of a file that was given are
// called after its name without directory, those of a file in a directory after its path there.
func findSources(cmd *cobra.Command, roots []string, flags *sourceFlags) (*sources, error) {
	s := &sources{cmd: cmd, flags: flags, refused: refused{skip: flags.skip}}
	var files []*sourceFile
	for _, root := range roots {
		found, err := s.find(root)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	files, err := s.withoutParts(files)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := s.list(f); err != nil {
			s.close()
			return nil, err
		}
	}
	if err := s.sort(); err != nil {
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
		if checkPackage(root) == nil {
			return nil, fmt.Errorf("%s: it is a package, which \"tstore unpack\" and \"tstore attach\" take into a store", root)
		}
		stem, _, _ := splitExtension(filepath.Base(root))
		return []*sourceFile{{path: root, stem: stem, size: info.Size()}}, nil
	}
	var files []*sourceFile
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
		}
		return nil
	})
	return files, err
}

// withoutParts leaves out the files of sets whose index is among the files: their tensors are those of the
// set.
func (s *sources) withoutParts(files []*sourceFile) ([]*sourceFile, error) {
	var parts []os.FileInfo
	for _, f := range files {
		if _, format, _ := splitExtension(f.path); format != indexFormat {
			continue
		}
		in, err := openInput(s.cmd, f.path)
		if err != nil {
			return nil, err
		}
		shards, err := shardsOf(f.path, in.bytes)
		in.close()
		if err != nil {
			return nil, err
		}
		for _, shard := range shards {
			info, err := os.Stat(shard)
			if err != nil {
				return nil, plainPathError(err)
			}
			parts = append(parts, info)
		}
	}
	isPart := func(f *sourceFile) bool {
		if _, format, _ := splitExtension(f.path); format != safetensorsFormat {
			return false
		}
		info, err := os.Stat(f.path)
		return err == nil && slices.ContainsFunc(parts, func(p os.FileInfo) bool { return os.SameFile(p, info) })
	}
	if len(parts) > 0 {
		files = slices.DeleteFunc(files, isPart)
	}
	return files, nil
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
		if err != nil && s.refused.take(f.shown(), "", err) {
			return nil
		}
		if err != nil {
			return err
		}
		f.names = a.names
		for _, x := range a.skipped {
			s.skipped = append(s.skipped, skipped{f.path + ": " + x.path, x.why})
		}
		s.size = max(s.size, int64(len(f.in.bytes)))
		if s.open++; !f.in.lasts && s.open > openFiles {
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

// shown is what errors call the file.
func (f *sourceFile) shown() string {
	if f.path == "-" {
		return "standard input"
	}
	return f.path
}

// sort puts the tensors in the order of their names, and checks that all have names of their own.
func (s *sources) sort() error {
	slices.SortStableFunc(s.all, func(a, b source) int { return strings.Compare(a.name, b.name) })
	for i := 1; i < len(s.all); i++ {
		if a, b := s.all[i-1], s.all[i]; a.name == b.name {
			return usagef("%s and %s would both be called %q; leave one out with --exclude, or give it another name", a.file.what(a.member), b.file.what(b.member), a.name)
		}
	}
	return nil
}

// openFiles is how many files are kept open because they may be needed again.
const openFiles = 100

// sourceReader loads one tensor after the other, in the order of their names.
type sourceReader struct {
	*sources
	flags *contentFlags

	// keep says that tensors stay where they are until release is called.
	keep bool

	at    int
	taken int64         // tensors that next has returned
	used  []*sourceFile // open, the last one used behind
}

func (s *sources) reader(flags *contentFlags) *sourceReader {
	return &sourceReader{sources: s, flags: flags}
}

// source returns where the tensor comes from that next returned last.
func (r *sourceReader) source() source { return r.all[r.at-1] }

// release says that the tensors before are used no more, nor each one after when next is called again.
func (r *sourceReader) release() { r.keep = false }

// left returns what was left out; all of it is known behind the last tensor.
func (s *sources) left() []skipped { return append(slices.Clip(s.skipped), s.refused.all...) }

// next returns the next tensor, or nil behind the last. What can't be stored is passed over. If that is an
// error, it comes when all that is there has been looked at.
func (r *sourceReader) next() (*loaded, error) {
	for r.at < len(r.all) {
		if r.refused.hopeless() {
			r.keep = false // nothing of this will be used
		}
		x, err := r.read()
		if err != nil {
			return nil, err
		}
		if x == nil {
			continue
		}
		r.taken++
		if !r.refused.hopeless() {
			return x, nil
		}
	}
	return nil, r.refused.err(r.taken)
}

// read returns the next tensor, or nil if it can't be stored.
func (r *sourceReader) read() (*loaded, error) {
	if err := r.cmd.Context().Err(); err != nil {
		return nil, err
	}
	for !r.keep && len(r.used) > openFiles {
		r.used[0].close()
		r.used = r.used[1:]
	}
	x := r.all[r.at]
	r.at++
	if n := len(r.used); n == 0 || r.used[n-1] != x.file {
		if i := slices.Index(r.used, x.file); i >= 0 {
			r.used = slices.Delete(r.used, i, i+1)
		}
		r.used = append(r.used, x.file)
	}
	c, err := x.file.load(r.cmd, r.sources.flags, x.member)
	if err != nil && r.refused.take(x.file.shown(), x.file.names[x.member], err) {
		return nil, nil
	}
	if err == nil {
		c, err = r.flags.apply(c, x.file.in.path)
	}
	if err != nil {
		if len(r.all) > 1 {
			err = fmt.Errorf("%w (--exclude leaves it out)", err)
		}
		return nil, &inputError{err}
	}
	if len(x.file.in.maps) == 0 && len(x.file.names) == 1 && !x.file.in.lasts {
		// A small file of one tensor, which is in memory: there may be any number of them.
		defer x.file.close()
	}
	return &loaded{x.name, c, x.file.in}, nil
}

// errNoTensors says that there is nothing in what was given.
var errNoTensors = errors.New("no tensors there")
