package disk

import "slices"

// edit sets one directory entry, or removes it if ino is 0.
type edit struct {
	dir  uint64
	name string
	ino  uint64
}

// entryKey names a directory entry.
type entryKey struct {
	dir  uint64
	name string
}

// change is one atomic change of directories that is not known to be on the disk.
type change struct {
	seq   uint64
	edits []edit
	waits []uint64  // the directories that have to be synced still
	needs []*change // changes that are on the disk if this one is: earlier ones of the same entries
	done  bool      // on the disk
}

// queue makes a change in the running system and leaves it waiting for the syncs of its directories.
func (s *State) queue(seq uint64, edits ...edit) {
	c := &change{seq: seq, edits: edits}
	movesDir := false
	for _, e := range edits {
		dir := s.inodes[e.dir]
		if e.ino == 0 {
			delete(dir.entries, e.name)
		} else {
			dir.entries[e.name] = e.ino
			child := s.inodes[e.ino]
			child.parent, child.name = e.dir, e.name
			movesDir = movesDir || child.isDir && len(edits) > 1
		}
		if !slices.Contains(c.waits, e.dir) {
			c.waits = append(c.waits, e.dir)
		}
		key := entryKey{e.dir, e.name}
		if last := s.lastOf[key]; last != nil && !slices.Contains(c.needs, last) {
			c.needs = append(c.needs, last)
		}
		s.lastOf[key] = c
	}
	if movesDir {
		if s.lastMove != nil && !slices.Contains(c.needs, s.lastMove) {
			c.needs = append(c.needs, s.lastMove)
		}
		s.lastMove = c
	}
	s.pending = append(s.pending, c)
}

// dirSynced makes the changes of a directory before begin durable.
func (s *State) dirSynced(dir, begin uint64) {
	for _, c := range s.pending {
		if c.seq >= begin {
			break
		}
		if i := slices.Index(c.waits, dir); i >= 0 {
			c.waits = slices.Delete(c.waits, i, i+1)
			if len(c.waits) == 0 {
				c.finish()
			}
		}
	}
	s.flushDone()
}

// entrySynced makes the entries of a file and of the directories above it durable.
func (s *State) entrySynced(ino, begin uint64) {
	seen := map[uint64]bool{}
	for queue := []uint64{ino}; len(queue) > 0; queue = queue[1:] {
		if seen[queue[0]] {
			continue
		}
		seen[queue[0]] = true
		for _, c := range s.pending {
			if c.seq < begin && slices.ContainsFunc(c.edits, func(e edit) bool { return e.ino == queue[0] }) {
				c.finish()
				for _, e := range c.edits {
					queue = append(queue, e.dir)
				}
			}
		}
		if n := s.inodes[queue[0]]; n.parent != 0 {
			queue = append(queue, n.parent)
		}
	}
	s.flushDone()
}

// finish marks the change, and what it needs, as on the disk.
func (c *change) finish() {
	for todo := []*change{c}; len(todo) > 0; {
		last := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !last.done {
			last.done = true
			todo = append(todo, last.needs...)
		}
	}
}

// flushDone moves the finished changes from pending to the durable entries.
func (s *State) flushDone() {
	s.pending = slices.DeleteFunc(s.pending, func(c *change) bool {
		if !c.done {
			return false
		}
		for _, e := range c.edits {
			s.inodes[e.dir].setDurable(e)
			if key := (entryKey{e.dir, e.name}); s.lastOf[key] == c {
				delete(s.lastOf, key)
			}
		}
		if s.lastMove == c {
			s.lastMove = nil
		}
		c.needs = nil
		return true
	})
}

func (d *inode) setDurable(e edit) {
	if e.ino == 0 {
		delete(d.durable, e.name)
	} else {
		d.durable[e.name] = e.ino
	}
}
