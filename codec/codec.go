package codec

import (
	"fmt"

	"github.com/tstore/tstore/codec/internal/fb"
	"github.com/tstore/tstore/layout"
)

// Encode makes a message of a tensor, with meta as its custom metadata, in
// order. An element type that Arrow's tensors lack is stored as unsigned
// integers or floats of the same bytes and named in a first pair, whose key
// tstore.dtype meta may therefore not use.
//
// The record borrows the memory of t; meta and names are copied. A dense
// tensor keeps its order if that is row-major or column-major without gaps;
// any other is put in row-major order while the record is read, and so is the
// index matrix of a COO. Index arrays keep their type unless Arrow C++ would
// refuse it: uint64 is written as int64, and a type that can't count its own
// array as the next wider one. What an index array holds is not checked; see
// [Validate].
func Encode(t layout.Tensor, meta []layout.Attr) (*Record, error) {
	if !t.DType().Valid() {
		return nil, fmt.Errorf("codec: %w: the tensor has no element type", layout.ErrDType)
	}
	for _, a := range meta {
		if a.Key == keyDType {
			return nil, fmt.Errorf("codec: custom metadata with the key %s, which the element type alone decides", keyDType)
		}
	}
	if err := checkMetadataSize(t.DimNames(), meta); err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case *layout.Dense:
		return encodeDense(t, meta)
	case *layout.COO:
		return encodeCOO(t, meta)
	case *layout.CSR:
		return encodeCompressed(t, fb.CompressedAxisRow, meta), nil
	case *layout.CSC:
		return encodeCompressed(t, fb.CompressedAxisColumn, meta), nil
	case *layout.CSF:
		return encodeCSF(t, meta), nil
	}
	return nil, fmt.Errorf("codec: no message for the layout %v", t.Layout())
}

// Decode returns the tensor of the message at the start of msg, which may go
// on after it. The tensor lies in msg, dimension names included, and lives as
// long as that; only what starts at an address that no slice of its Go type may
// have is copied, which never happens to a message of this package at a multiple
// of 8. Decoding a tensor of up to eight dimensions makes one allocation.
//
// All elements, and all index arrays of a sparse tensor, lie inside the message
// when Decode returns, and the arrays have the lengths that they must have. What
// they hold has not been looked at, so that decoding takes no longer for a large
// tensor than for a small one. Conversions in package layout check it for
// themselves; who uses the arrays directly should call [Validate] if the message
// is not known to be good.
//
// The error is an [*Error], or [ErrEndOfStream].
func Decode(msg []byte) (layout.Tensor, error) {
	if d := decodePlain(msg); d != nil {
		return d, nil
	}
	return decode(msg)
}

// decode is Decode for every message.
func decode(msg []byte) (layout.Tensor, error) {
	h, err := ParseHead(msg)
	if err != nil {
		return nil, err
	}
	if int64(len(msg)) < h.Len() {
		return nil, broken(RuleBodyTruncated, h.HeaderLen, "%d bytes of body where the metadata says %d", int64(len(msg))-h.HeaderLen, h.BodyLen)
	}
	body := msg[h.HeaderLen:h.Len()]
	switch h.Kind {
	case HeaderTensor:
		return decodeDense(&h, body)
	case HeaderSparseTensor:
		return decodeSparse(&h, body)
	}
	return nil, h.notTensor()
}

// Validate checks what the index arrays of a sparse tensor hold: that indices
// lie inside the shape, that each indptr leads to where it should, and that what
// must be in order is. It takes linear time and allocates nothing. The errors
// are those of the tensor's own Validate, [layout.ErrIndex] and
// [layout.ErrOrder]. A dense tensor has nothing to check.
func Validate(t layout.Tensor) error {
	if t, ok := t.(interface{ Validate() error }); ok {
		return t.Validate()
	}
	return nil
}
