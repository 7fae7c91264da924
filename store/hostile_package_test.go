package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// entriesOf returns where the frozen index of a package begins and where its entries are.
func entriesOf(t *testing.T, b []byte) (h int, entries []int) {
	t.Helper()
	x := int(binary.LittleEndian.Uint64(b[len(b)-64+44:]))
	head, err := codec.ParseHead(b[x:])
	must(t, err)
	h = x + int(head.HeaderLen)
	order := h + int(binary.LittleEndian.Uint64(b[h+72:]))
	for i := range int(binary.LittleEndian.Uint64(b[h+24:])) {
		entries = append(entries, h+int(binary.LittleEndian.Uint64(b[order+8*i:])))
	}
	return h, entries
}

// TestPackageBomb has a package whose entries all name the one large record in it. What
// is made of it would be thousands of times as large as the file.
func TestPackageBomb(t *testing.T) {
	ctx := context.Background()
	dir := quickDir(t)
	var b bytes.Buffer
	p, err := store.NewPackageWriter(&b)
	must(t, err)
	const n = 5000
	large := stamped(1, 100_000)
	must(t, p.Add("0", large))
	for i := range n {
		must(t, p.Add(fmt.Sprintf("n%04d", i), scalar))
	}
	_, err = p.Close()
	must(t, err)
	bomb := b.Bytes()
	_, entries := entriesOf(t, bomb)
	for _, e := range entries[1:] {
		copy(bomb[e+32:e+52], bomb[entries[0]+32:]) // offset, length, CRC
		// And it is said to be that tensor, which is as long a description.
		binary.LittleEndian.PutUint64(bomb[e+16:], 0)
	}
	reseal(bomb)
	path := filepath.Join(dir, "bomb.tstore")
	must(t, os.WriteFile(path, bomb, 0o666))
	pkg := open(t, path, &store.Options{ReadOnly: true})
	sn, err := pkg.Snapshot()
	must(t, err)
	defer sn.Close()
	st := open(t, filepath.Join(dir, "s"), nil)
	must(t, st.Put("x", scalar))
	written := &countedWriter{}
	for what, work := range map[string]func() error{
		"verify": func() error { return errors.Join(problemsOf(t, pkg)...) },
		"verify quick": func() error {
			r, err := pkg.Verify(ctx, &store.VerifyOptions{Quick: true})
			for _, p := range r.Problems {
				err = errors.Join(err, p.Err)
			}
			return err
		},
		"attach": func() error { _, err := st.Attach(ctx, path, nil); return err },
		"unpack": func() error { _, err := st.Unpack(ctx, sn, nil); return err },
		"unpack a part": func() error {
			_, err := st.Unpack(ctx, sn, &store.UnpackOptions{Prefixes: []string{"n1"}})
			return err
		},
		"pack": func() error {
			w, err := store.NewPackageWriter(written)
			must(t, err)
			defer w.Abort()
			return sn.PackTo(ctx, w, nil)
		},
	} {
		if err := work(); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if written.n > 2*int64(len(bomb)) {
		t.Errorf("of a package of %d bytes %d were written", len(bomb), written.n)
	}
	must(t, compare(st, contents{"x": {tensor: scalar}}))
	if files := segmentFiles(t, filepath.Join(dir, "s")); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
	report, err := pkg.Verify(ctx, nil)
	must(t, err)
	if report.Bytes > 3*int64(len(bomb)) {
		t.Errorf("verify has read %d bytes of a file of %d", report.Bytes, len(bomb))
	}
}

type countedWriter struct{ n int64 }

func (w *countedWriter) Write(b []byte) (int, error) {
	w.n += int64(len(b))
	return len(b), nil
}

// TestManyProblems verifies a package in which every record is damaged: that is linear
// in their number, too.
func TestManyProblems(t *testing.T) {
	const n = 20_000
	var b bytes.Buffer
	p, err := store.NewPackageWriter(&b)
	must(t, err)
	for i := range n {
		must(t, p.Add(fmt.Sprintf("n%05d", i), scalar))
	}
	_, err = p.Close()
	must(t, err)
	broken := b.Bytes()
	_, entries := entriesOf(t, broken)
	for _, e := range entries {
		at := int(binary.LittleEndian.Uint64(broken[e+32:]) + binary.LittleEndian.Uint64(broken[e+40:]))
		broken[at-1] ^= 1
	}
	pkg, err := store.OpenPackageAt(bytes.NewReader(broken), int64(len(broken)), "broken")
	must(t, err)
	defer pkg.Close()
	if got := len(problemsOf(t, pkg)); got < n {
		t.Errorf("%d problems where %d records are damaged", got, n)
	}
}

// TestNamesAreNoPaths takes names that would lead out of a directory through everything
// that makes files: none has such a name.
func TestNamesAreNoPaths(t *testing.T) {
	ctx := context.Background()
	dir := quickDir(t)
	names := []string{"../../x", "../x", "..", "/etc/passwd", "C:\\x", "a/../../b", "a//b", "segments/0000000001.seg", "~/x"}
	want := contents{}
	path := filepath.Join(dir, "in", "p.tstore")
	must(t, os.Mkdir(filepath.Dir(path), 0o777))
	tensors := map[string]int64{}
	for i, name := range names {
		tensors[name] = int64(i)
		want[name] = stored{tensor: layout.DenseOf([]int64{int64(i)}, 1)}
	}
	packOf(t, path, tensors)
	pkg := open(t, path, &store.Options{ReadOnly: true})
	must(t, compare(pkg, want))
	sn, err := pkg.Snapshot()
	must(t, err)
	defer sn.Close()
	attached := open(t, filepath.Join(dir, "in", "attached"), nil)
	_, err = attached.Attach(ctx, path, nil)
	must(t, err)
	must(t, compare(attached, want))
	unpacked := open(t, filepath.Join(dir, "in", "unpacked"), nil)
	_, err = unpacked.Unpack(ctx, sn, nil)
	must(t, err)
	must(t, compare(unpacked, want))
	for file := range allFiles(t, dir) {
		rel, err := filepath.Rel(filepath.Join(dir, "in"), file)
		must(t, err)
		if strings.HasPrefix(rel, "..") || rel != "p.tstore" && !strings.HasPrefix(rel, "attached"+string(filepath.Separator)) && !strings.HasPrefix(rel, "unpacked"+string(filepath.Separator)) {
			t.Errorf("%s was made", file)
		}
	}
}

// TestAttachThroughSymbolicLink attaches a package whose path is a symbolic link: the
// store gets the file and not the link.
func TestAttachThroughSymbolicLink(t *testing.T) {
	dir := quickDir(t)
	path, link := filepath.Join(dir, "p.tstore"), filepath.Join(dir, "link.tstore")
	packOf(t, path, map[string]int64{"x": 1})
	if err := os.Symlink("p.tstore", link); err != nil {
		if runtime.GOOS == "windows" {
			return // needs a privilege
		}
		t.Fatal(err)
	}
	for _, hard := range []bool{false, true} {
		into := filepath.Join(dir, fmt.Sprint("s", hard))
		st := open(t, into, nil)
		_, err := st.Attach(context.Background(), link, &store.AttachOptions{Link: hard})
		must(t, err)
		for _, file := range segmentFiles(t, into) {
			info, err := os.Lstat(file)
			must(t, err)
			if !info.Mode().IsRegular() {
				t.Errorf("with Link %v, %s is %v", hard, file, info.Mode())
			}
		}
		must(t, compare(st, contents{"x": {tensor: layout.DenseOf([]int64{1}, 1)}}))
	}
}

// TestClaimsCostNothing changes each number of a small package to large ones. Using it
// then takes no more memory than a package of that size may.
func TestClaimsCostNothing(t *testing.T) {
	var b bytes.Buffer
	p, err := store.NewPackageWriter(&b, layout.Attr{Key: "title", Value: "t"})
	must(t, err)
	for _, name := range []string{"a", "b", "c"} {
		must(t, p.Add(name, scalar, layout.Attr{Key: "unit", Value: "m"}))
	}
	_, err = p.Close()
	must(t, err)
	whole := b.Bytes()
	h, entries := entriesOf(t, whole)
	places := []int{len(whole) - 64 + 28, len(whole) - 64 + 36, len(whole) - 64 + 44, len(whole) - 64 + 52}
	for at := 16; at < 112; at += 8 {
		places = append(places, h+at)
	}
	for _, e := range entries {
		for at := 8; at < 56; at += 8 {
			places = append(places, e+at)
		}
	}
	for _, at := range places {
		for _, v := range []uint64{1<<63 - 64, 1<<63 - 1, 1 << 63, 1<<64 - 64, 1<<64 - 1, 1 << 40, 1 << 32, 1<<32 - 1, 1 << 31} {
			changed := bytes.Clone(whole)
			binary.LittleEndian.PutUint64(changed[at:], v)
			reseal(changed)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if s, err := store.OpenPackageAt(bytes.NewReader(changed), int64(len(changed)), "changed"); err == nil {
				useAll(s)
				if sn, err := s.Snapshot(); err == nil {
					if w, err := store.NewPackageWriter(io.Discard); err == nil {
						sn.PackTo(context.Background(), w, nil)
						w.Abort()
					}
					sn.Close()
				}
				must(t, s.Close())
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%d at offset %d of %d bytes: %d bytes were allocated", v, at, len(whole), n)
			}
		}
	}
}
