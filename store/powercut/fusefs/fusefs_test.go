package fusefs

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/tstore/tstore/store/powercut/volume"
)

// The file system itself is tested from another process, by the tests of store/internal/powercut.

func TestMissingDevice(t *testing.T) {
	defer func(was string) { device = was }(device)
	device = filepath.Join(t.TempDir(), "fuse")
	v, err := volume.New(volume.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(v, t.TempDir()); !errors.Is(err, ErrNoFuse) {
		t.Errorf("mounting without %s: %v, want ErrNoFuse", device, err)
	}
}
