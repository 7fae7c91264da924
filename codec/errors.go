package codec

import (
	"errors"
	"fmt"
)

// The kinds of error that reading a message can end in. Every error from this
// package that is about the bytes of a message is an [*Error] and wraps one of
// the first three.
var (
	// ErrInvalid says that the bytes break the format. Nobody can read them.
	ErrInvalid = errors.New("malformed Arrow message")

	// ErrUnsupported says that the message is legal Arrow, or may be so one
	// day, but nothing that this package takes: a record batch, a type
	// without a fixed width, an old metadata version.
	ErrUnsupported = errors.New("unsupported Arrow message")

	// ErrTruncated says that the bytes given end before the message does.
	ErrTruncated = errors.New("truncated Arrow message")

	// ErrEndOfStream is what [HeadSize] returns for Arrow's end-of-stream
	// marker and for zeros. No message starts there.
	ErrEndOfStream = errors.New("end of Arrow stream")
)

// Error says which rule of the format a message breaks, and where.
type Error struct {
	Rule   Rule   // the broken rule
	Offset int64  // bytes from the start of the message to what breaks it
	Detail string // what was found there
}

// Error returns one line with the kind of the error, what was found, the rule
// and the offset.
func (e *Error) Error() string {
	return fmt.Sprintf("%v: %s (rule %s, at byte %d of the message)", e.Rule.kind(), e.Detail, e.Rule, e.Offset)
}

// Unwrap returns [ErrInvalid], [ErrUnsupported] or [ErrTruncated].
func (e *Error) Unwrap() error { return e.Rule.kind() }

// broken reports rule broken at byte offset of the message.
func broken(rule Rule, offset int64, format string, args ...any) error {
	return &Error{Rule: rule, Offset: offset, Detail: fmt.Sprintf(format, args...)}
}
