package store

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store/internal/segment"
)

// views is how tensors are read without a copy. All states of a store share it.
//
// It keeps a few of those that were decoded: a tensor that is looked up again and again
// is decoded a few times only, which otherwise is half of the time that takes. A record
// never changes and a tensor can't be changed, so all may share one.
type views struct {
	checksums bool // compare with its checksum what is read without a copy, too
	recent    [256]atomic.Pointer[recentView]
}

// recentView is a tensor that was decoded as it lies in the map of a file. It keeps the
// file from being freed, and so its address from being another file's.
type recentView struct {
	file   *segment.File
	offset int64
	tensor layout.Tensor
}

// recentShare is how many tensors are decoded for one that is kept. Those that are
// looked up once then cost next to nothing here, and others soon get their place.
const recentShare = 64

func (v *views) slot(f *segment.File, offset int64) *atomic.Pointer[recentView] {
	h := (uint64(offset)/segment.Alignment + f.Number<<32) * 0x9e3779b97f4a7c15
	return &v.recent[h>>56]
}

// recentTensor returns the tensor at an offset of f if it is kept. record are its bytes:
// one of them is read, so that a file which was cut short is noticed here, too.
func (v *views) recentTensor(f *segment.File, offset int64, record []byte) layout.Tensor {
	r := v.slot(f, offset).Load()
	if r == nil || r.file != f || r.offset != offset || len(record) == 0 || record[0] != 0xff {
		return nil
	}
	return r.tensor
}

// keep may keep t, the tensor at an offset of f.
func (v *views) keep(f *segment.File, offset int64, t layout.Tensor) {
	if rand.Uint32()%recentShare == 0 {
		v.slot(f, offset).Store(&recentView{file: f, offset: offset, tensor: t})
	}
}
