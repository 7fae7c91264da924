package index

// Editor makes a new [Table] out of an old one. It is for one goroutine at a time.
//
// The edits between two calls of Table copy each node that they touch once, so a batch costs much
// less than as many single edits.
type Editor struct {
	table Table
	owner *ownership // nodes that carry it are reached by no Table yet
}

// ownership is compared by its address alone, so it must not be of size zero.
type ownership struct{ _ byte }

// Edit returns an editor that starts with the contents of t.
func (t Table) Edit() *Editor {
	return &Editor{table: t, owner: new(ownership)}
}

// Table returns the contents as they are now. Later edits don't change it.
func (ed *Editor) Table() Table {
	ed.owner = new(ownership)
	return ed.table
}

// Len returns the number of names.
func (ed *Editor) Len() int { return ed.table.len }

// Get returns the entry of a name, or nil.
func (ed *Editor) Get(name string) *Entry { return ed.table.Get(name) }

// Set puts e under its name, instead of what was there. From now on e must not be changed.
func (ed *Editor) Set(e *Entry) {
	if ed.table.root == nil {
		ed.table.root = ed.newLeaf()
	}
	root, right, separator := ed.set(ed.table.root, e, "", "")
	if right != nil {
		left := root
		root = ed.newInner()
		root.inner.children[0] = left
		root.count = 1
		root.insertChild(1, separator, right)
	}
	ed.table.root = root
}

// Remove takes a name out and reports whether it was there.
func (ed *Editor) Remove(name string) bool {
	if ed.table.Get(name) == nil {
		return false
	}
	ed.table.root = ed.remove(ed.table.root, name, "", "")
	ed.table.len--
	for ed.table.root.inner != nil && ed.table.root.count == 1 {
		ed.table.root = ed.table.root.inner.children[0]
	}
	if ed.table.len == 0 {
		ed.table.root = nil
	}
	return true
}

func (ed *Editor) newLeaf() *tableNode {
	n := newTableLeaf()
	n.owner = ed.owner
	return n
}

func (ed *Editor) newInner() *tableNode {
	n := newTableInner()
	n.owner = ed.owner
	return n
}

// own returns a node that may be changed and has the contents of n: n itself or a copy.
func (ed *Editor) own(n *tableNode) *tableNode {
	if n.owner == ed.owner {
		return n
	}
	var c *tableNode
	if n.leaf != nil {
		c = ed.newLeaf()
		*c.leaf = *n.leaf
	} else {
		c = &tableNode{owner: ed.owner, inner: &tableInner{separators: n.inner.separators, shared: true, children: n.inner.children}}
	}
	c.count, c.skip, c.keys = n.count, n.skip, n.keys
	return c
}

// ownSeparators makes sure that the separators of n may be changed.
func (n *tableNode) ownSeparators() {
	if n.inner.shared {
		separators := *n.inner.separators
		n.inner.separators, n.inner.shared = &separators, false
	}
}

// set puts e below n, whose names lie between the separators low and high; empty means that there
// is none. It returns n or its copy. If the node had to be split, right has its upper part, from
// separator on.
func (ed *Editor) set(n *tableNode, e *Entry, low, high string) (left, right *tableNode, separator string) {
	n = ed.own(n)
	if n.leaf != nil {
		i, found := n.find(e.Name)
		if found {
			n.leaf[i] = e
			return n, nil, ""
		}
		ed.table.len++
		if n.count < tableFanout {
			n.insertEntry(i, e)
			return n, nil, ""
		}
		right = ed.newLeaf()
		right.skip = n.skip
		n.moveEntries(right, splitAt(i))
		if i <= n.count && n.count < tableFanout {
			n.insertEntry(i, e)
		} else {
			right.insertEntry(i-n.count, e)
		}
		separator = between(n.leaf[n.count-1].Name, right.leaf[0].Name)
		n.setSkip(common(low, separator))
		right.setSkip(common(separator, high))
		return n, right, separator
	}

	i := n.child(e.Name)
	childLow, childHigh := n.fences(i, low, high)
	child, grown, childSeparator := ed.set(n.inner.children[i], e, childLow, childHigh)
	n.inner.children[i] = child
	switch {
	case grown == nil:
		return n, nil, ""
	case n.count < tableFanout:
		n.insertChild(i+1, childSeparator, grown)
		return n, nil, ""
	}
	i++
	right = ed.newInner()
	right.skip = n.skip
	if i == tableFanout {
		right.inner.children[0] = grown
		right.count = 1
		separator = childSeparator
	} else {
		separator = n.moveChildren(right, tableFanout/2)
		if i <= n.count {
			n.insertChild(i, childSeparator, grown)
		} else {
			right.insertChild(i-n.count, childSeparator, grown)
		}
	}
	n.setSkip(common(low, separator))
	right.setSkip(common(separator, high))
	return n, right, separator
}

// splitAt returns how many entries stay in a full leaf that entry i is to be inserted into. Names
// that come in ascending order always hit the end of a leaf: leaving it full then saves half the
// memory.
func splitAt(i int) int {
	if i == tableFanout {
		return tableFanout
	}
	return tableFanout / 2
}

// fences returns the separators to the left and right of child i of a node between low and high.
func (n *tableNode) fences(i int, low, high string) (string, string) {
	if i > 0 {
		low = n.inner.separators[i-1]
	}
	if i < n.count-1 {
		high = n.inner.separators[i]
	}
	return low, high
}

// setSkip makes the keys of n begin after skip bytes.
func (n *tableNode) setSkip(skip int) {
	if n.skip == skip {
		return
	}
	n.skip = skip
	if n.leaf != nil {
		for i := range n.count {
			n.keys[i] = keyAt(n.leaf[i].Name, skip)
		}
		return
	}
	for i := range n.count - 1 {
		n.keys[i] = keyAt(n.inner.separators[i], skip)
	}
}

func (n *tableNode) insertEntry(i int, e *Entry) {
	copy(n.keys[i+1:n.count+1], n.keys[i:n.count])
	copy(n.leaf[i+1:n.count+1], n.leaf[i:n.count])
	n.keys[i] = keyAt(e.Name, n.skip)
	n.leaf[i] = e
	n.count++
}

// moveEntries moves the entries from i on to the end of a node that may have another skip.
func (n *tableNode) moveEntries(to *tableNode, i int) {
	for j := i; j < n.count; j++ {
		to.leaf[to.count] = n.leaf[j]
		to.keys[to.count] = keyAt(n.leaf[j].Name, to.skip)
		to.count++
	}
	clear(n.leaf[i:n.count])
	n.count = i
}

// insertChild makes c child i ≥ 1 of n, after the separator s.
func (n *tableNode) insertChild(i int, s string, c *tableNode) {
	n.ownSeparators()
	copy(n.keys[i:n.count], n.keys[i-1:n.count-1])
	copy(n.inner.separators[i:n.count], n.inner.separators[i-1:n.count-1])
	copy(n.inner.children[i+1:n.count+1], n.inner.children[i:n.count])
	n.keys[i-1] = keyAt(s, n.skip)
	n.inner.separators[i-1] = s
	n.inner.children[i] = c
	n.count++
}

// moveChildren moves the children from i ≥ 1 on to an empty node and returns the separator that
// was before them.
func (n *tableNode) moveChildren(to *tableNode, i int) string {
	separator := n.inner.separators[i-1]
	to.count = copy(to.inner.children[:], n.inner.children[i:n.count])
	for j, s := range n.inner.separators[i : n.count-1] {
		to.inner.separators[j] = s
		to.keys[j] = keyAt(s, to.skip)
	}
	n.ownSeparators()
	clear(n.inner.children[i:n.count])
	clear(n.inner.separators[i-1 : n.count-1])
	n.count = i
	return separator
}

// remove takes a name that is there out of n. A leaf may be left without entries; its parent then
// merges it with a neighbour, unless it is an only child.
func (ed *Editor) remove(n *tableNode, name, low, high string) *tableNode {
	n = ed.own(n)
	if n.leaf != nil {
		i, _ := n.find(name)
		copy(n.keys[i:], n.keys[i+1:n.count])
		copy(n.leaf[i:], n.leaf[i+1:n.count])
		n.count--
		n.leaf[n.count] = nil
		return n
	}
	i := n.child(name)
	childLow, childHigh := n.fences(i, low, high)
	n.inner.children[i] = ed.remove(n.inner.children[i], name, childLow, childHigh)
	switch {
	case n.mergeable(i, i+1):
		ed.merge(n, i, low, high)
	case n.mergeable(i, i-1):
		ed.merge(n, i-1, low, high)
	}
	return n
}

// mergeable reports whether child i has become so small that it should be put together with its
// neighbour j, and whether they fit. There is room left afterwards, so that the next insertion
// does not split them again, unless the child is next to nothing.
func (n *tableNode) mergeable(i, j int) bool {
	if j < 0 || j >= n.count {
		return false
	}
	small, sum := n.inner.children[i].count, n.inner.children[i].count+n.inner.children[j].count
	return small <= 1 && sum <= tableFanout || small <= tableFanout/4 && sum <= tableFanout*3/4
}

// merge puts children i and i+1 of n, which is between low and high, together.
func (ed *Editor) merge(n *tableNode, i int, low, high string) {
	low, _ = n.fences(i, low, high)
	_, high = n.fences(i+1, low, high)
	left, right := ed.own(n.inner.children[i]), n.inner.children[i+1]
	if left.leaf != nil {
		for j := range right.count {
			left.leaf[left.count] = right.leaf[j]
			left.keys[left.count] = keyAt(right.leaf[j].Name, left.skip)
			left.count++
		}
	} else {
		left.insertChild(left.count, n.inner.separators[i], right.inner.children[0])
		for j := 1; j < right.count; j++ {
			left.insertChild(left.count, right.inner.separators[j-1], right.inner.children[j])
		}
	}
	n.inner.children[i] = left
	n.ownSeparators()
	copy(n.inner.children[i+1:], n.inner.children[i+2:n.count])
	copy(n.inner.separators[i:], n.inner.separators[i+1:n.count-1])
	copy(n.keys[i:], n.keys[i+1:n.count-1])
	n.count--
	n.inner.children[n.count] = nil
	n.inner.separators[n.count-1] = ""
	left.setSkip(common(low, high))
}

// common returns the length of the longest common prefix.
func common(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// between returns the shortest string that is greater than a and at most b, a < b.
func between(a, b string) string { return b[:common(a, b)+1] }
