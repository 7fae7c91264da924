package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"slices"
	"strings"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// Digest is a SHA-256. That of a tensor is over its canonical form (docs/FORMAT.md
// spells the bytes), that of a package over the digests of its tensors in the
// order of their names.
type Digest [sha256.Size]byte

// String is the digest in hexadecimal.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// digester computes digests of tensors, one after the other.
type digester struct {
	hash hash.Hash
	head []byte
}

func newDigester() *digester { return &digester{hash: sha256.New()} }

const canonicalMagic = "tstore tensor 1\n"

// tensor returns the digest of a tensor, given its encoding too.
func (d *digester) tensor(name string, t layout.Tensor, attrs []layout.Attr, r *codec.Record) Digest {
	digest, _ := d.largeTensor(context.Background(), name, t, attrs, r)
	return digest
}

// digestPiece is how many bytes are hashed between two looks at a context.
const digestPiece = 4 << 20

// largeTensor is tensor for one that may be large: it ends early, with the error of
// ctx, when ctx does.
func (d *digester) largeTensor(ctx context.Context, name string, t layout.Tensor, attrs []layout.Attr, r *codec.Record) (Digest, error) {
	d.hash.Reset()
	d.head = appendCanonicalHead(d.head[:0], name, t, attrs)
	for size, parts := range r.Buffers() {
		d.head = binary.LittleEndian.AppendUint64(d.head, uint64(size))
		d.hash.Write(d.head)
		d.head = d.head[:0]
		for part := range parts {
			for len(part) > digestPiece {
				d.hash.Write(part[:digestPiece])
				part = part[digestPiece:]
				if err := ctx.Err(); err != nil {
					return Digest{}, err
				}
			}
			d.hash.Write(part)
		}
	}
	d.hash.Write(d.head)
	return Digest(d.hash.Sum(d.head[:0])), nil
}

// appendCanonicalHead appends what comes before the buffers in the canonical form.
// A string in it is its length, u32, and its bytes.
func appendCanonicalHead(b []byte, name string, t layout.Tensor, attrs []layout.Attr) []byte {
	b = append(b, canonicalMagic...)
	b = appendString(b, name)
	b = appendString(b, t.DType().String())
	b = appendString(b, t.Layout().String())
	names := t.DimNames()
	b = binary.LittleEndian.AppendUint32(b, uint32(len(t.Shape())))
	for i, n := range t.Shape() {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
		if names != nil {
			b = appendString(b, names[i])
		} else {
			b = appendString(b, "")
		}
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(t.NNZ()))
	b = appendLayout(b, t)
	sorted := attrs
	if !slices.IsSortedFunc(attrs, compareAttrs) {
		sorted = slices.SortedFunc(slices.Values(attrs), compareAttrs)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(sorted)))
	for _, a := range sorted {
		b = appendString(appendString(b, a.Key), a.Value)
	}
	return b
}

// appendLayout appends what tells the buffers of a layout apart.
func appendLayout(b []byte, t layout.Tensor) []byte {
	switch t := t.(type) {
	case *layout.Dense:
		columnMajor := t.IsColumnMajor() && !t.IsContiguous()
		return append(b, flag(columnMajor))
	case *layout.COO:
		return append(appendString(b, t.Indices().Type().String()), flag(t.IsCanonical()))
	case *layout.CSR:
		return appendString(appendString(b, t.Indptr().Type().String()), t.Indices().Type().String())
	case *layout.CSC:
		return appendString(appendString(b, t.Indptr().Type().String()), t.Indices().Type().String())
	case *layout.CSF:
		b = appendString(appendString(b, t.Indptr(0).Type().String()), t.Indices(0).Type().String())
		for _, axis := range t.AxisOrder() {
			b = binary.LittleEndian.AppendUint32(b, uint32(axis))
		}
		return b
	}
	panic(fmt.Sprintf("store: a tensor of layout %v", t.Layout())) // the interface is sealed
}

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// compareAttrs orders attributes by key, then value.
func compareAttrs(a, b layout.Attr) int {
	if c := strings.Compare(a.Key, b.Key); c != 0 {
		return c
	}
	return strings.Compare(a.Value, b.Value)
}
