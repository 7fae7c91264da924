package main

// mutant is a deliberate fault: old, which is in the file exactly once, becomes new. One
// of the tests of pkg, a regular expression of whole names, has to fail then.
type mutant struct {
	what       string
	file       string
	old, new   string
	also       []edit // where one change would not do, because two places guard the same
	pkg, tests string
}

// edit is a further change of the same file.
type edit struct{ old, new string }

var mutants = []mutant{
	// Commit order.
	{
		what: "a batch is acknowledged before it is synced",
		file: "store/group.go",
		old:  "err := last.log.Sync()",
		new:  "err := last.log.Flush()",
		pkg:  "store", tests: "TestSyncBeforeAcknowledgement",
	},
	{
		what: "a sync takes in batches that came after it began",
		file: "store/group.go",
		old:  "\tg.finish(lot)\n",
		new:  "\tg.finish(g.pending)\n",
		pkg:  "store", tests: "TestSyncBeforeAcknowledgement",
	},
	{
		what: "a commit record names a segment whose data is not on disk",
		file: "store/internal/segment/writer.go",
		old:  "\treturn raw.Datasync()\n}",
		new:  "\treturn nil\n}",
		pkg:  "store", tests: "TestSyncBeforeAcknowledgement",
	},
	{
		what: "a sync leaves out the batches that are held back",
		file: "store/internal/segment/log.go",
		old: `func (l *Log) Sync() error {
	if err := l.Flush(); err != nil {
		return err
	}`,
		new: `func (l *Log) Sync() error {`,
		pkg: "store", tests: "TestSyncBeforeAcknowledgement",
	},
	{
		what: "the directory is not synced after a segment was created",
		file: "store/internal/segment/writer.go",
		old:  "if err := fs.SyncDir(dir); err != nil {",
		new:  "if err := error(nil); err != nil {",
		pkg:  "store", tests: "TestSyncBeforeAcknowledgement",
	},
	{
		what: "the directory is not synced after a compacted segment was named",
		file: "store/internal/segment/sealed_writer.go",
		old:  "if err := w.fs.SyncDir(w.dir); err != nil {",
		new:  "if err := error(nil); err != nil {",
		pkg:  "store", tests: "TestExchangeBeforeUnlink",
	},
	{
		what: "the directories of a new store are not synced",
		file: "store/open_writer.go",
		old: `	if len(opened.files) == 0 {
		// Before there`,
		new: `	if false {
		// Before there`,
		pkg: "store", tests: "TestKilledBeforeNamesAreDurable|TestPowerCuts",
	},
	{
		what: "durable_to takes in the batch that says it",
		file: "store/commit.go",
		old:  "DurableTo: s.group.durableTo(s.log),",
		new:  "DurableTo: start,",
		pkg:  "store", tests: "TestSyncBeforeAcknowledgement",
	},
	{
		what: "a commit record does not wait for the checksums that are computed beside",
		file: "store/commit.go",
		old:  "\t\tif late {\n",
		new:  "\t\tif late && false {\n",
		pkg:  "store", tests: "TestLateChecksums",
	},
	{
		what: "the catalog knows batches that are not on disk",
		file: "store/commit.go",
		old:  "\tchanged := b.changes()\n",
		new:  "\tchanged := b.changes()\n\ts.catalog.add(map[uint64][]*Entry{s.log.Number: changed}, s.commitRef(record, start+b.size, b.seq))\n",
		pkg:  "store", tests: "TestCatalogIsBehindTheDisk",
	},
	{
		what: "after a sync that failed writing goes on",
		file: "store/group.go",
		old: `	if err != nil {
		g.failLocked(err)
		return
	}
	g.finish(lot)`,
		new: `	_ = err
	g.finish(lot)`,
		pkg: "store", tests: "TestFailedSync",
	},
	{
		what: "what may not be on disk is not written again",
		file: "store/open_writer.go",
		old:  "if err := s.log.Rewrite(r.tail.Durable); err != nil {",
		new:  "if err := error(nil); err != nil {",
		pkg:  "store", tests: "TestFailedSync.*|TestFaultSweep",
	},

	// Recovery.
	{
		what: "a batch counts whose records have wrong checksums",
		file: "store/internal/segment/walk.go",
		old:  "\t\tif crc != op.Location.CRC {\n",
		new:  "\t\tif crc != op.Location.CRC && false {\n",
		pkg:  "store/internal/segment", tests: "TestWalk",
	},
	{
		what: "damage below durable_to is taken for a torn tail",
		file: "store/internal/segment/walk.go",
		old:  "\t\tif w.tail.Durable <= batch.Start {\n",
		new:  "\t\tif true {\n",
		pkg:  "store", tests: "TestFlippedBytes",
	},
	{
		what: "a torn tail is written over",
		file: "store/open_writer.go",
		old:  "\tif r.tail.Torn {\n",
		new:  "\tif false {\n",
		pkg:  "store", tests: "TestTornTailStays",
	},
	{
		what: "a gap in the numbers of batches is not noticed",
		file: "store/internal/segment/walk.go",
		old:  "case c.Seq != *seq+1:",
		new:  "case c.Seq <= *seq:",
		pkg:  "store/internal/segment", tests: "TestWalk",
	},
	{
		what: "a commit record stored inside of a tensor counts",
		file: "store/internal/segment/commit.go",
		old:  "\tif c.UUID != uuid || c.Offset != off {\n",
		new:  "\tif false {\n",
		pkg:  "store/internal/segment", tests: "TestWalk",
	},
	{
		what: "the checksum of control records is ignored",
		file: "store/internal/segment/control.go",
		old:  "binary.LittleEndian.Uint32(record[end:]); got != want {",
		new:  "binary.LittleEndian.Uint32(record[end:]); got != want && false {",
		pkg:  "store/internal/segment", tests: "TestControlRecordsFlipped",
	},
	{
		what: "the checksum of a tensor is ignored",
		file: "store/state.go",
		old:  "if got := segment.Checksum(record); got != e.CRC {",
		new:  "if got := segment.Checksum(record); false {",
		pkg:  "store", tests: "TestFlippedBytes",
	},
	{
		what: "a catalog that is ahead of its log is made anew",
		file: "store/replay.go",
		old:  `		return fmt.Errorf("%s: %w: the catalog knows batch %d up to offset %d, the log ends at %d: it has lost something", f.Path, ErrCorrupt, p.Seq, p.End, limit)`,
		new:  `		return errCatalogUseless`,
		also: []edit{{"if ok && r.seq < position.Seq {", "if false {"}},
		pkg:  "store", tests: "TestLogBehindCatalog",
	},
	{
		what: "a missing segment is passed over",
		file: "store/replay.go",
		old: `	for _, err := range r.missing {
		return err
	}`,
		new: "",
		pkg: "store", tests: "TestMissingSegments",
	},
	{
		what: "replay drops tombstones",
		file: "store/replay.go",
		old:  "\t\t\tset(&Entry{Name: op.Name, Deleted: true})\n\t\t\tcontinue\n",
		new:  "\t\t\tcontinue\n",
		pkg:  "store", tests: "TestModel",
	},
	{
		what: "a rename leaves the old name",
		file: "store/replay.go",
		old:  "\t\t\tset(&Entry{Name: op.From, Deleted: true})\n",
		new:  "",
		pkg:  "store", tests: "TestModel",
	},

	// Sealing, compaction, packages.
	{
		what: "the trailer is written before the index is on disk",
		file: "store/internal/segment/seal.go",
		old: `	if err := f.raw.Datasync(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if err := w.put(end[Alignment:]); err != nil {`,
		new: `	if err := w.put(end[Alignment:]); err != nil {`,
		pkg: "store", tests: "TestSealBeforeTrailer",
	},
	{
		what: "sealing drops tombstones",
		file: "store/sealed.go",
		old:  "if j.file.Header.BaseSeq < e.Seq && e.Seq <= j.last {",
		new:  "if !e.Deleted && j.file.Header.BaseSeq < e.Seq && e.Seq <= j.last {",
		pkg:  "store", tests: "TestModel",
	},
	{
		what: "compaction drops the tombstones that it needs",
		file: "store/compact.go",
		old:  "if !c.saidByVictim(e) || !c.hidesOlder(e) {",
		new:  "if true {",
		pkg:  "store", tests: "TestModel",
	},
	{
		what: "replaced segments stay in the live set",
		file: "store/commit.go",
		old:  "s.live = s.live.without(gone...).with(add...)",
		new:  "s.live = s.live.with(add...)",
		pkg:  "store", tests: "TestModel",
	},
	{
		what: "a replace takes the old segments out and not the new ones in",
		file: "store/replay.go",
		old:  "\tfor _, l := range op.New {\n",
		new:  "\tfor _, l := range op.New[:0] {\n",
		pkg:  "store", tests: "TestModel",
	},
	{
		what: "segments are removed before the replace is durable",
		file: "store/compact.go",
		old: `	if err := s.group.wait(written.seq); err != nil {
		return err
	}
	var logs []uint64`,
		new: `	_ = written
	var logs []uint64`,
		pkg: "store", tests: "TestExchangeBeforeUnlink",
	},
	{
		what: "records that were renamed meanwhile are lost to a compaction",
		file: "store/compact.go",
		old:  "\tfor _, e := range strays {\n",
		new:  "\tfor _, e := range strays[:0] {\n",
		pkg:  "store", tests: "TestChangesWhileCompacting",
	},
	{
		what: "what is dead is let go of only after the rest was compacted",
		file: "store/compact.go",
		old:  "\tif len(c.victims) > 0 {\n\t\tif err := c.giveBack()",
		new:  "\tif false {\n\t\tif err := c.giveBack()",
		pkg:  "store", tests: "TestCompactOnFullDisk",
	},
	{
		what: "attach does not look for names that the store has",
		file: "store/attach.go",
		old:  "case err == nil && clash == ClashFails:",
		new:  "case false:",
		pkg:  "store", tests: "TestAttach",
	},
	{
		what: "an attached package may be another one than was attached",
		file: "store/attached.go",
		old:  "got != a.digest {",
		new:  "got != a.digest && false {",
		pkg:  "store", tests: "TestCorpusOfStoresIsRejected",
	},
	{
		what: "a lookup stops at the first segment that has the name",
		file: "store/state.go",
		old:  "if ok && ref.Seq >= seq && st.counts(ref.Deleted, ref.Segment) {",
		new:  "if ok && f.log == nil && st.counts(ref.Deleted, ref.Segment) {",
		pkg:  "store", tests: "TestModel",
	},

	// The frozen index and the catalog.
	{
		what: "the checksum of a bucket of the frozen index is ignored",
		file: "index/frozen.go",
		old:  "if crc32.Checksum(b[:bucketCRC], castagnoli) != binary.LittleEndian.Uint32(b[bucketCRC:]) {",
		new:  "if false {",
		pkg:  "index", tests: "TestEveryFlippedByteOfAFrozenIndexIsFound",
	},
	{
		what: "the checksum of an entry of the frozen index is ignored",
		file: "index/frozen.go",
		old:  "got != binary.LittleEndian.Uint32(b) {",
		new:  "got != binary.LittleEndian.Uint32(b) && false {",
		pkg:  "index", tests: "TestEveryFlippedByteOfAFrozenIndexIsFound",
	},
	{
		what: "the checksum of a value of the catalog is ignored",
		file: "index/catalog_state.go",
		old:  "if want := binary.LittleEndian.Uint32(value); crc != want {",
		new:  "if want := binary.LittleEndian.Uint32(value); crc != want && false {",
		pkg:  "index", tests: "Test.*Catalog.*|TestEntriesDoubts|TestDamage.*",
	},
	{
		what: "bbolt gets to see pages that nobody has checked",
		file: "index/catalog_check.go",
		old:  "\treturn summed, checkPages(f, info.Size())\n",
		new:  "\t_ = info\n\treturn summed, nil\n",
		pkg:  "index", tests: "TestRandomDamageToTheCatalog",
	},
	{
		what: "the checksum of the catalog stays while it is changed",
		file: "index/catalog.go",
		old: `		if err := removeDurably(sumPath(c.path)); err != nil {
			return err
		}
		c.summed = false`,
		new: `		c.summed = false`,
		pkg: "index", tests: "TestChecksumIsThereOnlyWhileTheCatalogIsClosed",
	},

	// Processes and maps.
	{
		what: "the writer takes no lock",
		file: "store/lock.go",
		old:  "if err := lockFile(f); err != nil {",
		new:  "if err := error(nil); err != nil {",
		pkg:  "store", tests: "TestSecondWriter",
	},
	{
		what: "a deleted LOCK lets a second writer in",
		file: "store/lock.go",
		old:  "d, err := lockDir(dir)",
		new:  "d, err := (*os.File)(nil), error(nil)",
		pkg:  "store", tests: "TestLockFileDeleted",
	},
	{
		what: "a snapshot does not keep its segments mapped",
		file: "store/uses.go",
		old:  "if u.views[old].Load() > 0 || u.calls[old].Load() > 0 {",
		new:  "if u.calls[old].Load() > 0 {",
		pkg:  "store", tests: "TestModel|TestEveryOrder",
	},
	{
		what: "a reader sees half of a batch",
		file: "store/replay.go",
		old:  "\tr.seq = b.Commit.Seq\n\tr.last = commitRef",
		new:  "\tif ops := b.Commit.Ops; len(ops) > 2 {\n\t\tr.edit.Set(&Entry{Name: ops[len(ops)-1].Name, Seq: b.Commit.Seq, Deleted: true})\n\t}\n\tr.seq = b.Commit.Seq\n\tr.last = commitRef",
		pkg:  "store", tests: "TestReadersBesideWriter",
	},
	{
		what: "a reader sees a batch whose records are not there yet",
		file: "store/internal/segment/walk.go",
		old:  "\t\twhole, err := w.recordsWhole(b)\n",
		new:  "\t\twhole, err := true, error(nil)\n",
		pkg:  "store/internal/segment", tests: "TestWalk.*",
	},
	{
		what: "slices that were kept too long show another file's bytes",
		file: "store/internal/segment/mapping_unix.go",
		old:  "unix.PROT_NONE, flags)",
		new:  "unix.PROT_READ, flags)",
		pkg:  "store", tests: "TestSlicesKeptTooLong",
	},
	{
		what: "puts take the space that is kept for deletes",
		file: "store/commit.go",
		old:  "reserve := len(b.records) > 0",
		new:  "reserve := false",
		pkg:  "store", tests: "TestFullFileSystem|TestFullDisk",
	},
}
