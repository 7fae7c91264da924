package store

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tstore/tstore/index"
)

// The names of the catalog, and of its checksum while it is closed.
const (
	catalogName    = "catalog.db"
	catalogSumName = "catalog.sum"
)

// catalog keeps the bbolt catalog behind the log: it gathers what has become
// durable and writes it in batches from a goroutine of its own. Nothing depends
// on it: if it can't be written, the next opening replays more of the log.
type catalog struct {
	path string
	db   *index.Catalog // nil if it could not be opened

	doubtful bool // it can't be opened because its contents are in doubt
	failed   bool // a write has failed

	one     sync.Mutex // held by write
	mu      sync.Mutex
	dirty   map[uint64]map[string]*Entry // by log and name: what the db lacks
	count   int                          // of changes in dirty
	last    commitRef                    // the last commit in dirty
	written commitRef                    // the last commit in the db
	gone    map[uint64]bool              // logs that the db need not know any more

	wake chan struct{} // asks for a write; closed to end the goroutine
	done chan struct{}
}

const (
	// catalogDelay is how long a change waits for others to share a write with.
	catalogDelay = time.Second
	// catalogBatch is how many changes do not wait.
	catalogBatch = 1 << 13
)

// openCatalog opens the catalog at path. If there is doubt about what is in it,
// or it can't be opened, there is none: the logs have it all.
func openCatalog(path string) (*catalog, error) {
	c := &catalog{path: path, dirty: map[uint64]map[string]*Entry{}, gone: map[uint64]bool{}}
	db, err := index.OpenCatalog(path)
	switch {
	case err == nil:
		c.db = db
	case errors.Is(err, index.ErrCatalogLocked):
		return nil, fmt.Errorf("%w: %w", ErrLocked, err)
	case errors.Is(err, index.ErrCatalog):
		c.doubtful = true
	}
	return c, nil
}

// position is the last commit that the catalog contains, if any.
func (c *catalog) position() (index.Position, bool) {
	if c.db == nil {
		return index.Position{}, false
	}
	return c.db.Position()
}

func (c *catalog) entries() iter.Seq2[index.CatalogEntry, error] { return c.db.Entries() }

// reset makes the catalog empty. One that can't be made, on a full disk for
// instance, is missed only when the store is opened the next time.
func (c *catalog) reset() error {
	switch _, ok := c.position(); {
	case c.db != nil && !ok, c.db == nil && !c.doubtful:
		return nil
	case c.db != nil:
		if err := c.db.Discard(); err != nil {
			return err
		}
		c.db = nil
	default:
		if err := index.RemoveCatalog(c.path); err != nil {
			return err
		}
	}
	if db, err := index.OpenCatalog(c.path); err == nil {
		c.db = db
	}
	return nil
}

// start begins to write in the background.
func (c *catalog) start() {
	c.wake = make(chan struct{}, 1)
	c.done = make(chan struct{})
	go c.run()
}

func (c *catalog) run() {
	defer close(c.done)
	for range c.wake {
		if !c.full() {
			select {
			case _, ok := <-c.wake: // full by now, or closed
				if !ok {
					return
				}
			case <-time.After(catalogDelay):
			}
		}
		c.write()
	}
}

func (c *catalog) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count >= catalogBatch
}

// add takes note of durable changes, by log, the last of which was committed by
// last.
func (c *catalog) add(changes map[uint64][]*Entry, last commitRef) {
	c.mu.Lock()
	for log, entries := range changes {
		names := c.dirty[log]
		if names == nil {
			names = map[string]*Entry{}
			c.dirty[log] = names
		}
		for _, e := range entries {
			names[e.Name] = e
		}
		c.count += len(entries)
	}
	first := c.last.seq == c.written.seq
	c.last = last
	wake := first || c.count >= catalogBatch
	c.mu.Unlock()
	if wake {
		select {
		case c.wake <- struct{}{}:
		default: // a signal is on its way
		}
	}
}

// sealed takes note that logs have frozen indexes of their own.
func (c *catalog) sealed(logs ...uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, log := range logs {
		c.gone[log] = true
	}
}

// write brings the db up to date. After an error it takes nothing any more: the
// catalog stays behind until the store is opened again.
func (c *catalog) write() {
	c.one.Lock()
	defer c.one.Unlock()
	c.mu.Lock()
	dirty, last, gone := c.dirty, c.last, slices.Collect(maps.Keys(c.gone))
	c.dirty, c.count, c.written = map[uint64]map[string]*Entry{}, 0, last
	clear(c.gone)
	c.mu.Unlock()
	if c.db == nil || c.failed || last.log == nil {
		return
	}
	var batch []index.LogEntries
	for _, log := range slices.Sorted(maps.Keys(dirty)) {
		batch = append(batch, index.LogEntries{Log: log, Entries: slices.Collect(maps.Values(dirty[log]))})
	}
	err := c.db.Apply(batch, gone, index.Position{
		StoreID:     last.log.StoreID,
		Segment:     last.log.Number,
		SegmentUUID: last.log.UUID,
		Offset:      last.offset,
		End:         last.end,
		CRC:         last.crc,
		Seq:         last.seq,
		Live:        last.live.encoded(),
	})
	c.failed = err != nil
}

// close ends the goroutine and, with update, brings the db up to date. What can't be
// written the next opening will have to replay.
func (c *catalog) close(update bool) {
	if c.wake != nil {
		close(c.wake)
		<-c.done
		if update && (c.last.seq != c.written.seq || len(c.gone) > 0) {
			c.write()
		}
	}
	if c.db != nil {
		c.db.Close()
	}
}
