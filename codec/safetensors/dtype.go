package safetensors

import "github.com/tstore/tstore/layout"

// dtypes lists the element types that files name. Those without a layout.DType can't be read.
var dtypes = [...]struct {
	name  string
	bits  int64
	dtype layout.DType
}{
	{"U8", 8, layout.Uint8}, {"U16", 16, layout.Uint16}, {"U32", 32, layout.Uint32}, {"U64", 64, layout.Uint64},
	{"I8", 8, layout.Int8}, {"I16", 16, layout.Int16}, {"I32", 32, layout.Int32}, {"I64", 64, layout.Int64},
	{"F16", 16, layout.Float16}, {"F32", 32, layout.Float32}, {"F64", 64, layout.Float64},
	{"BF16", 16, layout.BFloat16},
	{"F8_E4M3", 8, layout.Float8E4M3FN}, {"F8_E5M2", 8, layout.Float8E5M2},
	{"BOOL", 8, layout.Bool},
	{"C64", 64, layout.Complex64},
	{"F4", 4, layout.DType{}},
	{"F6_E2M3", 6, layout.DType{}}, {"F6_E3M2", 6, layout.DType{}},
	{"F8_E8M0", 8, layout.DType{}}, {"F8_E4M3FNUZ", 8, layout.DType{}}, {"F8_E5M2FNUZ", 8, layout.DType{}},
}

// dtypeOf returns the type that a file calls name: the bits of an element, 0 if it is not known,
// and the type of a tensor's elements, which is not valid if there is none.
func dtypeOf(name string) (bits int64, dtype layout.DType) {
	for i := range dtypes {
		if dtypes[i].name == name {
			return dtypes[i].bits, dtypes[i].dtype
		}
	}
	return 0, layout.DType{}
}

// nameOf returns what a file calls a type, or "".
func nameOf(dtype layout.DType) string {
	for i := range dtypes {
		if dtypes[i].dtype == dtype && dtype.Valid() {
			return dtypes[i].name
		}
	}
	return ""
}
