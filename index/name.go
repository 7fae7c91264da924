package index

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// MaxName is the largest length of a name in bytes.
const MaxName = 1024

// CheckName returns nil if name can be the name of a tensor: 1 to [MaxName] bytes of UTF-8
// without control characters (Unicode category Cc). Otherwise it returns [ErrName] with the
// reason. Slashes are a convention of the user and mean nothing here.
func CheckName(name string) error {
	if name == "" {
		return fmt.Errorf("%w: it is empty", ErrName)
	}
	if len(name) > MaxName {
		return fmt.Errorf("%w: %.40q… has %d bytes, at most %d are possible", ErrName, name, len(name), MaxName)
	}
	ascii := true
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c < ' ' || c == 0x7f {
			return fmt.Errorf("%w: %.100q has a control character at byte %d", ErrName, name, i)
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii {
		return nil
	}
	for i, r := range name {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(name[i:]); n <= 1 {
				return fmt.Errorf("%w: %.100q is not UTF-8 at byte %d", ErrName, name, i)
			}
		}
		if unicode.IsControl(r) {
			return fmt.Errorf("%w: %.100q has a control character at byte %d", ErrName, name, i)
		}
	}
	return nil
}
