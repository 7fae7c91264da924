package segment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// failingFile is a file whose sync fails from the nth on, 1 being the first.
type failingFile struct {
	RawFile
	syncs, fail int
}

var errSync = errors.New("the disk is gone")

func (f *failingFile) Datasync() error {
	if f.syncs++; f.fail > 0 && f.syncs >= f.fail {
		return errSync
	}
	return f.RawFile.Datasync()
}

func TestSteady(t *testing.T) {
	data := make([]byte, 8<<20)
	for i := range data {
		data[i] = byte(i >> 12)
	}
	path := filepath.Join(t.TempDir(), "f")
	raw, err := OS.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	file := &failingFile{RawFile: raw, fail: 2}
	s := Steady(file)
	const size = 100 << 20
	for off := int64(0); off < size; off += int64(len(data)) {
		if _, err := s.WriteAt(data[:min(int64(len(data)), size-off)], off); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Datasync(); err != nil || file.syncs != 1 {
		t.Errorf("synced %d times, %v; want once", file.syncs, err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for off := 0; off < size; off += len(data) {
		if n := min(len(data), size-off); !bytes.Equal(got[off:off+n], data[:n]) {
			t.Fatalf("the bytes at %d are not those that were written", off)
		}
	}
	// What has failed once is not forgotten.
	if err := s.Datasync(); !errors.Is(err, errSync) {
		t.Errorf("a sync that fails: %v", err)
	}
	if _, err := s.WriteAt(data[:1], size); !errors.Is(err, errSync) {
		t.Errorf("writing after that: %v", err)
	}
	if err := s.Datasync(); !errors.Is(err, errSync) || file.syncs != 2 {
		t.Errorf("syncing again: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// That a part of a file could not be written to the disk is not forgotten.
func TestWriteBackThatFailed(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	if err := writeBack(f, 0, 1<<20); err != nil {
		t.Errorf("nothing of an empty file: %v", err)
	}
	s := &steady{RawFile: osFile{f}, writing: make(chan error, 1)}
	s.writing <- errSync
	if err := s.Datasync(); !errors.Is(err, errSync) {
		t.Errorf("what could not be written is synced: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestPutTellsWhatItWrites(t *testing.T) {
	record := bigRecord(t, 3*chunkSize+100)
	var all bytes.Buffer
	p, err := NewPackageWriter(&all)
	if err != nil {
		t.Fatal(err)
	}
	start := p.Offset()
	var told []int64
	crc, err := p.Put(record, func(n int64) error {
		told = append(told, n)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, n := range told {
		sum += n
	}
	want := record.AppendTo(nil)
	if got := all.Bytes()[start:]; !bytes.Equal(got, want) || crc != Checksum(want) || sum != int64(len(want)) || len(told) < 4 {
		t.Errorf("%d bytes, told of %v, CRC %08x; want %d and %08x", len(got), told, crc, len(want), Checksum(want))
	}
	if _, err := p.Put(record, func(int64) error { return errSync }); !errors.Is(err, errSync) {
		t.Errorf("what each says is lost: %v", err)
	}
}

func bigRecord(t *testing.T, n int64) *codec.Record {
	t.Helper()
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(i>>8) ^ byte(i)
	}
	d, err := layout.NewDense(layout.Uint8, []int64{n}, data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := codec.Encode(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
