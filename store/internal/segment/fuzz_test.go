package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/codec"
)

// payloadOf is the payload of a control record, the zeros behind it included.
func payloadOf(f *testing.F, record []byte) []byte {
	head, err := codec.ParseHead(record)
	if err != nil {
		f.Fatal(err)
	}
	return record[head.HeaderLen : len(record)-crcSize]
}

func knownError(err error) bool { return errors.Is(err, ErrCorrupt) || errors.Is(err, ErrNewerFormat) }

// FuzzHeader parses payloads in a record whose CRC is right. What is accepted must
// come out the same when it is written again.
func FuzzHeader(f *testing.F) {
	for _, h := range headers {
		f.Add(payloadOf(f, AppendHeader(nil, &h)))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		h, err := parseHeader(appendControl(nil, KeyHeader, payload))
		if err != nil {
			if !knownError(err) {
				t.Fatal(err)
			}
			return
		}
		again, err := parseHeader(AppendHeader(nil, h))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(h, again, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	})
}

// FuzzCommit does the same for commit records, at the place that they give.
func FuzzCommit(f *testing.F) {
	for _, c := range commits {
		f.Add(payloadOf(f, AppendCommit(nil, &c)))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		if len(payload) < commitFixed {
			return
		}
		uuid, off := ID(payload[32:48]), int64(binary.LittleEndian.Uint64(payload[24:]))
		c, err := parseCommit(appendControl(nil, KeyCommit, payload), uuid, off)
		if err != nil {
			if !knownError(err) {
				t.Fatal(err)
			}
			return
		}
		again, err := parseCommit(AppendCommit(nil, c), uuid, off)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c, again, cmpopts.EquateEmpty()); d != "" {
			t.Error(d)
		}
	})
}

// FuzzWalk walks anything behind a sound header: it ends, with whole batches one after
// the other, or in ErrCorrupt.
func FuzzWalk(f *testing.F) {
	seed := func(build func(l *logImage)) {
		l := newLogImage(f)
		build(l)
		f.Add(l.b[l.from:], false)
		f.Add(l.b[l.from:], true)
	}
	seed(func(l *logImage) {})
	seed(func(l *logImage) { l.batch("a"); l.batch("b", "c"); l.close() })
	seed(func(l *logImage) { l.batch("a"); l.b = append(l.b, make([]byte, 200)...) })
	seed(func(l *logImage) { l.batch("a"); l.put("b", 300); l.commit(); l.clear(l.len()-500, 64) })
	seed(func(l *logImage) { l.batch("a"); l.close(); l.ops = []Op{{Kind: OpDelete, Name: "a"}}; l.commit() })
	f.Fuzz(func(t *testing.T, b []byte, exact bool) {
		l := newLogImage(t)
		l.b = append(l.b, b...)
		o := l.options()
		o.Exact = exact
		file := &changingFile{b: l.b}
		end, seq := o.From, o.Seq
		tail, err := Walk(file, o, func(batch *Batch) error {
			if batch.Start != end || batch.End <= batch.Start || batch.End > o.Limit || batch.Commit.Seq != seq+1 {
				t.Errorf("batch %d at %d to %d after batch %d, which ends at %d", batch.Commit.Seq, batch.Start, batch.End, seq, end)
			}
			for _, r := range batch.Records {
				if r.Offset < batch.Start || r.Offset+r.Length > batch.Commit.Offset {
					t.Errorf("record at %d of %d bytes outside of its batch", r.Offset, r.Length)
				}
			}
			end, seq = batch.End, batch.Commit.Seq
			return nil
		})
		switch {
		case err != nil && !knownError(err):
			t.Fatal(err)
		case err == nil && (tail.End != end || tail.Seq != seq || tail.Durable < o.From || (exact && end != o.Limit)):
			t.Errorf("tail %+v after batch %d, which ends at %d", tail, seq, end)
		}
		if file.bytes > 20*(l.len()+windowLarge) {
			t.Errorf("%d bytes were read of %d", file.bytes, l.len())
		}
	})
}

// FuzzTrailer parses trailers whose CRC is right.
func FuzzTrailer(f *testing.F) {
	s := Seal{UUID: ID{1}, Kind: KindLog, MinSeq: 1, MaxSeq: 9, IndexOffset: 640, IndexLength: 1280}
	f.Add(appendEnd(nil, &s)[Alignment:], s.End()-trailerSize)
	f.Fuzz(func(t *testing.T, b []byte, off int64) {
		if len(b) < trailerSize || off < 0 || off > 1<<50 {
			return
		}
		b = bytes.Clone(b[:trailerSize])
		binary.LittleEndian.PutUint32(b[60:], Checksum(b[:60]))
		s, err := parseTrailer(b, off)
		if err != nil {
			if !knownError(err) {
				t.Fatal(err)
			}
			return
		}
		if s.IndexOffset < Alignment || s.IndexLength < Alignment || s.End() != off+trailerSize {
			t.Errorf("%+v was accepted at %d", s, off)
		}
		if again := appendEnd(nil, s)[Alignment:]; !bytes.Equal(again, b) {
			t.Errorf("%x was accepted, %x is written", b, again)
		}
	})
}
