package store

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/index"
	"github.com/tstore/tstore/layout"
)

// Limits of what belongs to a tensor, in bytes.
const (
	MaxNameLen  = index.MaxName
	MaxAttrsLen = 1 << 20 // keys and values together
)

// CheckName says whether name can be that of a tensor: non-empty UTF-8 of at
// most MaxNameLen bytes without control characters. The error wraps ErrName.
func CheckName(name string) error { return index.CheckName(name) }

// checkAttrs says whether attrs can be stored: UTF-8, keys that are not empty,
// unique and not reserved, at most MaxAttrsLen bytes in all.
func checkAttrs(attrs []layout.Attr) error {
	total := 0
	seen := make(map[string]bool, len(attrs))
	for _, a := range attrs {
		switch {
		case a.Key == "":
			return fmt.Errorf("%w: an empty key", ErrAttrs)
		case strings.HasPrefix(a.Key, codec.ReservedPrefix):
			return fmt.Errorf("%w: keys that begin with %q are reserved: %q", ErrAttrs, codec.ReservedPrefix, a.Key)
		case seen[a.Key]:
			return fmt.Errorf("%w: key %q occurs twice", ErrAttrs, a.Key)
		case !utf8.ValidString(a.Key) || !utf8.ValidString(a.Value):
			return fmt.Errorf("%w: key %q or its value is not UTF-8", ErrAttrs, a.Key)
		}
		seen[a.Key] = true
		total += len(a.Key) + len(a.Value)
	}
	if total > MaxAttrsLen {
		return fmt.Errorf("%w: %d bytes in all, at most %d are allowed", ErrAttrs, total, MaxAttrsLen)
	}
	return nil
}

// checkForeignAttrs makes sure that a tensor from elsewhere can keep its attributes.
func checkForeignAttrs(attrs []layout.Attr) error {
	total := 0
	for _, a := range attrs {
		if strings.HasPrefix(a.Key, codec.ReservedPrefix) {
			return fmt.Errorf("%w: keys that begin with %q are reserved: %q", ErrAttrs, codec.ReservedPrefix, a.Key)
		}
		total += len(a.Key) + len(a.Value)
	}
	if total > MaxAttrsLen {
		return fmt.Errorf("%w: %d bytes in all, at most %d are allowed", ErrAttrs, total, MaxAttrsLen)
	}
	return nil
}
