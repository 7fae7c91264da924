package layout

import "errors"

// crew is goroutines that gather nonzeros part by part. Each compacts a part into a stage of its own, which stays in its
// cache, and copies it in the part's turn to where it belongs.
type crew struct {
	turns
	c     *conversion // of the result; used by the goroutine whose turn it is
	found *found
	view  *Dense
	each  int64 // elements of a part
}

var errGaveUp = errors.New("layout: another goroutine gave up")

// gatherTogether is gather by so many goroutines.
func (c *conversion) gatherTogether(f *found, g *gathering, workers int) error {
	w := &crew{c: c, found: f, view: g.view, each: max(grain.part/f.width, 1)}
	w.begin((g.view.len-1)/w.each + 1)
	workers = int(min(int64(workers), w.parts))
	room := max(min(w.each, grain.stage/(f.width+f.per)), 1)
	count := c.stagesFor(room*(f.width+f.per), workers)
	memory, err := c.reserve(room*count*int64(workers), f.width+f.per)
	if err != nil {
		return err
	}
	defer c.free(memory)
	template := *g
	return w.together(workers, func() error { return w.work(template, room, count) })
}

// work gathers parts as long as there are some.
func (w *crew) work(template gathering, room, count int64) error {
	h := w.c.helper()
	defer h.end()
	width, per := w.found.width, w.found.per
	values, err := h.spaceFor(spaceFound, room*count, width)
	if err != nil {
		return err
	}
	places, err := h.spaceFor(spaceIndices, room*count, per)
	if err != nil {
		return err
	}
	mine := stages{turns: &w.turns}
	template.crew, template.mine = w, &mine
	for i := range count {
		s := &gatherStage{gathering: template}
		s.empty = found{width: width, per: per, room: room, values: values[i*room*width : (i+1)*room*width], places: places[i*room*per : (i+1)*room*per]}
		mine.free = append(mine.free, s)
	}
	for {
		x, err := mine.take()
		if err != nil {
			return err
		}
		part, ok := w.take()
		if !ok {
			return mine.all()
		}
		s := x.(*gatherStage)
		s.part, s.held, s.count, s.out = part, false, 0, s.empty
		s.from = part * w.each
		s.stop = min(s.from+w.each, w.view.len)
		if err := s.run(h, s.from, s.stop); err != nil {
			return err
		}
		if err := mine.fill(s); err != nil {
			return err
		}
	}
}

// gatherStage is a part of which the nonzeros have been found.
type gatherStage struct {
	gathering
	empty      found // the stage when nothing is in it
	from, stop int64 // elements
}

func (s *gatherStage) number() int64 { return s.part }

func (s *gatherStage) deliver() error {
	w := s.crew
	values, places, err := w.claim(&s.gathering, s.stop)
	if err != nil {
		return err
	}
	w.pass()
	copy(values, s.out.values)
	copy(places, s.out.places)
	w.done()
	if s.minor > 0 && s.base > 0 {
		s.indptr.addTo(s.from/s.minor+1, s.stop/s.minor+1, uint64(s.base))
	}
	return nil
}

// claim returns where what is in g's stage belongs. It is the turn of g's part.
func (w *crew) claim(g *gathering, next int64) (values, places []byte, err error) {
	f, n := w.found, g.out.n
	if !g.held {
		g.held, g.base = true, f.n
	}
	if f.room-f.n < n {
		if !w.settle() {
			return nil, nil, errGaveUp
		}
		rest, err := w.c.countRange(w.view, next, w.view.len)
		if err == nil {
			err = w.c.makeRoom(f, f.n+n+rest, w.view, next, f.n+n)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	values = f.values[f.n*f.width : (f.n+n)*f.width]
	places = f.places[f.n*f.per : (f.n+n)*f.per]
	f.n += n
	return values, places, nil
}

// empty empties the stage of a part that has found more than it holds, up to element next.
func (w *crew) empty(g *gathering, next int64) error {
	if !g.held {
		if err := g.mine.all(); err != nil {
			return err
		}
		if !w.wait(g.part) {
			return errGaveUp
		}
	}
	values, places, err := w.claim(g, next)
	if err != nil {
		return err
	}
	copy(values, g.out.values)
	copy(places, g.out.places)
	g.out.n = 0
	return nil
}

// addTo adds v to integers from to stop−1 of an array that is being made.
func (x Index) addTo(from, stop int64, v uint64) {
	switch x.typ.Size() {
	case 1:
		addWords(x.data[from:stop], uint8(v))
	case 2:
		addWords(words[uint16](x.data)[from:stop], uint16(v))
	case 4:
		addWords(words[uint32](x.data)[from:stop], uint32(v))
	default:
		addWords(words[uint64](x.data)[from:stop], v)
	}
}

func addWords[I indexWord](x []I, v I) {
	for i := range x {
		x[i] += v
	}
}
