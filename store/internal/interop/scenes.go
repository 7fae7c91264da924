package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// stage is where scenes are made.
type stage struct {
	dir    string
	corpus string
	seed   uint64
	scenes []*scene
}

// makeScenes makes stores and packages of all shapes in dir.
func makeScenes(dir, corpus string, seed uint64) ([]*scene, error) {
	s := &stage{dir: dir, corpus: corpus, seed: seed}
	for _, make := range []func() error{
		s.everyType, s.foreignMessages, s.manyLogs, s.openStore, s.afterCrash, s.ownSegments,
		s.sealedLogs, s.compacted, s.attached, s.packages,
	} {
		if err := make(); err != nil {
			return nil, err
		}
	}
	for _, scene := range s.scenes {
		if err := scene.settle(); err != nil {
			return nil, err
		}
	}
	return s.scenes, nil
}

func (s *stage) author(name string, o store.Options) (*author, error) {
	return newAuthor(s.dir, name, s.seed, o)
}

// finish closes the store and takes it among the scenes, with packages of it.
func (s *stage) finish(a *author, packages ...*scene) error {
	s.scenes = append(s.scenes, packages...)
	s.scenes = append(s.scenes, a.scene)
	return a.store.Close()
}

// everyType has tensors of every type in every layout, and the same as a package.
func (s *stage) everyType() error {
	a, err := s.author("types", store.Options{})
	if err != nil {
		return err
	}
	for _, dt := range elementTypes {
		err := a.change(func(c *changes) error {
			for _, l := range layouts {
				for i := range 3 {
					name := fmt.Sprintf("%v/%v/%d", dt, l, i)
					if err := c.put(name, randomTensor(a.random, dt, l), randomAttrs(a.random)); err != nil {
						return err
					}
				}
			}
			for i, shape := range [][]int64{{}, {0}, {3, 0, 2}, {1, 5, 1}, {4, 3, 2}} {
				d := must(layout.NewDense(dt, shape, randomElements(a.random, dt, numElements(shape), 1)))
				if err := c.put(fmt.Sprintf("%v/shape/%d", dt, i), d, nil); err != nil {
					return err
				}
				d = must(layout.NewColumnMajor(dt, shape, randomElements(a.random, dt, numElements(shape), 1)))
				if err := c.put(fmt.Sprintf("%v/column-major/%d", dt, i), d, nil); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	p, err := a.pack("types-package", []layout.Attr{{Key: "title", Value: "Every type"}, {Key: "größe", Value: ""}})
	if err != nil {
		return err
	}
	return s.finish(a, p)
}

func numElements(shape []int64) int64 {
	n, _ := layout.CheckedProduct(shape, 1)
	return n
}

// foreignMessages has what others may have written: the messages of the corpus.
func (s *stage) foreignMessages() error {
	a, err := s.author("foreign", store.Options{})
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(s.corpus, "accept", "*.msg"))
	if err != nil {
		return err
	}
	err = a.change(func(c *changes) error {
		for _, file := range files {
			msg, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			t, err := codec.Decode(msg)
			if err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
			head, err := codec.ParseHead(msg)
			if err != nil {
				return err
			}
			name := filepath.Base(file)
			attrs := codec.DecodeAttrs(&head)
			if c.want[name], err = expect(name, t, attrs); err != nil {
				return err
			}
			if err := c.tx.PutMessage(name, msg); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p, err := a.pack("foreign-package", nil)
	if err != nil {
		return err
	}
	return s.finish(a, p)
}

// manyLogs has several logs and all kinds of changes, through several openings.
func (s *stage) manyLogs() error {
	a, err := s.author("logs", store.Options{SegmentSize: store.MinSegmentSize})
	if err != nil {
		return err
	}
	for range 4 {
		if err := a.churn(60, 0); err != nil {
			return err
		}
		if err := a.reopen(); err != nil {
			return err
		}
	}
	p, err := a.pack("logs-package", []layout.Attr{{Key: "license", Value: "CC0-1.0"}}, "a/", "q/", "ä/")
	if err != nil {
		return err
	}
	return s.finish(a, p)
}

// openStore has copies of a store that was open: before anything was put, and after.
func (s *stage) openStore() error {
	a, err := s.author("open", store.Options{})
	if err != nil {
		return err
	}
	for i := range 6 {
		c, err := a.copyAs(fmt.Sprintf("open-%d", i))
		if err != nil {
			return err
		}
		s.scenes = append(s.scenes, c)
		if err := a.churn(1+i*i, 0); err != nil {
			return err
		}
	}
	return s.finish(a)
}

// afterCrash goes on with a copy of a store that was open, whose end is torn.
func (s *stage) afterCrash() error {
	a, err := s.author("crash-before", store.Options{})
	if err != nil {
		return err
	}
	if err := a.churn(20, 0); err != nil {
		return err
	}
	c, err := a.copyAs("crash")
	if err != nil {
		return err
	}
	if err := s.finish(a); err != nil {
		return err
	}
	for round := range 3 {
		if err := tear(c.path); err != nil {
			return err
		}
		a, err := s.author("crash", store.Options{})
		if err != nil {
			return err
		}
		a.number = 1000 * (round + 1)
		a.want, a.dropped, a.torn = c.want, c.dropped, true
		if err := a.churn(10, 0); err != nil {
			return err
		}
		if round == 2 {
			return s.finish(a)
		}
		// Without an end: the files are taken away while it is open.
		torn, err := a.copyAs(fmt.Sprintf("crash-%d", round))
		if err != nil {
			return err
		}
		c = torn
		if err := a.store.Close(); err != nil {
			return err
		}
		if err := os.RemoveAll(a.path); err != nil {
			return err
		}
		if err := os.Rename(c.path, a.path); err != nil {
			return err
		}
		c.path = a.path
	}
	return nil
}

// tear adds a part of a message to what the newest log ends with, as a write that
// a power cut has torn may.
func tear(path string) error {
	file, data, err := newestSegment(path)
	if err != nil {
		return err
	}
	end := len(data)
	for end > 0 && data[end-1] == 0 {
		end--
	}
	end = int(layout.Align64(int64(end)))
	record := must(codec.Encode(layout.DenseOf(make([]float64, 100), 100), nil)).AppendTo(nil)
	data = append(data[:end], record[:len(record)/2]...)
	return os.WriteFile(file, data, 0o644)
}

// ownSegments has tensors that are too large for the log.
func (s *stage) ownSegments() error {
	a, err := s.author("own", store.Options{SegmentSize: store.MinSegmentSize})
	if err != nil {
		return err
	}
	if err := a.churn(40, 20); err != nil {
		return err
	}
	c, err := a.copyAs("own-open")
	if err != nil {
		return err
	}
	p, err := a.pack("own-package", nil)
	if err != nil {
		return err
	}
	return s.finish(a, c, p)
}

// sealedLogs has logs with so many names that they get sealed.
func (s *stage) sealedLogs() error {
	a, err := s.author("sealed", store.Options{SegmentSize: 8 << 20, Sync: store.SyncNever})
	if err != nil {
		return err
	}
	first := func() error {
		return a.change(func(c *changes) error { return c.put("first", c.smallTensor(), nil) })
	}
	next := 0
	fill := func(n int) error {
		return a.change(func(c *changes) error {
			for range n {
				next++
				v := binary.LittleEndian.AppendUint32(nil, uint32(next))
				d := must(layout.NewDense(layout.Uint32, nil, v))
				if err := c.put(fmt.Sprintf("a/%05d", next*7919%100000), d, nil); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for range 2 {
		// The first batch of a log has nothing left to say when it is sealed, the last one,
		// which closes the store, never had. A compaction that finds nothing to
		// do begins a new log.
		if err := first(); err != nil {
			return err
		}
		for range 6 {
			if err := fill(800); err != nil {
				return err
			}
			if err := a.churn(5, 0); err != nil {
				return err
			}
		}
		if err := first(); err != nil {
			return err
		}
		if err := a.reopen(); err != nil {
			return err
		}
		if _, err := a.store.Compact(context.Background(), &store.CompactOptions{MinDead: 1}); err != nil {
			return err
		}
	}
	p, err := a.pack("sealed-package", nil, "a/1", "a/2", "p/")
	if err != nil {
		return err
	}
	return s.finish(a, p)
}

// compacted has been compacted now and then, with changes before and after.
func (s *stage) compacted() error {
	for i, minDead := range []float64{0, 0.3, 0.7} {
		a, err := s.author(fmt.Sprint("compacted-", i), store.Options{SegmentSize: store.MinSegmentSize, Sync: store.SyncNever})
		if err != nil {
			return err
		}
		for round := range 5 {
			if err := a.churn(40, 5); err != nil {
				return err
			}
			if _, err := a.store.Compact(context.Background(), &store.CompactOptions{MinDead: minDead}); err != nil {
				return err
			}
			if round == 2 {
				if err := a.reopen(); err != nil {
					return err
				}
			}
		}
		c, err := a.copyAs(a.name + "-open")
		if err != nil {
			return err
		}
		if err := a.churn(10, 5); err != nil {
			return err
		}
		if err := s.finish(a, c); err != nil {
			return err
		}
	}
	return nil
}

// attached has packages among its segments.
func (s *stage) attached() error {
	source, err := s.author("source", store.Options{})
	if err != nil {
		return err
	}
	if err := source.churn(40, 0); err != nil {
		return err
	}
	p, err := source.pack("source-package", []layout.Attr{{Key: "title", Value: "To be attached"}})
	if err != nil {
		return err
	}
	if err := s.finish(source, p); err != nil {
		return err
	}
	a, err := s.author("attached", store.Options{SegmentSize: store.MinSegmentSize})
	if err != nil {
		return err
	}
	if err := a.churn(20, 5); err != nil {
		return err
	}
	for i, o := range []store.AttachOptions{
		{Prefix: "p"}, // not only whole parts of a name
		{Prefix: "", Clash: store.ClashKeeps},
		{Prefix: "p", Clash: store.ClashReplaces},
		{Prefix: "q/r/", Link: true},
	} {
		if err := a.attach(p, o); err != nil {
			return err
		}
		if err := a.churn(15, 5); err != nil {
			return err
		}
		c, err := a.copyAs(fmt.Sprint("attached-", i))
		if err != nil {
			return err
		}
		s.scenes = append(s.scenes, c)
		if i == 2 {
			if err := a.reopen(); err != nil {
				return err
			}
			if _, err := a.store.Compact(context.Background(), nil); err != nil {
				return err
			}
		}
	}
	return s.finish(a)
}

// attach takes in a package.
func (a *author) attach(p *scene, o store.AttachOptions) error {
	if _, err := a.store.Attach(context.Background(), p.path, &o); err != nil {
		return err
	}
	for name, w := range p.want {
		w.Name = o.Prefix + name
		if _, there := a.want[w.Name]; !there || o.Clash == store.ClashReplaces {
			a.want[w.Name] = w
		}
	}
	return nil
}

// packages are written straight: an empty one, and one with every kind of name.
func (s *stage) packages() error {
	for i, names := range [][]string{
		nil,
		{"x"},
		{"!", "A", "a", "a/", "a/b", "a0", "aa", strings.Repeat("n", 1024), "é", "日本", "\U0001F600"},
	} {
		p := &scene{
			name:  fmt.Sprint("written-", i),
			path:  filepath.Join(s.dir, fmt.Sprintf("written-%d.tstore", i)),
			want:  map[string]want{},
			attrs: []layout.Attr{{Key: "a", Value: strings.Repeat("long ", 100)}, {Key: "created-from", Value: "nothing"}}[:i],
		}
		w, err := store.CreatePackage(p.path, p.attrs...)
		if err != nil {
			return err
		}
		for k, name := range names {
			t := must(layout.NewColumnMajor(layout.Float32, []int64{2, int64(k)}, make([]byte, 8*k)))
			attrs := []layout.Attr{{Key: "z", Value: "1"}, {Key: "b", Value: name}}
			e, err := expect(name, t, attrs)
			if err != nil {
				return err
			}
			p.want[name] = packed(e)
			if err := w.Add(name, t, attrs...); err != nil {
				return err
			}
		}
		digest, err := w.Close()
		if err != nil {
			return err
		}
		p.digest = digest.String()
		s.scenes = append(s.scenes, p)
	}
	return nil
}
