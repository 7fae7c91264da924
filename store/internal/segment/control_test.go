package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/index"
)

var headers = map[string]Header{
	"first log": {Kind: KindLog, StoreID: ID{1}, UUID: ID{2}, Number: 1},
	"data":      {Kind: KindData, StoreID: ID{1}, UUID: ID{3}, Number: 2, BaseSeq: 0},
	"package":   {Kind: KindPackage},
	"log with a live set": {Kind: KindLog, StoreID: ID{1}, UUID: ID{4}, Number: 1 << 40, BaseSeq: 1 << 50, Live: []Live{
		{Number: 1, UUID: ID{2}, Kind: KindLog, Valid: 640},
		{Number: 2, UUID: ID{3}, Kind: KindData, Valid: 1 << 40},
		{Number: 7, UUID: ID{5}, Kind: KindPackage, Valid: 64, Extra: []byte("prefix")},
		{Number: 9, UUID: ID{6}, Kind: KindCompacted, Valid: 128, Extra: make([]byte, 1000)},
	}},
}

var commits = map[string]Commit{
	"mark of a close": {Seq: 5, DurableTo: 640, UUID: ID{2}, Offset: 640},
	"every operation": {Seq: 1 << 60, DurableTo: 128, UUID: ID{2}, Offset: 6400, Ops: []Op{
		{Kind: OpPut, Name: "a", Location: Location{Segment: 1, UUID: ID{2}, Offset: 64, Length: 128, CRC: 7}},
		{Kind: OpDelete, Name: "größe"},
		{Kind: OpRename, Name: "new", From: "old", Location: Location{Segment: 3, UUID: ID{3}, Offset: 640, Length: 64, CRC: 1 << 31}},
		{Kind: OpAttach, New: []Live{{Number: 4, UUID: ID{4}, Kind: KindPackage, Valid: 640, Extra: []byte("x")}}},
		{Kind: OpReplace, Old: []uint64{1, 2}, New: []Live{{Number: 5, UUID: ID{5}, Kind: KindCompacted, Valid: 64}, {Number: 6, UUID: ID{6}, Kind: KindCompacted, Valid: 128}}},
		{Kind: OpReplace, Old: []uint64{9}},
	}},
	"longest names": {Seq: 1, UUID: ID{2}, Offset: 64, Ops: []Op{
		{Kind: OpRename, Name: strings.Repeat("n", index.MaxName), From: strings.Repeat("o", index.MaxName), Location: Location{Segment: 1, Offset: 64, Length: 64}},
	}},
}

func TestHeaderRoundTrip(t *testing.T) {
	for name, h := range headers {
		record := AppendHeader(nil, &h)
		if len(record)%Alignment != 0 {
			t.Errorf("%s: record of %d bytes", name, len(record))
		}
		file := append(record, make([]byte, 100)...)
		got, n, err := ReadHeader(bytes.NewReader(file), int64(len(file)))
		if err != nil || n != int64(len(record)) {
			t.Fatalf("%s: %d bytes of %d, %v", name, n, len(record), err)
		}
		if d := cmp.Diff(&h, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestCommitRoundTrip(t *testing.T) {
	for name, c := range commits {
		record := AppendCommit(nil, &c)
		if len(record)%Alignment != 0 {
			t.Errorf("%s: record of %d bytes", name, len(record))
		}
		got, err := parseCommit(record, c.UUID, c.Offset)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if d := cmp.Diff(&c, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestControlRecordsAreArrow makes sure that readers of Arrow can step over them.
func TestControlRecordsAreArrow(t *testing.T) {
	h, c := headers["log with a live set"], commits["every operation"]
	for key, record := range map[string][]byte{KeyHeader: AppendHeader(nil, &h), KeyCommit: AppendCommit(nil, &c), KeyIndex: appendControl(nil, KeyIndex, make([]byte, 500))} {
		head, err := codec.ParseHead(record)
		if err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		if head.Kind != codec.HeaderNone || head.Len() != int64(len(record)) || head.HeaderLen%Alignment != 0 {
			t.Errorf("%s: kind %v, %d bytes of head, %d in all of %d", key, head.Kind, head.HeaderLen, head.Len(), len(record))
		}
		if v, ok := head.LookupMetadata(key); !ok || v != "1" {
			t.Errorf("%s: marked %q, %v", key, v, ok)
		}
	}
}

// TestControlRecordsFlipped flips every bit of a header and of a commit record.
func TestControlRecordsFlipped(t *testing.T) {
	h, c := headers["log with a live set"], commits["every operation"]
	parse := map[string]func(b []byte) error{
		KeyHeader: func(b []byte) error { _, _, err := ReadHeader(bytes.NewReader(b), int64(len(b))); return err },
		KeyCommit: func(b []byte) error { _, err := parseCommit(b, c.UUID, c.Offset); return err },
	}
	for key, record := range map[string][]byte{KeyHeader: AppendHeader(nil, &h), KeyCommit: AppendCommit(nil, &c)} {
		if err := parse[key](record); err != nil {
			t.Fatal(err)
		}
		for i := range record {
			for bit := range 8 {
				record[i] ^= 1 << bit
				if err := parse[key](record); !errors.Is(err, ErrCorrupt) {
					t.Errorf("%s with bit %d of byte %d flipped: %v, want ErrCorrupt", key, bit, i, err)
				}
				record[i] ^= 1 << bit
			}
		}
		for n := range len(record) {
			if err := parse[key](record[:n]); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s cut to %d of %d bytes: %v, want ErrCorrupt", key, n, len(record), err)
			}
		}
	}
}

// TestHeaderRules changes the payload of a header, with a CRC that is right.
func TestHeaderRules(t *testing.T) {
	u16, u32, u64 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32, binary.LittleEndian.PutUint64
	cases := []struct {
		name   string
		change func(p []byte)
		want   error
	}{
		{"nothing", func(p []byte) {}, nil},
		{"newer format", func(p []byte) { u16(p, FormatVersion+1) }, ErrNewerFormat},
		{"kind 0", func(p []byte) { u16(p[2:], 0) }, ErrNewerFormat},
		{"kind of the future", func(p []byte) { u16(p[2:], 5) }, ErrNewerFormat},
		{"more live entries than there are bytes", func(p []byte) { u32(p[4:], 1000) }, ErrCorrupt},
		{"as many live entries as can be said", func(p []byte) { u32(p[4:], 1<<32-1) }, ErrCorrupt},
		{"live segment of a kind of the future", func(p []byte) { u16(p[64+32:], 9) }, ErrNewerFormat},
		{"live segment without a byte", func(p []byte) { u64(p[64+24:], 0) }, ErrCorrupt},
		{"live segment of odd length", func(p []byte) { u64(p[64+24:], 100) }, ErrCorrupt},
		{"live segment of negative length", func(p []byte) { u64(p[64+24:], 1<<63) }, ErrCorrupt},
		{"live segments out of order", func(p []byte) { u64(p[64:], 8) }, ErrCorrupt},
		{"live segment twice", func(p []byte) { u64(p[64+40:], 1) }, ErrCorrupt},
		{"extra longer than there are bytes", func(p []byte) { u32(p[64+36:], 1<<30) }, ErrCorrupt},
	}
	h := headers["log with a live set"]
	record := AppendHeader(nil, &h)
	head, err := codec.ParseHead(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		p := bytes.Clone(record[head.HeaderLen : len(record)-crcSize])
		c.change(p)
		_, err := parseHeader(appendControl(nil, KeyHeader, p))
		if !errors.Is(err, c.want) || (c.want == nil && err != nil) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := parseHeader(appendControl(nil, KeyHeader, make([]byte, 10))); !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrNewerFormat) {
		t.Errorf("short payload: %v", err)
	}
	if _, err := parseHeader(appendControl(nil, KeyCommit, make([]byte, 64))); !errors.Is(err, ErrCorrupt) {
		t.Errorf("commit record in place of a header: %v", err)
	}
}

// TestCommitRules changes the payload of a commit record, with a CRC that is right.
func TestCommitRules(t *testing.T) {
	u16, u32, u64 := binary.LittleEndian.PutUint16, binary.LittleEndian.PutUint32, binary.LittleEndian.PutUint64
	const op = commitFixed // where the first operation is: a put of "a"
	cases := []struct {
		name   string
		change func(p []byte)
		want   error
	}{
		{"nothing", func(p []byte) {}, nil},
		{"another segment", func(p []byte) { p[32]++ }, errElsewhere},
		{"another offset", func(p []byte) { u64(p[24:], 6464) }, errElsewhere},
		{"durable beyond itself", func(p []byte) { u64(p[16:], 6464) }, ErrCorrupt},
		{"durable at an odd place", func(p []byte) { u64(p[16:], 65) }, ErrCorrupt},
		{"durable at a negative place", func(p []byte) { u64(p[16:], 1<<63) }, ErrCorrupt},
		{"more operations than there are", func(p []byte) { u32(p, 7) }, ErrCorrupt},
		{"fewer operations than there are", func(p []byte) { u32(p, 5) }, ErrCorrupt},
		{"as many operations as can be said", func(p []byte) { u32(p, 1<<32-1) }, ErrCorrupt},
		{"more bytes of operations than there are", func(p []byte) { u64(p[48:], 1<<40) }, ErrCorrupt},
		{"operation of the future", func(p []byte) { p[op] = 6 }, ErrNewerFormat},
		{"operation 0", func(p []byte) { p[op] = 0 }, ErrNewerFormat},
		{"flag of the future", func(p []byte) { p[op+1] = 1 }, ErrNewerFormat},
		{"no name", func(p []byte) { u16(p[op+2:], 0) }, ErrCorrupt},
		{"name longer than allowed", func(p []byte) { u16(p[op+2:], index.MaxName+1) }, ErrCorrupt},
		{"name longer than the record", func(p []byte) { u16(p[op+2:], 1000) }, ErrCorrupt},
		{"record at 0", func(p []byte) { u64(p[op+4+24:], 0) }, ErrCorrupt},
		{"record at an odd place", func(p []byte) { u64(p[op+4+24:], 65) }, ErrCorrupt},
		{"record without a byte", func(p []byte) { u64(p[op+4+32:], 0) }, ErrCorrupt},
		{"record of odd length", func(p []byte) { u64(p[op+4+32:], 65) }, ErrCorrupt},
		{"record that ends behind 2^63", func(p []byte) { u64(p[op+4+24:], 1<<63-64); u64(p[op+4+32:], 128) }, ErrCorrupt},
	}
	c := commits["every operation"]
	record := AppendCommit(nil, &c)
	head, err := codec.ParseHead(record)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range cases {
		p := bytes.Clone(record[head.HeaderLen : len(record)-crcSize])
		x.change(p)
		_, err := parseCommit(appendControl(nil, KeyCommit, p), c.UUID, c.Offset)
		if !errors.Is(err, x.want) || (x.want == nil && err != nil) {
			t.Errorf("%s: %v, want %v", x.name, err, x.want)
		}
	}
}

// TestRecordsThatClaimTooMuch reads headers whose lengths are beyond the file or any
// reason: an error, and no memory for it.
func TestRecordsThatClaimTooMuch(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":            nil,
		"zeros":              make([]byte, 128),
		"metadata of 1 GiB":  append([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0x40}, make([]byte, 120)...),
		"metadata negative":  append([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0x80}, make([]byte, 120)...),
		"body of 1 TiB":      append(codec.ControlHead(KeyHeader, "1", 1<<40), make([]byte, 128)...),
		"body of 2^62 bytes": append(codec.ControlHead(KeyHeader, "1", 1<<62), make([]byte, 128)...),
		"no body":            codec.ControlHead(KeyHeader, "1", 0),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, _, err := ReadHeader(bytes.NewReader(b), int64(len(b))); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		if allocated > 100_000 {
			t.Errorf("%s: %d bytes were allocated", name, allocated)
		}
	}
}
