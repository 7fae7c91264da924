package disk

import (
	"fmt"
	"unicode/utf8"
)

// BlockSize is the unit of caching, SectorSize the largest unit that is written whole or not at all; in bytes.
const (
	BlockSize  = 4096
	SectorSize = 512
)

// RootIno is the number of the root directory.
const RootIno = 1

// Kind says what an operation does.
type Kind string

// The kinds of operations, with the fields of [Op] that they use.
const (
	OpCreate    Kind = "create"    // Dir, Name, Ino (new), Mode: an empty file
	OpMkdir     Kind = "mkdir"     // Dir, Name, Ino (new), Mode
	OpLink      Kind = "link"      // Ino, Dir, Name: one more name for a file
	OpUnlink    Kind = "unlink"    // Dir, Name
	OpRmdir     Kind = "rmdir"     // Dir, Name
	OpRename    Kind = "rename"    // Dir, Name → ToDir, ToName, replacing what is there
	OpWrite     Kind = "write"     // Ino, Off, Size, Data (nil for zeros)
	OpTruncate  Kind = "truncate"  // Ino, Size: shorter or longer
	OpChmod     Kind = "chmod"     // Ino, Mode: permissions are not part of the model, they never get lost
	OpSync      Kind = "sync"      // Ino: a sync of a file or directory begins
	OpSynced    Kind = "synced"    // Ino, Begin, Err, Seed: the sync that began at Begin ends
	OpSettle    Kind = "settle"    // everything is on the disk, as after a clean unmount
	OpDropCache Kind = "dropcache" // the cache forgets what it believes to be on the disk
	OpCut       Kind = "cut"       // Seed, Policy: the power fails and comes back
	OpMark      Kind = "mark"      // Text: a message of the workload, no effect
	OpFail      Kind = "fail"      // Text, Err: an operation that was made to fail, no effect
)

// Op is one operation. Its place in the trace, counted from 0, is its sequence number.
type Op struct {
	Kind   Kind    `json:"op"`
	Ino    uint64  `json:"ino,omitempty"`
	Dir    uint64  `json:"dir,omitempty"`
	Name   string  `json:"name,omitempty"`
	ToDir  uint64  `json:"to_dir,omitempty"`
	ToName string  `json:"to_name,omitempty"`
	Mode   uint32  `json:"mode,omitempty"`
	Off    int64   `json:"off,omitempty"`
	Size   int64   `json:"size,omitempty"`
	Data   []byte  `json:"-"`
	Only   string  `json:"only,omitempty"`  // "data" for an fdatasync
	Begin  uint64  `json:"begin,omitempty"` // the sequence number of the OpSync
	Err    string  `json:"err,omitempty"`
	Seed   uint64  `json:"seed,omitempty"`
	Policy *Policy `json:"policy,omitempty"`
	Text   string  `json:"text,omitempty"`
	Path   string  `json:"path,omitempty"` // for people: the name of Ino at the time
}

// maxFileSize bounds offsets and sizes, so that sums of two can't overflow and a hostile trace can't ask for absurdities.
const maxFileSize = 1 << 46

// check refuses an operation with impossible numbers, whatever the state.
func (op *Op) check() error {
	switch {
	case op.Off < 0 || op.Off > maxFileSize, op.Size < 0 || op.Size > maxFileSize:
		return fmt.Errorf("%s at %d, size %d: out of range", op.Kind, op.Off, op.Size)
	case op.Kind == OpWrite && op.Data != nil && int64(len(op.Data)) != op.Size:
		return fmt.Errorf("write of %d bytes carries %d", op.Size, len(op.Data))
	case op.Kind == OpWrite && op.Data == nil && op.Size > 1<<32:
		return fmt.Errorf("write of %d zeros: too many for one operation", op.Size)
	case !utf8.ValidString(op.Name) || !utf8.ValidString(op.ToName):
		return fmt.Errorf("%s: name %q is not UTF-8", op.Kind, op.Name+op.ToName)
	}
	return nil
}
