//go:build unix

package store_test

import (
	"bufio"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/tstore/tstore/store"
)

// TestReadersWaitForNobody stops the writing process at random moments and reads the
// store meanwhile: whatever lock it has, nobody waits for it.
func TestReadersWaitForNobody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	cmd := child(t, "beside", dir)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	ended := make(chan struct{})
	first := make(chan struct{})
	go func() {
		defer close(ended)
		n := 0
		for lines := bufio.NewScanner(out); lines.Scan(); n++ {
			if n == 0 {
				close(first)
			}
		}
	}()
	defer func() {
		cmd.Process.Kill()
		<-ended
		cmd.Wait()
	}()
	<-first
	follower := open(t, dir, &store.Options{ReadOnly: true})
	for range 15 {
		must(t, cmd.Process.Signal(syscall.SIGSTOP))
		done := make(chan error, 1)
		go func() {
			done <- func() error {
				st, err := store.Open(dir, &store.Options{ReadOnly: true})
				if err != nil {
					return err
				}
				defer st.Close()
				a, err := oneStamp(st)
				if err != nil {
					return err
				}
				if err := follower.Refresh(); err != nil {
					return err
				}
				b, err := oneStamp(follower)
				if err == nil && a > b { // the signal may take a moment to arrive
					err = fmt.Errorf("a new reader sees stamp %d, one that is refreshed later %d", a, b)
				}
				return err
			}()
		}()
		select {
		case err := <-done:
			must(t, err)
		case <-time.After(20 * time.Second):
			t.Fatal("a reader waits while the writer is stopped")
		}
		must(t, cmd.Process.Signal(syscall.SIGCONT))
		time.Sleep(7 * time.Millisecond)
	}
}
