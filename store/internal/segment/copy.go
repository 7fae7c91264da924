package segment

import (
	"errors"
	"fmt"
	"os"
)

// CopyFile copies the contents of f to a new file at path, sharing the blocks on
// disk where the file system can. The bytes are durable, and the file whole, before
// it gets its name; the directory is for the caller to sync.
func CopyFile(fs FS, f *File, path string) (err error) {
	temp := path + tempSuffix
	raw, err := fs.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			fs.Remove(temp)
			err = fmt.Errorf("copying to %s: %w", path, err)
		}
	}()
	if err = reflink(raw, f.raw); err != nil {
		err = f.copyTo(raw)
	}
	if err == nil {
		err = raw.Datasync()
	}
	if err = errors.Join(err, raw.Close()); err != nil {
		return err
	}
	return fs.Rename(temp, path)
}

// copyTo copies by pread, in chunks.
func (f *File) copyTo(raw RawFile) error {
	buf := make([]byte, min(chunkSize, f.Size()))
	w := &writer{raw: raw}
	for off := int64(0); off < f.Size(); {
		b := buf[:min(int64(len(buf)), f.Size()-off)]
		if err := f.ReadRange(b, off); err != nil {
			return err
		}
		if err := w.put(b); err != nil {
			return err
		}
		off += int64(len(b))
	}
	return nil
}
