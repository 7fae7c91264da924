package store

import (
	"maps"
	"slices"

	"github.com/tstore/tstore/store/internal/segment"
)

// liveSet is the segments that count, but for the log that is written to. It never
// changes; with and without make others.
type liveSet struct {
	byNumber map[uint64]segment.Live
}

func (s *liveSet) with(live ...segment.Live) *liveSet {
	next := &liveSet{byNumber: make(map[uint64]segment.Live, len(s.byNumber)+len(live))}
	maps.Copy(next.byNumber, s.byNumber)
	for _, l := range live {
		next.byNumber[l.Number] = l
	}
	return next
}

func (s *liveSet) without(numbers ...uint64) *liveSet {
	next := s.with()
	for _, n := range numbers {
		delete(next.byNumber, n)
	}
	return next
}

// sorted is the set by ascending number.
func (s *liveSet) sorted() []segment.Live {
	var out []segment.Live
	for _, n := range slices.Sorted(maps.Keys(s.byNumber)) {
		out = append(out, s.byNumber[n])
	}
	return out
}

func (s *liveSet) encoded() []byte { return segment.EncodeLive(s.sorted()) }
