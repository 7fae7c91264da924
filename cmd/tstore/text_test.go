package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

func TestShapeText(t *testing.T) {
	for _, c := range []struct {
		shape []int64
		names []string
		want  string
	}{
		{nil, nil, "()"},
		{[]int64{3}, nil, "(3,)"},
		{[]int64{3, 0}, nil, "(3, 0)"},
		{[]int64{3, 4, 5}, []string{"x", "", "z\x1b[2J"}, `(x: 3, 4, z\x1b[2J: 5)`},
	} {
		if got := shapeText(c.shape, c.names); got != c.want {
			t.Errorf("%v %q: %s, want %s", c.shape, c.names, got, c.want)
		}
	}
}

func TestByteText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1023: "1023", 1024: "1024 (1.0 KiB)", 460032: "460032 (449.2 KiB)",
		1 << 30: "1073741824 (1.0 GiB)", 1<<63 - 1: "9223372036854775807 (8.0 EiB)",
	} {
		if got := byteText(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

// Text from a store can't move the cursor or end a line.
func TestPrintable(t *testing.T) {
	for s, want := range map[string]string{
		"plain ü 数": "plain ü 数", "a\nb": `a\x0ab`, "\x1b]0;x\a": `\x1b]0;x\x07`, "\u009b2J": `\x9b2J`, "\x7f": `\x7f`,
		"a\u202eb": `a\u202eb`, "\u2066\u2028\u2029": `\u2066\u2028\u2029`, "\u00ad": `\xad`, "\U000e0041": `\U000e0041`,
	} {
		if got := printable(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

// Help that can't be written is a failure, however one asks for it.
func TestHelpThatCantBeWritten(t *testing.T) {
	for _, args := range [][]string{{}, {"help"}, {"help", "slices"}, {"help", "get"}, {"--help"}, {"get", "-h"}, {"slices"}} {
		var stderr strings.Builder
		if code := run(t.Context(), args, fullWriter{}, &stderr); code != exitFailure || !strings.HasSuffix(stderr.String(), "no space left on device; make room on the disk and try again\n") {
			t.Errorf("%q: exit code %d, %q", args, code, stderr.String())
		}
	}
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestEntryJSON(t *testing.T) {
	for _, c := range []struct {
		e    store.Entry
		want string
	}{
		{
			store.Entry{Name: "x", DType: layout.Float32, Bytes: 4},
			`{"name":"x","dtype":"float32","shape":[],"layout":"dense","bytes":4,"attrs":{}}`,
		},
		{
			store.Entry{Name: "a\"b", DType: layout.Int8, Shape: []int64{2, 3}, DimNames: []string{"r", ""}, Bytes: 6, Attrs: []layout.Attr{
				{Key: "k", Value: "1"}, {Key: "b", Value: "\n"}, {Key: "k", Value: "2"}, {Key: "k", Value: "3"},
			}},
			`{"name":"a\"b","dtype":"int8","shape":[2,3],"dims":["r",""],"layout":"dense","bytes":6,"attrs":{"k":["1","2","3"],"b":"\n"}}`,
		},
		{
			store.Entry{Name: "s", DType: layout.Float64, Layout: layout.LayoutCSR, Shape: []int64{9, 9}, NNZ: 5, Bytes: 55, IndptrType: layout.Uint8, IndicesType: layout.Int8},
			`{"name":"s","dtype":"float64","shape":[9,9],"layout":"csr","nnz":5,"indptr":"uint8","indices":"int8","bytes":55,"attrs":{}}`,
		},
	} {
		got := string(appendEntryJSON(nil, &c.e))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("not JSON: %s", got)
		}
	}
}

// A message from elsewhere may have attributes with equal keys. They stay, in order, through put, get
// and convert.
func TestEqualKeysOfAForeignMessage(t *testing.T) {
	r, err := codec.Encode(layout.DenseOf([]float32{0, 1, 0, 2}, 2, 2), []layout.Attr{{Key: "k", Value: "1"}, {Key: "l", Value: "2"}, {Key: "k", Value: "3"}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	msg, st := filepath.Join(dir, "in.msg"), filepath.Join(dir, "s")
	if err := os.WriteFile(msg, r.AppendTo(nil), 0o666); err != nil {
		t.Fatal(err)
	}
	const want = `"attrs":{"k":["1","3"],"l":"2"}`
	mustRun(t, "put", st, "x", msg)
	if got := mustRun(t, "stat", "--json", st, "x"); !strings.Contains(got, want) {
		t.Errorf("after put: %s", got)
	}
	out := filepath.Join(dir, "out.msg")
	mustRun(t, "get", st, "x", "-o", out)
	mustRun(t, "put", st, "y", out)
	mustRun(t, "convert", st, "y", "--layout", "csr")
	if got := mustRun(t, "stat", "--json", st, "y"); !strings.Contains(got, want) || !strings.Contains(got, `"layout":"csr"`) {
		t.Errorf("after get, put and convert: %s", got)
	}
}
