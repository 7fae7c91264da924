package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"

	"github.com/tstore/tstore/layout"
)

// An arrowRequest asks arrow.py to walk a file, or to read a tensor in one.
type arrowRequest struct {
	Walk   string `json:"walk,omitempty"`
	Read   string `json:"read,omitempty"`
	Offset int64  `json:"offset,omitempty"`

	check func(answer []byte) error // compares the answer
}

// compareArrow has pyarrow walk every file and read the dense tensors of every
// package.
func (p programs) compareArrow(scenes []*scene) error {
	var requests []arrowRequest
	var files, messages, tensors int
	for _, s := range scenes {
		for _, file := range slices.Sorted(maps.Keys(s.messages)) {
			files++
			requests = append(requests, arrowRequest{Walk: file, check: func(answer []byte) error {
				n, err := s.checkWalk(file, answer)
				messages += n
				return err
			}})
		}
		if s.digest == "" {
			continue
		}
		for _, w := range s.sorted() {
			seen, ok := asArrow(w)
			if !ok {
				continue
			}
			tensors++
			requests = append(requests, arrowRequest{Read: s.path, Offset: w.Place.Offset, check: seen.check})
		}
	}
	if err := p.askArrow(requests); err != nil {
		return err
	}
	if err := atLeastOne("pyarrow: segments and packages, walked", files); err != nil {
		return err
	}
	if err := atLeastOne("pyarrow: messages in them, as many as reader.py has found", messages); err != nil {
		return err
	}
	return atLeastOne("pyarrow: dense tensors of packages", tensors)
}

func (p programs) askArrow(requests []arrowRequest) error {
	var lines bytes.Buffer
	for _, r := range requests {
		if err := json.NewEncoder(&lines).Encode(r); err != nil {
			return err
		}
	}
	cmd := exec.Command(p.python, "-B", p.arrow)
	cmd.Stdin, cmd.Stderr = &lines, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("arrow.py: %w", err)
	}
	answers := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(answers) != len(requests) {
		return fmt.Errorf("arrow.py: %d answers to %d requests", len(answers), len(requests))
	}
	for i, r := range requests {
		if err := r.check(answers[i]); err != nil {
			return fmt.Errorf("pyarrow: %s%s: offset %d: %w", r.Walk, r.Read, r.Offset, err)
		}
	}
	return nil
}

// checkWalk compares the messages that pyarrow has found in a file with those that
// reader.py has, and returns how many there are.
func (s *scene) checkWalk(file string, answer []byte) (int, error) {
	var walk struct {
		Counts map[string]int
		At     int64
		Error  string
	}
	if err := json.Unmarshal(answer, &walk); err != nil {
		return 0, err
	}
	if walk.Error != "" && !s.torn {
		return 0, fmt.Errorf("stopped at %d: %s", walk.At, walk.Error)
	}
	if !maps.Equal(walk.Counts, s.messages[file]) {
		return 0, fmt.Errorf("messages %v, reader.py found %v", walk.Counts, s.messages[file])
	}
	if s.digest != "" {
		// The end-of-stream marker stops it, the trailer and the rest of the marker's 64
		// bytes are left.
		info, err := os.Stat(file)
		if err != nil {
			return 0, err
		}
		if left := info.Size() - walk.At; left != 64+64-8 {
			return 0, fmt.Errorf("stopped %d bytes before the end", left)
		}
	}
	n := 0
	for _, c := range walk.Counts {
		n += c
	}
	return n, nil
}

// arrowTensor is what pyarrow must see in a dense tensor.
type arrowTensor struct {
	DType    string   `json:"dtype"`
	Shape    []int64  `json:"shape"`
	DimNames []string `json:"dim_names"`
	SHA256   string   `json:"sha256"`
}

// storedAs has the element types that Arrow sees as another type, complex
// numbers with one axis more.
var storedAs = map[string]string{
	layout.Bool.String():         "uint8",
	layout.BFloat16.String():     "uint16",
	layout.Float8E4M3FN.String(): "uint8",
	layout.Float8E5M2.String():   "uint8",
	layout.Complex64.String():    "float32",
	layout.Complex128.String():   "float64",
}

// asArrow returns what pyarrow must see in w; false if w is sparse, or of a type that
// Arrow's own tensors can't have, or larger than NumPy's arrays.
func asArrow(w want) (arrowTensor, bool) {
	dt := must(layout.ParseDType(w.DType))
	if w.Layout != "dense" || dt.IsOpaque() {
		return arrowTensor{}, false
	}
	a := arrowTensor{DType: w.DType, Shape: slices.Clone(w.Shape), DimNames: slices.Clone(w.DimNames), SHA256: w.SHA256}
	if stored, ok := storedAs[w.DType]; ok {
		a.DType = stored
	}
	if dt == layout.Complex64 || dt == layout.Complex128 {
		a.Shape = append(a.Shape, 2)
	}
	for len(a.DimNames) < len(a.Shape) {
		a.DimNames = append(a.DimNames, "")
	}
	// NumPy, through which pyarrow shows the elements, has limits that Arrow has not.
	nonzero := slices.DeleteFunc(slices.Clone(w.Shape), func(n int64) bool { return n == 0 })
	_, fits := layout.CheckedProduct(nonzero, int64(dt.Size()))
	return a, fits && len(a.Shape) <= 64
}

func (a arrowTensor) check(answer []byte) error {
	var got arrowTensor
	if err := json.Unmarshal(answer, &got); err != nil {
		return err
	}
	if got.DType != a.DType || got.SHA256 != a.SHA256 || !slices.Equal(got.Shape, a.Shape) || !slices.Equal(got.DimNames, a.DimNames) {
		return fmt.Errorf("reads %+v, should be %+v", got, a)
	}
	return nil
}
