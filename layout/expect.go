package layout

import "math"

const (
	// countBelow is the size in bytes below which a tensor's nonzeros are simply counted: it is in the
	// cache when they are gathered.
	countBelow = 1 << 20
	// samples is the number of places at which a larger tensor is looked at, and sampleBytes how much of
	// it: about 1 MiB in total, an instant beside the conversion.
	samples     = 256
	sampleBytes = 4 << 10
)

// expect returns for how many nonzeros room should be made before those of elements first to stop−1 of d are
// gathered. Counting them all would mean to read everything twice, so that is done only where it is cheap or a
// sample can't tell. A sample may be wrong, and then there is too little room or too much.
func (c *conversion) expect(d *Dense, first, stop int64) (int64, error) {
	n := stop - first
	width := int64(d.dtype.width)
	each := max(sampleBytes/width, 1)
	if n*width < countBelow || n < samples*each {
		return c.countRange(d, first, stop)
	}
	buffer, err := c.spaceFor(spaceLook, sampleBytes+width, 1)
	if err != nil {
		return 0, err
	}
	defer c.free(int64(len(buffer)))
	stride := n / samples
	sum, squares := 0.0, 0.0
	random := uint64(n)
	for i := range int64(samples) {
		// Somewhere in the i-th part, so that no period of the tensor goes unseen. What comes out is always
		// the same for a tensor.
		random = random*6364136223846793005 + 1442695040888963407
		at := first + i*stride + int64(random>>33)%max(stride-each, 1)
		var src []byte
		if d.order&rowMajor != 0 {
			off := d.offset + at*width
			src = d.data[off : off+each*width]
		} else {
			src = buffer[:d.CopyRange(buffer[:each*width], at)*width]
		}
		k := float64(countNonZero(d.dtype, src))
		sum += k
		squares += k * k
	}
	mean := sum / samples
	deviation := math.Sqrt(max(squares/samples-mean*mean, 0) / samples)
	scale := float64(n) / float64(each)
	// Four standard deviations, of which one is that of a nonzero more or less.
	likely := (mean + 4*(deviation+1/float64(samples))) * scale
	if spare := likely - mean*scale; spare > mean*scale/8+float64(n)/512 {
		return c.countRange(d, first, stop)
	}
	return min(int64(likely), n), nil
}

// countRange returns the number of nonzeros of elements first to stop−1 of d.
func (c *conversion) countRange(d *Dense, first, stop int64) (int64, error) {
	if first == 0 && stop == d.len {
		return denseCount(d), nil
	}
	size := bufferBytes(d)
	buffer, err := c.spaceFor(spaceLook, size, 1)
	if err != nil {
		return 0, err
	}
	defer c.free(size)
	var w walk
	w.begin(d, first, stop, math.MaxInt64, buffer)
	n := int64(0)
	for src, _ := w.piece(); src != nil; src, _ = w.piece() {
		n += countNonZero(d.dtype, src)
	}
	return n, nil
}
