package index

import (
	"iter"
	"strings"
)

// Table is an immutable map from names to entries in the order of the names: what a store knows of
// its open logs at one moment. The zero Table is empty. A Table is one pointer and a count, to be
// copied freely; any number of goroutines may read one, for as long as they like, while [Table.Edit]
// makes others from it.
//
// It is a B+tree whose nodes are never changed once a Table can reach them: an edit copies the
// nodes on its way and shares the rest.
type Table struct {
	root *tableNode
	len  int
}

// tableFanout is the largest number of entries in a leaf and of children in an inner node.
const tableFanout = 64

// tableNode is a leaf, with entries, or an inner node, with children. The keys decide nearly every
// comparison without looking at a name, which would cost two cache misses each: keys[i] is four
// bytes of the i-th name (in an inner node: separator) as a big-endian number, after the first
// skip bytes, which need not be compared because all names that a search can bring here have them
// in common. Keys and entries of a leaf are one piece of memory, of which a search reads three or
// four cache lines.
//
// The names that can come to a node are those from one separator above it, the fence, up to
// another: so skip is the length of the common prefix of both, 0 where one of them is missing.
type tableNode struct {
	owner *ownership // of the editor that may change the node; see [Editor.Table]
	count int
	skip  int
	leaf  *[tableFanout]*Entry // in a leaf, else nil
	inner *tableInner          // in an inner node, else nil
	keys  [tableFanout]uint32
}

// tableInner has the children of an inner node. Between children i and i+1 lies separator i: names
// below it are in child i or before, others after. keys[i] belongs to separator i.
//
// Most edits change one child and no separator, so the copy of a node shares the separators.
type tableInner struct {
	separators *[tableFanout]string
	shared     bool // separators belong to another node, too
	children   [tableFanout]*tableNode
}

// newTableLeaf returns an empty leaf, in one piece with its entries.
func newTableLeaf() *tableNode {
	n := new(struct {
		tableNode
		entries [tableFanout]*Entry
	})
	n.leaf = &n.entries
	return &n.tableNode
}

func newTableInner() *tableNode {
	return &tableNode{inner: &tableInner{separators: new([tableFanout]string)}}
}

// Len returns the number of names.
func (t Table) Len() int { return t.len }

// Get returns the entry of a name, or nil.
func (t Table) Get(name string) *Entry {
	n := t.root
	if n == nil {
		return nil
	}
	for n.leaf == nil {
		n = n.inner.children[n.child(name)]
	}
	if i, found := n.find(name); found {
		return n.leaf[i]
	}
	return nil
}

// Ascend returns the entries whose names are at least from, in ascending order of their names as
// strings of bytes.
func (t Table) Ascend(from string) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		if t.root != nil {
			t.root.ascend(from, yield)
		}
	}
}

// Prefix returns the entries whose names begin with prefix, in ascending order.
func (t Table) Prefix(prefix string) iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for e := range t.Ascend(prefix) {
			if !strings.HasPrefix(e.Name, prefix) || !yield(e) {
				return
			}
		}
	}
}

// keyAt returns four bytes of s after the first skip, filled up with zeros. Of two strings that
// agree in the first skip bytes the smaller one never has the larger key.
func keyAt(s string, skip int) uint32 {
	if skip+4 <= len(s) {
		b := s[skip : skip+4]
		return uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	}
	k := uint32(0)
	for i := skip; i < len(s); i++ {
		k |= uint32(s[i]) << (24 - 8*(i-skip))
	}
	return k
}

// equalKeys returns the range of the first count keys that are equal to k, which is empty, at the
// place where k would be, if there is none.
func (n *tableNode) equalKeys(k uint32, count int) (lo, hi int) {
	hi = count
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if n.keys[mid] < k {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for hi < count && n.keys[hi] == k {
		hi++
	}
	return lo, hi
}

// find returns the place of a name in a leaf, or where it would be.
func (n *tableNode) find(name string) (i int, found bool) {
	lo, hi := n.equalKeys(keyAt(name, n.skip), n.count)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := strings.Compare(n.leaf[mid].Name, name); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// child returns which child of an inner node a name belongs to.
func (n *tableNode) child(name string) int {
	lo, hi := n.equalKeys(keyAt(name, n.skip), n.count-1)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if n.inner.separators[mid] <= name {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// ascend yields the entries from a name on and reports whether to go on.
func (n *tableNode) ascend(from string, yield func(*Entry) bool) bool {
	if n.leaf != nil {
		i, _ := n.find(from)
		for ; i < n.count; i++ {
			if !yield(n.leaf[i]) {
				return false
			}
		}
		return true
	}
	i := n.child(from)
	if !n.inner.children[i].ascend(from, yield) {
		return false
	}
	for i++; i < n.count; i++ {
		if !n.inner.children[i].all(yield) {
			return false
		}
	}
	return true
}

// all yields every entry below n and reports whether to go on.
func (n *tableNode) all(yield func(*Entry) bool) bool {
	for i := range n.count {
		if n.leaf != nil {
			if !yield(n.leaf[i]) {
				return false
			}
		} else if !n.inner.children[i].all(yield) {
			return false
		}
	}
	return true
}
