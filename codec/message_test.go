package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// sameDType lets cmp compare element types.
var sameDType = cmp.Comparer(func(a, b layout.DType) bool { return a == b })

// must returns what can't fail in a test.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// dtypes has every element type, the parametric ones in all their units.
func dtypes() []layout.DType {
	all := []layout.DType{
		layout.Int8, layout.Int16, layout.Int32, layout.Int64,
		layout.Uint8, layout.Uint16, layout.Uint32, layout.Uint64,
		layout.Float16, layout.Float32, layout.Float64,
		layout.Bool, layout.BFloat16, layout.Float8E4M3FN, layout.Float8E5M2,
		layout.Complex64, layout.Complex128,
		must(layout.Date(layout.UnitDay)), must(layout.Date(layout.UnitMillisecond)),
		must(layout.Time(layout.UnitSecond, 32)), must(layout.Time(layout.UnitMillisecond, 32)),
		must(layout.Time(layout.UnitMicrosecond, 64)), must(layout.Time(layout.UnitNanosecond, 64)),
		must(layout.Timestamp(layout.UnitSecond, "Europe/Berlin")),
		must(layout.Interval(layout.UnitYearMonth)), must(layout.Interval(layout.UnitDayTime)),
		must(layout.Interval(layout.UnitMonthDayNano)),
		must(layout.Decimal(9, 2, 32)), must(layout.Decimal(18, -3, 64)),
		must(layout.Decimal(38, 10, 128)), must(layout.Decimal(76, 0, 256)),
		must(layout.FixedSizeBinary(1)), must(layout.FixedSizeBinary(3)), must(layout.FixedSizeBinary(16)),
	}
	for _, unit := range []layout.Unit{layout.UnitSecond, layout.UnitMillisecond, layout.UnitMicrosecond, layout.UnitNanosecond} {
		all = append(all, must(layout.Timestamp(unit, "")), must(layout.Duration(unit)))
	}
	return all
}

// counting returns n bytes 0, 1, 2, …, which as bools are 0 or 1.
func counting(dt layout.DType, n int64) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
		if dt == layout.Bool {
			b[i] &= 1
		}
	}
	return b
}

func encode(t testing.TB, tensor layout.Tensor, meta ...layout.Attr) []byte {
	t.Helper()
	r, err := codec.Encode(tensor, meta)
	if err != nil {
		t.Fatal(err)
	}
	return r.AppendTo(nil)
}

func decodeDense(t testing.TB, msg []byte) *layout.Dense {
	t.Helper()
	got, err := codec.Decode(msg)
	if err != nil {
		t.Fatal(err)
	}
	return got.(*layout.Dense)
}

// checkSame fails unless two dense tensors have the same type, shape, names and
// elements.
func checkSame(t testing.TB, want, got *layout.Dense) {
	t.Helper()
	if diff := cmp.Diff([]any{want.DType(), want.Shape(), want.DimNames()}, []any{got.DType(), got.Shape(), got.DimNames()},
		sameDType, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
		return
	}
	if !bytes.Equal(want.AppendRowMajor(nil), got.AppendRowMajor(nil)) {
		t.Errorf("elements of %v %v differ", got.DType(), got.Shape())
	}
}

func TestRoundTripOfEveryDType(t *testing.T) {
	shapes := [][]int64{{}, {0}, {1}, {5}, {2, 3}, {3, 0, 2}, {2, 1, 3, 2}, {1, 2, 1, 2, 1, 2, 1, 2, 1, 2}}
	for _, dt := range dtypes() {
		for _, shape := range shapes {
			t.Run(fmt.Sprint(dt, shape), func(t *testing.T) {
				n, _ := layout.CheckedProduct(shape, int64(dt.Size()))
				want := must(layout.NewDense(dt, shape, counting(dt, n)))
				msg := encode(t, want)
				if len(msg)%codec.Alignment != 0 {
					t.Errorf("%d bytes, not a multiple of %d", len(msg), codec.Alignment)
				}
				got := decodeDense(t, msg)
				checkSame(t, want, got)
				if diff := cmp.Diff(want.Strides(), got.Strides(), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("strides: want (-), got (+):\n%s", diff)
				}
			})
		}
	}
}

// TestRoundTripOfViews encodes random views of random tensors, so that every
// order of elements comes up.
func TestRoundTripOfViews(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dt := rapid.SampledFrom(dtypes()).Draw(rt, "dtype")
		shape := rapid.SliceOfN(rapid.Int64Range(0, 5), 0, 5).Draw(rt, "shape")
		n, _ := layout.CheckedProduct(shape, int64(dt.Size()))
		d := must(layout.NewDense(dt, shape, counting(dt, n)))
		if rapid.Bool().Draw(rt, "column-major") {
			d = must(layout.NewColumnMajor(dt, shape, counting(dt, n)))
		}
		if len(shape) > 0 && rapid.Bool().Draw(rt, "named") {
			d = must(d.WithDimNames(rapid.SliceOfN(rapid.SampledFrom([]string{"", "x", "größe"}), len(shape), len(shape)).Draw(rt, "names")...))
			if slices.Max(d.DimNames()) == "" {
				d = must(d.WithDimNames()) // as if there were none
			}
		}
		for axis := range shape {
			start := rapid.Int64Range(0, shape[axis]).Draw(rt, "start")
			stop := rapid.Int64Range(start, shape[axis]).Draw(rt, "stop")
			step := rapid.Int64Range(1, 3).Draw(rt, "step")
			if stop > start && rapid.Bool().Draw(rt, "reversed") {
				d = must(d.Slice(axis, stop-1, start-1, -step))
			} else {
				d = must(d.Slice(axis, start, stop, step))
			}
		}
		if len(shape) > 0 {
			d = must(d.Transpose(rapid.Permutation(axes(len(shape))).Draw(rt, "perm")...))
		}
		r, err := codec.Encode(d, nil)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := codec.Decode(r.AppendTo(nil))
		if err != nil {
			rt.Fatal(err)
		}
		g := got.(*layout.Dense)
		if !layout.Equal(d, g) || !layout.SameDimNames(d, g) {
			rt.Errorf("%v %v %v became %v %v %v", d.DType(), d.Shape(), d.DimNames(), g.DType(), g.Shape(), g.DimNames())
		}
		if d.IsColumnMajor() != g.IsColumnMajor() && !g.IsContiguous() {
			rt.Errorf("strides %v became %v", d.Strides(), g.Strides())
		}
	})
}

func axes(n int) []int {
	a := make([]int, n)
	for i := range a {
		a[i] = i
	}
	return a
}

func TestSixtyFourDimensions(t *testing.T) {
	shape := make([]int64, layout.MaxDims)
	for i := range shape {
		shape[i] = 1
	}
	shape[0], shape[63] = 2, 3
	for _, dt := range []layout.DType{layout.Float32, layout.Complex64} {
		want := must(layout.NewDense(dt, shape, counting(dt, 6*int64(dt.Size()))))
		checkSame(t, want, decodeDense(t, encode(t, want)))
	}
}

func TestDecodeMakesOneAllocation(t *testing.T) {
	eight := must(layout.NewDense(layout.Float32, []int64{2, 1, 2, 1, 2, 1, 2, 1}, counting(layout.Float32, 64)))
	for name, d := range map[string]*layout.Dense{
		"scalar":       layout.DenseOf([]float64{1}),
		"matrix":       layout.DenseOf(make([]float32, 6), 2, 3),
		"eight, named": must(eight.WithDimNames("a", "b", "c", "d", "e", "f", "g", "h")),
		"column-major": must(layout.NewColumnMajor(layout.Int64, []int64{2, 3}, counting(layout.Int64, 48))),
		"bool":         layout.DenseOf([]bool{true, false}, 2),
		"complex":      layout.DenseOf(make([]complex128, 4), 2, 2),
		"empty":        layout.DenseOf([]int8{}, 3, 0),
		"zoned":        must(layout.NewDense(must(layout.Timestamp(layout.UnitSecond, "UTC")), []int64{1}, make([]byte, 8))),
	} {
		msg := encode(t, d, layout.Attr{Key: "tstore.name", Value: "train/x"}, layout.Attr{Key: "unit", Value: "m"})
		var keep layout.Tensor
		allocs := testing.AllocsPerRun(100, func() {
			var err error
			if keep, err = codec.Decode(msg); err != nil {
				t.Fatal(err)
			}
		})
		if allocs > 1 {
			t.Errorf("%s: %v allocations", name, allocs)
		}
		runtime.KeepAlive(keep)
		if allocs := testing.AllocsPerRun(100, func() {
			if _, err := codec.ParseHead(msg); err != nil {
				t.Fatal(err)
			}
		}); allocs > 0 {
			t.Errorf("%s: ParseHead makes %v allocations", name, allocs)
		}
	}
}

// address returns where a slice lies.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func TestDecodeCopiesNothing(t *testing.T) {
	for _, dt := range dtypes() {
		d := must(layout.NewDense(dt, []int64{3, 4}, counting(dt, 12*int64(dt.Size()))))
		d = must(d.WithDimNames("rows", "columns"))
		msg := alignedTo(encode(t, d), 0)
		h, err := codec.ParseHead(msg)
		if err != nil {
			t.Fatal(err)
		}
		got := decodeDense(t, msg)
		if have, want := address(must(got.Bytes())), address(msg[h.HeaderLen:]); have != want {
			t.Errorf("%v: elements at %#x, body at %#x", dt, have, want)
		}
		if address(msg[h.HeaderLen:])%codec.Alignment != 0 {
			t.Errorf("%v: body at %#x", dt, address(msg[h.HeaderLen:]))
		}
		if name := got.DimNames()[0]; address(unsafe.Slice(unsafe.StringData(name), 1)) < address(msg) ||
			address(unsafe.Slice(unsafe.StringData(name), 1)) > address(msg[len(msg)-1:]) {
			t.Errorf("%v: the name %q lies outside the message", dt, name)
		}
	}
}

// alignedTo returns a copy of b at an address of remainder rem modulo 64.
func alignedTo(b []byte, rem int) []byte {
	buf := make([]byte, len(b)+2*codec.Alignment)
	shift := (codec.Alignment-int(address(buf)%codec.Alignment))%codec.Alignment + rem
	return append(buf[shift:shift:shift+len(b)], b...)
}

func TestDecodeCopiesWhatIsMisaligned(t *testing.T) {
	for _, tc := range []struct {
		dtype  layout.DType
		rem    int
		copies bool
	}{
		{layout.Float32, 4, false},
		{layout.Float32, 2, true},
		{layout.Float64, 4, true},
		{layout.Int16, 2, false},
		{layout.Int16, 1, true},
		{layout.Uint8, 1, false},
		{layout.Bool, 3, false},
		{layout.Complex64, 4, false},
		{layout.Complex128, 4, true},
		{layout.Complex128, 8, false},
		{must(layout.FixedSizeBinary(8)), 1, false},
		{must(layout.Timestamp(layout.UnitSecond, "")), 4, true},
		{must(layout.Decimal(38, 0, 128)), 8, false},
	} {
		d := must(layout.NewDense(tc.dtype, []int64{2, 3}, counting(tc.dtype, 6*int64(tc.dtype.Size()))))
		msg := alignedTo(encode(t, d), tc.rem)
		got := decodeDense(t, msg)
		checkSame(t, d, got)
		at := address(must(got.Bytes()))
		if copied := at < address(msg) || at > address(msg[len(msg)-1:]); copied != tc.copies {
			t.Errorf("%v at remainder %d: copied %v, want %v", tc.dtype, tc.rem, copied, tc.copies)
		}
		if tc.copies && at%8 != 0 {
			t.Errorf("%v: copied to %#x", tc.dtype, at)
		}
	}
}

func TestEncodeBorrows(t *testing.T) {
	for name, d := range map[string]*layout.Dense{
		"row-major":    layout.DenseOf(make([]float64, 12), 3, 4),
		"column-major": must(layout.NewColumnMajor(layout.Float64, []int64{3, 4}, make([]byte, 96))),
		"slice":        must(layout.DenseOf(make([]float64, 12), 3, 4).Slice(0, 1, 3, 1)),
	} {
		r, err := codec.Encode(d, nil)
		if err != nil {
			t.Fatal(err)
		}
		var addresses []uintptr
		for part := range r.Parts() {
			addresses = append(addresses, address(part))
		}
		if want := address(d.Data()) + uintptr(d.Offset()); !slices.Contains(addresses, want) {
			t.Errorf("%s: no part at %#x, where the elements lie", name, want)
		}
	}
}

func TestRecordReadsTheSameEveryWay(t *testing.T) {
	big := layout.DenseOf(make([]int32, 700_000), 700, 1000)
	for i, v := range must(layout.Values[int32](big)) {
		must(layout.Values[int32](big))[i] = v + int32(i)
	}
	for name, d := range map[string]*layout.Dense{
		"scalar":     layout.DenseOf([]float64{1}),
		"empty":      layout.DenseOf([]float64{}, 0),
		"row-major":  big,
		"transposed": must(must(layout.NewDense(layout.Int32, []int64{7, 100, 1000}, big.Data())).Transpose(2, 0, 1)),
		"reversed":   must(big.Slice(1, 999, -1, -1)),
	} {
		r, err := codec.Encode(d, []layout.Attr{{Key: "k", Value: "v"}})
		if err != nil {
			t.Fatal(err)
		}
		want := r.AppendTo([]byte("before"))[len("before"):]
		if int64(len(want)) != r.Len() || len(want)%codec.Alignment != 0 {
			t.Errorf("%s: %d bytes, Len says %d", name, len(want), r.Len())
		}
		var written bytes.Buffer
		n, err := r.WriteTo(&written)
		if err != nil || n != r.Len() || !bytes.Equal(written.Bytes(), want) {
			t.Errorf("%s: WriteTo gave %d bytes, %v; equal: %v", name, n, err, bytes.Equal(written.Bytes(), want))
		}
		var body []byte
		for size, bytes := range r.Buffers() {
			start := len(body)
			for b := range bytes {
				body = append(body, b...)
			}
			if int64(len(body)-start) != size {
				t.Errorf("%s: a buffer of %d bytes says %d", name, len(body)-start, size)
			}
			body = append(body, make([]byte, -len(body)&(codec.Alignment-1))...)
		}
		if !bytes.Equal(body, want[len(r.Head):]) {
			t.Errorf("%s: the buffers are not the body", name)
		}
		// A reader that stops early must not be called again.
		for range r.Parts() {
			break
		}
		h, err := codec.ParseHead(want)
		if err != nil || h.HeaderLen != int64(len(r.Head)) || h.Len() != r.Len() {
			t.Errorf("%s: head of %d, message of %d, %v", name, h.HeaderLen, h.Len(), err)
		}
		if size, err := codec.HeadSize(want); err != nil || size != h.HeaderLen {
			t.Errorf("%s: HeadSize is %d, %v", name, size, err)
		}
		checkSame(t, d, decodeDense(t, want))
	}
}

func TestStridedTensorIsStreamed(t *testing.T) {
	d := must(layout.DenseOf(make([]float64, 4<<20), 2048, 2048).Transpose(1, 0))
	d = must(d.Slice(0, 0, 2047, 1)) // neither row-major nor column-major
	r, err := codec.Encode(d, nil)
	if err != nil {
		t.Fatal(err)
	}
	before := allocated()
	if _, err := r.WriteTo(io.Discard); err != nil {
		t.Fatal(err)
	}
	if bytes := allocated() - before; bytes > 2<<20 {
		t.Errorf("writing %d MiB allocated %d KiB", d.NumBytes()>>20, bytes>>10)
	}
	for part := range r.Parts() {
		if len(part) > 1<<20 {
			t.Errorf("a part of %d bytes", len(part))
		}
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

type failingWriter struct{ room int }

var errFull = errors.New("full")

func (w *failingWriter) Write(b []byte) (int, error) {
	n := min(len(b), w.room)
	w.room -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

func TestWriteToStopsAtAnError(t *testing.T) {
	r, err := codec.Encode(layout.DenseOf(make([]float64, 100), 100), nil)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.WriteTo(&failingWriter{room: 500}); n != 500 || !errors.Is(err, errFull) {
		t.Errorf("wrote %d bytes, %v", n, err)
	}
}

func TestStridesOfWhatIsWritten(t *testing.T) {
	for _, tc := range []struct {
		name    string
		tensor  *layout.Dense
		strides []int64
	}{
		{"scalar", layout.DenseOf([]int32{1}), []int64{}},
		{"row-major", layout.DenseOf(make([]int32, 6), 2, 3), []int64{12, 4}},
		{"column-major", must(layout.NewColumnMajor(layout.Int32, []int64{2, 3}, make([]byte, 24))), []int64{4, 8}},
		{"axes of one", must(layout.NewStrided(layout.Int32, []int64{1, 3, 1}, []int64{7, 4, -5}, 0, make([]byte, 12))), []int64{12, 4, 4}},
		{"empty", must(layout.NewStrided(layout.Int32, []int64{2, 0}, []int64{-8, 99}, 0, nil)), []int64{4, 4}},
		{"permuted", must(layout.DenseOf(make([]int32, 24), 2, 3, 4).Transpose(1, 0, 2)), []int64{32, 16, 4}},
		{"broadcast", must(layout.NewStrided(layout.Int32, []int64{5, 2}, []int64{0, 4}, 0, make([]byte, 8))), []int64{8, 4}},
	} {
		got := decodeDense(t, encode(t, tc.tensor))
		if diff := cmp.Diff(tc.strides, got.Strides(), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: want (-), got (+):\n%s", tc.name, diff)
		}
	}
}

func TestMetadataIsKeptInOrder(t *testing.T) {
	meta := []layout.Attr{
		{Key: "tstore.name", Value: "a/b"}, {Key: "unit", Value: "m"}, {Key: "", Value: "empty key"},
		{Key: "unit", Value: "km"}, {Key: "empty", Value: ""}, {Key: "µ\x00", Value: "zero \x00 inside"},
	}
	msg := encode(t, layout.DenseOf([]layout.BF16{1}), meta...)
	h, err := codec.ParseHead(msg)
	if err != nil {
		t.Fatal(err)
	}
	var got []layout.Attr
	for k, v := range h.Metadata() {
		got = append(got, layout.Attr{Key: k, Value: v})
	}
	want := append([]layout.Attr{{Key: "tstore.dtype", Value: "bfloat16"}}, meta...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metadata: want (-), got (+):\n%s", diff)
	}
	if diff := cmp.Diff(meta[1:], codec.DecodeAttrs(&h)); diff != "" {
		t.Errorf("attributes: want (-), got (+):\n%s", diff)
	}
	if v, ok := h.LookupMetadata("unit"); v != "m" || !ok {
		t.Errorf("unit is %q, %v", v, ok)
	}
	if v, ok := h.LookupMetadata("units"); ok {
		t.Errorf("units is %q", v)
	}
}

func TestEncodeRefuses(t *testing.T) {
	scalar := layout.DenseOf([]int8{1})
	huge := must(layout.NewStrided(layout.Int8, []int64{math.MaxInt64 - 100}, []int64{0}, 0, []byte{1}))
	for name, tc := range map[string]struct {
		tensor layout.Tensor
		meta   []layout.Attr
	}{
		"its own key":       {scalar, []layout.Attr{{Key: "tstore.dtype", Value: "bool"}}},
		"too much metadata": {scalar, []layout.Attr{{Key: "k", Value: string(make([]byte, codec.MaxMetadata))}}},
		"no type":           {new(layout.Dense), nil},
		"too many bytes":    {huge, nil},
	} {
		if r, err := codec.Encode(tc.tensor, tc.meta); err == nil {
			t.Errorf("%s: encoded in %d bytes", name, r.Len())
		}
	}
	most := []layout.Attr{{Key: "k", Value: string(make([]byte, codec.MaxMetadata-64<<10))}}
	checkSame(t, scalar, decodeDense(t, encode(t, scalar, most...)))
}

func TestControlHead(t *testing.T) {
	const body = 3 * codec.Alignment
	head := codec.ControlHead("tstore.commit", "1", body)
	if len(head)%codec.Alignment != 0 {
		t.Errorf("a head of %d bytes", len(head))
	}
	h, err := codec.ParseHead(head)
	if err != nil {
		t.Fatal(err)
	}
	if h.Kind != codec.HeaderNone || h.BodyLen != body || h.HeaderLen != int64(len(head)) {
		t.Errorf("parsed as %v with a head of %d and a body of %d", h.Kind, h.HeaderLen, h.BodyLen)
	}
	if v, ok := h.LookupMetadata("tstore.commit"); v != "1" || !ok {
		t.Errorf("the value is %q, %v", v, ok)
	}
	if _, err := codec.Decode(append(head, make([]byte, body)...)); !errors.Is(err, codec.ErrUnsupported) {
		t.Errorf("decoded as a tensor: %v", err)
	}
	if got := codec.ControlHead("k", "", 0); len(got) != 128 {
		t.Errorf("without a body %d bytes", len(got))
	}
}

// TestControlHeadNeverChanges pins the bytes, since equal packages must be
// equal files whichever version wrote them.
func TestControlHeadNeverChanges(t *testing.T) {
	words := []string{
		"ffffffff", "78000000", // continuation, metadata size
		"14000000", "0000", // root, padding
		"0e00", "1400", "0600", "0000", "0000", "0c00", "0800", // vtable of Message
		"0e000000", "0000", "0400", "0c000000", "4000000000000000", // vtable, V5, metadata, body length
		"01000000", "0c000000", // vector of one pair
		"0800", "0c00", "0400", "0800", "08000000", "10000000", "04000000", // KeyValue
		"00000000", "00000000", // value
		"0e000000", fmt.Sprintf("%x", "tstore.segment"), "0000", // key
	}
	want := strings.Join(words, "")
	want += strings.Repeat("0", 2*128-len(want))
	for range 100 {
		if got := fmt.Sprintf("%x", codec.ControlHead("tstore.segment", "", 64)); got != want {
			t.Fatalf("want %s\n got %s", want, got)
		}
	}
}
