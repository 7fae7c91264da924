package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// RepairOptions say how to repair.
type RepairOptions struct {
	// To is where the repaired store, or package, is made. There must be nothing yet.
	To string
	// InPlace puts it in the place of the damaged one instead, which is kept beside it
	// under another name.
	InPlace bool
	// Progress, if not nil, is called now and then with the tensors that have been
	// looked at and those that there are.
	Progress func(done, total int)
}

// Lost is a record that could not be kept.
type Lost struct {
	Name    string `json:"name"` // of the tensor; empty if it is not known
	File    string `json:"file"`
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"`
	Reason  string `json:"reason"`
	SavedAs string `json:"saved_as,omitempty"` // in the directory lost, its bytes
}

// RepairReport is what Repair has done.
type RepairReport struct {
	Kept   int      // tensors that are in the repaired store
	Lost   []Lost   // records that are not
	Notes  []string // what else was found
	Result string   // path of the repaired store or package
	Old    string   // where the damaged one is now, if it was repaired in place
	LostIn string   // directory with what could be saved of lost records, if any
}

// Repair makes a sound store of the damaged one at path, or a sound package of a
// damaged package. Every tensor whose record agrees with its checksum is kept; the
// catalog and the indexes are made anew. Records that are damaged, or that no
// commit record or index names, are set aside in a directory called lost, with a
// list of what can be told of them. It accepts a log that has lost its end, which
// Open refuses.
//
// What is at path is not changed, unless InPlace says so; then nobody may have it
// open for writing.
func Repair(ctx context.Context, path string, o *RepairOptions) (RepairReport, error) {
	if o == nil || (o.To == "") != o.InPlace {
		return RepairReport{}, fmt.Errorf("repairing %s: give one of To and InPlace", path)
	}
	r := repair{ctx: ctx, options: o, source: filepath.Clean(path), best: map[string]*claim{}}
	err := r.run()
	for _, s := range r.files {
		s.Close()
	}
	if err != nil {
		return r.report, fmt.Errorf("repairing %s: %w", path, err)
	}
	return r.report, nil
}

// repair is one run of Repair.
type repair struct {
	ctx     context.Context
	options *RepairOptions
	source  string
	report  RepairReport

	files  map[uint64]*segment.Salvage
	counts map[uint64]segment.Live // the files that count, if that is known
	best   map[string]*claim       // by name
	named  map[place]bool          // records that something names
}

// claim is what a commit record or an index says of a name.
type claim struct {
	name    string
	seq     uint64
	deleted bool
	at      place
	length  int64
	crc     *uint32 // nil if nothing says it
}

func (r *repair) run() error {
	info, err := os.Stat(r.source)
	if err != nil {
		return err
	}
	r.named = map[place]bool{}
	r.files = map[uint64]*segment.Salvage{}
	if info.IsDir() {
		return r.directory()
	}
	return r.pkg()
}

func (r *repair) note(format string, args ...any) {
	r.report.Notes = append(r.report.Notes, fmt.Sprintf(format, args...))
}

// claim takes in what a commit record or an index says of a name.
func (r *repair) claim(c *claim) {
	if !c.deleted {
		r.named[c.at] = true
	}
	if old := r.best[c.name]; old == nil || old.seq <= c.seq {
		r.best[c.name] = c
	}
}

// directory repairs a store.
func (r *repair) directory() error {
	if r.options.InPlace {
		lock, err := acquireLock(r.source, 0)
		if err != nil {
			return err
		}
		defer lock.release()
	}
	if err := r.openFiles(); err != nil {
		return err
	}
	if len(r.files) == 0 {
		return ErrNoStore
	}
	r.liveSet()
	for _, n := range slices.Sorted(maps.Keys(r.files)) {
		s := r.files[n]
		for _, c := range s.Commits {
			r.commit(n, c)
		}
		for _, span := range s.Index {
			r.index(n, s, span)
		}
	}
	to := r.options.To
	if r.options.InPlace {
		to = r.source + ".repaired"
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is there already", to)
	}
	st, err := Open(to, nil)
	if err != nil {
		return err
	}
	r.report.LostIn = filepath.Join(to, "lost")
	err = r.copyTo(func(c *claim, msg []byte) error {
		return st.Update(func(tx *Tx) error { return tx.PutMessage(c.name, msg) })
	})
	if err = errors.Join(err, st.Close()); err != nil {
		os.RemoveAll(to)
		return err
	}
	return r.swap(to)
}

// openFiles looks through every segment file.
func (r *repair) openFiles() error {
	dir := filepath.Join(r.source, segmentsName)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return ErrNoStore
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		n, ok := segment.ParseFileName(e.Name())
		if !ok {
			continue
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		s, err := segment.OpenSalvage(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		r.files[n] = s
		if s.HeaderErr != nil {
			r.note("%s: its header can't be read: %v", s.Path, s.HeaderErr)
		}
		for _, g := range s.Gaps {
			r.note("%s: %d bytes at offset %d are no message", s.Path, g.Length, g.Offset)
		}
	}
	return nil
}

// liveSet finds out which files count, from the newest log whose header can be read.
// If a newer file can't, all files are taken to count.
func (r *repair) liveSet() {
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(r.files))) {
		s := r.files[n]
		if s.Header == nil {
			r.note("which segments count is not known, so all are searched: deleted tensors may be back")
			return
		}
		if s.Header.Kind != segment.KindLog {
			continue
		}
		end := logEnds(n, s)
		r.counts = map[uint64]segment.Live{n: {Number: n, Kind: segment.KindLog, Valid: end}}
		for _, l := range s.Header.Live {
			r.counts[l.Number] = l
		}
		for _, c := range s.Commits {
			if c.Offset >= end {
				break
			}
			for i := range c.Ops {
				for _, old := range c.Ops[i].Old {
					delete(r.counts, old)
				}
				for _, l := range c.Ops[i].New {
					r.counts[l.Number] = l
				}
				if l := c.Ops[i].Location; c.Ops[i].Kind == segment.OpPut && l.Segment != n {
					if _, ok := r.counts[l.Segment]; !ok {
						r.counts[l.Segment] = segment.Live{Number: l.Segment, UUID: l.UUID, Kind: segment.KindData}
					}
				}
			}
		}
		break
	}
	for n := range r.counts {
		if r.files[n] == nil {
			r.note("segment %d is missing", n)
		}
	}
}

// logEnds is where the newest log ends: of what is not known to be durable, the first
// batch that is not whole was never acknowledged, and none behind it.
func logEnds(n uint64, s *segment.Salvage) int64 {
	durable, seq := int64(0), s.Header.BaseSeq
	for _, c := range s.Commits {
		durable = max(durable, c.DurableTo)
	}
	for _, c := range s.Commits {
		if c.Offset >= durable {
			if c.Seq != seq+1 {
				return c.Offset
			}
			for i := range c.Ops {
				l := &c.Ops[i].Location
				if c.Ops[i].Kind != segment.OpPut || l.Segment != n {
					continue
				}
				if _, err := s.RecordAt(l.Offset, l.Length, &l.CRC); err != nil {
					return c.Offset
				}
			}
		}
		seq = c.Seq
	}
	return s.Size
}

// live reports whether segment n counts, as far as is known.
func (r *repair) live(n uint64) bool {
	_, ok := r.counts[n]
	return ok || r.counts == nil
}

// commit takes in the operations of a commit record of log n.
func (r *repair) commit(n uint64, c *segment.Commit) {
	if !r.live(n) || r.counts != nil && c.Offset >= r.counts[n].Valid {
		return
	}
	for i := range c.Ops {
		op := &c.Ops[i]
		l := op.Location
		switch op.Kind {
		case segment.OpRename:
			r.claim(&claim{name: op.From, seq: c.Seq, deleted: true})
			fallthrough
		case segment.OpPut:
			if r.live(l.Segment) {
				r.claim(&claim{name: op.Name, seq: c.Seq, at: place{l.Segment, l.Offset}, length: l.Length, crc: &l.CRC})
			}
		case segment.OpDelete:
			r.claim(&claim{name: op.Name, seq: c.Seq, deleted: true})
		}
	}
}

// index takes in what can be read of a frozen index in segment n.
func (r *repair) index(n uint64, s *segment.Salvage, span segment.Span) {
	if !r.live(n) {
		return
	}
	frozen, err := index.OpenFrozenAt(s.Section(span), span.Length)
	if err != nil {
		r.note("%s: the index at offset %d can't be read: %v", s.Path, span.Offset, err)
		return
	}
	var a *attachment
	if l := r.counts[n]; l.Kind == segment.KindPackage {
		if a, err = decodeAttachment(l.Extra); err != nil {
			r.note("%s: how the package belongs to the store can't be read: %v", s.Path, err)
			return
		}
	}
	bad := 0
	for i := range frozen.Len() {
		e, err := frozen.At(i)
		if err != nil {
			bad++
			continue
		}
		if a != nil {
			var ok bool
			if e, ok = a.outside(e); !ok {
				continue
			}
		}
		at := place{e.Segment, e.Offset}
		if at.segment == 0 {
			at.segment = n
		}
		if !e.Deleted && !r.live(at.segment) {
			continue
		}
		crc := e.CRC
		r.claim(&claim{name: e.Name, seq: e.Seq, deleted: e.Deleted, at: at, length: e.Length, crc: &crc})
	}
	if bad > 0 {
		r.note("%s: %d of %d entries of the index at offset %d can't be read", s.Path, bad, frozen.Len(), span.Offset)
	}
}

// copyTo keeps every tensor that can be, by name, and sets the others aside.
func (r *repair) copyTo(keep func(c *claim, msg []byte) error) error {
	names := slices.Sorted(maps.Keys(r.best))
	for i, name := range names {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if r.options.Progress != nil {
			r.options.Progress(i, len(names))
		}
		c := r.best[name]
		if c.deleted {
			continue
		}
		msg, err := r.record(c)
		if err == nil {
			err = CheckName(name)
		}
		if err == nil {
			if err = keep(c, msg); err == nil {
				r.report.Kept++
				continue
			}
			if !errors.Is(err, codec.ErrInvalid) && !errors.Is(err, codec.ErrUnsupported) && !errors.Is(err, codec.ErrTruncated) {
				return err
			}
		}
		if err := r.lose(c, msg, err); err != nil {
			return err
		}
	}
	if err := r.unnamed(); err != nil {
		return err
	}
	return r.writeList()
}

// record reads the record of a claim, and compares it with its checksum.
func (r *repair) record(c *claim) ([]byte, error) {
	s := r.files[c.at.segment]
	if s == nil {
		return nil, fmt.Errorf("%w: segment %d is missing", ErrCorrupt, c.at.segment)
	}
	return s.RecordAt(c.at.offset, c.length, c.crc)
}

// unnamed sets aside the records that nothing names: of batches that were never
// committed, or whose commit record is damaged.
func (r *repair) unnamed() error {
	for _, n := range slices.Sorted(maps.Keys(r.files)) {
		s := r.files[n]
		if !r.live(n) {
			continue
		}
		for i := range s.Records {
			rec := &s.Records[i]
			at := place{n, rec.Offset}
			if r.named[at] {
				continue
			}
			msg, err := s.RecordAt(rec.Offset, rec.Length, nil)
			if err != nil {
				continue
			}
			c := &claim{name: recordName(msg), at: at, length: rec.Length}
			if err := r.lose(c, msg, errors.New("no commit record or index names it: it was never committed, or that record is damaged")); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordName is the name that a put record repeats, for people.
func recordName(msg []byte) string {
	head, err := codec.ParseHead(msg)
	if err != nil {
		return ""
	}
	name, _ := head.LookupMetadata(nameKey)
	return string(append([]byte(nil), name...))
}

// lose sets a record aside.
func (r *repair) lose(c *claim, msg []byte, why error) error {
	l := Lost{Name: c.name, Offset: c.at.offset, Length: c.length, Reason: why.Error()}
	if s := r.files[c.at.segment]; s != nil {
		l.File = s.Path
	}
	if len(msg) > 0 {
		// Names never become file names: they may be anything.
		l.SavedAs = fmt.Sprintf("%06d.msg", len(r.report.Lost)+1)
		if err := os.MkdirAll(r.report.LostIn, 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(r.report.LostIn, l.SavedAs), msg, 0o666); err != nil {
			return err
		}
	}
	r.report.Lost = append(r.report.Lost, l)
	return nil
}

// writeList writes what can be told of the lost records, one JSON object a line.
func (r *repair) writeList() error {
	if len(r.report.Lost) == 0 {
		r.report.LostIn = ""
		return nil
	}
	if err := os.MkdirAll(r.report.LostIn, 0o777); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(r.report.LostIn, "lost.jsonl"))
	if err != nil {
		return err
	}
	enc := json.NewEncoder(f)
	for _, l := range r.report.Lost {
		err = errors.Join(err, enc.Encode(l))
	}
	return errors.Join(err, f.Sync(), f.Close())
}

// swap puts the repaired store in the place of the damaged one, if it shall be.
func (r *repair) swap(to string) error {
	r.report.Result = to
	if !r.options.InPlace {
		return nil
	}
	r.report.Old = r.source + ".damaged-" + time.Now().UTC().Format("20060102T150405")
	if err := os.Rename(r.source, r.report.Old); err != nil {
		return err
	}
	if err := os.Rename(to, r.source); err != nil {
		return errors.Join(err, os.Rename(r.report.Old, r.source))
	}
	r.report.Result = r.source
	if r.report.LostIn != "" {
		r.report.LostIn = filepath.Join(r.source, filepath.Base(r.report.LostIn))
	}
	return segment.OS.SyncDir(filepath.Dir(r.source))
}

// pkg repairs a package. Without its index, the records say their names and
// attributes themselves, but nothing their checksums.
func (r *repair) pkg() error {
	s, err := segment.OpenSalvage(r.source)
	if err != nil {
		return err
	}
	r.files[0] = s
	for _, g := range s.Gaps {
		r.note("%s: %d bytes at offset %d are no message", s.Path, g.Length, g.Offset)
	}
	for _, span := range s.Index {
		r.index(0, s, span)
	}
	for i := range s.Records {
		rec := &s.Records[i]
		if r.named[place{0, rec.Offset}] {
			continue
		}
		head := make([]byte, min(rec.Length, 64<<20))
		if n, err := s.ReadAt(head, rec.Offset); n < len(head) {
			return err
		}
		if name := recordName(head); name != "" && r.best[name] == nil {
			r.claim(&claim{name: name, at: place{0, rec.Offset}, length: rec.Length})
			r.note("%q: no entry of the index, so its bytes can't be checked", name)
		}
	}
	if len(r.best) == 0 {
		return fmt.Errorf("%w: no record with a name is left in it", ErrCorrupt)
	}
	to := r.options.To
	if r.options.InPlace {
		to = r.source + ".repaired"
	}
	if _, err := os.Stat(to); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s is there already", to)
	}
	p, err := CreatePackage(to, r.dataset(s)...)
	if err != nil {
		return err
	}
	defer p.Abort()
	r.report.LostIn = to + ".lost"
	err = r.copyTo(func(c *claim, msg []byte) error {
		head, err := codec.ParseHead(msg)
		if err != nil {
			return err
		}
		t, err := codec.Decode(msg)
		if err != nil {
			return err
		}
		return p.Add(c.name, t, codec.DecodeAttrs(&head)...)
	})
	if err != nil {
		return err
	}
	if _, err := p.Close(); err != nil {
		return err
	}
	return r.swap(to)
}

// dataset are the attributes of the package as a whole, if they can be read.
func (r *repair) dataset(s *segment.Salvage) []layout.Attr {
	for _, span := range s.Index {
		frozen, err := index.OpenFrozenAt(s.Section(span), span.Length)
		if err != nil {
			continue
		}
		attrs, err := frozen.Dataset()
		if err != nil {
			r.note("the attributes of the dataset can't be read: %v", err)
		}
		return attrs
	}
	return nil
}
