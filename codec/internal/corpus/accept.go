package main

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/tstore/tstore/codec/internal/fb"
)

// An accept is a message and what a reader must see in it.
type accept struct {
	name     string
	message  []byte
	layout   string
	dtype    string
	shape    []int64
	names    []string // nil, or one for each axis
	elements []byte   // in row-major order
}

func accepts() []accept { return slices.Concat(denseAccepts(), typeAccepts(), sparseAccepts()) }

// numbers are the elements of most messages: 1, 2, 3, ….
func numbers(n int) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(i+1)))
	}
	return b
}

// pad returns b with zeros behind it up to n bytes.
func pad(b []byte, n int) []byte { return append(slices.Clone(b), make([]byte, n-len(b))...) }

func concat(parts ...[]byte) []byte { return slices.Concat(parts...) }

func denseAccepts() []accept {
	single := floatType(fb.PrecisionSINGLE)
	row, col := named(2, "row"), named(3, "column")
	six := numbers(6)
	transposed := concat(six[0:4], six[12:16], six[4:8], six[16:20], six[8:12], six[20:24])
	meta := []pair{{"unit", "m"}, {"author", "somebody"}}
	data := buffer{0, 24}

	var all []accept
	matrix := func(name string, names []string, m message) {
		all = append(all, accept{name, m.bytes(), "dense", "float32", []int64{2, 3}, names, six})
	}
	both := []string{"row", "column"}
	matrix("dense", both, message{meta: meta, header: dense(single, []dim{row, col}, []int64{12, 4}, data), body: pad(six, 64)})
	matrix("dense-column-major", nil, message{header: dense(single, dims(2, 3), []int64{4, 8}, data), body: pad(transposed, 64)})
	matrix("dense-names-absent", nil, message{header: dense(single, dims(2, 3), []int64{12, 4}, data), body: pad(six, 64)})
	matrix("dense-names-empty", nil, message{header: dense(single, []dim{named(2, ""), named(3, "")}, []int64{12, 4}, data), body: pad(six, 64)})
	matrix("dense-name-for-one-axis", []string{"", "column"}, message{header: dense(single, []dim{{size: 2}, col}, []int64{12, 4}, data), body: pad(six, 64)})
	matrix("dense-strides-absent", both, message{header: dense(single, []dim{row, col}, nil, data), body: pad(six, 64)})
	matrix("dense-strides-empty", both, message{header: dense(single, []dim{row, col}, []int64{}, data), body: pad(six, 64)})
	matrix("dense-strides-with-gaps", both, message{header: dense(single, []dim{row, col}, []int64{32, 8}, buffer{0, 56}),
		body: concat(spread(six[:12]), make([]byte, 8), spread(six[12:]))})
	matrix("dense-data-offset", both, message{header: dense(single, []dim{row, col}, []int64{12, 4}, buffer{40, 24}), body: pad(concat(make([]byte, 40), six), 64)})
	matrix("dense-data-length-wrong", both, message{header: dense(single, []dim{row, col}, []int64{12, 4}, buffer{0, 0}), body: pad(six, 64)})
	matrix("dense-body-exact", both, message{header: dense(single, []dim{row, col}, []int64{12, 4}, data), body: six})
	matrix("dense-body-unaligned", both, message{sizeOnly: true, header: dense(single, []dim{row, col}, []int64{12, 4}, buffer{1, 24}), body: concat([]byte{0}, six)})
	matrix("framing-old", both, message{old: true, header: dense(single, []dim{row, col}, []int64{12, 4}, data), body: six})
	matrix("version-4", both, message{version: fb.MetadataVersionV4, header: dense(single, []dim{row, col}, []int64{12, 4}, data), body: pad(six, 64)})
	matrix("metadata-repeated-key", both, message{meta: []pair{{"k", "1"}, {"k", "2"}, {"", ""}}, header: dense(single, []dim{row, col}, []int64{12, 4}, data), body: pad(six, 64)})
	// Every value is one string, whose length is that of its first word only.
	shared := message{meta: slices.Repeat([]pair{{key: "k"}}, 40), shared: "word\x00" + string(slices.Repeat([]byte{'.'}, 1000)),
		header: dense(single, []dim{row, col}, []int64{12, 4}, data), body: pad(six, 64)}
	short := &editor{msg: shared.bytes()}
	short.put32(short.pair(0).vector(1), 4)
	all = append(all, accept{"metadata-shared-value", short.msg, "dense", "float32", []int64{2, 3}, both, six})
	followed := message{header: dense(single, []dim{row, col}, []int64{12, 4}, data), body: pad(six, 64)}
	all = append(all, accept{"followed-by-bytes", append(followed.bytes(), "anything"...), "dense", "float32", []int64{2, 3}, both, six})

	all = append(all,
		accept{"dense-scalar", message{header: dense(single, nil, []int64{}, buffer{0, 4}), body: pad(numbers(1), 64)}.bytes(),
			"dense", "float32", nil, nil, numbers(1)},
		accept{"dense-empty", message{header: dense(single, dims(0, 3), []int64{4, 4}, buffer{0, 0})}.bytes(),
			"dense", "float32", []int64{0, 3}, nil, nil},
		accept{"dense-empty-odd-strides", message{header: dense(single, dims(2, 0, math.MaxInt64), []int64{-7, math.MaxInt64, 1}, buffer{0, 0})}.bytes(),
			"dense", "float32", []int64{2, 0, math.MaxInt64}, nil, nil},
		accept{"dense-empty-with-body", message{header: dense(single, dims(0, 3), []int64{12, 4}, buffer{8, 16}), body: make([]byte, 64)}.bytes(),
			"dense", "float32", []int64{0, 3}, nil, nil},
		accept{"dense-axis-of-one-any-stride", message{header: dense(single, dims(1, 3), []int64{0, 4}, buffer{0, 12}), body: pad(numbers(3), 64)}.bytes(),
			"dense", "float32", []int64{1, 3}, nil, numbers(3)},
		accept{"dense-overlapping", message{header: dense(single, dims(2, 2), []int64{4, 4}, buffer{0, 12}), body: pad(numbers(3), 64)}.bytes(),
			"dense", "float32", []int64{2, 2}, nil, concat(numbers(2), numbers(3)[4:])},
	)
	return all
}

// spread puts a gap of four bytes behind each four bytes of b.
func spread(b []byte) []byte {
	var out []byte
	for i := 0; i < len(b); i += 4 {
		out = append(out, b[i:i+4]...)
		out = append(out, 0xEE, 0xEE, 0xEE, 0xEE)
	}
	return out
}

// typeAccepts has a vector of each element type.
func typeAccepts() []accept {
	const n = 2
	var all []accept
	add := func(dtype string, t typ, size int) {
		elements := sequence(n * size)
		if dtype == "bool" {
			elements = []byte{1, 0}
		}
		all = append(all, accept{
			name:     "type-" + fileName(dtype),
			message:  message{header: dense(t, dims(n), []int64{int64(size)}, buffer{0, int64(n * size)}), body: pad(elements, 64)}.bytes(),
			layout:   "dense",
			dtype:    dtype,
			shape:    []int64{n},
			elements: elements,
		})
	}
	for _, bits := range []int32{8, 16, 32, 64} {
		add("int"+digits(bits), intType(bits, true), int(bits/8))
		add("uint"+digits(bits), intType(bits, false), int(bits/8))
	}
	add("float16", floatType(fb.PrecisionHALF), 2)
	add("float32", floatType(fb.PrecisionSINGLE), 4)
	add("float64", floatType(fb.PrecisionDOUBLE), 8)
	add("decimal32[9, 2]", decimalType(9, 2, 32), 4)
	add("decimal64[18, -2]", decimalType(18, -2, 64), 8)
	add("decimal128[38, 10]", decimalType(38, 10, 128), 16)
	add("decimal256[76, 0]", decimalType(76, 0, 256), 32)
	add("date[day]", dateType(fb.DateUnitDAY), 4)
	add("date[ms]", dateType(fb.DateUnitMILLISECOND), 8)
	add("time32[s]", timeType(fb.TimeUnitSECOND, 32), 4)
	add("time32[ms]", timeType(fb.TimeUnitMILLISECOND, 32), 4)
	add("time64[us]", timeType(fb.TimeUnitMICROSECOND, 64), 8)
	add("time64[ns]", timeType(fb.TimeUnitNANOSECOND, 64), 8)
	add("timestamp[s]", timestampType(fb.TimeUnitSECOND, ""), 8)
	add("timestamp[ns, UTC]", timestampType(fb.TimeUnitNANOSECOND, "UTC"), 8)
	add("duration[ms]", durationType(fb.TimeUnitMILLISECOND), 8)
	add("duration[us]", durationType(fb.TimeUnitMICROSECOND), 8)
	add("interval[year_month]", intervalType(fb.IntervalUnitYEAR_MONTH), 4)
	add("interval[day_time]", intervalType(fb.IntervalUnitDAY_TIME), 8)
	add("interval[month_day_nano]", intervalType(fb.IntervalUnitMONTH_DAY_NANO), 16)
	add("fixed_size_binary[3]", binaryType(3), 3)
	for i := range all {
		all[i].name = "dense-" + all[i].name
	}

	// The types that Arrow's tensors lack, kept as another.
	extension := func(dtype string, t typ, size int64, shape []dim, strides []int64) {
		elements := sequence(int(n * size))
		if dtype == "bool" {
			elements = []byte{1, 0}
		}
		all = append(all, accept{
			name: "dense-type-" + dtype,
			message: message{meta: []pair{{"tstore.dtype", dtype}, {"tstore.other", "bool"}},
				header: dense(t, shape, strides, buffer{0, n * size}), body: pad(elements, 64)}.bytes(),
			layout:   "dense",
			dtype:    dtype,
			shape:    []int64{n},
			elements: elements,
		})
	}
	extension("bool", intType(8, false), 1, dims(n), []int64{1})
	extension("bfloat16", intType(16, false), 2, dims(n), []int64{2})
	extension("float8_e4m3fn", intType(8, false), 1, dims(n), []int64{1})
	extension("float8_e5m2", intType(8, false), 1, dims(n), []int64{1})
	extension("complex64", floatType(fb.PrecisionSINGLE), 8, dims(n, 2), []int64{8, 4})
	extension("complex128", floatType(fb.PrecisionDOUBLE), 16, dims(n, 2), []int64{16, 8})

	// As many axes as there can be, which with the two parts of a complex
	// number is one more in the message.
	many := make([]dim, 65)
	for i := range many {
		many[i].size = 1
	}
	many[64].size = 2
	shape := make([]int64, 64)
	for i := range shape {
		shape[i] = 1
	}
	all = append(all, accept{
		name: "dense-complex-64-axes",
		message: message{meta: []pair{{"tstore.dtype", "complex64"}},
			header: dense(floatType(fb.PrecisionSINGLE), many, nil, buffer{0, 8}), body: pad(sequence(8), 64)}.bytes(),
		layout: "dense", dtype: "complex64", shape: shape, elements: sequence(8),
	})
	return all
}

// sequence returns n bytes that are all different from their neighbours.
func sequence(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*37 + 1)
	}
	return b
}
