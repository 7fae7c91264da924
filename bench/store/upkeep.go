package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/tstore/tstore/bench/internal/measure"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// upkeep measures compacting and verifying, with tensors of 1 MiB and of 4 KiB.
func upkeep(b *measure.Bench) error {
	for _, size := range []int{1 << 20, smallBytes} {
		if err := compacting(b, size); err != nil {
			return err
		}
		if err := verifying(b, size); err != nil {
			return err
		}
	}
	return nil
}

// fillSized puts count tensors of size bytes, in batches of about 4 MiB.
func fillSized(st *store.Store, size, count int) error {
	data := make([]byte, size)
	measure.Fill(data, 3)
	t, err := layout.NewDense(layout.Float32, []int64{int64(size / 4)}, data)
	if err != nil {
		return err
	}
	batch := max(1, 4<<20/size)
	for i := 0; i < count; i += batch {
		err := st.Update(func(tx *store.Tx) error {
			for k := i; k < min(i+batch, count); k++ {
				if err := tx.Put(measure.ItemName(k), t); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// bytesName says how many bytes tensors have.
func bytesName(size int) string {
	if size >= 1<<20 {
		return fmt.Sprintf("%d MiB", size>>20)
	}
	return fmt.Sprintf("%d KiB", size>>10)
}

// compacting measures the compaction of a store of which every second tensor was deleted, against
// copying a file of as many bytes as are left.
func compacting(b *measure.Bench, size int) error {
	count := b.Size(128<<20, 16<<20) / size
	plain, copied, dir := b.Path("plain"), b.Path("copied"), b.Path("compact")
	live := count / 2 * size
	defer os.RemoveAll(dir)
	data := make([]byte, live)
	measure.Fill(data, 5)
	if err := measure.WriteFile(plain, data); err != nil {
		return err
	}
	defer os.Remove(plain)
	result := store.CompactResult{}
	times, err := measure.TakeTurns(b.Size(7, 2),
		func() (float64, error) {
			s, err := measure.Seconds(func() error { return copyFile(plain, copied) })
			if err != nil {
				return 0, err
			}
			return s, b.Remove(copied)
		},
		func() (float64, error) {
			st, err := store.Open(dir, nil)
			if err != nil {
				return 0, err
			}
			if err := fillSized(st, size, count); err != nil {
				return 0, err
			}
			err = st.Update(func(tx *store.Tx) error {
				for i := 0; i < count; i += 2 {
					if err := tx.Delete(measure.ItemName(i)); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return 0, err
			}
			s, err := measure.Seconds(func() (err error) {
				result, err = st.Compact(context.Background(), nil)
				return err
			})
			if err != nil {
				return 0, err
			}
			if err := st.Close(); err != nil {
				return 0, err
			}
			return s, b.Remove(dir)
		})
	if err != nil {
		return err
	}
	if int(result.After) < live {
		return fmt.Errorf("compaction left %d bytes, %d are alive", result.After, live)
	}
	r := times.Ratio(0, 1)
	b.Table.Add(fmt.Sprintf("compaction, every second tensor of %s dead, speed : copy + fsync of the rest", bytesName(size)), r.Median, "×", measure.AtLeast(0.5),
		"%.2f GB/s, copy %.2f; %v", float64(live)/times.Median(1)/1e9, float64(live)/times.Median(0)/1e9, r)
	return nil
}

// copyFile copies a file in pieces of 4 MiB and syncs the copy.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	// Not by io.Copy, which may have the kernel share the blocks.
	buf := make([]byte, 4<<20)
	for {
		n, err := io.ReadFull(in, buf)
		if n > 0 {
			if _, err := out.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return out.Sync()
		}
		if err != nil {
			return err
		}
	}
}

// verifying measures Verify of a store that is in the page cache, against reading its files and
// computing their CRC-32C.
func verifying(b *measure.Bench, size int) error {
	dir := b.Path("verify")
	defer os.RemoveAll(dir)
	st, err := store.Open(dir, nil)
	if err != nil {
		return err
	}
	if err := fillSized(st, size, b.Size(128<<20, 16<<20)/size); err != nil {
		return err
	}
	if err := st.Close(); err != nil {
		return err
	}
	if st, err = store.Open(dir, &store.Options{ReadOnly: true}); err != nil {
		return err
	}
	defer st.Close()
	files, err := filepath.Glob(filepath.Join(dir, "segments", "*.seg"))
	if err != nil {
		return err
	}
	total, checksum := int64(0), uint32(0)
	times, err := measure.TakeTurns(b.Size(11, 3),
		func() (float64, error) {
			return measure.ProcessorSeconds(func() (err error) {
				total, checksum, err = checksumFiles(files)
				return err
			})
		},
		func() (float64, error) {
			return measure.ProcessorSeconds(func() error {
				report, err := st.Verify(context.Background(), nil)
				if err == nil && len(report.Problems) > 0 {
					err = report.Problems[0].Err
				}
				return err
			})
		})
	if err != nil {
		return err
	}
	r := times.Ratio(0, 1)
	b.Table.Add(fmt.Sprintf("verify, tensors of %s, speed : reading the files with CRC-32C", bytesName(size)), r.Median, "×", measure.AtLeast(0.7),
		"%.2f GB/s, reading %.2f; %v; checksum %08x", float64(total)/times.Median(1)/1e9, float64(total)/times.Median(0)/1e9, r, checksum)
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumFiles reads files in pieces of 1 MiB. It returns how many bytes they have, and the CRC-32C of
// each, exclusive-ored.
func checksumFiles(files []string) (total int64, checksum uint32, err error) {
	buf := make([]byte, 1<<20)
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return 0, 0, err
		}
		info, err := f.Stat()
		if err == nil {
			crc := uint32(0)
			err = measure.ReadPieces(f, 0, info.Size(), buf, func(p []byte) { crc = crc32.Update(crc, castagnoli, p) })
			checksum ^= crc
			total += info.Size()
		}
		f.Close()
		if err != nil {
			return 0, 0, err
		}
	}
	return total, checksum, nil
}
