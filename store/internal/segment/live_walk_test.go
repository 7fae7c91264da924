package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/tstore/tstore/codec"
)

// changingFile is a file that another process changes between two reads.
type changingFile struct {
	b      []byte
	reads  int
	bytes  int64
	before func(f *changingFile) // called before each read
}

func (f *changingFile) ReadAt(b []byte, off int64) (int, error) {
	if f.before != nil {
		f.before(f)
	}
	f.reads++
	n, err := bytes.NewReader(f.b).ReadAt(b, off)
	f.bytes += int64(n)
	return n, err
}

// longLog is a log of batches of many sizes, and where each of them ends.
func longLog(t *testing.T) (l *logImage, ends []int64) {
	l = newLogImage(t)
	for i := range 12 {
		l.put(fmt.Sprint("n", i), i%4*90_000)
		l.put(fmt.Sprint("m", i), 100)
		l.commit()
		ends = append(ends, l.len())
		if i%3 > 0 { // some share a sync
			l.sync()
		}
	}
	return l, ends
}

// TestWalkBesideWriter walks a log into whose zeros batch after batch is written
// meanwhile. However that falls together, it must not be taken for damage.
func TestWalkBesideWriter(t *testing.T) {
	l, ends := longLog(t)
	all, _, err := walked(bytes.NewReader(l.b), l.options())
	if err != nil {
		t.Fatal(err)
	}
	for first := range ends { // what is there at the beginning
		for pace := 1; pace <= 4; pace++ { // reads from one batch to the next
			for burst := 1; burst <= len(ends); burst += 3 { // batches at once
				f := &changingFile{b: make([]byte, l.len()+100_000)}
				copy(f.b, l.b[:ends[first]])
				next := first + 1
				f.before = func(f *changingFile) {
					if f.reads%pace == pace-1 && next < len(ends) {
						next = min(next+burst, len(ends))
						copy(f.b, l.b[:ends[next-1]])
					}
				}
				o := l.options()
				o.Limit = int64(len(f.b))
				got, tail, err := walked(f, o)
				if err != nil {
					t.Fatalf("first %d, pace %d, burst %d: %v", first, pace, burst, err)
				}
				if n := len(got); n <= first || !slices.Equal(got, all[:n]) || tail.End != ends[n-1] {
					t.Fatalf("first %d, pace %d, burst %d: %d batches up to %d, want at least %d: %q", first, pace, burst, n, tail.End, first+1, got)
				}
			}
		}
	}
}

// TestWalkWhileCut walks a log whose zeros at the end are cut off meanwhile, as the
// writer does when it closes.
func TestWalkWhileCut(t *testing.T) {
	l, _ := longLog(t)
	l.close()
	all, want, err := walked(bytes.NewReader(l.b), l.options())
	if err != nil {
		t.Fatal(err)
	}
	for when := range 20 {
		for _, zeros := range []int{64, 1000, 20_000, 3 << 20} {
			f := &changingFile{b: slices.Concat(l.b, make([]byte, zeros))}
			f.before = func(f *changingFile) {
				if f.reads == when {
					f.b = f.b[:l.len()]
				}
			}
			o := l.options()
			o.Limit = int64(len(f.b))
			got, tail, err := walked(f, o)
			if err != nil {
				t.Fatalf("cut before read %d: %v", when, err)
			}
			if !slices.Equal(got, all) || tail != want {
				t.Fatalf("cut before read %d: %q, tail %+v", when, got, tail)
			}
		}
	}
}

// TestWalkReadErrors fails each read in turn: such an error says nothing about the
// log.
func TestWalkReadErrors(t *testing.T) {
	l, _ := longLog(t)
	at := l.put("torn", 5000)
	l.commit()
	l.put("behind", 100)
	l.commit()
	l.clear(at.Offset, 512)
	count := &changingFile{b: l.b}
	if _, tail, err := walked(count, l.options()); err != nil || !tail.Torn || count.reads < 10 {
		t.Fatalf("%+v, %v after %d reads", tail, err, count.reads)
	}
	boom := errors.New("boom")
	for n := range count.reads {
		f := &failingReader{r: bytes.NewReader(l.b), left: n, err: boom}
		_, _, err := walked(f, l.options())
		if !errors.Is(err, boom) || errors.Is(err, ErrCorrupt) {
			t.Fatalf("read %d fails: %v, want the error of the read alone", n, err)
		}
	}
}

type failingReader struct {
	r    io.ReaderAt
	left int
	err  error
}

func (f *failingReader) ReadAt(b []byte, off int64) (int, error) {
	if f.left--; f.left < 0 {
		return 0, f.err
	}
	return f.r.ReadAt(b, off)
}

// TestWalkYieldErrors returns an error for each batch in turn.
func TestWalkYieldErrors(t *testing.T) {
	l, ends := longLog(t)
	boom := errors.New("boom")
	for n := range ends {
		seen := 0
		tail, err := Walk(bytes.NewReader(l.b), l.options(), func(b *Batch) error {
			if seen == n {
				return boom
			}
			seen++
			return nil
		})
		if !errors.Is(err, boom) || errors.Is(err, ErrCorrupt) {
			t.Fatalf("batch %d: %v", n, err)
		}
		if tail.Seq != l.header.BaseSeq+uint64(n) {
			t.Errorf("batch %d: tail is %+v", n, tail)
		}
	}
}

// TestWalkBoundsItsWork walks torn tails full of bytes that look like commit
// records, each of which claims all the rest of the file.
func TestWalkBoundsItsWork(t *testing.T) {
	const size = 4 << 20
	hostile := func(uuid ID) *logImage {
		l := newLogImage(t)
		l.batch("a")
		l.b = append(l.b, make([]byte, 64)...) // the tail that is torn
		headLen := int64(len(codec.ControlHead(KeyCommit, formatVersionText, 64)))
		for l.len()+headLen+64 <= size {
			at := l.len()
			l.b = append(l.b, codec.ControlHead(KeyCommit, formatVersionText, size-at-headLen)...)
			l.b = append(l.b, make([]byte, 64)...)
			p := l.b[l.len()-64:]
			copy(p[32:], uuid[:])
			for i := range 8 {
				p[24+i] = byte(at >> (8 * i))
			}
		}
		l.b = append(l.b, make([]byte, size-l.len())...)
		return l
	}
	for name, uuid := range map[string]ID{"stored in a tensor": {8}, "made for this log": logUUID} {
		t.Run(name, func(t *testing.T) {
			l := hostile(uuid)
			f := &changingFile{b: l.b}
			got, tail, err := walked(f, l.options())
			if f.bytes > 10*size {
				t.Errorf("%d bytes were read of a file of %d", f.bytes, l.len())
			}
			if uuid == logUUID {
				if !errors.Is(err, ErrCorrupt) {
					t.Errorf("error is %v, want ErrCorrupt", err)
				}
				return
			}
			if err != nil || len(got) != 1 || !tail.Torn {
				t.Errorf("%q, %+v, %v: want a torn tail behind the first batch", got, tail, err)
			}
		})
	}
}
