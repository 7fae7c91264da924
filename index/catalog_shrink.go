package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// shrinkFrom is the size in bytes from which a catalog is written anew when it is closed, if less
// than half of it is in use. A bbolt database never gives space back, and whoever opens the catalog
// next has to read all of it to compare its checksum.
const shrinkFrom = 64 << 10

// wasteful reports whether more than half of the pages of the database are free.
func (c *Catalog) wasteful() bool {
	f, err := os.Open(c.path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() < shrinkFrom {
		return false
	}
	used, size, err := pagesInUse(f)
	return err == nil && 2*used*size < info.Size()
}

// pagesInUse returns the number of pages of a database that are not free, and the size of a page.
func pagesInUse(r io.ReaderAt) (used, size int64, err error) {
	newer, _, err := readMetas(r)
	if err != nil {
		return 0, 0, err
	}
	b := make([]byte, pageHeader+8)
	if err := readFull(r, b, int64(newer.freelist)*newer.pageSize); err != nil {
		return 0, 0, err
	}
	p, err := parsePageHeader(b, newer.freelist)
	if err != nil {
		return 0, 0, err
	}
	free := uint64(p.count)
	if free == math.MaxUint16 {
		free = binary.LittleEndian.Uint64(b[pageHeader:])
	}
	if p.kind != pageFreelist || free > newer.pages {
		return 0, 0, fmt.Errorf("%w: %d of %d pages are free", ErrCatalog, free, newer.pages)
	}
	return int64(newer.pages - free), newer.pageSize, nil
}

// shrink closes the database and puts a copy of it without free pages in its place. The copy gets
// the name when it is on disk, so that after a crash there is the one or the other, and both say the
// same; a checksum, which would be that of the old one, is removed before. If the copy can't be made
// the database stays as it is, open.
func (c *Catalog) shrink() error {
	temp := c.path + temporary
	if err := guard(func() error { return copyDatabase(c.db, temp) }); err != nil {
		return errors.Join(err, removeIfThere(temp))
	}
	err := guard(c.db.Close)
	c.db = nil
	if err == nil && c.summed {
		err = removeDurably(sumPath(c.path))
	}
	if err == nil {
		err = os.Rename(temp, c.path)
	}
	if err != nil {
		return errors.Join(err, removeIfThere(temp))
	}
	c.summed = false
	return syncDir(filepath.Dir(c.path))
}

// copyDatabase writes what from has into a new database at path. It is on disk when it returns.
func copyDatabase(from *bolt.DB, path string) error {
	if err := removeIfThere(path); err != nil {
		return err
	}
	to, err := bolt.Open(path, 0o666, &bolt.Options{FreelistType: bolt.FreelistMapType, NoStatistics: true, PageSize: from.Info().PageSize})
	if err != nil {
		return err
	}
	err = from.View(func(source *bolt.Tx) error {
		return to.Update(func(target *bolt.Tx) error {
			return source.ForEach(func(name []byte, b *bolt.Bucket) error {
				copied, err := target.CreateBucket(name)
				if err != nil {
					return err
				}
				copied.FillPercent = 1 // the keys come in order
				return b.ForEach(copied.Put)
			})
		})
	})
	return errors.Join(err, to.Close())
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
