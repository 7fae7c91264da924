package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// logImage is a log in memory, built step by step.
type logImage struct {
	t       testing.TB
	b       []byte
	header  Header
	from    int64 // where the header ends
	seq     uint64
	durable int64 // what the next commit record calls durable
	ops     []Op
}

var logUUID = ID{1, 2, 3}

func newLogImage(t testing.TB) *logImage {
	l := &logImage{t: t, header: Header{Kind: KindLog, StoreID: ID{9}, UUID: logUUID, Number: 7, BaseSeq: 100}, seq: 100}
	l.b = AppendHeader(nil, &l.header)
	l.from = l.len()
	l.durable = l.from
	return l
}

func (l *logImage) len() int64 { return int64(len(l.b)) }

// tensorRecord is the record of a tensor of n bytes that follow from its name.
func tensorRecord(t testing.TB, name string, n int) []byte {
	t.Helper()
	data := make([]byte, n)
	for i := range data {
		data[i] = name[i%len(name)]
	}
	d, err := layout.NewDense(layout.Uint8, []int64{int64(n)}, data)
	if err != nil {
		t.Fatal(err)
	}
	r, err := codec.Encode(d, []layout.Attr{{Key: "tstore.name", Value: name}, {Key: "unit", Value: "m"}})
	if err != nil {
		t.Fatal(err)
	}
	return r.AppendTo(nil)
}

// put appends a record and returns where it lies.
func (l *logImage) put(name string, n int) Location {
	return l.putRecord(name, tensorRecord(l.t, name, n))
}

func (l *logImage) putRecord(name string, r []byte) Location {
	at := Location{Segment: l.header.Number, UUID: logUUID, Offset: l.len(), Length: int64(len(r)), CRC: Checksum(r)}
	l.b = append(l.b, r...)
	l.ops = append(l.ops, Op{Kind: OpPut, Name: name, Location: at})
	return at
}

// commit ends the batch and returns where its record lies.
func (l *logImage) commit() (offset int64) {
	l.seq++
	return l.commitAs(Commit{Seq: l.seq, DurableTo: l.durable, UUID: logUUID, Offset: l.len(), Ops: l.ops})
}

func (l *logImage) commitAs(c Commit) (offset int64) {
	offset = l.len()
	l.b = AppendCommit(l.b, &c)
	l.ops = nil
	return offset
}

// sync makes the following commit records call durable what is there.
func (l *logImage) sync() { l.durable = l.len() }

// batch is a whole batch and a sync.
func (l *logImage) batch(names ...string) {
	for _, n := range names {
		l.put(n, 100)
	}
	l.commit()
	l.sync()
}

// close appends the mark of a clean close.
func (l *logImage) close() (offset int64) {
	l.sync()
	offset = l.commit()
	l.sync()
	return offset
}

func (l *logImage) options() WalkOptions {
	return WalkOptions{Number: l.header.Number, UUID: logUUID, From: l.from, Limit: l.len(), Seq: l.header.BaseSeq}
}

// walked is what Walk makes of a log: each batch as its sequence number and the
// names it puts.
func walked(r io.ReaderAt, o WalkOptions) ([]string, Tail, error) {
	var got []string
	tail, err := Walk(r, o, func(b *Batch) error {
		s := fmt.Sprint(b.Commit.Seq, ":")
		for _, op := range b.Commit.Ops {
			s += " " + op.Name
		}
		got = append(got, s)
		return nil
	})
	return got, tail, err
}

// clear zeroes blocks: what is lost of a write that a crash tore.
func (l *logImage) clear(from, n int64) { clear(l.b[from : from+n]) }

// TestWalk has a case for every rule that tells a torn tail from damage.
func TestWalk(t *testing.T) {
	type expect struct {
		batches []string
		end     int64 // 0 for the end of the image
		durable int64 // 0 not to look
		clean   bool
		torn    bool
		damage  int64 // offset that the error must name; 0 for no error
	}
	cases := []struct {
		name  string
		build func(l *logImage) expect
	}{
		{"empty", func(l *logImage) expect { return expect{durable: l.len()} }},
		{"nothing but zeros", func(l *logImage) expect {
			end := l.len()
			l.b = append(l.b, make([]byte, 10_000)...)
			return expect{end: end}
		}},
		{"batches", func(l *logImage) expect {
			l.batch("a")
			l.batch("b", "c")
			durable := l.durable
			l.batch("d")
			return expect{batches: []string{"101: a", "102: b c", "103: d"}, durable: durable}
		}},
		{"space ahead of the tail", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.b = append(l.b, make([]byte, 70_001)...)
			return expect{batches: []string{"101: a"}, end: end}
		}},
		{"closed", func(l *logImage) expect {
			l.batch("a")
			at := l.close()
			return expect{batches: []string{"101: a", "102:"}, clean: true, durable: at}
		}},
		{"closed and taken up again", func(l *logImage) expect {
			l.batch("a")
			l.close()
			l.batch("b")
			return expect{batches: []string{"101: a", "102:", "103: b"}}
		}},
		{"batches of deletes and renames", func(l *logImage) expect {
			at := l.put("a", 100)
			l.commit()
			l.ops = []Op{{Kind: OpRename, Name: "b", From: "a", Location: at}}
			l.commit()
			l.ops = []Op{{Kind: OpDelete, Name: "b"}}
			l.commit()
			return expect{batches: []string{"101: a", "102: b", "103: b"}}
		}},
		{"record of another segment", func(l *logImage) expect {
			l.ops = []Op{{Kind: OpPut, Name: "far", Location: Location{Segment: 3, UUID: ID{3}, Offset: 64, Length: 64}}}
			l.commit()
			return expect{batches: []string{"101: far"}}
		}},
		{"record that no operation names", func(l *logImage) expect {
			l.put("a", 100)
			l.ops = nil
			l.put("b", 100)
			l.commit()
			return expect{batches: []string{"101: b"}}
		}},

		// Torn tails: none of it was acknowledged.
		{"records without a commit", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 100)
			l.put("c", 100)
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"record cut short by the end of the file", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 5000)
			l.b = l.b[:l.len()-1000]
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"file that ends in the middle of a block", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 5000)
			l.b = l.b[:l.len()-33]
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"head of the record lost", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 5000)
			l.commit()
			l.clear(end, 512)
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"half of the head lost", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 5000)
			l.commit()
			l.clear(end+64, 128)
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"body of the record lost", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 5000)
			l.commit()
			l.clear(end+1024, 512)
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"commit record lost", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 100)
			at := l.commit()
			l.clear(at, l.len()-at)
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"half of the commit record lost", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 100)
			at := l.commit()
			l.clear(at+128, l.len()-at-128)
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"first of two batches in one sync torn", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			b := l.put("b", 5000)
			l.commit()
			l.put("c", 100)
			l.commit()
			l.clear(b.Offset+2048, 512)
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"commit of the first of two batches in one sync lost", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 5000)
			at := l.commit()
			n := l.len() - at
			l.put("c", 100)
			l.commit()
			l.clear(at, n)
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"second of two batches in one sync torn", func(l *logImage) expect {
			l.batch("a")
			l.put("b", 100)
			l.commit()
			end := l.len()
			c := l.put("c", 5000)
			l.commit()
			l.clear(c.Offset+2048, 512)
			return expect{batches: []string{"101: a", "102: b"}, end: end, torn: true}
		}},
		{"three batches in one sync, the second torn", func(l *logImage) expect {
			l.batch("a")
			l.put("b", 100)
			l.commit()
			end := l.len()
			c := l.put("c", 5000)
			l.commit()
			l.put("d", 100)
			l.commit()
			l.clear(c.Offset, 512)
			return expect{batches: []string{"101: a", "102: b"}, end: end, torn: true}
		}},
		{"one of two records torn", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 100)
			c := l.put("c", 5000)
			l.put("d", 100)
			l.commit()
			l.clear(c.Offset+1024, 64)
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"log that was closed, then torn", func(l *logImage) expect {
			l.batch("a")
			l.close()
			end := l.len()
			b := l.put("b", 5000)
			l.commit()
			l.clear(b.Offset+1024, 512)
			return expect{batches: []string{"101: a", "102:"}, end: end, torn: true}
		}},
		{"bytes behind the mark of a clean close", func(l *logImage) expect {
			l.batch("a")
			l.close()
			end := l.len()
			l.b = append(l.b, make([]byte, 4096)...)
			l.b[end+4000] = 1
			return expect{batches: []string{"101: a", "102:"}, end: end, torn: true}
		}},
		{"mark of a clean close lost", func(l *logImage) expect {
			l.batch("a")
			l.batch("b")
			end := l.len()
			at := l.close()
			l.clear(at, l.len()-at)
			return expect{batches: []string{"101: a", "102: b"}, end: end}
		}},
		{"half of the mark of a clean close lost", func(l *logImage) expect {
			l.batch("a")
			l.batch("b")
			end := l.len()
			at := l.close()
			l.clear(at+128, 64)
			return expect{batches: []string{"101: a", "102: b"}, end: end, torn: true}
		}},

		// Damage: it was acknowledged, and a later commit record says so.
		{"record zeroed before a later sync", func(l *logImage) expect {
			l.batch("a")
			at := l.len()
			l.batch("b")
			l.batch("c")
			l.clear(at, 64)
			return expect{batches: []string{"101: a"}, damage: at}
		}},
		{"commit zeroed before a later sync", func(l *logImage) expect {
			l.batch("a")
			l.put("b", 100)
			at := l.commit()
			n := l.len() - at
			l.sync()
			l.batch("c")
			l.clear(at, n)
			return expect{batches: []string{"101: a"}, damage: at}
		}},
		{"bit flipped in a commit record before a later sync", func(l *logImage) expect {
			l.batch("a")
			l.put("b", 100)
			at := l.commit()
			l.sync()
			l.batch("c")
			l.b[at+200] ^= 4
			return expect{batches: []string{"101: a"}, damage: at}
		}},
		{"length of a commit record flipped before a later sync", func(l *logImage) expect {
			l.batch("a")
			l.put("b", 100)
			at := l.commit()
			n := l.len() - at
			l.sync()
			l.batch("c")
			l.lengthen(Location{Offset: at, Length: n}, at+1<<40)
			return expect{batches: []string{"101: a"}, damage: at}
		}},
		{"bit flipped in the head of a record before a later sync", func(l *logImage) expect {
			l.batch("a")
			at := l.put("b", 100).Offset
			l.commit()
			l.sync()
			l.batch("c")
			l.b[at+8] ^= 1
			return expect{batches: []string{"101: a"}, damage: at}
		}},
		{"big hole before a later sync", func(l *logImage) expect {
			l.batch("a")
			at := l.len()
			for i := range 20 {
				l.batch(fmt.Sprint("b", i))
			}
			n := l.len() - at
			l.batch("c")
			l.batch("d")
			l.clear(at, n)
			return expect{batches: []string{"101: a"}, damage: at}
		}},
		{"last batch before a clean close zeroed", func(l *logImage) expect {
			l.batch("a")
			at := l.len()
			l.batch("b")
			n := l.len() - at
			l.close()
			l.clear(at, n)
			return expect{batches: []string{"101: a"}, damage: at}
		}},
		{"last commit before a clean close flipped", func(l *logImage) expect {
			l.put("a", 100)
			at := l.commit()
			l.close()
			l.b[at+100] ^= 1
			return expect{damage: at}
		}},
		{"sequence number that has been", func(l *logImage) expect {
			l.batch("a")
			l.put("b", 100)
			at := l.commitAs(Commit{Seq: 101, DurableTo: l.durable, UUID: logUUID, Offset: l.len(), Ops: l.ops})
			l.sync()
			l.close()
			return expect{batches: []string{"101: a"}, damage: at}
		}},
		{"sequence number left out", func(l *logImage) expect {
			l.batch("a")
			l.seq++
			l.put("b", 100)
			at := l.commit()
			l.sync()
			l.close()
			return expect{batches: []string{"101: a"}, damage: at}
		}},
		{"length of a record that takes in its commit record", func(l *logImage) expect {
			l.batch("a")
			at := l.put("b", 100)
			l.commit() // the next one is of the same sync, so b may be in one batch with c
			end := l.len()
			l.put("c", 100)
			c := l.commit()
			l.close()
			l.lengthen(at, end)
			return expect{batches: []string{"101: a"}, damage: c}
		}},
		{"length of a record that takes in all up to the mark of a clean close", func(l *logImage) expect {
			l.batch("a")
			at := l.put("b", 100)
			l.commit()
			c := l.close()
			l.lengthen(at, c)
			return expect{batches: []string{"101: a"}, damage: c}
		}},
		{"length of a record that takes in all that follows", func(l *logImage) expect {
			l.batch("a")
			at := l.put("b", 100)
			l.commit()
			l.close()
			l.lengthen(at, l.len())
			return expect{batches: []string{"101: a"}, damage: l.len()}
		}},
		{"commit record that calls its own batch durable", func(l *logImage) expect {
			l.batch("a")
			l.put("b", 100)
			at := l.commitAs(Commit{Seq: 102, DurableTo: l.len(), UUID: logUUID, Offset: l.len(), Ops: l.ops})
			return expect{batches: []string{"101: a"}, damage: at}
		}},
		{"record said to lie where none is", func(l *logImage) expect {
			l.batch("a")
			l.put("b", 1000)
			l.ops[0].Location.Offset += 64
			l.ops[0].Location.Length -= 64
			c := l.commit()
			l.close()
			return expect{batches: []string{"101: a"}, damage: c}
		}},
		{"record said to lie in an earlier batch", func(l *logImage) expect {
			at := l.put("a", 100)
			l.commit()
			l.sync()
			l.ops = []Op{{Kind: OpPut, Name: "b", Location: at}}
			c := l.commit()
			l.close()
			return expect{batches: []string{"101: a"}, damage: c}
		}},
		{"rename of a record to come", func(l *logImage) expect {
			l.batch("a")
			l.ops = []Op{{Kind: OpRename, Name: "b", From: "a", Location: Location{Segment: 7, UUID: logUUID, Offset: 1 << 20, Length: 64}}}
			c := l.commit()
			l.close()
			return expect{batches: []string{"101: a"}, damage: c}
		}},
		{"record said to lie in another segment of this number", func(l *logImage) expect {
			l.batch("a")
			l.put("b", 100)
			l.ops[0].Location.UUID = ID{8}
			c := l.commit()
			l.close()
			return expect{batches: []string{"101: a"}, damage: c}
		}},

		// Bytes that look like something they are not.
		{"a log inside a tensor", func(l *logImage) expect {
			inner := newLogImage(l.t)
			inner.batch("x")
			inner.batch("y")
			inner.close()
			l.batch("a")
			l.putTensor("log", inner.b)
			l.commit()
			l.sync()
			l.close()
			return expect{batches: []string{"101: a", "102: log", "103:"}, clean: true}
		}},
		{"the log itself inside a tensor, torn", func(l *logImage) expect {
			l.batch("a")
			l.batch("b")
			l.close()
			end := l.len()
			at := l.putTensor("log", slices.Clone(l.b))
			l.commit()
			l.clear(at.Offset, 128)
			return expect{batches: []string{"101: a", "102: b", "103:"}, end: end, torn: true}
		}},
		{"the log itself inside a tensor, damaged", func(l *logImage) expect {
			l.batch("a")
			at := l.putTensor("log", slices.Clone(l.b))
			l.commit()
			l.close()
			l.clear(at.Offset, 128)
			return expect{batches: []string{"101: a"}, damage: at.Offset}
		}},
		{"header in the middle", func(l *logImage) expect {
			l.batch("a")
			at := l.len()
			l.b = AppendHeader(l.b, &l.header)
			l.batch("b")
			l.close()
			return expect{batches: []string{"101: a"}, damage: at}
		}},
		{"commit record of another segment", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 100)
			l.commitAs(Commit{Seq: 102, DurableTo: l.durable, UUID: ID{8}, Offset: l.len(), Ops: l.ops})
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"commit record of another place", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.put("b", 100)
			l.commitAs(Commit{Seq: 102, DurableTo: l.durable, UUID: logUUID, Offset: l.len() + 64, Ops: l.ops})
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
		{"a schema", func(l *logImage) expect {
			l.batch("a")
			end := l.len()
			l.b = append(l.b, codec.EndOfStream()...)
			l.b = append(l.b, make([]byte, 120)...)
			return expect{batches: []string{"101: a"}, end: end, torn: true}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			l := newLogImage(t)
			want := c.build(l)
			got, tail, err := walked(bytes.NewReader(l.b), l.options())
			if want.damage != 0 {
				if n := len(got); n > len(want.batches) || !slices.Equal(got, want.batches[:n]) {
					t.Errorf("batches before the damage are %q, want no others than %q", got, want.batches)
				}
				if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), fmt.Sprint(want.damage)) {
					t.Errorf("error is %v, want ErrCorrupt at offset %d", err, want.damage)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want.batches, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("batches (-want +got):\n%s", d)
			}
			end := want.end
			if end == 0 {
				end = l.len()
			}
			if tail.End != end || tail.Clean != want.clean || tail.Torn != want.torn {
				t.Errorf("tail is %+v, want end %d, clean %v, torn %v", tail, end, want.clean, want.torn)
			}
			if want.durable != 0 && tail.Durable != want.durable {
				t.Errorf("durable up to %d, want %d", tail.Durable, want.durable)
			}
			if n := uint64(len(got)); tail.Seq != l.header.BaseSeq+n {
				t.Errorf("last sequence number is %d, want %d", tail.Seq, l.header.BaseSeq+n)
			}
			// Going on from the end of a batch gives the rest.
			from := resume(t, l, got)
			for i, o := range from {
				rest, again, err := walked(bytes.NewReader(l.b), o)
				if err != nil {
					t.Fatalf("from batch %d: %v", i, err)
				}
				if d := cmp.Diff(got[i+1:], rest, cmpopts.EquateEmpty()); d != "" {
					t.Errorf("from batch %d (-want +got):\n%s", i, d)
				}
				if again.End != tail.End || again.Clean != tail.Clean || again.Torn != tail.Torn || again.Seq != tail.Seq {
					t.Errorf("from batch %d the tail is %+v, should be %+v", i, again, tail)
				}
			}
			// When a later header has recorded the end, there is nothing to judge.
			o := l.options()
			o.Exact, o.Limit = true, tail.End
			exact, again, err := walked(bytes.NewReader(l.b), o)
			if err != nil || again.End != tail.End {
				t.Fatalf("exact: %+v, %v", again, err)
			}
			if d := cmp.Diff(got, exact, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("exact (-want +got):\n%s", d)
			}
		})
	}
}

// putTensor appends a record with data as its elements.
func (l *logImage) putTensor(name string, data []byte) Location {
	l.t.Helper()
	d, err := layout.NewDense(layout.Uint8, []int64{int64(len(data))}, data)
	if err != nil {
		l.t.Fatal(err)
	}
	r, err := codec.Encode(d, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return l.putRecord(name, r.AppendTo(nil))
}

// lengthen changes the length that the head of a record gives of its body, so that
// the record ends at end.
func (l *logImage) lengthen(at Location, end int64) {
	l.t.Helper()
	head, err := codec.ParseHead(l.b[at.Offset:])
	if err != nil {
		l.t.Fatal(err)
	}
	length := func(n int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(n)) }
	i := bytes.Index(l.b[at.Offset:at.Offset+head.HeaderLen], length(head.BodyLen))
	if i < 0 {
		l.t.Fatal("the head does not give the length of the body")
	}
	copy(l.b[at.Offset+int64(i):], length(end-at.Offset-head.HeaderLen))
}

// resume are the options to walk on from the end of each batch.
func resume(t *testing.T, l *logImage, batches []string) []WalkOptions {
	t.Helper()
	var out []WalkOptions
	_, err := Walk(bytes.NewReader(l.b), l.options(), func(b *Batch) error {
		o := l.options()
		o.From, o.Seq, o.Closed = b.End, b.Commit.Seq, b.Commit.IsClose()
		out = append(out, o)
		return nil
	})
	if err != nil || len(out) != len(batches) {
		t.Fatalf("%d batches, %v", len(out), err)
	}
	return out
}
