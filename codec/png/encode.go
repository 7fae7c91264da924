package png

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/tstore/tstore/layout"
)

// Encode writes a tensor as an image: uint8 or uint16, of height × width, or of height × width × channels
// with 1 to 4 of them. Rows are compressed one after the other and never all in memory.
//
// The error is [ErrUnsupported] for other tensors, before anything is written, or that of w.
func Encode(w io.Writer, t layout.Tensor) error {
	d, ok := t.(*layout.Dense)
	if !ok {
		return fmt.Errorf("%w: an image has every pixel, this tensor is %v; convert it to dense first", ErrUnsupported, t.Layout())
	}
	head, err := headOf(d)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, signature); err != nil {
		return err
	}
	if err := writeChunk(w, "IHDR", head); err != nil {
		return err
	}
	// zlib writes in small pieces, each of which would be a chunk.
	parts := bufio.NewWriterSize(&chunkWriter{w, "IDAT"}, 64<<10)
	z := zlib.NewWriter(parts)
	if err := writeRows(z, d); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := parts.Flush(); err != nil {
		return err
	}
	return writeChunk(w, "IEND", nil)
}

// headOf returns what the first chunk says.
func headOf(d *layout.Dense) ([]byte, error) {
	depth := byte(8)
	switch d.DType() {
	case layout.Uint8:
	case layout.Uint16:
		depth = 16
	default:
		return nil, fmt.Errorf("%w: an image has pixels of uint8 or uint16, not %v", ErrUnsupported, d.DType())
	}
	shape, channels := d.Shape(), int64(1)
	if len(shape) == 3 {
		channels = shape[2]
	}
	colors, ok := map[int64]byte{1: colorGray, 2: colorGrayAlpha, 3: colorRGB, 4: colorRGBA}[channels]
	if len(shape) != 2 && len(shape) != 3 || !ok {
		return nil, fmt.Errorf("%w: an image is height × width, or height × width × channels with 1 to 4 of them; this tensor has shape %v", ErrUnsupported, shape)
	}
	for _, n := range shape[:2] {
		if n == 0 || n > math.MaxInt32 {
			return nil, fmt.Errorf("%w: an image has 1 to %d rows and columns, this tensor has %d and %d", ErrUnsupported, math.MaxInt32, shape[0], shape[1])
		}
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(shape[1]))
	head = binary.BigEndian.AppendUint32(head, uint32(shape[0]))
	return append(head, depth, colors, 0, 0, 0), nil
}

// chunkWriter makes a chunk of each write.
type chunkWriter struct {
	w    io.Writer
	name string
}

func (c *chunkWriter) Write(b []byte) (int, error) {
	if err := writeChunk(c.w, c.name, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

func writeChunk(w io.Writer, name string, data []byte) error {
	head := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), name...)
	sum := crc32.Update(crc32.ChecksumIEEE(head[4:]), crc32.IEEETable, data)
	for _, b := range [][]byte{head, data, binary.BigEndian.AppendUint32(nil, sum)} {
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// writeRows writes each row with the filter that makes it look the most even.
func writeRows(w io.Writer, d *layout.Dense) error {
	rows := d.Shape()[0]
	pixel := d.DType().Size()
	if d.NDim() == 3 {
		pixel *= int(d.Shape()[2])
	}
	size := int(d.Shape()[1]) * pixel
	current, above := make([]byte, size), make([]byte, size)
	var filtered [filters][]byte
	for f := range filtered {
		filtered[f] = make([]byte, 1+size)
		filtered[f][0] = byte(f)
	}
	for i := range rows {
		d.CopyRange(current, i*int64(size/d.DType().Size()))
		if d.DType() == layout.Uint16 {
			swap16(current)
		}
		if _, err := w.Write(filter(&filtered, current, above, pixel)); err != nil {
			return err
		}
		current, above = above, current
	}
	return nil
}
