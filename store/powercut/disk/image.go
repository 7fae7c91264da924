package disk

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Dump writes the tree, as the running system sees it, into a directory of a real file system; it must be empty or
// missing. Zeros become holes. Nothing is synced.
func (s *State) Dump(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("disk: dump: %w", err)
	}
	if there, err := os.ReadDir(dir); err != nil {
		return fmt.Errorf("disk: dump: %w", err)
	} else if len(there) > 0 {
		return fmt.Errorf("disk: dump into %s: it is not empty", dir)
	}
	if err := s.dumpDir(RootIno, dir, map[uint64]string{}); err != nil {
		return fmt.Errorf("disk: dump: %w", err)
	}
	return nil
}

func (s *State) dumpDir(ino uint64, dir string, written map[uint64]string) error {
	for _, name := range s.Names(ino) {
		n := s.inodes[s.inodes[ino].entries[name]]
		path := filepath.Join(dir, name)
		switch first := written[n.ino]; {
		case n.isDir:
			if err := os.Mkdir(path, 0o755); err != nil {
				return err
			}
			if err := s.dumpDir(n.ino, path, written); err != nil {
				return err
			}
		case first != "":
			if err := os.Link(first, path); err != nil {
				return err
			}
			continue
		default:
			if err := n.dump(path); err != nil {
				return err
			}
			written[n.ino] = path
		}
		if err := os.Chmod(path, fs.FileMode(n.mode)&fs.ModePerm); err != nil {
			return err
		}
	}
	return nil
}

func (f *inode) dump(path string) (err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := out.Close(); err == nil {
			err = cerr
		}
	}()
	size := f.size()
	if err := out.Truncate(size); err != nil {
		return err
	}
	// Neighbouring blocks are gathered into larger writes.
	var run []byte
	var start int64
	flush := func() error {
		if len(run) == 0 {
			return nil
		}
		_, err := out.WriteAt(run[:min(int64(len(run)), size-start)], start)
		run = run[:0]
		return err
	}
	for _, i := range sortedKeys(f.blocks) {
		data := f.blocks[i].last().data
		if data == nil || i*BlockSize >= size {
			continue
		}
		if i*BlockSize != start+int64(len(run)) || len(run) >= 256*BlockSize {
			if err := flush(); err != nil {
				return err
			}
			start = i * BlockSize
		}
		run = append(run, data...)
	}
	return flush()
}

// Load turns a directory of a real file system into operations that make the same tree, given to apply in order; the
// last one settles it. Inode numbers from first on are used. Other things than files and directories are an error.
func Load(dir string, first uint64, apply func(Op) error) error {
	next := first
	inodes := map[string]uint64{".": RootIno}
	type known struct {
		ino  uint64
		info fs.FileInfo
	}
	var files []known // for hard links
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || rel == "." {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		parent, name := filepath.Split(rel)
		op := Op{Kind: OpCreate, Dir: inodes[filepath.Clean(parent)], Name: name, Ino: next, Mode: uint32(info.Mode().Perm())}
		for _, other := range files {
			if os.SameFile(other.info, info) {
				op.Kind, op.Ino, op.Mode = OpLink, other.ino, 0
				return apply(op)
			}
		}
		inodes[rel] = next
		next++
		switch {
		case info.IsDir():
			op.Kind = OpMkdir
			return apply(op)
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is neither a file nor a directory", path)
		}
		files = append(files, known{op.Ino, info})
		if err := apply(op); err != nil {
			return err
		}
		return loadFile(path, op.Ino, info.Size(), apply)
	})
	if err == nil {
		err = apply(Op{Kind: OpSettle})
	}
	if err != nil {
		return fmt.Errorf("disk: load %s: %w", dir, err)
	}
	return nil
}

func loadFile(path string, ino uint64, size int64, apply func(Op) error) error {
	if err := apply(Op{Kind: OpTruncate, Ino: ino, Size: size}); err != nil {
		return err
	}
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	for off := int64(0); off < size; {
		data := make([]byte, min(1<<20, size-off))
		if _, err := io.ReadFull(in, data); err != nil {
			return err
		}
		if !AllZero(data) {
			if err := apply(Op{Kind: OpWrite, Ino: ino, Off: off, Size: int64(len(data)), Data: data}); err != nil {
				return err
			}
		}
		off += int64(len(data))
	}
	return nil
}

var zeros [64 << 10]byte

// AllZero tells whether there is nothing but zeros in data.
func AllZero(data []byte) bool {
	for len(data) > 0 {
		n := min(len(data), len(zeros))
		if !bytes.Equal(data[:n], zeros[:n]) {
			return false
		}
		data = data[n:]
	}
	return true
}
