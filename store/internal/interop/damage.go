package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// damagedOf are the scenes of which damaged copies are made, and how many of each.
var damagedOf = map[string]int{
	"open-2": 15, "open-3": 15, "crash-0": 10, "crash-1": 10, "own-open": 6,
	"compacted-1-open": 10, "attached-1": 10, "source-package": 10, "written-2": 15,
}

// compareDamaged damages copies of stores and packages, as a power cut or a bad disk
// may. Both readers must find the damage, or see the same without having been told of
// what is gone: the end of a log that was never acknowledged.
func (p programs) compareDamaged(scenes []*scene, seed uint64, times int) error {
	random := rand.New(rand.NewPCG(seed, 7))
	var requests []request
	var seen []outcome
	for _, s := range scenes {
		for i := range times * damagedOf[s.name] {
			path := filepath.Join(p.working, fmt.Sprintf("damaged-%s-%d", s.name, i))
			what, err := s.damage(random, path)
			if err != nil {
				return err
			}
			o := look(path, s.digest != "")
			o.what = what
			requests, seen = append(requests, request{Path: path}), append(seen, o)
		}
	}
	var refused, same int
	err := p.read(requests, func(i int, r *reading) error {
		o := seen[i]
		switch {
		case o.err == nil && r.Error != "":
			return fmt.Errorf("%s: tstore finds nothing wrong, reader.py: %s", o.what, r.Error)
		case o.err != nil && r.Error == "":
			return fmt.Errorf("%s: reader.py finds nothing wrong, tstore: %w", o.what, o.err)
		case o.err != nil:
			refused++
			return nil
		}
		same++
		if err := compareTensors(o.tensors, r.Tensors); err != nil {
			return fmt.Errorf("%s: %w", o.what, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := atLeastOne("damaged stores and packages: refused by reader.py and tstore", refused); err != nil {
		return err
	}
	return atLeastOne("damaged stores and packages: both see the same", same)
}

// damage makes a damaged copy of a scene and says what is wrong with it.
func (s *scene) damage(random *rand.Rand, path string) (string, error) {
	file := path
	if s.digest != "" {
		data, err := os.ReadFile(s.path)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return "", err
		}
	} else {
		if err := copySegments(s.path, path); err != nil {
			return "", err
		}
		files, err := filepath.Glob(filepath.Join(path, "segments", "*.seg"))
		if err != nil {
			return "", err
		}
		file = slices.Max(files)
		if random.IntN(4) == 0 {
			file = files[random.IntN(len(files))]
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	// Where there is something, and rather at the end, where a log was written last.
	used := len(data)
	for used > 1 && data[used-1] == 0 {
		used--
	}
	at := random.IntN(used)
	if random.IntN(2) == 0 {
		at = max(0, used-1-random.IntN(4096))
	}
	what := ""
	switch random.IntN(4) {
	case 0:
		data = data[:at]
		what = fmt.Sprintf("cut off at %d", at)
	case 1:
		at &^= 511
		n := min(len(data)-at, 512<<random.IntN(4))
		clear(data[at : at+n])
		what = fmt.Sprintf("%d zeros at %d", n, at)
	case 2:
		clear(data[at:])
		what = fmt.Sprintf("zeros from %d on", at)
	default:
		data[at] ^= 1 << random.IntN(8)
		what = fmt.Sprintf("a bit flipped at %d", at)
	}
	return filepath.Base(file) + " " + what, os.WriteFile(file, data, 0o644)
}

// An outcome is what tstore sees in a damaged store or package.
type outcome struct {
	what    string // is wrong with it
	err     error
	tensors []want
}

// look verifies the store or package at path, then reads all of it.
func look(path string, isPackage bool) (o outcome) {
	open := func() (*store.Store, error) { return store.Open(path, &store.Options{ReadOnly: true}) }
	if isPackage {
		open = func() (*store.Store, error) { return store.OpenPackage(path) }
	}
	st, err := open()
	if err != nil {
		return outcome{err: err}
	}
	defer st.Close()
	report, err := st.Verify(context.Background(), nil)
	if err != nil {
		return outcome{err: err}
	}
	for _, problem := range report.Problems {
		o.err = errors.Join(o.err, problem.Err)
	}
	if o.err != nil {
		return o
	}
	for e, err := range st.List("") {
		if err != nil {
			return outcome{err: err}
		}
		t, err := st.Get(e.Name)
		if err != nil {
			return outcome{err: err}
		}
		w, err := expect(e.Name, t, e.Attrs)
		if err != nil {
			return outcome{err: err}
		}
		w.stored(e)
		o.tensors = append(o.tensors, w)
	}
	return o
}

// stored fills in what depends on how the tensor is stored.
func (w *want) stored(e *store.Entry) {
	w.Place = place{Sequence: e.Seq, Segment: e.Segment, Offset: e.Offset, Length: e.Length, CRC: e.CRC}
	w.Bytes = e.Bytes
	if e.Layout != layout.LayoutDense {
		w.IndexTypes[1] = e.IndicesType.String()
		if e.Layout != layout.LayoutCOO {
			w.IndexTypes[0] = e.IndptrType.String()
		}
	}
}

// newestSegment returns the path and the bytes of the segment file with the highest
// number of the store at path.
func newestSegment(path string) (string, []byte, error) {
	files, err := filepath.Glob(filepath.Join(path, "segments", "*.seg"))
	if err != nil {
		return "", nil, err
	}
	if len(files) == 0 {
		return "", nil, fmt.Errorf("no segments in %s", path)
	}
	file := slices.Max(files)
	data, err := os.ReadFile(file)
	return file, data, err
}
