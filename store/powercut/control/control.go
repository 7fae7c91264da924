// Package control lets a test steer a mounted volume over a unix socket: one JSON object a line each way, each request
// answered before the next one on the same connection is read. Connections are served side by side, so that
// an image can be made on one while marks go through another.
package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"github.com/tstore/tstore/store/powercut/disk"
	"github.com/tstore/tstore/store/powercut/fusefs"
	"github.com/tstore/tstore/store/powercut/volume"
)

// Request is what a test asks for. Op says which of the fields count:
//
//	mark       Text                              record a message in the trace; At of the response: the length of the trace with it
//	events     From                              the operations of the trace from that one on, without their data
//	save       Path                              write the trace to a file
//	image      At, Seed, Policy, Disk, Dir       write what a cut after the first At operations (-1: all) may have left into an empty directory
//	cut        Seed, Policy                      switch the power off and on; everything open gets EIO
//	fault      Fault                             make operations fail; ID of the response names it
//	unfault    ID                                remove a fault, 0: all
//	faults                                       those that are set, with what they have seen
//	dropcache                                    forget what the cache believes to be on the disk; nothing should be open
//	settle                                       make everything durable
//	limit      Limit                             how many bytes files may take up, 0: no limit
//	counts                                       operations seen
//	quit                                         unmount and end
type Request struct {
	Op     string       `json:"op"`
	Text   string       `json:"text,omitempty"`
	From   int64        `json:"from,omitempty"`
	At     int64        `json:"at,omitempty"`
	Seed   uint64       `json:"seed,omitempty"`
	Policy disk.Policy  `json:"policy,omitzero"`
	Disk   disk.Options `json:"disk,omitzero"`
	Dir    string       `json:"dir,omitempty"`
	Path   string       `json:"path,omitempty"`
	Fault  volume.Fault `json:"fault,omitzero"`
	ID     int          `json:"id,omitempty"`
	Limit  int64        `json:"limit,omitempty"`
}

// Event is an operation with its place in the trace.
type Event struct {
	Seq int64 `json:"seq"`
	disk.Op
}

// Response answers a request.
type Response struct {
	Error   string         `json:"error,omitempty"`
	At      int64          `json:"at,omitempty"`
	ID      int            `json:"id,omitempty"`
	Events  []Event        `json:"events,omitempty"`
	Faults  []volume.Fault `json:"faults,omitempty"`
	Counts  *volume.Counts `json:"counts,omitempty"`
	Choices []disk.Choice  `json:"choices,omitempty"`
}

// Serve answers requests on all connections of a listener until quit is asked for or the listener is closed.
func Serve(l net.Listener, m *fusefs.Mount) error {
	quit := make(chan struct{})
	go func() {
		<-quit
		l.Close()
	}()
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("control: %w", err)
		}
		go func() {
			defer conn.Close()
			if serveConn(conn, m) {
				close(quit)
			}
		}()
	}
}

// serveConn returns true when asked to quit.
func serveConn(conn io.ReadWriter, m *fusefs.Mount) bool {
	in := json.NewDecoder(bufio.NewReader(conn))
	out := bufio.NewWriter(conn)
	for {
		var req Request
		if err := in.Decode(&req); err != nil {
			if err == io.EOF {
				return false
			}
			reply(out, &Response{Error: fmt.Sprintf("control: not a request: %v", err)})
			return false
		}
		resp, err := answer(&req, m)
		if err != nil {
			resp.Error = err.Error()
		}
		if reply(out, &resp) != nil {
			return false
		}
		if req.Op == "quit" {
			return true
		}
	}
}

func reply(out *bufio.Writer, resp *Response) error {
	if err := json.NewEncoder(out).Encode(resp); err != nil {
		return err
	}
	return out.Flush()
}

func answer(req *Request, m *fusefs.Mount) (resp Response, err error) {
	v := m.Volume()
	switch req.Op {
	case "mark":
		resp.At = v.Mark(req.Text)
	case "events":
		ops := v.Ops()
		for i := max(req.From, 0); i < int64(len(ops)); i++ {
			resp.Events = append(resp.Events, Event{i, ops[i]})
		}
	case "save":
		err = save(req.Path, v)
	case "image":
		resp.Choices, err = v.Image(req.At, req.Seed, req.Policy, req.Disk, req.Dir)
	case "cut":
		err = m.Cut(req.Seed, req.Policy)
	case "fault":
		resp.ID, err = m.AddFault(req.Fault)
	case "unfault":
		v.RemoveFault(req.ID)
	case "faults":
		resp.Faults = v.Faults()
	case "dropcache":
		m.DropCache()
	case "settle":
		v.Settle()
	case "limit":
		v.SetLimit(req.Limit)
	case "counts":
		counts := v.Counts()
		resp.Counts = &counts
	case "quit":
	default:
		err = fmt.Errorf("control: %q is not a request", req.Op)
	}
	return resp, err
}

func save(path string, v *volume.Volume) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("control: save the trace: %w", err)
	}
	if _, err := v.WriteTrace(f); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("control: save the trace: %w", err)
	}
	return nil
}
