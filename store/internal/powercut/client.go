package powercut

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"
)

// Client steers one mounted disk. Its methods may be called concurrently.
type Client struct {
	// Dir is where the disk is mounted.
	Dir string

	socket string
	idle   chan *conn
	stop   func() error
}

type conn struct {
	net.Conn
	in *bufio.Reader
}

// Policy says how the seed of a cut is used; the zero value draws everything from the seed. See disk.Policy in store/powercut.
type Policy struct {
	Blocks  string  `json:"blocks,omitempty"`  // drop, keep, random, prefix, suffix; "" any
	Sizes   string  `json:"sizes,omitempty"`   // old, new, random, prefix; "" any
	Entries string  `json:"entries,omitempty"` // drop, keep, random, prefix; "" any
	Keep    float64 `json:"keep,omitempty"`    // probability of "random", 0: drawn from the seed
	Tear    float64 `json:"tear,omitempty"`    // probability that a changed block is torn, 0: drawn, negative: never
	Garbage float64 `json:"garbage,omitempty"` // probability that new space without its data holds noise instead of zeros
}

// Model says how strict the disk is.
type Model struct {
	// FsyncEntry makes a sync of a file also persist its own name, as ext4 does.
	FsyncEntry bool `json:"fsync_entry,omitempty"`
	// Ignore makes syncs do nothing: "files", "dirs", "all". It shows that a check can fail.
	Ignore string `json:"ignore,omitempty"`
}

// Cut is a power cut.
type Cut struct {
	At     int64 // after so many operations of the trace; negative: now
	Seed   uint64
	Policy Policy
	Model  Model
}

// String gives the flags of "powercut image" that make the same cut from a saved trace.
func (c Cut) String() string {
	text := fmt.Sprintf("-at %d -seed %d", c.At, c.Seed)
	if c.Policy != (Policy{}) {
		policy, err := json.Marshal(c.Policy)
		if err != nil {
			policy = []byte(err.Error())
		}
		text += fmt.Sprintf(" -policy '%s'", policy)
	}
	if c.Model.FsyncEntry {
		text += " -fsync-entry"
	}
	if c.Model.Ignore != "" {
		text += " -ignore-syncs " + c.Model.Ignore
	}
	return text
}

// Fault makes operations fail. See volume.Fault in store/powercut.
type Fault struct {
	ID     int    `json:"id,omitempty"`
	Op     string `json:"op"`               // write, fsync, fsyncdir, sync, read, open, truncate, create, mkdir, link, unlink, rmdir, rename, change, modify, any
	Glob   string `json:"glob,omitempty"`   // whole path below Dir, or its last element
	Nth    int64  `json:"nth,omitempty"`    // the first that fails, from 1, since the fault was set
	Times  int64  `json:"times,omitempty"`  // how many fail, 0: one, negative: all from there on
	Err    string `json:"err,omitempty"`    // EIO, ENOSPC, …
	Off    int64  `json:"off,omitempty"`    // with Len: only reads and writes that touch this range
	Len    int64  `json:"len,omitempty"`    //
	Accept int64  `json:"accept,omitempty"` // a write takes that much, without an error
	Seed   uint64 `json:"seed,omitempty"`   // not 0: the failed sync wrote some of the blocks
	Seen   int64  `json:"seen,omitempty"`   // matching operations so far
	Hits   int64  `json:"hits,omitempty"`   // how many of them failed
}

// Counts are operations that reached the disk.
type Counts struct {
	Reads      int64 `json:"reads"`
	Writes     int64 `json:"writes"`
	WriteBytes int64 `json:"write_bytes"`
	Fsyncs     int64 `json:"fsyncs"`
	Fdatasyncs int64 `json:"fdatasyncs"`
	DirSyncs   int64 `json:"dir_syncs"`
	Changes    int64 `json:"changes"`   // of directories
	Ops        int64 `json:"ops"`       // length of the trace
	Allocated  int64 `json:"allocated"` // bytes in use, in whole blocks
}

// Event is one operation of the trace, without the data of writes.
type Event struct {
	Seq    int64  `json:"seq"` // its place; a Cut with At = Seq comes just before it
	Op     string `json:"op"`  // create, mkdir, link, unlink, rmdir, rename, write, truncate, chmod, sync, synced, mark, fail, …
	Ino    uint64 `json:"ino"`
	Path   string `json:"path"`
	Name   string `json:"name"`    // of directory changes
	ToName string `json:"to_name"` // of renames
	Off    int64  `json:"off"`
	Size   int64  `json:"size"`
	Begin  int64  `json:"begin"` // of synced: the Seq of its sync
	Err    string `json:"err"`
	Text   string `json:"text"` // of marks
}

// Choice is one thing that a cut decided.
type Choice struct {
	Path string `json:"path"`
	What string `json:"what"`
}

type request struct {
	Op     string `json:"op"`
	Text   string `json:"text,omitempty"`
	From   int64  `json:"from,omitempty"`
	At     int64  `json:"at,omitempty"`
	Seed   uint64 `json:"seed,omitempty"`
	Policy Policy `json:"policy,omitzero"`
	Disk   Model  `json:"disk,omitzero"`
	Dir    string `json:"dir,omitempty"`
	Path   string `json:"path,omitempty"`
	Fault  Fault  `json:"fault,omitzero"`
	ID     int    `json:"id,omitempty"`
	Limit  int64  `json:"limit,omitempty"`
}

type response struct {
	Error   string   `json:"error"`
	At      int64    `json:"at"`
	ID      int      `json:"id"`
	Events  []Event  `json:"events"`
	Faults  []Fault  `json:"faults"`
	Counts  Counts   `json:"counts"`
	Choices []Choice `json:"choices"`
}

// call sends a request and waits for the answer. A connection serves one request at a time, so each call takes an idle one or dials.
func (c *Client) call(req request) (response, error) {
	resp, err := c.exchange(req)
	if err != nil {
		return response{}, fmt.Errorf("powercut: %s: %w", req.Op, err)
	}
	return resp, nil
}

func (c *Client) exchange(req request) (response, error) {
	var k *conn
	select {
	case k = <-c.idle:
	default:
		dialed, err := net.DialTimeout("unix", c.socket, 10*time.Second)
		if err != nil {
			return response{}, err
		}
		k = &conn{dialed, bufio.NewReaderSize(dialed, 64<<10)}
	}
	line, err := json.Marshal(req)
	if err != nil {
		return response{}, errors.Join(err, k.Close())
	}
	if _, err := k.Write(append(line, '\n')); err != nil {
		return response{}, errors.Join(err, k.Close())
	}
	answer, err := k.in.ReadBytes('\n')
	if err != nil {
		return response{}, errors.Join(err, k.Close())
	}
	select {
	case c.idle <- k:
	default:
		if err := k.Close(); err != nil {
			return response{}, err
		}
	}
	var resp response
	if err := json.Unmarshal(answer, &resp); err != nil {
		return response{}, err
	}
	if resp.Error != "" {
		return response{}, errors.New(resp.Error)
	}
	return resp, nil
}

// Mark records a message in the trace, after every operation that has returned and before every one that has not begun.
// It returns the length of the trace with it.
func (c *Client) Mark(text string) (int64, error) {
	resp, err := c.call(request{Op: "mark", Text: text})
	return resp.At, err
}

// Trace returns the operations so far.
func (c *Client) Trace() ([]Event, error) {
	resp, err := c.call(request{Op: "events"})
	return resp.Events, err
}

// SaveTrace writes the trace so far to a file, for "powercut image" and "powercut list".
func (c *Client) SaveTrace(path string) error {
	_, err := c.call(request{Op: "save", Path: path})
	return err
}

// Image writes into dir, which must be empty or missing, what a cut may have left, and returns what was chosen. The disk goes on
// undisturbed. Images in ascending order of Cut.At are cheapest.
func (c *Client) Image(cut Cut, dir string) ([]Choice, error) {
	resp, err := c.call(request{Op: "image", At: cut.At, Seed: cut.Seed, Policy: cut.Policy, Disk: cut.Model, Dir: dir})
	return resp.Choices, err
}

// Cut switches the power of the disk itself off and on, now. Whatever was open gives EIO from then on; Dir shows what was left.
func (c *Client) Cut(seed uint64, policy Policy) error {
	_, err := c.call(request{Op: "cut", Seed: seed, Policy: policy})
	return err
}

// Fault makes operations fail and returns a number to take the fault away with.
func (c *Client) Fault(f Fault) (int, error) {
	resp, err := c.call(request{Op: "fault", Fault: f})
	return resp.ID, err
}

// Unfault takes away a fault, or all if id is 0.
func (c *Client) Unfault(id int) error {
	_, err := c.call(request{Op: "unfault", ID: id})
	return err
}

// Faults returns the faults that are set and what they have seen.
func (c *Client) Faults() ([]Fault, error) {
	resp, err := c.call(request{Op: "faults"})
	return resp.Faults, err
}

// DropCache forgets what the cache believes to be on the disk, as an unmount and a mount would: after a failed sync the files then
// show what is really there. Nothing should be open.
func (c *Client) DropCache() error {
	_, err := c.call(request{Op: "dropcache"})
	return err
}

// Settle makes everything durable, as a clean unmount would.
func (c *Client) Settle() error {
	_, err := c.call(request{Op: "settle"})
	return err
}

// SetLimit changes how many bytes files may take up, in whole blocks; 0 for no limit.
func (c *Client) SetLimit(limit int64) error {
	_, err := c.call(request{Op: "limit", Limit: limit})
	return err
}

// Counts returns what the disk has seen so far.
func (c *Client) Counts() (Counts, error) {
	resp, err := c.call(request{Op: "counts"})
	return resp.Counts, err
}

// Close unmounts the disk and ends its process. The test's cleanup does it too.
func (c *Client) Close() error { return c.stop() }
