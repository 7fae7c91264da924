package powercut

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// exitNoFuse is the exit code that says that there is no usable /dev/fuse.
const exitNoFuse = 3

// Options set up a disk. The zero value is a strict one, empty and without a limit.
type Options struct {
	Model     Model
	Limit     int64         // bytes that files may take up in whole blocks, 0 for no limit
	SyncDelay time.Duration // how long a sync takes at least
	From      string        // a directory whose contents the disk starts with, durable; "" for none
}

// Start mounts a disk for the rest of the test. Where that can't be done the test fails, unless TSTORE_POWERCUTS=0 leaves it out.
func Start(t testing.TB, o Options) *Client {
	t.Helper()
	if Count(t, 1) == 0 {
		t.Skip("left out, as TSTORE_POWERCUTS=0 asks")
	}
	c, err := start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// ErrNoFuse says that this machine can't serve a power-cut disk.
var ErrNoFuse = errors.New("power-cut tests need a usable /dev/fuse, which is missing here; TSTORE_POWERCUTS=0 leaves them out")

func start(o Options) (*Client, error) {
	binary, err := program()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "powercut")
	if err != nil {
		return nil, fmt.Errorf("powercut: %w", err)
	}
	mount := filepath.Join(dir, "disk")
	c := &Client{Dir: mount, socket: filepath.Join(dir, "socket"), idle: make(chan *conn, 16)}
	if err := os.Mkdir(mount, 0o755); err != nil {
		return nil, errors.Join(fmt.Errorf("powercut: %w", err), os.RemoveAll(dir))
	}
	args := []string{"powercut", "mount", "-stdin", "-control", c.socket, "-limit", strconv.FormatInt(o.Limit, 10), "-sync-delay", o.SyncDelay.String()}
	if o.From != "" {
		args = append(args, "-from", o.From)
	}
	if o.Model.FsyncEntry {
		args = append(args, "-fsync-entry")
	}
	if o.Model.Ignore != "" {
		args = append(args, "-ignore-syncs", o.Model.Ignore)
	}
	var complaints bytes.Buffer
	cmd := &exec.Cmd{Path: "/proc/self/fd/3", Args: append(args, mount), ExtraFiles: []*os.File{binary}, Stderr: &complaints}
	stdin, err := cmd.StdinPipe() // closed by the kernel when this process dies, which ends the other one
	if err != nil {
		return nil, errors.Join(fmt.Errorf("powercut: %w", err), os.RemoveAll(dir))
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("powercut: %w", err), os.RemoveAll(dir))
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("powercut: start the file system: %w", err), os.RemoveAll(dir))
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "ready\n" {
		werr := cmd.Wait()
		if cmd.ProcessState.ExitCode() == exitNoFuse {
			werr = ErrNoFuse
		}
		return nil, errors.Join(fmt.Errorf("powercut: the file system did not start: %w: %s", werr, strings.TrimSpace(complaints.String())), os.RemoveAll(dir))
	}
	c.stop = sync.OnceValue(func() error {
		_, quitErr := c.call(request{Op: "quit"})
		if quitErr != nil {
			quitErr = stdin.Close()
		}
		late := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		err := cmd.Wait()
		if !late.Stop() {
			err = fmt.Errorf("it did not end and was killed: %w", err)
		}
		if err != nil {
			err = fmt.Errorf("powercut: end of the file system: %w: %s", err, strings.TrimSpace(complaints.String()))
		}
		// Gone already, unless the process died.
		if uerr := syscall.Unmount(mount, syscall.MNT_DETACH); uerr == nil {
			err = errors.Join(err, errors.New("powercut: the file system was still mounted after its process had ended"))
		}
		for len(c.idle) > 0 {
			(<-c.idle).Close()
		}
		return errors.Join(err, quitErr, os.Remove(mount), os.RemoveAll(dir))
	})
	return c, nil
}

// program builds the file system, once, and returns the open binary, which has no name any more and so leaves nothing behind.
// TSTORE_POWERCUT_BIN names one that is there already.
var program = sync.OnceValues(func() (*os.File, error) {
	if path := os.Getenv("TSTORE_POWERCUT_BIN"); path != "" {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("powercut: TSTORE_POWERCUT_BIN: %w", err)
		}
		return f, nil
	}
	gomod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return nil, fmt.Errorf("powercut: find the module: %w", err)
	}
	source := filepath.Join(filepath.Dir(strings.TrimSpace(string(gomod))), "store", "powercut")
	dir, err := os.MkdirTemp("", "powercut")
	if err != nil {
		return nil, fmt.Errorf("powercut: %w", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "powercut")
	if out, err := exec.Command("go", "build", "-C", source, "-o", path, ".").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("powercut: build %s: %w\n%s", source, err, out)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("powercut: %w", err)
	}
	return f, nil
})

// TempDir returns a directory for images that is removed at the end of the test: in memory where there is such a file
// system, since thousands of images are reopened and synced there and none has to last.
func TempDir(t testing.TB) string {
	t.Helper()
	for _, parent := range []string{"/dev/shm", ""} {
		dir, err := os.MkdirTemp(parent, "powercut")
		if err != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
		})
		return dir
	}
	t.Fatal("powercut: no place for images")
	return ""
}

// Count returns how many cuts a test should make: TSTORE_POWERCUTS if that is set, otherwise usual.
func Count(t testing.TB, usual int) int {
	t.Helper()
	text, ok := os.LookupEnv("TSTORE_POWERCUTS")
	if !ok {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("TSTORE_POWERCUTS=%q: it should be the number of power cuts, as 100 or 2000", text)
	}
	return n
}
