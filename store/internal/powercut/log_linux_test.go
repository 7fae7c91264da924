package powercut

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// logWriter appends records to files of a few records each, done right unless a field says otherwise.
type logWriter struct {
	noSync      bool // acknowledge without a sync
	ackFirst    bool // acknowledge before the sync
	noDirSync   bool // leave the name of a new file to luck
	renameFirst bool // give the final name before the header is synced
	noSum       bool // believe in what has the right length
	noZeroFill  bool // extend by each write, not in advance; right, too
}

const (
	logRecords = 60
	logPerFile = 7
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record returns the i-th record: length, checksum, contents that only it has.
func record(i int) []byte {
	rng := rand.New(rand.NewPCG(uint64(i), 9))
	b := make([]byte, 16+rng.IntN(9000))
	for j := range b[16:] {
		b[16+j] = byte(rng.Uint32()) | 1
	}
	binary.LittleEndian.PutUint64(b, uint64(len(b)))
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b[16:], castagnoli))
	return b
}

func logName(dir string, n int) string { return filepath.Join(dir, fmt.Sprintf("%03d.log", n)) }

// write makes all records durable, acknowledging each with a mark.
func (w logWriter) write(t testing.TB, c *Client) {
	var f *os.File
	var off int64
	for i := range logRecords {
		if i%logPerFile == 0 {
			if f != nil {
				check(t, f.Close())
			}
			f = create(t, filepath.Join(c.Dir, "new"))
			off = 8
			writeAt(t, f, []byte("a log...\x00"[:8]), 0)
			if !w.noZeroFill {
				check(t, f.Truncate(64<<10))
			}
			if w.renameFirst {
				check(t, os.Rename(f.Name(), logName(c.Dir, i/logPerFile)))
				syncDir(t, c.Dir)
				check(t, f.Sync())
			} else {
				check(t, f.Sync())
				check(t, os.Rename(f.Name(), logName(c.Dir, i/logPerFile)))
				if !w.noDirSync {
					syncDir(t, c.Dir)
				}
			}
		}
		data := record(i)
		writeAt(t, f, data, off)
		off += int64(len(data))
		if w.ackFirst {
			must(c.Mark("record"))(t)
		}
		if !w.noSync {
			check(t, unix.Fdatasync(int(f.Fd())))
		}
		if !w.ackFirst {
			must(c.Mark("record"))(t)
		}
	}
	check(t, f.Close())
}

// read returns how many records are there, in order, and an error if there is one that was never written or a file that can't be read.
func (w logWriter) read(dir string) (int, error) {
	n := 0
	for file := 0; ; file++ {
		data, err := os.ReadFile(logName(dir, file))
		if errors.Is(err, fs.ErrNotExist) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if len(data) < 8 || string(data[:8]) != "a log..." {
			return n, fmt.Errorf("%s has no header", logName(dir, file))
		}
		for data = data[8:]; len(data) >= 16; n++ {
			size := binary.LittleEndian.Uint64(data)
			if size < 16 || size > uint64(len(data)) {
				break
			}
			got := data[:size]
			if !w.noSum && crc32.Checksum(got[16:], castagnoli) != binary.LittleEndian.Uint32(got[8:]) {
				break
			}
			if want := record(n); string(got) != string(want) {
				return n, fmt.Errorf("record %d is not what was written", n)
			}
			data = data[size:]
		}
	}
}

// TestLogWriters shows that a correct log loses nothing, and that each of the usual mistakes is found.
func TestLogWriters(t *testing.T) {
	for _, tt := range []struct {
		name  string
		w     logWriter
		model Model
		right bool
	}{
		{name: "right", right: true},
		{name: "right, growing", w: logWriter{noZeroFill: true}, right: true},
		{name: "no sync", w: logWriter{noSync: true}},
		{name: "acknowledged before the sync", w: logWriter{ackFirst: true}},
		{name: "directory not synced", w: logWriter{noDirSync: true}},
		{name: "renamed before the header is durable", w: logWriter{renameFirst: true}},
		{name: "no checksum", w: logWriter{noSum: true}},
		{name: "a disk that ignores syncs of files", model: Model{Ignore: "files"}},
		{name: "a disk that ignores syncs of directories", model: Model{Ignore: "dirs"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Start(t, Options{})
			tt.w.write(t, c)
			events := must(c.Trace())(t)
			cuts := Plan(events, 0, 200, 3)
			parent := TempDir(t)
			failures, most := 0, 0
			var last error
			for i, cut := range cuts {
				cut.Model = tt.model
				dir := filepath.Join(parent, fmt.Sprint(i))
				must(c.Image(cut, dir))(t)
				got, err := tt.w.read(dir)
				if acknowledged := len(Acknowledged(events, cut.At)); err == nil && got < acknowledged {
					err = fmt.Errorf("%d records are left of %d acknowledged", got, acknowledged)
				}
				if err != nil {
					failures++
					last = fmt.Errorf("cut %v: %w", cut, err)
				}
				most = max(most, got)
				check(t, os.RemoveAll(dir))
			}
			t.Logf("%d of %d cuts found something: %v", failures, len(cuts), last)
			if tt.right && failures > 0 {
				t.Errorf("a correct log lost something: %v", last)
			}
			if !tt.right && failures == 0 {
				t.Errorf("%d cuts did not find the mistake", len(cuts))
			}
			if most < logRecords/2 && tt.right {
				t.Errorf("at most %d records were ever there", most)
			}
		})
	}
}
