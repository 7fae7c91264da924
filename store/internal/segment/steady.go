package segment

// steadyBytes is how much of a file is written before it begins to go to the disk.
const steadyBytes = 64 << 20

// steady is a new file, written front to back, of which little is not on the disk yet,
// however fast it is written: after so many bytes they go there, while the next are
// written. The disk has work from the start, and the sync at the end, which nothing
// can interrupt, takes as long for a large file as for a small one. Where the system
// can't do that, it is a file like any other.
//
// This makes nothing durable. Datasync does.
type steady struct {
	RawFile
	from    int64      // what is written from here on has not begun to go to the disk
	writing chan error // of the part that is going there; nil if there is none
	failed  error      // that has: what of the file is on the disk is unknown
}

// Steady returns raw as a file of which little is not on the disk yet.
func Steady(raw RawFile) RawFile { return &steady{RawFile: raw} }

func (s *steady) WriteAt(b []byte, off int64) (int, error) {
	if s.failed != nil {
		return 0, s.failed
	}
	n, err := s.RawFile.WriteAt(b, off)
	if to := off + int64(n); err == nil && to-s.from >= steadyBytes {
		if err = s.wait(); err == nil {
			from, done := s.from, make(chan error, 1)
			s.from, s.writing = to, done
			go func() { done <- writeBack(s.RawFile.File(), from, to-from) }()
		}
	}
	return n, err
}

// wait returns when nothing is going to the disk.
func (s *steady) wait() error {
	if s.writing != nil {
		if err := <-s.writing; s.failed == nil {
			s.failed = err
		}
		s.writing = nil
	}
	return s.failed
}

func (s *steady) Datasync() error {
	if err := s.wait(); err != nil {
		return err
	}
	s.failed = s.RawFile.Datasync()
	return s.failed
}

func (s *steady) Close() error {
	s.wait()
	return s.RawFile.Close()
}
