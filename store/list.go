package store

import (
	"iter"
	"runtime/debug"
	"strings"

	"github.com/tstore/tstore/store/internal/segment"
)

// list yields the entries whose names begin with prefix, by name in byte order.
func (st *state) list(prefix string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for e, err := range st.listAll(prefix) {
			if err == nil && e.Deleted {
				continue
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// listAll is list with the tombstones of names that were deleted.
func (st *state) listAll(prefix string) iter.Seq2[*Entry, error] {
	if len(st.sealed) == 0 {
		return st.listOpen(prefix)
	}
	sources := []iter.Seq2[*Entry, error]{st.listOpen(prefix)}
	for _, l := range st.sealed {
		sources = append(sources, st.listSealed(l, prefix))
	}
	return merge(sources)
}

func (st *state) listOpen(prefix string) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		for e := range st.open.Ascend(prefix) {
			if !strings.HasPrefix(e.Name, prefix) || (st.counts(e.Deleted, e.Segment) && !yield(e, nil)) {
				return
			}
		}
	}
}

// listSealed is run by merge alone, as a coroutine: so what its consumer panics with
// does not come through here.
func (st *state) listSealed(l *sealedSegment, prefix string) iter.Seq2[*Entry, error] {
	inner := prefix
	if a := l.attached; a != nil {
		switch {
		case strings.HasPrefix(prefix, a.prefix):
			inner = prefix[len(a.prefix):]
		case strings.HasPrefix(a.prefix, prefix):
			inner = ""
		default:
			return func(func(*Entry, error) bool) {}
		}
	}
	return func(yield func(*Entry, error) bool) {
		var fault error
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			if fault != nil {
				yield(nil, fault)
			}
		}()
		defer st.rescue(prefix, &fault)
		for e, err := range l.frozen.Prefix(inner) {
			if err != nil {
				yield(nil, l.wrap(prefix, err))
				return
			}
			if e.Segment != 0 && l.file.Header.Kind == segment.KindPackage {
				yield(nil, l.wrap(e.Name, errElsewhere))
				return
			}
			if e, ok := l.adapt(e); ok && st.counts(e.Deleted, e.Segment) && !yield(e, nil) {
				return
			}
		}
	}
}

// merge yields the entries of sources, each of which is sorted by name, by name;
// of entries with the same name the one with the highest sequence number. It
// stops at the first error.
func merge(sources []iter.Seq2[*Entry, error]) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		type head struct {
			entry *Entry
			next  func() (*Entry, error, bool)
		}
		heads := make([]head, 0, len(sources))
		for _, s := range sources {
			next, stop := iter.Pull2(s)
			defer stop()
			e, err, ok := next()
			if err != nil {
				yield(nil, err)
				return
			}
			if ok {
				heads = append(heads, head{e, next})
			}
		}
		for len(heads) > 0 {
			// There are few sources: a heap would not pay.
			best := heads[0].entry
			for _, h := range heads[1:] {
				if h.entry.Name < best.Name || (h.entry.Name == best.Name && h.entry.Seq > best.Seq) {
					best = h.entry
				}
			}
			if !yield(best, nil) {
				return
			}
			left := heads[:0]
			for _, h := range heads {
				if h.entry.Name == best.Name {
					e, err, ok := h.next()
					if err != nil {
						yield(nil, err)
						return
					}
					if !ok {
						continue
					}
					h.entry = e
				}
				left = append(left, h)
			}
			heads = left
		}
	}
}
