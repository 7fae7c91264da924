package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The side file of a catalog that was closed in order, written after the database was closed and
// synced, and removed before it is changed again:
//
//	 0  [8]byte  "tscatsum"
//	 8  u32      version 1
//	12  u32      CRC-32C of the database file
//	16  u64      its size
//	24  u32      0
//	28  u32      CRC-32C of the 28 bytes before
const (
	sumMagic   = "tscatsum"
	sumVersion = 1
	sumSize    = 32

	temporary = ".tmp"
)

// sumPath returns the path of the side file: the catalog's with the ending .sum.
func sumPath(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".sum"
}

// writeSum writes the side file of the database at path so that it is either there and whole or
// not there at all.
func writeSum(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size, crc, err := checksum(f)
	if err != nil {
		return err
	}
	b := append([]byte(nil), sumMagic...)
	b = binary.LittleEndian.AppendUint32(b, sumVersion)
	b = binary.LittleEndian.AppendUint32(b, crc)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))

	sum := sumPath(path)
	w, err := os.Create(sum + temporary)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	err = errors.Join(err, w.Sync(), w.Close())
	if err == nil {
		err = os.Rename(sum+temporary, sum)
	}
	if err != nil {
		os.Remove(sum + temporary)
		return err
	}
	return syncDir(filepath.Dir(path))
}

// checkSum compares the database f with its side file and reports whether there is one.
func checkSum(f *os.File, sum string) (there bool, err error) {
	info, err := os.Lstat(sum)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !info.Mode().IsRegular() { // opening a pipe might take for ever
		return true, fmt.Errorf("%w: %s is not a regular file", ErrCatalog, sum)
	}
	s, err := os.Open(sum)
	if err != nil {
		return true, err
	}
	defer s.Close()
	var b [sumSize + 1]byte
	n, err := io.ReadFull(s, b[:])
	if err == nil || n != sumSize {
		return true, fmt.Errorf("%w: %s does not have %d bytes", ErrCatalog, sum, sumSize)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		return true, err
	}
	if string(b[:8]) != sumMagic || binary.LittleEndian.Uint32(b[8:]) != sumVersion ||
		crc32.Checksum(b[:28], castagnoli) != binary.LittleEndian.Uint32(b[28:]) {
		return true, fmt.Errorf("%w: %s is damaged", ErrCatalog, sum)
	}
	size, crc, err := checksum(f)
	if err != nil {
		return true, err
	}
	if uint64(size) != binary.LittleEndian.Uint64(b[16:]) || crc != binary.LittleEndian.Uint32(b[12:]) {
		return true, fmt.Errorf("%w: it has %d bytes with CRC %#x; when it was closed, %d with %#x",
			ErrCatalog, size, crc, binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint32(b[12:]))
	}
	return true, nil
}

// checksum returns the size and the CRC-32C of a file.
func checksum(f *os.File) (size int64, crc uint32, err error) {
	buf := make([]byte, 256<<10)
	for {
		n, err := f.ReadAt(buf, size)
		crc = crc32.Update(crc, castagnoli, buf[:n])
		size += int64(n)
		if err == io.EOF {
			return size, crc, nil
		}
		if err != nil {
			return 0, 0, err
		}
	}
}

// removeDurably removes a file, which need not be there, and syncs its directory.
func removeDurably(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
