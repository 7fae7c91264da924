// Package safetensors reads and writes .safetensors files, the form in which model weights are
// passed on, and reads sets of them that an index file holds together.
//
// [Parse] takes the bytes of a whole file, usually a map of it, and checks all that its header says.
// The tensors lie over those bytes: nothing is copied but what does not lie where a Go value may
// lie, and [Entry.View] does not copy even that.
//
//	f, err := safetensors.Parse(file)        // or ParseSet, for model.safetensors.index.json
//	for _, e := range f.Entries {            // in the order of their data
//		d, err := e.View()               // *layout.Dense, at any alignment; e.Tensor() is aligned
//		…                                // f.Metadata has the file's attributes
//	}
//
// [Encode] writes a file; [Write] does so with tensors that are made one after the other. What they
// write is aligned: the header is padded with spaces so that the data starts at a multiple of 64
// bytes, and tensors come in an order in which each lies at a multiple of its elements' size, those
// of a multiple of 64 bytes at multiples of 64.
//
// # Element types
//
//	U8 U16 U32 U64  I8 I16 I32 I64     uint8 … int64
//	F16 F32 F64  BF16                  float16, float32, float64, bfloat16
//	F8_E4M3  F8_E5M2                   float8_e4m3fn, float8_e5m2
//	BOOL                               bool
//	C64                                complex64
//
// A byte above 1 in a BOOL tensor counts as true and is read as 1, in a copy. Tensors of other
// types (F4, F6_E2M3, F6_E3M2, F8_E8M0, F8_E4M3FNUZ and F8_E5M2FNUZ are known, and more may come)
// have an [Entry], which says what they are, but no tensor: asking for it gives [ErrUnsupported]
// with the tensor's name, so that the others can be read. In the other direction complex128, dates,
// times and all other types have no place in a file.
//
// The metadata of a file is a list of strings by strings, and so are attributes. Dimension names
// have no place in a file and are not written.
//
// # Untrusted files
//
// All that the format's description forbids is refused: a header of more than 100,000,000 bytes or
// one that does not begin with a brace, a name that comes twice (of a tensor, a field or in the
// metadata), offsets that run backwards, don't fit the shape, overlap, leave a hole or leave bytes
// at the end. Memory is taken for what the header lists, never by a number that it claims. Sizes
// are computed so that they can't overflow.
//
// No library is used. github.com/nlpodyssey/safetensors, the one for Go that was looked at, reads
// headers by encoding/json, which takes the last of two keys that are the same, and does not keep
// the order of the metadata. The format is small; its JSON is read here by a parser that refuses
// what serde_json refuses, which the reference implementation uses, and says where in the file.
//
// Source: the section Format of the README of github.com/huggingface/safetensors, and for the limits
// and the types the source of its Rust library, version 0.8.
package safetensors
