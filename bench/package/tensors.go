package main

import (
	"math"

	"github.com/tstore/tstore/bench/internal/measure"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

const (
	leastBytes = 256
	mostBytes  = 4 << 10
)

// itemBytes is the payload of tensor i: of 256 bytes to 4 KiB, each power of two as often as the
// next.
func itemBytes(i int) int {
	// The golden ratio spreads the numbers evenly.
	_, share := math.Modf(float64(i) * math.Phi)
	n := leastBytes * math.Pow(mostBytes/leastBytes, share)
	return int(n) &^ 3
}

// randomBytes are what the tensors are parts of.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	measure.Fill(b, 11)
	return b
}

// tensorOf makes a tensor of the bytes.
func tensorOf(b []byte) (*layout.Dense, error) {
	return layout.NewDense(layout.Float32, []int64{int64(len(b) / 4)}, b)
}

// fillStore makes a store of count small tensors and returns their payload.
func fillStore(dir string, count int) (payload int64, err error) {
	st, err := store.Open(dir, &store.Options{Sync: store.SyncNever})
	if err != nil {
		return 0, err
	}
	defer st.Close()
	const batch = 1000
	data := randomBytes(1 << 20)
	for i := 0; i < count; {
		err := st.Update(func(tx *store.Tx) error {
			for end := min(i+batch, count); i < end; i++ {
				n := itemBytes(i)
				at := (i * 64) % (len(data) - mostBytes)
				t, err := tensorOf(data[at : at+n])
				if err != nil {
					return err
				}
				payload += int64(n)
				if err := tx.Put(measure.ItemName(i), t); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return payload, st.Close()
}
