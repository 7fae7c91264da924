package codec_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tstore/tstore/codec"
)

func TestHeadSize(t *testing.T) {
	for _, tc := range []struct {
		name   string
		prefix []byte
		size   int64
		err    error
	}{
		{"new framing", []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xF8, 0, 0, 0}, 256, nil},
		{"more than the prefix", []byte{0xFF, 0xFF, 0xFF, 0xFF, 0x38, 1, 0, 0, 9, 9, 9}, 320, nil},
		{"old framing", []byte{0xF4, 0, 0, 0, 16, 0, 0, 0}, 248, nil},
		{"smallest", []byte{0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0}, 9, nil},
		{"largest", []byte{0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 4}, codec.MaxMetadata + 8, nil},
		{"too large", []byte{0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 4}, 0, codec.ErrUnsupported},
		{"negative", []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, 0, codec.ErrInvalid},
		{"negative in old framing", []byte{0xFE, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}, 0, codec.ErrInvalid},
		{"end marker", codec.EndOfStream(), 0, codec.ErrEndOfStream},
		{"zeros", make([]byte, 8), 0, codec.ErrEndOfStream},
		{"four zeros", make([]byte, 4), 0, codec.ErrEndOfStream},
		{"nothing", nil, 0, codec.ErrTruncated},
		{"three bytes", make([]byte, 3), 0, codec.ErrTruncated},
		{"seven bytes", []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xF8, 0, 0}, 0, codec.ErrTruncated},
	} {
		size, err := codec.HeadSize(tc.prefix)
		if size != tc.size || !errors.Is(err, tc.err) {
			t.Errorf("%s: %d, %v; want %d, %v", tc.name, size, err, tc.size, tc.err)
		}
		if _, err := codec.ParseHead(tc.prefix); err == nil {
			t.Errorf("%s: a message without metadata", tc.name)
		} else if tc.err != nil && !errors.Is(err, tc.err) {
			t.Errorf("%s: ParseHead says %v, want %v", tc.name, err, tc.err)
		}
		if _, err := codec.Decode(tc.prefix); err == nil {
			t.Errorf("%s: decoded", tc.name)
		}
	}
}

// TestErrorsSayWhatAndWhere looks at the text that ends up before a person.
func TestErrorsSayWhatAndWhere(t *testing.T) {
	_, err := codec.Decode(readFile(t, corpusDir, "reject", "strides-bounds.shape.msg"))
	for _, want := range []string{"malformed Arrow message", "[6 3]", "[12 4]", "body of 64", "strides-bounds"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
	_, err = codec.Decode(readFile(t, corpusDir, "reject", "string-bounds.msg"))
	var broken *codec.Error
	if !errors.As(err, &broken) || broken.Offset < 8 {
		t.Fatalf("%v is not at a byte of the metadata", err)
	}
	// The offset leads to the length that is wrong.
	msg := readFile(t, corpusDir, "reject", "string-bounds.msg")
	if got := msg[broken.Offset : broken.Offset+4]; string(got) != "\xFF\xFF\xFF\xFF" {
		t.Errorf("%v: at byte %d there is % x", err, broken.Offset, got)
	}
}
