//go:build !linux

package segment

import "errors"

// reflink is not done here: the file is copied.
func reflink(to, from RawFile) error { return errors.ErrUnsupported }
