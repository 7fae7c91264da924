package disk

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Choice is one thing that a cut decided, for people who look for the reason of a failure.
type Choice struct {
	Path string `json:"path"`
	What string `json:"what"`
}

// Crash returns a state that the disk may be in after a power cut now, with everything in it on the disk, and what was
// chosen to get there. The same seed, policy and state give the same result. s is not changed and shares only
// contents that never change with the result.
func (s *State) Crash(seed uint64, policy Policy) (*State, []Choice, error) {
	c, err := newChooser(seed, policy, s.oldest(), s.next)
	if err != nil {
		return nil, nil, err
	}
	choices := []Choice{{"", fmt.Sprintf("blocks %s (keep %g, tear %g), sizes %s, entries %s (keep %g), moment %d",
		c.blocks, c.keep, c.tear, c.sizes, c.entries, c.keepEntry, c.moment)}}

	after := newState(s.opts)
	after.next = s.next
	entries := map[uint64]map[string]uint64{}
	for ino, n := range s.inodes {
		if n.isDir {
			entries[ino] = maps.Clone(n.durable)
		}
	}
	happened := map[*change]bool{}
	for _, p := range s.pending {
		happened[p] = s.happens(c, p, happened)
		choices = append(choices, Choice{s.describe(p), map[bool]string{true: "happened", false: "did not happen"}[happened[p]]})
		if !happened[p] {
			continue
		}
		for _, e := range p.edits {
			if e.ino == 0 {
				delete(entries[e.dir], e.name)
			} else {
				entries[e.dir][e.name] = e.ino
			}
		}
	}

	// Walk from the root; what can't be reached is gone.
	after.inodes[RootIno] = newDir(RootIno, s.inodes[RootIno].mode)
	for queue := []uint64{RootIno}; len(queue) > 0; queue = queue[1:] {
		dir := after.inodes[queue[0]]
		dir.entries = entries[dir.ino]
		dir.durable = maps.Clone(dir.entries)
		for _, name := range sortedKeys(dir.entries) {
			n := s.inodes[dir.entries[name]]
			seen := after.inodes[n.ino]
			switch {
			case n.isDir && seen != nil:
				return nil, nil, fmt.Errorf("disk: cut with seed %d: directory %d has two names, which is a mistake in this model", seed, n.ino)
			case n.isDir:
				after.inodes[n.ino] = newDir(n.ino, n.mode)
				dir.nlink++
				queue = append(queue, n.ino)
			case seen == nil:
				f, chosen := n.crash(c, s.next)
				after.inodes[n.ino] = f
				if chosen != "" {
					choices = append(choices, Choice{s.Path(n.ino), chosen})
				}
				f.nlink = 1
			default:
				seen.nlink++
			}
			after.inodes[n.ino].parent, after.inodes[n.ino].name = dir.ino, name
		}
	}
	after.recount()
	return after, choices, nil
}

// oldest is the sequence number of the oldest thing that is not on the disk for sure.
func (s *State) oldest() uint64 {
	oldest := s.next
	if len(s.pending) > 0 {
		oldest = min(oldest, s.pending[0].seq)
	}
	for _, n := range s.inodes {
		if len(n.sizes) > 1 {
			oldest = min(oldest, n.sizes[1].seq)
		}
		for i := range n.unsettled {
			oldest = min(oldest, n.blocks[i].versions[1].seq)
		}
	}
	return oldest
}

// happens decides whether a directory change made it. It can only if those that it needs did.
func (s *State) happens(c *chooser, p *change, happened map[*change]bool) bool {
	coin := c.chance(c.keepEntry) // always drawn, so that the choices do not depend on each other
	for _, need := range p.needs {
		if !need.done && !happened[need] {
			return false
		}
	}
	switch c.entries {
	case styleKeep:
		return true
	case styleRandom:
		return coin
	case stylePrefix:
		return p.seq < c.moment
	}
	return false
}

func (s *State) describe(p *change) string {
	text := ""
	for _, e := range p.edits {
		if text != "" {
			text += ", "
		}
		dir := s.Path(e.dir)
		if dir != "" {
			dir += "/"
		}
		if e.ino == 0 {
			text += fmt.Sprintf("remove %s%s", dir, e.name)
		} else {
			text += fmt.Sprintf("set %s%s to inode %d", dir, e.name, e.ino)
		}
	}
	return fmt.Sprintf("%s (operation %d)", text, p.seq)
}

// crash returns what a cut leaves of a file, and in words what was chosen, "" if there was no choice.
func (f *inode) crash(c *chooser, seq uint64) (*inode, string) {
	after := newFile(f.ino, f.mode, seq)
	after.blocks = make(map[int64]*block, len(f.blocks))

	// How many of the truncations happened, then which size after the last of them.
	first, last := f.sizes[0].epoch, f.sizes[len(f.sizes)-1].epoch
	at := c.version(c.sizes, len(f.sizes), func(i int) uint64 { return f.sizes[i].seq })
	epoch := f.sizes[at].epoch
	size := f.sizes[at].size
	if v := f.sizes[at]; at > 0 && v.growth && f.sizes[at-1].size < v.size && c.sizes == styleRandom && c.chance(0.3) {
		// Half way through the write that made the file grow.
		from := f.sizes[at-1].size / BlockSize
		size = min(v.size, max(f.sizes[at-1].size, (from+c.Int64N(v.size/BlockSize-from+1))*BlockSize))
	}
	after.sizes[0].size = size

	old, newest, between, torn, noisy := 0, 0, 0, 0, 0
	for _, i := range sortedKeys(f.unsettled) {
		b := f.blocks[i]
		low, high := 0, len(b.versions)
		for j, v := range b.versions {
			if j > 0 && v.floor && v.epoch <= epoch {
				low = j
			}
			if j > 0 && v.freed && v.epoch > epoch {
				high = j
				break
			}
		}
		possible := b.versions[low:high]
		n := len(possible)
		at := c.version(c.blocks, n, func(j int) uint64 { return possible[j].seq })
		data := possible[at].data
		switch {
		case n > 1 && c.chance(c.tear):
			older := c.IntN(n - 1)
			data = c.torn(possible[older].data, possible[older+1+c.IntN(n-1-older)].data)
			torn++
		case at == 0 && n > 1 && c.garbage > 0 && possible[0].data == nil && (possible[0].seq == 0 || possible[0].freed) && c.chance(c.garbage):
			data = c.noise()
			noisy++
		case at == n-1 && high == len(b.versions):
			newest++
		case at == 0:
			old++
		default:
			between++
		}
		after.put(i, data, seq)
	}
	for i, b := range f.blocks {
		if len(b.versions) == 1 {
			after.put(i, b.versions[0].data, seq)
		}
	}
	after.countUsed()
	if len(f.sizes) == 1 && len(f.unsettled) == 0 {
		return after, ""
	}
	text := fmt.Sprintf("inode %d: size %d of %d…%d; blocks: %d old, %d new, %d between, %d torn", f.ino, size, f.sizes[0].size, f.size(), old, newest, between, torn)
	if noisy > 0 {
		text += fmt.Sprintf(", %d noise", noisy)
	}
	if first != last {
		text += fmt.Sprintf("; %d of %d truncations", epoch-first, last-first)
	}
	return after, text
}

// put gives a settled file the contents of a block, as far as it lies inside the size.
func (f *inode) put(i int64, data []byte, seq uint64) {
	start, size := i*BlockSize, f.size()
	if start >= size {
		return
	}
	if start+BlockSize > size && data != nil {
		data = append(slices.Clone(data[:size-start]), make([]byte, start+BlockSize-size)...)
	}
	f.blocks[i] = &block{versions: []version{{data: data, seq: seq}}, clean: 1}
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}
