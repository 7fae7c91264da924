package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tstore/tstore/codec/npy"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// TestMain makes the test binary act as tstore when it is called by that name.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"tstore": main})
}

// TestScript runs the scripts in testdata/script. Beside testscript's own commands they have
//
//	exits CODE COMMAND ARG...   run a command that has to end with this exit code
//	arange FILE DTYPE N...      make a file of 0, 1, 2, … with this shape
//	zip FILE NAME=MEMBER...     make an archive of files
//	lock STORE                  open a store for writing in another process, this one
//	unlock                      close it again
//	flip FILE OFFSET            invert a byte
//	cut FILE SIZE               cut a file to a size
//	ispng FILE WIDTH HEIGHT     make sure that a file is an image of this size
//
// and the variables $DIGITS, $NPY and $MATRICES, directories of testdata, and $LONG, the longest name
// that a tensor can have.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       os.Getenv("UPDATE") != "", // of expected outputs; look at what it did
		WorkdirRoot:         quickDir(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for name, dir := range map[string]string{
				"DIGITS":   "../../testdata/digits",
				"NPY":      "../../codec/npy/testdata",
				"MATRICES": "../../testdata/matrices",
			} {
				abs, err := filepath.Abs(dir)
				if err != nil {
					return err
				}
				env.Setenv(name, abs)
			}
			env.Setenv("LONG", strings.Repeat("x", store.MaxNameLen))
			held := new(*store.Store)
			env.Values[lockKey{}] = held
			env.Defer(func() {
				if *held != nil {
					(*held).Close()
				}
			})
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":  scriptExits,
			"arange": scriptArange,
			"zip":    scriptZip,
			"lock":   scriptLock,
			"unlock": scriptUnlock,
			"flip":   scriptFlip,
			"cut":    scriptCut,
			"ispng":  scriptIsPNG,
		},
	})
}

type lockKey struct{}

func usage(ts *testscript.TestScript, neg bool, args []string, n int, text string) {
	if neg || len(args) < n {
		ts.Fatalf("usage: %s", text)
	}
}

func scriptExits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "exits CODE COMMAND ARG...")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

func scriptArange(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "arange FILE DTYPE N...")
	n := int64(1)
	shape := make([]int64, len(args)-2)
	for i, s := range args[2:] {
		var err error
		shape[i], err = strconv.ParseInt(s, 10, 64)
		ts.Check(err)
		n *= shape[i]
	}
	file := ts.MkAbs(args[0])
	_, format, packing := splitExtension(file)
	if format == nil {
		ts.Fatalf("%s has no known extension", args[0])
	}
	var d *layout.Dense
	switch args[1] {
	case "float32":
		d = layout.DenseOf(arange[float32](n), shape...)
	case "int64":
		d = layout.DenseOf(arange[int64](n), shape...)
	case "uint8":
		d = layout.DenseOf(arange[uint8](n), shape...)
	case "bfloat16":
		v := make([]layout.BF16, n)
		for i := range v {
			v[i] = layout.BF16FromFloat32(float32(i))
		}
		d = layout.DenseOf(v, shape...)
	default:
		ts.Fatalf("arange knows no %s", args[1])
	}
	f, err := os.Create(file)
	ts.Check(err)
	write := func(w io.Writer) error { return format.write(w, content{tensor: d, name: "arange"}) }
	ts.Check(compressed(packing, write)(f))
	ts.Check(f.Close())
}

func arange[T float32 | int64 | uint8](n int64) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(i)
	}
	return v
}

func scriptZip(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "zip FILE NAME=MEMBER...")
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	z := zip.NewWriter(f)
	for _, arg := range args[1:] {
		name, member, _ := strings.Cut(arg, "=")
		b, err := os.ReadFile(ts.MkAbs(member))
		ts.Check(err)
		w, err := z.Create(name)
		ts.Check(err)
		_, err = w.Write(b)
		ts.Check(err)
	}
	ts.Check(z.Close())
	ts.Check(f.Close())
}

func scriptLock(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 1, "lock STORE")
	st, err := store.Open(ts.MkAbs(args[0]), nil)
	ts.Check(err)
	*ts.Value(lockKey{}).(**store.Store) = st
}

func scriptUnlock(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 0, "unlock")
	held := ts.Value(lockKey{}).(**store.Store)
	ts.Check((*held).Close())
	*held = nil
}

func scriptFlip(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "flip FILE OFFSET")
	at, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	var b [1]byte
	_, err = f.ReadAt(b[:], at)
	ts.Check(err)
	_, err = f.WriteAt([]byte{^b[0]}, at)
	ts.Check(err)
	ts.Check(f.Close())
}

func scriptCut(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "cut FILE SIZE")
	size, err := strconv.ParseInt(args[1], 10, 64)
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), size))
}

func scriptIsPNG(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 3, "ispng FILE WIDTH HEIGHT")
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	image, err := png.Decode(f)
	ts.Check(err)
	if got := fmt.Sprint(image.Bounds().Dx(), image.Bounds().Dy()); got != args[1]+" "+args[2] {
		ts.Fatalf("%s is %s dots large", args[0], got)
	}
}

// tstore returns the command, to be started as a process of its own.
func tstore(t testing.TB, args ...string) (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(self)
	cmd.Args = append([]string{"tstore"}, args...)
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd, stdout, stderr
}

// mustRun runs the command, which has to succeed, and returns what it printed.
func mustRun(t testing.TB, args ...string) string {
	t.Helper()
	cmd, stdout, stderr := tstore(t, args...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("tstore %v: %v: %s", args, err, stderr)
	}
	return stdout.String()
}

// writeNPY makes a .npy file and returns its path.
func writeNPY(t testing.TB, d *layout.Dense) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), fmt.Sprintf("%v.npy", d.DType()))
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := npy.Encode(f, d); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
