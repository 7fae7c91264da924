package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// A request asks reader.py for what is at a path.
type request struct {
	Path     string   `json:"path"`
	Names    []string `json:"names"`
	Prefixes []string `json:"prefixes"`
}

// A reading is what reader.py has seen.
type reading struct {
	Error   string // of the whole; then the rest is not complete
	Tensors []want
	Summary struct {
		Tensors    int
		Found      []*place
		Prefixed   [][]string
		Indexes    int
		Entries    int
		Replayed   int
		Segments   map[string]int // that count, by kind
		Operations map[string]int // in the logs, by kind
		Messages   map[string]map[string]int
		Digest     string
		Attributes [][2]string
	}
}

// read has reader.py answer requests; see is called with each answer.
func (p programs) read(requests []request, see func(i int, r *reading) error) error {
	var lines strings.Builder
	for _, r := range requests {
		if err := json.NewEncoder(&lines).Encode(r); err != nil {
			return err
		}
	}
	cmd := exec.Command(p.python, "-B", p.reader, "--requests")
	cmd.Stdin = strings.NewReader(lines.String())
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s %s: %w", p.python, p.reader, err)
	}
	answers := json.NewDecoder(bufio.NewReader(out))
	err = func() error {
		for i := range requests {
			r, err := nextReading(answers)
			if err != nil {
				return fmt.Errorf("%s: reader.py: %w", requests[i].Path, err)
			}
			if err := see(i, r); err != nil {
				return fmt.Errorf("%s: %w", requests[i].Path, err)
			}
		}
		return nil
	}()
	if err != nil {
		cmd.Process.Kill()
	}
	io.Copy(io.Discard, out)
	if waited := cmd.Wait(); err == nil && waited != nil {
		err = fmt.Errorf("reader.py: %w", waited)
	}
	return err
}

// nextReading takes the lines of one answer.
func nextReading(answers *json.Decoder) (*reading, error) {
	r := &reading{}
	for {
		var line struct {
			Tensor *want
			Error  string
			Read   json.RawMessage
		}
		if err := answers.Decode(&line); err != nil {
			return nil, err
		}
		switch {
		case line.Tensor != nil:
			r.Tensors = append(r.Tensors, *line.Tensor)
		case line.Error != "":
			r.Error = line.Error
			return r, nil
		default:
			return r, json.Unmarshal(line.Read, &r.Summary)
		}
	}
}

// compareScenes has reader.py read all scenes, and compares.
func (p programs) compareScenes(scenes []*scene) error {
	count := map[string]int{}
	add := func(front string, counts map[string]int) {
		for kind, n := range counts {
			count[front+kind] += n
		}
	}
	var mutex sync.Mutex
	random := rand.New(rand.NewPCG(5, 6))
	requests := make([]request, len(scenes))
	for i, s := range scenes {
		requests[i] = request{Path: s.path, Names: s.names(random), Prefixes: s.prefixes()}
	}
	see := func(i int, r *reading) error {
		s := scenes[i]
		if err := s.compare(requests[i], r); err != nil {
			return err
		}
		mutex.Lock()
		defer mutex.Unlock()
		if s.digest != "" {
			count["packages"]++
			count["digests of packages, computed anew"]++
		} else {
			count["stores"]++
			add("segments that count: ", r.Summary.Segments)
			add("operations in logs: ", r.Summary.Operations)
		}
		s.messages = r.Summary.Messages
		for _, t := range r.Tensors {
			count["tensors: "+t.Layout]++
		}
		count["names looked up"] += len(r.Summary.Found)
		count["prefixes listed"] += len(r.Summary.Prefixed)
		count["frozen indexes, made anew byte for byte"] += r.Summary.Indexes
		count["logs without an index"] += r.Summary.Replayed
		return nil
	}
	if err := p.readSplit(requests, see); err != nil {
		return err
	}
	for _, l := range layouts {
		add("tensors: ", map[string]int{l.String(): 0})
	}
	for _, what := range slices.Sorted(maps.Keys(count)) {
		if err := atLeastOne("reader.py: "+what, count[what]); err != nil {
			return err
		}
	}
	return nil
}

// readSplit is read by two processes, each of which answers one half.
func (p programs) readSplit(requests []request, see func(i int, r *reading) error) error {
	var halves sync.WaitGroup
	var errs [2]error
	for h := range errs {
		var mine []request
		var number []int
		for i := h; i < len(requests); i += len(errs) {
			mine, number = append(mine, requests[i]), append(number, i)
		}
		halves.Go(func() {
			errs[h] = p.read(mine, func(i int, r *reading) error { return see(number[i], r) })
		})
	}
	halves.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// compare compares what should be in a scene with what reader.py saw.
func (s *scene) compare(asked request, r *reading) error {
	if r.Error != "" {
		return fmt.Errorf("reader.py: %s", r.Error)
	}
	if err := compareTensors(s.sorted(), r.Tensors); err != nil {
		return err
	}
	for i, name := range asked.Names {
		w, there := s.want[name]
		got := r.Summary.Found[i]
		switch {
		case there != (got != nil):
			return fmt.Errorf("lookup of %q: found is %v, should be %v", name, got != nil, there)
		case there && *got != w.Place:
			return fmt.Errorf("lookup of %q: at %+v, should be at %+v", name, *got, w.Place)
		}
	}
	for i, prefix := range asked.Prefixes {
		names := []string{}
		for _, w := range s.sorted() {
			if strings.HasPrefix(w.Name, prefix) {
				names = append(names, w.Name)
			}
		}
		if got := r.Summary.Prefixed[i]; !slices.Equal(got, names) {
			return fmt.Errorf("names with prefix %q: %q, should be %q", prefix, got, names)
		}
	}
	if r.Summary.Digest != s.digest {
		return fmt.Errorf("digest %s, should be %s", r.Summary.Digest, s.digest)
	}
	want := packed(want{Attributes: pairs(s.attrs)}).Attributes
	if got := r.Summary.Attributes; s.digest != "" && !slices.Equal(got, want) {
		return fmt.Errorf("attributes %q, should be %q", got, want)
	}
	return nil
}

func compareTensors(want, got []want) error {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			return fmt.Errorf("%d tensors, should be %d: %q is too much", len(got), len(want), got[i].Name)
		case i >= len(got):
			return fmt.Errorf("%d tensors, should be %d: %q is missing", len(got), len(want), want[i].Name)
		case !reflect.DeepEqual(got[i], want[i]):
			return fmt.Errorf("a tensor is\n%+v, should be\n%+v", got[i], want[i])
		}
	}
	return nil
}
