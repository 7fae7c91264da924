package segment

// steadyBytes is how much of a file is written before it begins to go to the disk.
const steadyBytes = 32 << 20

// steady is a new file of which little is not on the disk yet, however fast it is
// written: after so many bytes it is synced, while the next are written. The disk
// has work from the start, and the sync at the end, which nothing can interrupt,
// takes as long for a large file as for a small one.
type steady struct {
	RawFile
	written int64      // since the last sync began
	syncing chan error // of the sync under way; nil if there is none
	failed  error      // a sync has: what of the file is on the disk is unknown
}

// Steady returns raw as a file of which little is not on the disk yet.
func Steady(raw RawFile) RawFile { return &steady{RawFile: raw} }

func (s *steady) WriteAt(b []byte, off int64) (int, error) {
	if s.failed != nil {
		return 0, s.failed
	}
	n, err := s.RawFile.WriteAt(b, off)
	if s.written += int64(n); err == nil && s.written >= steadyBytes {
		if err = s.wait(); err == nil {
			s.written = 0
			done := make(chan error, 1)
			s.syncing = done
			go func() { done <- s.RawFile.Datasync() }()
		}
	}
	return n, err
}

// wait returns when no sync is under way.
func (s *steady) wait() error {
	if s.syncing != nil {
		if err := <-s.syncing; s.failed == nil {
			s.failed = err
		}
		s.syncing = nil
	}
	return s.failed
}

func (s *steady) Datasync() error {
	if err := s.wait(); err != nil {
		return err
	}
	if err := s.RawFile.Datasync(); err != nil {
		s.failed = err
		return err
	}
	s.written = 0
	return nil
}

func (s *steady) Close() error {
	s.wait()
	return s.RawFile.Close()
}
