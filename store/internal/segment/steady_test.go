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

// syncedFile counts what is synced, and fails as it is told to.
type syncedFile struct {
	RawFile
	syncs int
	fail  int // the sync, from 1 on, that fails
}

var errSync = errors.New("the disk is gone")

func (f *syncedFile) Datasync() error {
	if f.syncs++; f.syncs == f.fail {
		return errSync
	}
	return f.RawFile.Datasync()
}

func TestSteady(t *testing.T) {
	data := make([]byte, 8<<20)
	for _, test := range []struct{ fail, syncs int }{
		{fail: 0, syncs: 4}, // of 96 MiB and then of the rest
		{fail: 1, syncs: 1},
		{fail: 3, syncs: 3},
		{fail: 4, syncs: 4},
	} {
		raw, err := OS.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		file := &syncedFile{RawFile: raw, fail: test.fail}
		s := Steady(file)
		var werr error
		for off := int64(0); off < 100<<20 && werr == nil; off += int64(len(data)) {
			_, werr = s.WriteAt(data, off)
		}
		err = s.Datasync()
		if test.fail == 0 && (werr != nil || err != nil) {
			t.Errorf("without a failure: %v, %v", werr, err)
		}
		// A sync that failed once is never forgotten, though the next one went well.
		if test.fail > 0 && (!errors.Is(err, errSync) || !errors.Is(s.Datasync(), errSync)) {
			t.Errorf("sync %d fails, the last one says %v", test.fail, err)
		}
		if _, err := s.WriteAt(data[:1], 0); (err != nil) != (test.fail > 0) {
			t.Errorf("sync %d fails, writing says %v", test.fail, err)
		}
		if file.syncs < test.syncs || test.fail == 0 && file.syncs != test.syncs {
			t.Errorf("sync %d fails: %d syncs, want %d", test.fail, file.syncs, test.syncs)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
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
