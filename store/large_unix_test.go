//go:build unix

package store_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
	"github.com/tstore/tstore/store/internal/segment"
)

// holes is the operating system's file system, except that zeros are not written: files
// have holes there, so that large ones take no room.
type holes struct{ segment.FS }

func (h holes) OpenFile(name string, flag int, perm os.FileMode) (segment.RawFile, error) {
	raw, err := h.FS.OpenFile(name, flag, perm)
	if err != nil || flag&os.O_CREATE == 0 {
		return raw, err
	}
	return holesFile{raw}, nil
}

type holesFile struct{ segment.RawFile }

func (f holesFile) WriteAt(b []byte, off int64) (int, error) {
	if len(b) < 1<<20 || !zeros(b) {
		return f.RawFile.WriteAt(b, off)
	}
	size, err := f.Size()
	if err == nil && size < off+int64(len(b)) {
		err = f.Truncate(off + int64(len(b)))
	}
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// holesWriter writes a new file front to back, with holes.
type holesWriter struct {
	f   *os.File
	off int64
}

func (w *holesWriter) Write(b []byte) (int, error) {
	w.off += int64(len(b))
	if len(b) >= 1<<20 && zeros(b) {
		return len(b), w.f.Truncate(w.off)
	}
	return w.f.WriteAt(b, w.off-int64(len(b)))
}

var zeroBlock = make([]byte, 64<<10)

func zeros(b []byte) bool {
	for len(b) > len(zeroBlock) {
		if !bytes.Equal(b[:len(zeroBlock)], zeroBlock) {
			return false
		}
		b = b[len(zeroBlock):]
	}
	return bytes.Equal(b, zeroBlock[:len(b)])
}

// more4GiB is the number of elements of a tensor of more than 4 GiB.
const more4GiB = 4<<30 + 12345

// hugeTensor makes a tensor of more than 4 GiB, of zeros but for some elements, which
// takes no memory.
func hugeTensor(t *testing.T) *layout.Dense {
	t.Helper()
	b, err := unix.Mmap(-1, 0, more4GiB, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	must(t, err)
	t.Cleanup(func() { unix.Munmap(b) })
	for _, i := range hugePlaces {
		b[i] = byte(i%255 + 1)
	}
	d, err := layout.NewDense(layout.Uint8, []int64{more4GiB}, b)
	must(t, err)
	return d
}

var hugePlaces = []int64{0, 1 << 31, 1<<32 - 1, 1 << 32, more4GiB - 1}

// checkHuge looks at the tensor's elements.
func checkHuge(t *testing.T, x layout.Tensor) {
	t.Helper()
	d, ok := x.(*layout.Dense)
	if !ok || x.NNZ() != more4GiB {
		t.Fatalf("a %v tensor of %d elements", x.Layout(), x.NNZ())
	}
	b, err := d.Bytes()
	must(t, err)
	for _, i := range hugePlaces {
		if b[i] != byte(i%255+1) || (i > 0 && b[i-1] != 0 && i != 1<<32) {
			t.Errorf("element %d is %d, the one before %d", i, b[i], b[max(0, i-1)])
		}
	}
}

// TestMoreThan4GiB has a package with a tensor of more than 4 GiB and others behind it.
// With TSTORE_LARGE=1 in the environment, every byte of it is also gone through in every
// way in which that can be done.
func TestMoreThan4GiB(t *testing.T) {
	if raceEnabled {
		return // the race detector needs several times the memory that is touched
	}
	ctx := context.Background()
	dir := t.TempDir() // memory is too small
	huge := hugeTensor(t)
	path := filepath.Join(dir, "p.tstore")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	p, err := store.NewPackageWriter(&holesWriter{f: f})
	must(t, err)
	defer p.Abort()
	must(t, p.Add("a", scalar))
	must(t, p.Add("huge", huge))
	must(t, p.Add("z", stamped(1, 1000)))
	digest, err := p.Close()
	must(t, err)

	checkSmall := func(r reader) {
		t.Helper()
		for name, want := range map[string]layout.Tensor{"a": scalar, "z": stamped(1, 1000)} {
			got, err := r.Get(name)
			must(t, err)
			must(t, compareTensor(got, want))
		}
		e, err := r.Stat("huge")
		must(t, err)
		if e.Bytes != more4GiB || e.NNZ != more4GiB || e.Length < more4GiB {
			t.Errorf("the entry says %d bytes, %d elements, a record of %d bytes", e.Bytes, e.NNZ, e.Length)
		}
		if e, err := r.Stat("z"); err != nil || e.Offset < more4GiB {
			t.Errorf("the tensor behind is said to be at %d, %v", e.Offset, err)
		}
	}
	check := func(s *store.Store) {
		t.Helper()
		sn, err := s.Snapshot()
		must(t, err)
		defer sn.Close()
		checkSmall(sn)
		x, err := sn.Get("huge")
		must(t, err)
		checkHuge(t, x)
	}
	pkg := open(t, path, &store.Options{ReadOnly: true})
	check(pkg)
	report, err := pkg.Verify(ctx, &store.VerifyOptions{Quick: true})
	must(t, err)
	for _, p := range report.Problems {
		t.Error(p.Err)
	}
	st := open(t, filepath.Join(dir, "linked"), nil)
	n, err := st.Attach(ctx, path, &store.AttachOptions{Link: true})
	if n != 3 || err != nil {
		t.Fatalf("attached %d, %v", n, err)
	}
	check(st)
	must(t, st.Put("more", scalar)) // behind a segment of that size in the list
	closeStore(t, st)
	reader := open(t, filepath.Join(dir, "linked"), &store.Options{ReadOnly: true})
	check(reader)
	closeStore(t, reader)

	if os.Getenv("TSTORE_LARGE") == "" {
		return
	}
	report, err = pkg.Verify(ctx, nil)
	must(t, err)
	for _, p := range report.Problems {
		t.Error(p.Err)
	}
	if report.Bytes < more4GiB {
		t.Errorf("verified %d bytes", report.Bytes)
	}
	at, err := store.OpenPackageAt(f, fileSize(t, path), "at")
	must(t, err)
	checkSmall(at)
	must(t, at.Close())

	again := filepath.Join(dir, "again.tstore")
	g, err := os.Create(again)
	must(t, err)
	defer g.Close()
	sn, err := pkg.Snapshot()
	must(t, err)
	defer sn.Close()
	w, err := store.NewPackageWriter(&holesWriter{f: g})
	must(t, err)
	defer w.Abort()
	must(t, sn.PackTo(ctx, w, nil))
	if d, err := w.Close(); d != digest || err != nil {
		t.Errorf("packed again the digest is %v, %v; want %v", d, err, digest)
	}
	check(open(t, again, &store.Options{ReadOnly: true}))

	opts := store.WithFS(store.Options{}, holes{segment.OS})
	for what, put := range map[string]func(st *store.Store) error{
		"attached": func(st *store.Store) error {
			_, err := st.Attach(ctx, path, nil)
			return err
		},
		"unpacked": func(st *store.Store) error {
			_, err := st.Unpack(ctx, sn, nil)
			return err
		},
		"put": func(st *store.Store) error {
			return st.Update(func(tx *store.Tx) error {
				for name, x := range map[string]layout.Tensor{"huge": huge} {
					if err := tx.Put(name, x); err != nil {
						return err
					}
				}
				return nil
			})
		},
	} {
		into := filepath.Join(dir, what)
		st := open(t, into, opts)
		must(t, put(st))
		if what == "put" {
			must(t, st.View(func(tx *store.Tx) error {
				x, err := tx.Get("huge")
				if err == nil {
					checkHuge(t, x)
				}
				return err
			}))
			closeStore(t, st)
			st = open(t, into, opts)
			must(t, st.Put("a", scalar))
			p, err := store.NewPackageWriter(io.Discard)
			must(t, err)
			sn, err := st.Snapshot()
			must(t, err)
			must(t, sn.PackTo(ctx, p, nil))
			must(t, sn.Close())
			p.Abort()
			_, err = st.Compact(ctx, nil)
			must(t, err)
		} else {
			check(st)
		}
		report, err := st.Verify(ctx, nil)
		must(t, err)
		for _, p := range report.Problems {
			t.Errorf("%s: %v", what, p.Err)
		}
		closeStore(t, st)
		must(t, os.RemoveAll(into))
	}
}

// TestStreamMoreThan4GiB encodes and decodes a message with such a body.
func TestStreamMoreThan4GiB(t *testing.T) {
	if raceEnabled {
		return
	}
	huge := hugeTensor(t)
	r, err := codec.Encode(huge, []layout.Attr{{Key: "unit", Value: "m"}})
	must(t, err)
	n := int64(0)
	for part := range r.Parts() {
		n += int64(len(part))
	}
	if n != r.Len() || n < more4GiB {
		t.Errorf("the parts of a message of %d bytes have %d", r.Len(), n)
	}
	path := filepath.Join(t.TempDir(), "huge.msg")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	w := &holesWriter{f: f}
	for part := range r.Parts() { // a part may be all zeros but for a few bytes
		for len(part) > 0 {
			m := min(len(part), 4<<20)
			_, err := w.Write(part[:m])
			must(t, err)
			part = part[m:]
		}
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(r.Len()), unix.PROT_READ, unix.MAP_SHARED)
	must(t, err)
	defer unix.Munmap(b)
	head, err := codec.ParseHead(b)
	must(t, err)
	info, err := head.Describe()
	must(t, err)
	if head.Len() != r.Len() || info.Bytes != more4GiB {
		t.Errorf("the head says %d bytes, %d of elements", head.Len(), info.Bytes)
	}
	x, err := codec.Decode(b)
	must(t, err)
	checkHuge(t, x)
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}
