package layout

import (
	"fmt"

	"github.com/tstore/tstore/vec"
)

// toDense returns all elements of a tensor in row-major order.
func (c *conversion) toDense(t Tensor) ([]byte, error) {
	dt, shape := t.DType(), t.Shape()
	n, err := checkShape(dt, shape)
	if err != nil {
		return nil, err
	}
	width := int64(dt.width)
	// Nothing is allocated before the index arrays have been found to be right.
	switch t := t.(type) {
	case *Dense:
		data, err := c.room(c.oldData, n, width)
		if err != nil {
			return nil, err
		}
		t.CopyRange(data, 0)
		return data, nil
	case *COO:
		if at, axis := t.firstOutside(); at >= 0 {
			return nil, t.outside(at, axis)
		}
		if t.firstDisorder() >= 0 {
			break
		}
		data, err := c.zeros(n, width)
		if err != nil {
			return nil, err
		}
		var factors [MaxDims]uint64
		keyFactors(factors[:len(shape)], shape, c.natural(len(shape)))
		var keys [512]uint64
		for first := int64(0); first < t.nnz; first += int64(len(keys)) {
			some := keys[:min(int64(len(keys)), t.nnz-first)]
			t.keys(some, first, factors[:len(shape)])
			scatterFrom(width, data, some, t.data[first*width:(first+int64(len(some)))*width])
		}
		return data, nil
	case *CSR:
		if data, err := c.linesToDense(&t.compressed, 0, n); data != nil || err != nil {
			return data, err
		}
	case *CSC:
		if data, err := c.linesToDense(&t.compressed, 1, n); data != nil || err != nil {
			return data, err
		}
	case *CSF:
		err := t.Validate()
		if isOrder(err) {
			break
		}
		if err != nil {
			return nil, err
		}
		data, err := c.zeros(n, width)
		if err != nil {
			return nil, err
		}
		keys, err := c.treeKeys(t)
		if err != nil {
			return nil, err
		}
		rekey(keys, shape, t.order, c.natural(len(shape)))
		scatterFrom(width, data, keys, t.data)
		return data, nil
	}
	// Elements may be stored several times.
	e, err := c.entriesOf(t, c.natural(len(shape)))
	if err != nil {
		return nil, err
	}
	data, err := c.zeros(n, width)
	if err != nil {
		return nil, err
	}
	scatterFrom(width, data, e.keys, e.data)
	return data, nil
}

// zeros returns room for n elements of a dense tensor, all of them zero.
func (c *conversion) zeros(n, width int64) ([]byte, error) {
	data, err := c.room(c.oldData, n, width)
	if err == nil && cap(c.oldData) >= len(data) {
		clear(data)
	}
	return data, err
}

// linesToDense returns the n elements of a matrix with lines along axis in row-major order, or nil if
// the indices are not in order, so that an element may be stored twice.
func (c *conversion) linesToDense(t *compressed, axis int, n int64) ([]byte, error) {
	err := t.validate(axis)
	if isOrder(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	width := int64(t.dtype.width)
	data, err := c.room(c.oldData, n, width)
	if err != nil || n == 0 {
		return data, err
	}
	scatter := vec.ScatterRows
	if axis == 1 {
		scatter = vec.ScatterColumns
	}
	err = scatter(data, int(width), int(t.shape[1]), t.indptr.data, t.indptr.typ.kernel(), t.indices.data, t.indices.typ.kernel(), t.data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIndex, err)
	}
	return data, nil
}
