package png

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdpng "image/png"
	"io"
	"math/bits"

	"github.com/tstore/tstore/layout"
)

// MaxBytes is the size of the largest image that is decoded, in bytes of memory: some 250 million pixels
// with color and alpha.
const MaxBytes = 1 << 30

// signature is what every file begins with.
const signature = "\x89PNG\r\n\x1a\n"

// What the first chunk of a file says of the colors.
const (
	colorGray      = 0
	colorRGB       = 2
	colorPalette   = 3
	colorGrayAlpha = 4
	colorRGBA      = 6
)

// headSize is the length of a file up to the end of what its first chunk says: the signature, length
// and name of the chunk, and its 13 bytes.
const headSize = len(signature) + 8 + 13

// maxRatio is how many bytes zlib makes of one, at most.
const maxRatio = 1032

// Decode returns the image in a file; b is the whole file. The tensor has memory of its own.
//
// The errors are [ErrInvalid], [ErrTruncated] and [ErrUnsupported].
func Decode(b []byte) (*layout.Dense, error) {
	colors, err := checkHead(b)
	if err != nil {
		return nil, err
	}
	r := &endReader{r: bytes.NewReader(b)}
	img, err := stdpng.Decode(r)
	if err != nil {
		var unsupported stdpng.UnsupportedError
		switch {
		case r.ended:
			return nil, fmt.Errorf("%w: it ends after %d bytes, before the image does", ErrTruncated, len(b))
		case errors.As(err, &unsupported):
			return nil, fmt.Errorf("%w: %w", ErrUnsupported, err)
		}
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return tensor(img, colors)
}

// endReader tells whether more was asked for than is there: the decoder has several errors for that.
type endReader struct {
	r     io.Reader
	ended bool
}

func (r *endReader) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	r.ended = r.ended || err == io.EOF
	return n, err
}

// checkHead looks at the first chunk, which has to be there in every file, and returns the type of the
// colors.
func checkHead(b []byte) (colors byte, err error) {
	start := b[:min(len(b), len(signature))]
	switch {
	case string(start) != signature[:len(start)]:
		return 0, fmt.Errorf("%w: it does not begin with \\x89PNG", ErrInvalid)
	case len(b) < headSize:
		return 0, fmt.Errorf("%w: it has %d bytes", ErrTruncated, len(b))
	}
	head := b[len(signature)+8 : headSize]
	width, height := int64(binary.BigEndian.Uint32(head)), int64(binary.BigEndian.Uint32(head[4:]))
	depth, colors := head[8], head[9]
	if string(b[len(signature)+4:len(signature)+8]) != "IHDR" || width == 0 || height == 0 || depth == 0 || depth > 16 {
		return 0, fmt.Errorf("%w: its first chunk is no head of an image", ErrInvalid)
	}
	// The decoder keeps what may be transparent as four numbers. What is compressed has at least a bit
	// for each pixel.
	size := int64(4)
	if depth == 16 {
		size = 8
	}
	if memory, ok := layout.CheckedProduct([]int64{width, height}, size); !ok || memory > MaxBytes {
		return 0, fmt.Errorf("%w: %d × %d pixels take more than the %d bytes that an image may have here", ErrUnsupported, width, height, MaxBytes)
	}
	if width*height/8 > int64(len(b))*maxRatio {
		return 0, fmt.Errorf("%w: it declares %d × %d pixels, which can't be in %d bytes", ErrTruncated, width, height, len(b))
	}
	return colors, nil
}

// tensor returns the pixels of an image that was decoded from a file with this type of colors. What has
// more channels than the file is closed up in place.
func tensor(img image.Image, colors byte) (*layout.Dense, error) {
	size := img.Bounds().Size()
	height, width := int64(size.Y), int64(size.X)
	gray := colors == colorGray || colors == colorGrayAlpha
	switch img := img.(type) {
	case *image.Gray:
		return layout.NewDense(layout.Uint8, []int64{height, width}, img.Pix)
	case *image.Gray16:
		return layout.NewDense(layout.Uint16, []int64{height, width}, swap16(img.Pix))
	case *image.NRGBA:
		if gray {
			return layout.NewDense(layout.Uint8, []int64{height, width, 2}, keep(img.Pix, 4, 0, 3))
		}
		return layout.NewDense(layout.Uint8, []int64{height, width, 4}, img.Pix)
	case *image.RGBA:
		return layout.NewDense(layout.Uint8, []int64{height, width, 3}, keep(img.Pix, 4, 0, 1, 2))
	case *image.NRGBA64:
		if gray {
			return layout.NewDense(layout.Uint16, []int64{height, width, 2}, swap16(keep(img.Pix, 8, 0, 1, 6, 7)))
		}
		return layout.NewDense(layout.Uint16, []int64{height, width, 4}, swap16(img.Pix))
	case *image.RGBA64:
		return layout.NewDense(layout.Uint16, []int64{height, width, 3}, swap16(keep(img.Pix, 8, 0, 1, 2, 3, 4, 5)))
	case *image.Paletted:
		return resolve(img)
	}
	return nil, fmt.Errorf("%w: an image of type %T", ErrUnsupported, img)
}

// keep keeps some bytes of each group of n.
func keep(pixels []byte, n int, which ...int) []byte {
	at := 0
	for i := 0; i+n <= len(pixels); i += n {
		for _, k := range which {
			pixels[at] = pixels[i+k]
			at++
		}
	}
	return pixels[:at:at]
}

// swap16 swaps the bytes of numbers of 16 bits in place.
func swap16(pixels []byte) []byte {
	for i := 0; i+2 <= len(pixels); i += 2 {
		binary.LittleEndian.PutUint16(pixels[i:], bits.ReverseBytes16(binary.LittleEndian.Uint16(pixels[i:])))
	}
	return pixels
}

// resolve puts colors in the place of their numbers in the palette.
func resolve(img *image.Paletted) (*layout.Dense, error) {
	palette := make([]color.NRGBA, len(img.Palette))
	channels := int64(3)
	for i, c := range img.Palette {
		palette[i] = color.NRGBAModel.Convert(c).(color.NRGBA)
		if _, transparent := c.(color.NRGBA); transparent {
			channels = 4
			palette[i] = c.(color.NRGBA) // with the color of what can't be seen
		}
	}
	size := img.Bounds().Size()
	data := make([]byte, 0, int64(len(img.Pix))*channels)
	for _, p := range img.Pix {
		if int(p) >= len(palette) {
			return nil, fmt.Errorf("%w: color %d of a palette of %d", ErrInvalid, p, len(palette))
		}
		c := palette[p]
		data = append(data, c.R, c.G, c.B, c.A)[:len(data)+int(channels)]
	}
	return layout.NewDense(layout.Uint8, []int64{int64(size.Y), int64(size.X), channels}, data)
}
