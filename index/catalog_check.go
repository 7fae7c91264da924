package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"os"
)

// checkCatalogFile makes sure that bbolt can be let near the database f, whose side file would be
// at sum, and reports whether there is one.
func checkCatalogFile(f *os.File, sum string) (summed bool, err error) {
	if err := tryLock(f); err != nil {
		return false, err
	}
	if summed, err = checkSum(f, sum); err != nil {
		return summed, err
	}
	info, err := f.Stat()
	if err != nil {
		return summed, err
	}
	return summed, checkPages(f, info.Size())
}

// The pages of a bbolt database, version 2. Numbers are in the byte order of the host, little
// endian on all that tstore runs on.
//
//	page          u64 id, u16 type, u16 count, u32 overflow: as many more pages belong to it
//	meta page     at 16: u32 magic, version, page size, flags; u64 root page, root sequence,
//	              freelist page, number of pages, transaction; u64 FNV-1a of the 56 bytes before
//	branch page   count × (u32 position, key size; u64 page), keys
//	leaf page     count × (u32 flags, position, key size, value size), keys each with its value
//	freelist page count × u64 page; with a count of 0xFFFF the first u64 is the count
//
// Positions count from the element that they are in. A leaf element with flag 1 is a bucket, its
// value u64 root page, u64 sequence; a root of 0 means that a leaf page without its rest follows
// inside the value.
const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2

	pageHeader  = 16
	metaSize    = 64
	elementSize = 16
	bucketSize  = 16

	pageBranch   = 0x01
	pageLeaf     = 0x02
	pageMeta     = 0x04
	pageFreelist = 0x10

	leafBucket = 1

	minPageSize = 4 << 10
	maxPageSize = 64 << 10
	maxKeySize  = 32768

	// maxDepth is more than any tree of bbolt has that fits in 2⁶³ bytes, since a branch page
	// holds at least two keys. It bounds our own recursion.
	maxDepth = 64

	// maxPageSpan bounds a page with its overflow. The largest are a value with all that an entry
	// can have and the freelist of a catalog of some terabytes.
	maxPageSpan = 256 << 20
)

type boltMeta struct {
	pageSize       int64
	root, freelist uint64
	pages          uint64 // pages with a higher number are not in use
	transaction    uint64
}

// pageCheck walks through a database once.
type pageCheck struct {
	r       io.ReaderAt
	meta    boltMeta
	seen    []uint64 // a bit for each page
	found   uint64   // bits that are set
	buffers [][]byte // by depth
}

// checkPages returns ErrCatalog unless the pages of a bbolt database of size bytes are what bbolt
// itself would have written for a catalog: it then finds no page twice, no reference that leads
// out of the file, no key out of order and no page lost, and so neither crashes nor loops nor asks
// for more memory than the file has bytes. The contents of keys and values are not looked at.
//
// It reads every page that is in use, once.
func checkPages(r io.ReaderAt, size int64) error {
	newer, older, err := readMetas(r)
	if err != nil {
		return err
	}
	if newer.transaction-older.transaction != 1 || newer.pageSize != older.pageSize {
		return fmt.Errorf("%w: its meta pages, of transactions %d and %d, don't belong together", ErrCatalog, older.transaction, newer.transaction)
	}
	if newer.pages > uint64(size/newer.pageSize) || newer.pages < 4 {
		return fmt.Errorf("%w: %d pages in %d bytes", ErrCatalog, newer.pages, size)
	}

	c := &pageCheck{r: r, meta: newer, seen: make([]uint64, (newer.pages+63)/64), buffers: make([][]byte, maxDepth)}
	if err := c.freelist(); err != nil {
		return err
	}
	if err := c.tree(newer.root, nil, nil, 0, true); err != nil {
		return err
	}
	if c.found != newer.pages-2 {
		return fmt.Errorf("%w: %d of its %d pages are neither in use nor free", ErrCatalog, newer.pages-2-c.found, newer.pages)
	}
	return nil
}

// readFull reads all of b; what the file does not have is doubt.
func readFull(r io.ReaderAt, b []byte, offset int64) error {
	n, err := r.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) || err == nil {
		return fmt.Errorf("%w: it ends at offset %d", ErrCatalog, offset+int64(n))
	}
	return err
}

// readMetas reads both meta pages. One transaction after the other writes its meta page to the other
// place. A damaged one would make bbolt take the older one for good; it may be, but the doubt is
// enough.
func readMetas(r io.ReaderAt) (newer, older boltMeta, err error) {
	var metas [2]boltMeta
	b := make([]byte, pageHeader+metaSize)
	for i := range metas {
		if err := readFull(r, b, int64(i)*metas[0].pageSize); err != nil {
			return newer, older, err
		}
		if metas[i], err = parseMeta(b, uint64(i)); err != nil {
			return newer, older, err
		}
	}
	if metas[0].transaction > metas[1].transaction {
		return metas[0], metas[1], nil
	}
	return metas[1], metas[0], nil
}

func parseMeta(b []byte, id uint64) (m boltMeta, err error) {
	p, err := parsePageHeader(b, id)
	if err != nil {
		return m, err
	}
	if p.kind != pageMeta || p.overflow != 0 {
		return m, fmt.Errorf("%w: page %d has type %#x and overflow %d, it should be a meta page", ErrCatalog, id, p.kind, p.overflow)
	}
	b = b[pageHeader:]
	hash := fnv.New64a()
	hash.Write(b[:metaSize-8])
	m = boltMeta{
		pageSize:    int64(binary.LittleEndian.Uint32(b[8:])),
		root:        binary.LittleEndian.Uint64(b[16:]),
		freelist:    binary.LittleEndian.Uint64(b[32:]),
		pages:       binary.LittleEndian.Uint64(b[40:]),
		transaction: binary.LittleEndian.Uint64(b[48:]),
	}
	switch {
	case binary.LittleEndian.Uint32(b) != boltMagic:
		err = fmt.Errorf("%w: meta page %d has magic %#x", ErrCatalog, id, binary.LittleEndian.Uint32(b))
	case binary.LittleEndian.Uint32(b[4:]) != boltVersion:
		err = fmt.Errorf("%w: meta page %d has version %d of bbolt's format", ErrCatalog, id, binary.LittleEndian.Uint32(b[4:]))
	case binary.LittleEndian.Uint64(b[metaSize-8:]) != hash.Sum64():
		err = fmt.Errorf("%w: meta page %d has a wrong checksum", ErrCatalog, id)
	case m.pageSize < minPageSize || m.pageSize > maxPageSize || m.pageSize&(m.pageSize-1) != 0:
		err = fmt.Errorf("%w: pages of %d bytes", ErrCatalog, m.pageSize)
	case m.transaction%2 != id:
		err = fmt.Errorf("%w: meta page %d is of transaction %d", ErrCatalog, id, m.transaction)
	}
	return m, err
}

type pageHead struct {
	kind     uint16
	count    int
	overflow uint32
}

func parsePageHeader(b []byte, id uint64) (pageHead, error) {
	if got := binary.LittleEndian.Uint64(b); got != id {
		return pageHead{}, fmt.Errorf("%w: page %d says that it is page %d", ErrCatalog, id, got)
	}
	return pageHead{
		kind:     binary.LittleEndian.Uint16(b[8:]),
		count:    int(binary.LittleEndian.Uint16(b[10:])),
		overflow: binary.LittleEndian.Uint32(b[12:]),
	}, nil
}

// claim notes that the pages from id on are reached, which they may be once.
func (c *pageCheck) claim(id uint64, more uint32) error {
	if id < 2 || id >= c.meta.pages || uint64(more) >= c.meta.pages-id {
		return fmt.Errorf("%w: a reference to pages %d to %d, there are %d", ErrCatalog, id, id+uint64(more), c.meta.pages)
	}
	for i := id; i <= id+uint64(more); i++ {
		if c.seen[i/64]&(1<<(i%64)) != 0 {
			return fmt.Errorf("%w: page %d is reached twice", ErrCatalog, i)
		}
		c.seen[i/64] |= 1 << (i % 64)
		c.found++
	}
	return nil
}

// page claims and reads a page with its overflow. The bytes are good until the next page of the
// same depth is read.
func (c *pageCheck) page(id uint64, depth int) (pageHead, []byte, error) {
	if depth >= maxDepth {
		return pageHead{}, nil, fmt.Errorf("%w: page %d is %d levels deep", ErrCatalog, id, depth)
	}
	if id < 2 || id >= c.meta.pages {
		return pageHead{}, nil, fmt.Errorf("%w: a reference to page %d, there are %d", ErrCatalog, id, c.meta.pages)
	}
	b := c.buffers[depth]
	if b == nil {
		b = make([]byte, c.meta.pageSize)
		c.buffers[depth] = b
	}
	offset := int64(id) * c.meta.pageSize
	if err := readFull(c.r, b[:c.meta.pageSize], offset); err != nil {
		return pageHead{}, nil, err
	}
	p, err := parsePageHeader(b, id)
	if err != nil {
		return p, nil, err
	}
	if err := c.claim(id, p.overflow); err != nil {
		return p, nil, err
	}
	n := (int64(p.overflow) + 1) * c.meta.pageSize
	if n > maxPageSpan {
		return p, nil, fmt.Errorf("%w: page %d is %d bytes long", ErrCatalog, id, n)
	}
	if n > int64(len(b)) {
		b = append(make([]byte, 0, n), b[:c.meta.pageSize]...)[:n]
		c.buffers[depth] = b
	}
	if p.overflow > 0 {
		if err := readFull(c.r, b[c.meta.pageSize:n], offset+c.meta.pageSize); err != nil {
			return p, nil, err
		}
	}
	return p, b[:n], nil
}

func (c *pageCheck) freelist() error {
	id := c.meta.freelist
	p, b, err := c.page(id, 0)
	if err != nil {
		return err
	}
	if p.kind != pageFreelist {
		return fmt.Errorf("%w: page %d has type %#x, it should be the freelist", ErrCatalog, id, p.kind)
	}
	ids, n := b[pageHeader:], uint64(p.count)
	if n == math.MaxUint16 {
		n = binary.LittleEndian.Uint64(ids)
		ids = ids[8:]
	}
	if n > uint64(len(ids)/8) {
		return fmt.Errorf("%w: a freelist of %d pages in %d bytes", ErrCatalog, n, len(b))
	}
	last := uint64(0)
	for ids = ids[:n*8]; len(ids) > 0; ids = ids[8:] {
		free := binary.LittleEndian.Uint64(ids)
		if free <= last {
			return fmt.Errorf("%w: in its freelist %d comes after %d", ErrCatalog, free, last)
		}
		if err := c.claim(free, 0); err != nil {
			return err
		}
		last = free
	}
	return nil
}

// tree checks a page and what is below it. Keys must be at least low and less than high; nil means
// no bound. The tree at the top has buckets, those below it have values.
func (c *pageCheck) tree(id uint64, low, high []byte, depth int, top bool) error {
	p, b, err := c.page(id, depth)
	if err != nil {
		return err
	}
	switch p.kind {
	case pageLeaf:
		return c.leaf(b, p.count, id, low, high, depth, top)
	case pageBranch:
	default:
		return fmt.Errorf("%w: page %d has type %#x, it should be a leaf or a branch", ErrCatalog, id, p.kind)
	}
	if p.count == 0 {
		return fmt.Errorf("%w: branch page %d is empty", ErrCatalog, id)
	}
	keys := pageKeys{b: b, next: pageHeader + elementSize*p.count, page: id, low: low, high: high}
	if keys.next > len(b) {
		return fmt.Errorf("%w: page %d has %d elements in %d bytes", ErrCatalog, id, p.count, len(b))
	}
	key, err := keys.take(pageHeader, 0, 0)
	if err != nil {
		return err
	}
	for i := range p.count {
		element := pageHeader + elementSize*i
		child := binary.LittleEndian.Uint64(b[element+8:])
		next := high
		if i+1 < p.count {
			if next, err = keys.take(element+elementSize, 0, 0); err != nil {
				return err
			}
		}
		if err := c.tree(child, key, next, depth+1, top); err != nil {
			return err
		}
		key = next
	}
	return nil
}

// leaf checks the elements of a leaf page b, or of one that lies in a value.
func (c *pageCheck) leaf(b []byte, count int, id uint64, low, high []byte, depth int, top bool) error {
	keys := pageKeys{b: b, next: pageHeader + elementSize*count, page: id, low: low, high: high}
	if keys.next > len(b) {
		return fmt.Errorf("%w: page %d has %d elements in %d bytes", ErrCatalog, id, count, len(b))
	}
	for i := range count {
		element := pageHeader + elementSize*i
		flags, size := binary.LittleEndian.Uint32(b[element:]), binary.LittleEndian.Uint32(b[element+12:])
		if _, err := keys.take(element, 4, size); err != nil {
			return err
		}
		if top != (flags == leafBucket) || flags > leafBucket {
			return fmt.Errorf("%w: element %d of page %d has flags %#x", ErrCatalog, i, id, flags)
		}
		if !top {
			continue
		}
		if err := c.bucket(b[keys.next-int(size):keys.next], id, depth); err != nil {
			return err
		}
	}
	return nil
}

// bucket checks the value of a bucket, found on a page.
func (c *pageCheck) bucket(value []byte, id uint64, depth int) error {
	if len(value) < bucketSize {
		return fmt.Errorf("%w: a bucket of %d bytes on page %d", ErrCatalog, len(value), id)
	}
	if root := binary.LittleEndian.Uint64(value); root != 0 {
		if len(value) != bucketSize {
			return fmt.Errorf("%w: a bucket with pages and %d bytes on page %d", ErrCatalog, len(value), id)
		}
		return c.tree(root, nil, nil, depth+1, false)
	}
	inline := value[bucketSize:]
	if len(inline) < pageHeader {
		return fmt.Errorf("%w: a bucket of %d bytes on page %d", ErrCatalog, len(value), id)
	}
	p, err := parsePageHeader(inline, 0)
	if err != nil {
		return err
	}
	if p.kind != pageLeaf || p.overflow != 0 {
		return fmt.Errorf("%w: a bucket on page %d has a page of type %#x and overflow %d inside", ErrCatalog, id, p.kind, p.overflow)
	}
	return c.leaf(inline, p.count, id, nil, nil, depth, false)
}

// pageKeys goes through the keys of a page, which lie one after the other, each with its value.
type pageKeys struct {
	b         []byte
	next      int // where the next key has to start
	page      uint64
	low, high []byte // bounds of the next key: low is the last one
	strict    bool   // it must be greater than low
}

// take returns the key of the element at a place in the page, whose position and key size are so
// many bytes into the element, and steps over it and its value.
func (k *pageKeys) take(element, position int, valueSize uint32) ([]byte, error) {
	start := int64(element) + int64(binary.LittleEndian.Uint32(k.b[element+position:]))
	size := int64(binary.LittleEndian.Uint32(k.b[element+position+4:]))
	if start != int64(k.next) || size < 1 || size > maxKeySize || size+int64(valueSize) > int64(len(k.b))-start {
		return nil, fmt.Errorf("%w: on page %d, a key of %d and a value of %d bytes at %d; the last one ended at %d, the page ends at %d",
			ErrCatalog, k.page, size, valueSize, start, k.next, len(k.b))
	}
	key := k.b[start : start+size]
	if c := bytes.Compare(key, k.low); c < 0 || c == 0 && k.strict || k.high != nil && bytes.Compare(key, k.high) >= 0 {
		return nil, fmt.Errorf("%w: on page %d, key %.40q is out of order", ErrCatalog, k.page, key)
	}
	k.low, k.strict = key, true
	k.next += int(size) + int(valueSize)
	return key, nil
}
