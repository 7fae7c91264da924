package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Catalog is a bbolt database with the entries of the logs that are not sealed: what a [Table] has
// in memory, as of a position in the newest log. It follows the logs from behind, in batches, and
// spares a store that is opened the replay of all that it contains. Lookups don't use it.
//
// It is derived from the logs. On any doubt, [OpenCatalog] and [Catalog.Entries] return
// [ErrCatalog]; the way out is [RemoveCatalog], a new catalog, and a replay of the logs from their
// beginning.
//
// Its methods may be called by several goroutines; they wait for each other.
type Catalog struct {
	path string

	mu         sync.Mutex
	db         *bolt.DB // nil once closed
	state      catalogState
	applied    bool   // state is there
	generation uint64 // counts calls of Apply
	summed     bool   // the side file describes the database as it is
	err        error  // what went wrong in Apply; from then on the catalog is of no use
}

// CatalogEntry is an entry, which may be a tombstone, with the number of the log it is from.
type CatalogEntry struct {
	Log   uint64
	Entry *Entry
}

// LogEntries are entries, tombstones included, from one log.
type LogEntries struct {
	Log     uint64
	Entries []*Entry
}

// The names of the buckets and of the key in the first one. The bucket of a log is called "log"
// and its number in eight bytes, big-endian, so that they come in the order of the logs.
var (
	stateBucket = []byte("state")
	stateKey    = []byte("position")
)

const logBucketPrefix = "log"

func logBucket(log uint64) []byte {
	return binary.BigEndian.AppendUint64([]byte(logBucketPrefix), log)
}

// errLocked is made by bbolt when somebody else holds its lock.
func isLocked(err error) bool { return errors.Is(err, bolterrors.ErrTimeout) }

// OpenCatalog opens the catalog at path, or makes an empty one if there is none. Beside it, in a
// file of the same name with the ending .sum, the catalog keeps a checksum of the whole database
// while it is closed.
//
// The file is checked before bbolt, which trusts what it maps, is let near it: against the
// checksum if there is one, and page by page. Doubt is [ErrCatalog]. [ErrCatalogLocked] says that
// the catalog is open already; OpenCatalog never waits. Other errors are those of the file system.
func OpenCatalog(path string) (*Catalog, error) {
	c := &Catalog{path: path}
	if err := c.open(); err != nil {
		if c.db != nil {
			c.db.Close()
		}
		return nil, fmt.Errorf("open catalog %s: %w", path, err)
	}
	return c, nil
}

func (c *Catalog) open() error {
	removeIfThere(c.path + temporary) // of a shrink that was interrupted; if it stays it does no harm
	info, err := os.Lstat(c.path)
	created := errors.Is(err, fs.ErrNotExist)
	switch {
	case created:
		// A checksum without a database is left over from a removal that was interrupted.
		if err := removeDurably(sumPath(c.path)); err != nil {
			return err
		}
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: it is not a regular file", ErrCatalog)
	case info.Size() == 0:
		return fmt.Errorf("%w: it is empty", ErrCatalog)
	}

	var file *os.File
	err = guard(func() (err error) {
		c.db, err = bolt.Open(c.path, 0o666, &bolt.Options{
			Timeout:      1, // nanosecond: bbolt tries once; 0 would be for ever
			FreelistType: bolt.FreelistMapType,
			NoStatistics: true,
			// The file that is checked is the one that bbolt goes on with.
			OpenFile: func(path string, flag int, mode os.FileMode) (*os.File, error) {
				f, err := os.OpenFile(path, flag, mode)
				if err != nil {
					return nil, err
				}
				if !created {
					c.summed, err = checkCatalogFile(f, sumPath(path))
				}
				if err != nil {
					f.Close()
					return nil, err
				}
				file = f
				return f, nil
			},
		})
		return err
	})
	if err != nil && file != nil {
		file.Close() // if bbolt gave up halfway, its lock would stay; else it is closed already
	}
	switch {
	case isLocked(err):
		return ErrCatalogLocked
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, bolterrors.ErrChecksum):
		return fmt.Errorf("%w: %w", ErrCatalog, err)
	case err != nil:
		return err
	}
	if created {
		if err := syncDir(filepath.Dir(c.path)); err != nil {
			return err
		}
	}
	return guard(func() error { return c.db.View(c.readState) })
}

// readState reads the position and the list of logs, and makes sure that there are buckets for
// these and no others.
func (c *Catalog) readState(tx *bolt.Tx) error {
	var logs []uint64
	err := tx.ForEach(func(name []byte, b *bolt.Bucket) error {
		if bytes.Equal(name, stateBucket) {
			state, err := decodeCatalogState(b.Get(stateKey))
			c.state, c.applied = state, err == nil
			return err
		}
		if len(name) != len(logBucketPrefix)+8 || !bytes.HasPrefix(name, []byte(logBucketPrefix)) {
			return fmt.Errorf("%w: a bucket is called %.40q", ErrCatalog, name)
		}
		logs = append(logs, binary.BigEndian.Uint64(name[len(logBucketPrefix):]))
		return nil
	})
	if err != nil {
		return err
	}
	if want := c.state.numbers(); !slices.Equal(logs, want) {
		return fmt.Errorf("%w: it has the logs %v and should have %v", ErrCatalog, logs, want)
	}
	return nil
}

// Position returns where the catalog stands, and false if nothing was ever applied to it. Its live
// set must not be changed.
func (c *Catalog) Position() (Position, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.position, c.applied
}

// entriesChunk is how many entries are read in one transaction of bbolt.
const entriesChunk = 512

// Entries returns everything in the catalog by ascending log number, then name. The entries belong
// to the caller. An error ends the sequence; what came before it must then not be used either,
// since the numbers of entries and their checksums are compared with the state at the end of each
// log. The catalog must not be changed meanwhile; that, too, is an error.
func (c *Catalog) Entries() iter.Seq2[CatalogEntry, error] {
	return func(yield func(CatalogEntry, error) bool) {
		c.mu.Lock()
		generation, logs := c.generation, slices.Clone(c.state.logs)
		c.mu.Unlock()
		for _, log := range logs {
			for got, next := (logState{number: log.number}), []byte(nil); ; {
				var chunk []*Entry
				err := c.read(generation, func(tx *bolt.Tx) (err error) {
					chunk, next, err = readLogChunk(tx, &got, next)
					return err
				})
				if err != nil {
					yield(CatalogEntry{}, fmt.Errorf("catalog %s: %w", c.path, err))
					return
				}
				for _, e := range chunk {
					if !yield(CatalogEntry{log.number, e}, nil) {
						return
					}
				}
				if next != nil {
					continue
				}
				if got != log {
					yield(CatalogEntry{}, fmt.Errorf("catalog %s: %w: log %d has %d entries with sum %#x, not %d with %#x",
						c.path, ErrCatalog, log.number, got.entries, got.sum, log.entries, log.sum))
					return
				}
				break
			}
		}
	}
}

// read runs f in a transaction if the catalog is still as it was.
func (c *Catalog) read(generation uint64, f func(tx *bolt.Tx) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.db == nil:
		return ErrClosed
	case c.generation != generation:
		return errors.New("entries were applied while they were read")
	}
	return guard(func() error { return c.db.View(f) })
}

// readLogChunk reads entries of the log got, which it counts there, from the key from on. It
// returns the key to go on with, nil at the end of the log.
func readLogChunk(tx *bolt.Tx, got *logState, from []byte) (chunk []*Entry, next []byte, err error) {
	b := tx.Bucket(logBucket(got.number))
	if b == nil {
		return nil, nil, fmt.Errorf("%w: no bucket of log %d", ErrCatalog, got.number)
	}
	cur := b.Cursor()
	var k, v []byte
	if from == nil {
		k, v = cur.First()
	} else {
		k, v = cur.Seek(from)
	}
	var scratch []byte
	for ; k != nil; k, v = cur.Next() {
		if len(chunk) == entriesChunk {
			return chunk, bytes.Clone(k), nil
		}
		var e *Entry
		var crc uint32
		if e, crc, scratch, err = decodeCatalogValue(scratch, got.number, k, v); err != nil {
			return nil, nil, err
		}
		got.add(crc)
		chunk = append(chunk, e)
	}
	return chunk, nil, nil
}

// Apply puts entries, tombstones included, into the catalog, takes the logs in drop out, and moves
// the position to pos: all of that or, after an error or a crash, nothing. Of several entries of a
// name in one log the last one stays. The caller must have made sure that everything up to
// pos.End is durable in the logs.
//
// After an error the state of the file is unknown: the catalog takes no more entries and should be
// closed, or discarded, and opened again.
func (c *Catalog) Apply(batch []LogEntries, drop []uint64, pos Position) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db == nil {
		return fmt.Errorf("catalog %s: %w", c.path, ErrClosed)
	}
	if c.err == nil {
		c.err = c.apply(batch, drop, pos)
	}
	if c.err != nil {
		return fmt.Errorf("catalog %s: %w", c.path, c.err)
	}
	return nil
}

func (c *Catalog) apply(batch []LogEntries, drop []uint64, pos Position) error {
	if c.summed {
		// From here on the file is another one than the checksum is for.
		if err := removeDurably(sumPath(c.path)); err != nil {
			return err
		}
		c.summed = false
	}
	state := catalogState{position: pos, logs: slices.Clone(c.state.logs)}
	state.position.Live = bytes.Clone(pos.Live)
	err := guard(func() error {
		return c.db.Update(func(tx *bolt.Tx) error {
			for _, l := range batch {
				if slices.Contains(drop, l.Log) {
					continue
				}
				if err := putLog(tx, state.log(l.Log), l.Entries); err != nil {
					return err
				}
			}
			for _, log := range drop {
				if err := tx.DeleteBucket(logBucket(log)); err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
					return err
				}
				state.dropLog(log)
			}
			b, err := tx.CreateBucketIfNotExists(stateBucket)
			if err != nil {
				return err
			}
			return b.Put(stateKey, state.append(nil))
		})
	})
	if err != nil {
		return err
	}
	c.state, c.applied = state, true
	c.generation++
	return nil
}

// putLog puts entries into the bucket of a log, in the order of their names as a B+tree likes it.
func putLog(tx *bolt.Tx, log *logState, entries []*Entry) error {
	b, err := tx.CreateBucketIfNotExists(logBucket(log.number))
	if err != nil {
		return err
	}
	b.FillPercent = 0.8 // most names are new ones, and many come in order
	sorted := slices.Clone(entries)
	slices.SortStableFunc(sorted, func(a, b *Entry) int { return strings.Compare(a.Name, b.Name) })
	for i, e := range sorted {
		if i+1 < len(sorted) && sorted[i+1].Name == e.Name {
			continue
		}
		key := []byte(e.Name)
		if old := b.Get(key); old != nil {
			if len(old) < 4 {
				return fmt.Errorf("%w: the value of %.100q has %d bytes", ErrCatalog, key, len(old))
			}
			log.remove(binary.LittleEndian.Uint32(old))
		}
		// bbolt keeps the slices until the transaction ends.
		value, crc := encodeCatalogValue(log.number, e)
		if err := b.Put(key, value); err != nil {
			return fmt.Errorf("%.100q: %w", key, err)
		}
		log.add(crc)
	}
	return nil
}

// Close closes the database, without the space that is no longer in use if that is most of it, and
// writes its checksum beside it, for the next [OpenCatalog]. Closing a catalog again is not an error.
func (c *Catalog) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db == nil {
		return nil
	}
	var err error
	if c.err == nil && c.wasteful() {
		err = c.shrink()
	}
	if c.db != nil { // as good as before, if it could not be made smaller
		err = guard(c.db.Close)
		c.db = nil
	}
	if err == nil && c.err == nil && !c.summed {
		err = writeSum(c.path)
	}
	if err != nil {
		return fmt.Errorf("close catalog %s: %w", c.path, err)
	}
	return nil
}

// Discard closes the catalog and removes it.
func (c *Catalog) Discard() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db != nil {
		guard(c.db.Close) // whatever it says: the file goes now
		c.db = nil
	}
	return RemoveCatalog(c.path)
}

// RemoveCatalog removes the catalog at path and the checksum beside it, durably. What is not there
// is as good as removed. On Windows it fails while the catalog is open.
func RemoveCatalog(path string) error {
	// The checksum goes last: alone it means nothing, and next to another database it means doubt.
	for _, p := range []string{path + temporary, path, sumPath(path) + temporary, sumPath(path)} {
		if err := removeIfThere(p); err != nil {
			return fmt.Errorf("remove catalog: %w", err)
		}
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("remove catalog: %w", err)
	}
	return nil
}

// guard turns a panic of bbolt, or a page that can't be read through its map, into ErrCatalog.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: bbolt: %v", ErrCatalog, p)
		}
	}()
	return f()
}
