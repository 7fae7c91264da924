package store

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// recentView is a tensor that was decoded as it lies in the map of a file.
type recentView struct {
	file   *segment.File
	offset int64
	tensor layout.Tensor
}

// recentViews keeps a few of them: a tensor that is looked up again and again is
// decoded a few times only, which otherwise is half of the time that takes. A
// record never changes and a tensor can't be changed, so all may share one. The
// file is kept from being freed, and so its address from being another file's.
var recentViews [256]atomic.Pointer[recentView]

// recentShare is how many tensors are decoded for one that is kept. Those that are
// looked up once then cost next to nothing here, and others soon get their place.
const recentShare = 64

func recentSlot(f *segment.File, offset int64) *atomic.Pointer[recentView] {
	h := (uint64(offset)/segment.Alignment + f.Number<<32) * 0x9e3779b97f4a7c15
	return &recentViews[h>>56]
}

// recent returns the tensor at an offset of f if it is kept. record are its bytes:
// one of them is read, so that a file which was cut short is noticed here, too.
func recent(f *segment.File, offset int64, record []byte) layout.Tensor {
	v := recentSlot(f, offset).Load()
	if v == nil || v.file != f || v.offset != offset || len(record) == 0 || record[0] != 0xff {
		return nil
	}
	return v.tensor
}

// keepRecent may keep t, the tensor at an offset of f.
func keepRecent(f *segment.File, offset int64, t layout.Tensor) {
	if rand.Uint32()%recentShare == 0 {
		recentSlot(f, offset).Store(&recentView{file: f, offset: offset, tensor: t})
	}
}
