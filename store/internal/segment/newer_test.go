package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/tstore/tstore/codec"
)

// A last commit record that is whole, but has an operation that this version does not
// know, asks for a newer one: it is not taken for a torn tail.
func TestWalkUnknownOperation(t *testing.T) {
	uuid := ID{1}
	header := AppendHeader(nil, &Header{Kind: KindLog, StoreID: ID{2}, UUID: uuid, Number: 1})
	log := bytes.Clone(header)
	log = AppendCommit(log, &Commit{Seq: 1, DurableTo: int64(len(log)), UUID: uuid, Offset: int64(len(log)), Ops: []Op{{Kind: OpDelete, Name: "x"}}})
	log = AppendCommit(log, &Commit{Seq: 2, DurableTo: int64(len(header)), UUID: uuid, Offset: int64(len(log)), Ops: []Op{{Kind: OpDelete, Name: "y"}}})
	last := log[len(log)-(len(log)-len(header))/2:]
	head, err := codec.ParseHead(last)
	if err != nil {
		t.Fatal(err)
	}
	last[head.HeaderLen+commitFixed] = byte(OpReplace) + 1
	binary.LittleEndian.PutUint32(last[len(last)-crcSize:], Checksum(last[:len(last)-crcSize]))
	batches := 0
	o := WalkOptions{Number: 1, UUID: uuid, From: int64(len(header)), Limit: int64(len(log))}
	_, err = Walk(bytes.NewReader(log), o, func(*Batch) error { batches++; return nil })
	if !errors.Is(err, ErrNewerFormat) {
		t.Errorf("after %d batches: %v, want ErrNewerFormat", batches, err)
	}
}

// So does a trailer, and it says of which file.
func TestNewerTrailer(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(OS, dir, &Header{Kind: KindLog, StoreID: ID{2}, UUID: ID{1}, Number: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Retire()
	seal, err := f.Seal(f.HeaderLen, make([]byte, 4*Alignment), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	trailer := make([]byte, trailerSize)
	if _, err := f.ReadAt(trailer, seal.End()-trailerSize); err != nil {
		t.Fatal(err)
	}
	binary.LittleEndian.PutUint16(trailer[8:], FormatVersion+1)
	binary.LittleEndian.PutUint32(trailer[60:], Checksum(trailer[:60]))
	if _, err := f.raw.WriteAt(trailer, seal.End()-trailerSize); err != nil {
		t.Fatal(err)
	}
	if _, err := f.FindSeal(f.HeaderLen); !errors.Is(err, ErrNewerFormat) || !strings.Contains(err.Error(), f.Path) {
		t.Errorf("%v, want ErrNewerFormat with %s", err, f.Path)
	}
}
