package disk

import (
	"slices"
)

// version is the contents of a block from operation seq on. Contents are never modified, so states may share them.
type version struct {
	data  []byte // BlockSize bytes, or nil for zeros
	seq   uint64
	epoch int  // how often the file had been made shorter
	floor bool // made by a truncation: if that happened, older versions are gone
	freed bool // made by a truncation that freed the block: if that did not happen, newer versions are out of reach
}

// block holds the versions of one block since it was last known to be on the disk. versions[0] is what the disk held
// then; the last one is what the cache holds. The first clean ones will not be written by a sync any more: they are on
// the disk (just versions[0]), or the cache believes so after a sync that failed.
type block struct {
	versions []version
	clean    int
}

func (b *block) last() *version { return &b.versions[len(b.versions)-1] }

// sizeVersion is the size of a file from operation seq on.
type sizeVersion struct {
	size   int64
	seq    uint64
	epoch  int
	growth bool // by a write: may be seen half done
}

// inode is a file or a directory.
type inode struct {
	ino    uint64
	isDir  bool
	mode   uint32
	nlink  int
	parent uint64 // with name: the last entry that was made for it; for messages and patterns
	name   string

	// Files.
	sizes     []sizeVersion // as block.versions
	sizeClean int
	epoch     int
	blocks    map[int64]*block
	unsettled map[int64]struct{} // the blocks with more than one version
	used      int64              // the number of blocks that take up space

	// Directories.
	entries map[string]uint64 // as the running system sees them
	durable map[string]uint64 // as the disk surely has them, without the changes in State.pending
}

func newFile(ino uint64, mode uint32, seq uint64) *inode {
	return &inode{
		ino: ino, mode: mode,
		sizes: []sizeVersion{{seq: seq}}, sizeClean: 1,
		blocks: map[int64]*block{}, unsettled: map[int64]struct{}{},
	}
}

func newDir(ino uint64, mode uint32) *inode {
	return &inode{ino: ino, isDir: true, mode: mode, nlink: 2, entries: map[string]uint64{}, durable: map[string]uint64{}}
}

// size is the size that the running system sees.
func (f *inode) size() int64 { return f.sizes[len(f.sizes)-1].size }

// cached returns the contents of a block as the running system sees them, nil for zeros.
func (f *inode) cached(i int64) []byte {
	if b := f.blocks[i]; b != nil {
		return b.last().data
	}
	return nil
}

// countUsed sets used after blocks were removed behind its back.
func (f *inode) countUsed() {
	f.used = 0
	for _, b := range f.blocks {
		if !b.last().freed {
			f.used++
		}
	}
}

// addsBlocks is the number of blocks that a write would add.
func (f *inode) addsBlocks(off, size int64) int64 {
	if size == 0 {
		return 0
	}
	n := int64(0)
	for i := off / BlockSize; i <= (off+size-1)/BlockSize; i++ {
		if b := f.blocks[i]; b == nil || b.last().freed {
			n++
		}
	}
	return n
}

func (f *inode) addVersion(i int64, v version) {
	b := f.blocks[i]
	if b == nil {
		b = &block{versions: make([]version, 1, 2), clean: 1}
		f.blocks[i] = b
	}
	v.epoch = f.epoch
	b.versions = append(b.versions, v)
	f.unsettled[i] = struct{}{}
}

func (f *inode) addSize(size int64, seq uint64, growth bool) {
	f.sizes = append(f.sizes, sizeVersion{size: size, seq: seq, epoch: f.epoch, growth: growth})
}

// write stores data, or size zeros if data is nil, at off. It keeps references to data.
func (f *inode) write(off, size int64, data []byte, seq uint64) {
	if size == 0 {
		return
	}
	f.used += f.addsBlocks(off, size)
	end := off + size
	for i := off / BlockSize; i*BlockSize < end; i++ {
		from, to := max(off, i*BlockSize), min(end, (i+1)*BlockSize)
		var piece []byte
		if data != nil {
			piece = data[from-off : to-off]
		}
		if len(piece) == BlockSize || data == nil && to-from == BlockSize {
			f.addVersion(i, version{data: piece[:len(piece):len(piece)], seq: seq})
			continue
		}
		old := f.cached(i)
		if old == nil && data == nil {
			f.addVersion(i, version{seq: seq})
			continue
		}
		whole := make([]byte, BlockSize)
		copy(whole, old)
		part := whole[from-i*BlockSize : to-i*BlockSize]
		if data == nil {
			clear(part)
		} else {
			copy(part, piece)
		}
		f.addVersion(i, version{data: whole, seq: seq})
	}
	switch {
	case end > f.size():
		f.addSize(end, seq, true)
	case f.sizeClean == len(f.sizes) && end > f.smallestSize():
		// The cache believes that the disk knows the size. Writing back a block past the disk's size corrects it.
		f.addSize(f.size(), seq, true)
	}
}

func (f *inode) smallestSize() int64 {
	return slices.MinFunc(f.sizes, func(a, b sizeVersion) int { return int(min(max(a.size-b.size, -1), 1)) }).size
}

// truncate sets the size.
func (f *inode) truncate(size int64, seq uint64) {
	old := f.size()
	switch {
	case size > old:
		f.addSize(size, seq, false)
	case size < old:
		f.epoch++
		for i, b := range f.blocks {
			switch start := i * BlockSize; {
			case start >= size:
				if !b.last().freed {
					f.addVersion(i, version{seq: seq, floor: true, freed: true})
					f.used--
				}
			case start+BlockSize > size && b.last().data != nil:
				whole := make([]byte, BlockSize)
				copy(whole, b.last().data[:size-start])
				f.addVersion(i, version{data: whole, seq: seq, floor: true})
			}
		}
		f.addSize(size, seq, false)
	}
}

// synced makes everything before begin durable.
func (f *inode) synced(begin uint64) {
	f.eachUnsettled(begin, func(b *block, upTo int) {
		b.versions, b.clean = slices.Clone(b.versions[upTo:]), 1
	})
	f.forgetSettled()
	if i := lastBefore(f.sizes, begin, func(s *sizeVersion) uint64 { return s.seq }); i >= f.sizeClean {
		f.sizes, f.sizeClean = slices.Clone(f.sizes[i:]), 1
	}
}

// syncFailed makes the cache believe that everything before begin is on the disk. With a seed some of the blocks really are.
func (f *inode) syncFailed(begin, seed uint64) {
	f.eachUnsettledIndex(begin, func(i int64, b *block, upTo int) {
		if seed != 0 && mix(seed, f.ino, uint64(i))&1 == 1 {
			b.versions, b.clean = slices.Clone(b.versions[upTo:]), 1
		} else {
			b.clean = upTo + 1
		}
	})
	f.forgetSettled()
	if i := lastBefore(f.sizes, begin, func(s *sizeVersion) uint64 { return s.seq }); i >= f.sizeClean {
		f.sizeClean = i + 1
	}
}

// dropCache forgets what is believed to be on the disk; what waits to be written stays.
func (f *inode) dropCache() {
	for i := range f.unsettled {
		if b := f.blocks[i]; b.clean == len(b.versions) {
			b.versions, b.clean = b.versions[:1:1], 1
		}
	}
	f.forgetSettled()
	if f.sizeClean == len(f.sizes) {
		f.sizes, f.sizeClean = f.sizes[:1:1], 1
		f.epoch = f.sizes[0].epoch
	}
	f.countUsed()
}

// settle makes everything durable, also what a failed sync left.
func (f *inode) settle() {
	for i := range f.unsettled {
		b := f.blocks[i]
		b.versions, b.clean = slices.Clone(b.versions[len(b.versions)-1:]), 1
	}
	f.forgetSettled()
	f.sizes, f.sizeClean = slices.Clone(f.sizes[len(f.sizes)-1:]), 1
}

// eachUnsettled calls do for each block that has something to write from before begin, with the index of the version to write.
func (f *inode) eachUnsettled(begin uint64, do func(b *block, upTo int)) {
	f.eachUnsettledIndex(begin, func(_ int64, b *block, upTo int) { do(b, upTo) })
}

func (f *inode) eachUnsettledIndex(begin uint64, do func(i int64, b *block, upTo int)) {
	for i := range f.unsettled {
		b := f.blocks[i]
		if upTo := lastBefore(b.versions, begin, func(v *version) uint64 { return v.seq }); upTo >= b.clean {
			do(i, b, upTo)
		}
	}
}

// forgetSettled drops blocks with one version from the list of unsettled ones, and those that are gone from the file.
func (f *inode) forgetSettled() {
	for i := range f.unsettled {
		if b := f.blocks[i]; len(b.versions) == 1 {
			delete(f.unsettled, i)
			if b.versions[0].freed || b.versions[0].seq == 0 && b.versions[0].data == nil {
				delete(f.blocks, i)
			}
		}
	}
}

// lastBefore returns the index of the last element whose sequence number is below begin, or 0.
func lastBefore[E any](versions []E, begin uint64, seq func(*E) uint64) int {
	for i := len(versions) - 1; i > 0; i-- {
		if seq(&versions[i]) < begin {
			return i
		}
	}
	return 0
}

// read copies from the cache; dst must lie inside the file.
func (f *inode) read(dst []byte, off int64) {
	for len(dst) > 0 {
		n := min(int64(len(dst)), BlockSize-off%BlockSize)
		if data := f.cached(off / BlockSize); data != nil {
			copy(dst[:n], data[off%BlockSize:])
		} else {
			clear(dst[:n])
		}
		dst, off = dst[n:], off+n
	}
}

// mix is a small hash of three numbers, for choices that have to be the same at each replay (splitmix64).
func mix(a, b, c uint64) uint64 {
	x := a
	for _, y := range [...]uint64{b, c, 0} {
		x += y + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}
