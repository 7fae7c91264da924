package safetensors_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/tstore/tstore/codec/safetensors"
)

// fileOf returns a file with this text as its header.
func fileOf(header string, data ...byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(b, header...), data...)
}

// A header of a megabyte takes time and memory by its length, whatever is in it, and gives a short
// message.
func TestHostileHeaders(t *testing.T) {
	const size = 1 << 20
	entry := `"a":{"dtype":"F32","shape":[`
	for _, c := range []struct{ start, filler, end string }{
		{"{", " ", "}"},
		{"{", "{", ""},
		{`{"`, "a", `":1}`},
		{`{"`, `\u0061`, `":1}`},
		{`{"`, `\ud800`, ""},
		{`{"a":{"x":`, "[", ""},
		{`{"a":{"x":`, `{"b":`, ""},
		{`{"a":{"x":[`, "1,", `1]}}`},
		{`{"a":{"x":`, "1", `}}`},
		{"{" + entry, "1,", `1],"data_offsets":[0,4]}}`},
		{"{" + entry, "0", `1],"data_offsets":[0,4]}}`},
		{"{", entry + `1],"data_offsets":[0,4]},`, `"z":1}`},
		{`{"__metadata__":{`, `"k":"v",`, `"z":"v"}}`},
	} {
		text := c.start + strings.Repeat(c.filler, size/len(c.filler)) + c.end
		file := fileOf(text)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		_, err := safetensors.Parse(file)
		elapsed := time.Since(start)
		runtime.ReadMemStats(&after)
		what := fmt.Sprintf("%s%.20s…%s", c.start, c.filler, c.end)
		if err == nil {
			if c.filler != " " {
				t.Errorf("%s is taken for a header", what)
			}
		} else if len(err.Error()) > 1000 {
			t.Errorf("%s: the error has %d bytes", what, len(err.Error()))
		}
		if elapsed > 5*time.Second {
			t.Errorf("%s takes %v", what, elapsed)
		}
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 40*size {
			t.Errorf("%s takes %d bytes, %d times those of the file", what, taken, taken/size)
		}
	}
}

// Claims cost nothing.
func TestClaimsAreCheap(t *testing.T) {
	for _, file := range [][]byte{
		binary.LittleEndian.AppendUint64(nil, 99_999_999),
		fileOf(`{"a":{"dtype":"F64","shape":[1000000,1000000],"data_offsets":[0,8000000000000]}}`),
		fileOf(`{"a":{"dtype":"F64","shape":[0,9223372036854775807],"data_offsets":[0,0]}}`),
	} {
		allocs := testing.AllocsPerRun(10, func() {
			if f, err := safetensors.Parse(file); err == nil {
				if _, err := f.Entries[0].Tensor(); err != nil {
					t.Fatal(err)
				}
			} else if !errors.Is(err, safetensors.ErrTruncated) {
				t.Fatal(err)
			}
		})
		if allocs > 30 {
			t.Errorf("%q: %v allocations", file, allocs)
		}
	}
}

func TestTensorsThatAreNone(t *testing.T) {
	for _, c := range []struct{ entry, reason string }{
		{`{"dtype":"F99","shape":[1],"data_offsets":[0,4]}`, `tensor "x" has elements of the unknown type "F99"`},
		{`{"dtype":"F4","shape":[8],"data_offsets":[0,4]}`, `tensor "x" has elements of type F4`},
		{`{"dtype":"F32","shape":[` + strings.Repeat("1,", 64) + `1],"data_offsets":[0,4]}`, `tensor "x" has 65 dimensions`},
	} {
		f := parse(t, fileOf(`{"x":`+c.entry+`}`, 0, 0, 0, 0))
		_, err := f.Entries[0].View()
		if !errors.Is(err, safetensors.ErrUnsupported) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%.40s: error %v, want ErrUnsupported … %s", c.entry, err, c.reason)
		}
	}
}
