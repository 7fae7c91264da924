package main

import (
	"encoding/json"
	"strconv"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// appendEntryJSON appends the object that ls --json and stat --json print: name, dtype, shape, dims
// where there are any, layout, of a sparse tensor nnz and the types of its index arrays, bytes,
// attrs. The keys and their order are part of the command's interface.
func appendEntryJSON(b []byte, e *store.Entry) []byte {
	b = append(b, `{"name":`...)
	b = appendString(b, e.Name)
	b = append(b, `,"dtype":`...)
	b = appendString(b, e.DType.String())
	b = appendShape(append(b, `,"shape":`...), e.Shape)
	if e.DimNames != nil {
		b = append(b, `,"dims":`...)
		b = appendStrings(b, e.DimNames)
	}
	b = append(b, `,"layout":`...)
	b = appendString(b, e.Layout.String())
	if e.Layout != layout.LayoutDense {
		b = append(b, `,"nnz":`...)
		b = strconv.AppendInt(b, e.NNZ, 10)
		if e.IndptrType.Valid() {
			b = append(b, `,"indptr":`...)
			b = appendString(b, e.IndptrType.String())
		}
		b = append(b, `,"indices":`...)
		b = appendString(b, e.IndicesType.String())
	}
	b = append(b, `,"bytes":`...)
	b = strconv.AppendInt(b, e.Bytes, 10)
	b = append(b, `,"attrs":`...)
	b = appendAttrs(b, e.Attrs)
	return append(b, '}')
}

// appendAttrs appends attributes as an object in their order. A key that occurs more than once
// stands where it is first, with an array of its values.
func appendAttrs(b []byte, attrs []layout.Attr) []byte {
	values := make(map[string][]string, len(attrs))
	for _, a := range attrs {
		values[a.Key] = append(values[a.Key], a.Value)
	}
	b = append(b, '{')
	first := true
	for _, a := range attrs {
		v, ok := values[a.Key]
		if !ok {
			continue
		}
		delete(values, a.Key)
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(appendString(b, a.Key), ':')
		if len(v) == 1 {
			b = appendString(b, v[0])
		} else {
			b = appendStrings(b, v)
		}
	}
	return append(b, '}')
}

// appendShape appends an array of numbers.
func appendShape(b []byte, shape []int64) []byte {
	b = append(b, '[')
	for i, n := range shape {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return append(b, ']')
}

// appendInt appends a key, which is not the first of its object, with a number.
func appendInt(b []byte, key string, n int64) []byte {
	return strconv.AppendInt(append(append(append(b, `,"`...), key...), `":`...), n, 10)
}

func appendStrings(b []byte, items []string) []byte {
	b = append(b, '[')
	for i, s := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}

// appendString appends a JSON string. What is not UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return append(b, quoted...)
}
