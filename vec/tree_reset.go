package vec

// Reset makes t an empty tree again. It keeps the buffers, and what it has allocated for itself.
func (t *Tree) Reset() {
	for l := range t.Levels {
		t.Levels[l].Len = 0
	}
	t.begun = false
}
