package segment

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// CopyFile copies the contents of f to a new file at path, sharing the blocks on
// disk where the file system can. The bytes are durable, and the file whole, before
// it gets its name; the directory is for the caller to sync. progress, if not nil,
// is called now and then with the number of bytes that are copied. After an error,
// that of ctx for instance, nothing is left behind.
func CopyFile(ctx context.Context, fs FS, f *File, path string, progress func(done int64)) (err error) {
	temp := path + TempSuffix
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
	out := Steady(raw)
	if err = reflink(raw, f.raw); err != nil {
		err = f.copyTo(ctx, out, progress)
	}
	if err == nil {
		err = out.Datasync()
	}
	if err = errors.Join(err, out.Close(), ctx.Err()); err != nil {
		return err
	}
	return fs.Rename(temp, path)
}

// copyTo copies by pread, in chunks.
func (f *File) copyTo(ctx context.Context, raw RawFile, progress func(done int64)) error {
	buf := make([]byte, min(chunkSize, f.Size()))
	w := &writer{raw: raw}
	for off := int64(0); off < f.Size(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := buf[:min(int64(len(buf)), f.Size()-off)]
		if err := f.ReadRange(b, off); err != nil {
			return err
		}
		if err := w.put(b); err != nil {
			return err
		}
		off += int64(len(b))
		if progress != nil {
			progress(off)
		}
	}
	return nil
}
