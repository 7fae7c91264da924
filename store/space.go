package store

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tstore/tstore/store/internal/segment"
)

// SegmentInfo says how the space of one segment file is used. Sizes are in bytes.
type SegmentInfo struct {
	Number  uint64
	Kind    string // "log", "data", "compacted" or "package"
	Path    string
	Size    int64 // of the file
	Live    int64 // of the records that names stand for
	Dead    int64 // what compaction would give back, about
	Tensors int   // number of those
	Sealed  bool  // its names are found through a frozen index in the file
	Active  bool  // it is the log that is being written to
}

// commitShare is about what a commit record takes for each record that it names, if
// that is the only one: no garbage, but nothing that a compacted segment needs.
const commitShare = 320

// Segments returns how the space of each segment is used, by number. It looks at
// every name in the store.
func (s *Store) Segments() ([]SegmentInfo, error) {
	use, err := s.beginCall()
	if err != nil {
		return nil, err
	}
	defer use.end()
	return s.published.Load().usage(s.path)
}

// usage is Segments of a state.
func (st *state) usage(path string) ([]SegmentInfo, error) {
	infos := make(map[uint64]*SegmentInfo, len(st.segs))
	var active uint64
	for n, f := range st.segs {
		infos[n] = &SegmentInfo{Number: n, Kind: f.Header.Kind.String(), Path: f.Path, Size: f.Size()}
		if f.Header.Kind == segment.KindLog {
			active = max(active, n)
		}
	}
	if i := infos[active]; i != nil {
		i.Active = i.Kind == segment.KindLog.String()
	}
	records := make(map[uint64]int64, len(st.segs)) // where the records end
	for n, f := range st.segs {
		records[n] = f.Size()
	}
	for _, l := range st.sealed {
		infos[l.file.Number].Sealed = true
		records[l.file.Number] = l.seal.IndexOffset
	}
	for e, err := range st.list("") {
		if err != nil {
			return nil, err
		}
		if i := infos[e.Segment]; i != nil {
			i.Live += e.Length
			i.Tensors++
		}
	}
	for n, i := range infos {
		i.Dead = records[n] - st.segs[n].HeaderLen - i.Live
		if i.Kind == segment.KindLog.String() {
			i.Dead -= int64(i.Tensors) * commitShare
		}
		i.Dead = max(i.Dead, 0)
	}
	byNumber := slices.SortedFunc(maps.Values(infos), func(a, b *SegmentInfo) int { return cmp.Compare(a.Number, b.Number) })
	out := make([]SegmentInfo, len(byNumber))
	for k, i := range byNumber {
		out[k] = *i
	}
	return out, nil
}
