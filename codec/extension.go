package codec

import "github.com/tstore/tstore/layout"

// keyDType is the custom metadata key that names an element type for which
// Arrow's tensors have no type of their own. It is written first.
const keyDType = ReservedPrefix + "dtype"

// maxStoredDims is the largest number of dimensions in a message: those of a
// tensor and the axis of a complex number's two parts.
const maxStoredDims = layout.MaxDims + 1

// An extension is an element type that is stored as another type of the same
// bytes, with its name under keyDType.
type extension struct {
	dtype  layout.DType
	dense  layout.DType // what it is stored as in a Tensor
	sparse layout.DType // in a SparseTensor
	parts  int          // length of the axis that a Tensor has in addition, or 0
}

var extensions = [...]extension{
	{dtype: layout.Bool, dense: layout.Uint8, sparse: layout.Uint8},
	{dtype: layout.BFloat16, dense: layout.Uint16, sparse: layout.Uint16},
	{dtype: layout.Float8E4M3FN, dense: layout.Uint8, sparse: layout.Uint8},
	{dtype: layout.Float8E5M2, dense: layout.Uint8, sparse: layout.Uint8},
	{dtype: layout.Complex64, dense: layout.Float32, sparse: layout.Uint64, parts: 2},
	{dtype: layout.Complex128, dense: layout.Float64, sparse: binary16, parts: 2},
}

var binary16 = must(layout.FixedSizeBinary(16))

// must is for types that are right by their making.
func must(dt layout.DType, err error) layout.DType {
	if err != nil {
		panic(err)
	}
	return dt
}

// extensionOf returns the extension that stores elements of type dt, or nil if
// Arrow has the type.
func extensionOf(dt layout.DType) *extension {
	for i := range extensions {
		if extensions[i].dtype == dt {
			return &extensions[i]
		}
	}
	return nil
}

// extension returns the extension that the custom metadata names, or nil.
func (h *Head) extension() (*extension, error) {
	var found *extension
	for key, name := range h.Metadata() {
		if key != keyDType {
			continue
		}
		if found != nil {
			return nil, h.broken(RuleDTypeRepeated, "%s occurs twice", keyDType)
		}
		for i := range extensions {
			if extensions[i].dtype.String() == name {
				found = &extensions[i]
			}
		}
		if found == nil {
			return nil, h.broken(RuleDTypeUnknown, "%s names %.100q, an element type that this version does not know", keyDType, name)
		}
	}
	return found, nil
}
