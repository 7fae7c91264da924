package powercut

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"sync/atomic"
	"testing"

	"go.etcd.io/bbolt"
)

// TestBboltSurvives runs a database that is known to survive power cuts: none must be lost here, or the model is too harsh.
func TestBboltSurvives(t *testing.T) {
	const cuts = 200
	c := Start(t, Options{})
	db := must(bbolt.Open(filepath.Join(c.Dir, "db"), 0o644, nil))(t)
	syncDir(t, c.Dir) // which bbolt leaves to its user
	first := must(c.Mark("open"))(t)

	rng := rand.New(rand.NewPCG(1, 2))
	bucket := []byte("bucket")
	states := []map[string]string{{}} // after each commit
	for i := range 40 {
		state := maps.Clone(states[i])
		check(t, db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(bucket)
			if err != nil {
				return err
			}
			for range 1 + rng.IntN(8) {
				key := fmt.Sprint("key", rng.IntN(60))
				if rng.IntN(4) == 0 {
					delete(state, key)
					if err := b.Delete([]byte(key)); err != nil {
						return err
					}
					continue
				}
				value := fmt.Sprintf("%d %0*d", i, rng.IntN(6000), i)
				state[key] = value
				if err := b.Put([]byte(key), []byte(value)); err != nil {
					return err
				}
			}
			return nil
		}))
		states = append(states, state)
		must(c.Mark("commit"))(t)
	}
	check(t, db.Close())

	events := must(c.Trace())(t)
	var inFlight atomic.Int64
	c.Each(t, Plan(events, first, cuts, 1), func(cut Cut, dir string) error {
		acknowledged := len(Acknowledged(events, cut.At)) - 1
		got, err := readBbolt(filepath.Join(dir, "db"), bucket)
		if err != nil {
			return err
		}
		if maps.Equal(got, states[acknowledged]) {
			return nil
		}
		if acknowledged+1 < len(states) && maps.Equal(got, states[acknowledged+1]) {
			inFlight.Add(1)
			return nil
		}
		return fmt.Errorf("after %d commits the database holds neither these nor one more", acknowledged)
	})
	t.Logf("%d cuts; in %d of them a commit that was not yet acknowledged had made it", cuts, inFlight.Load())
}

func readBbolt(path string, bucket []byte) (got map[string]string, err error) {
	db, err := bbolt.Open(path, 0o644, nil)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := db.Close(); err == nil {
			err = cerr
		}
	}()
	got = map[string]string{}
	err = db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			return err
		}
		b := tx.Bucket(bucket)
		if b == nil {
			return nil
		}
		return b.ForEach(func(k, v []byte) error {
			got[string(k)] = string(v)
			return nil
		})
	})
	return got, err
}
