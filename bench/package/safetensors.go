package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/tstore/tstore/bench/internal/measure"
)

// safetensorsLimit is the length of the longest header that the safetensors library reads.
const safetensorsLimit = 100_000_000

// safetensors measures how many of the tensors a safetensors file can have. Its header names all of
// them in JSON, which is read as a whole to open it. With -python the library itself has to say so,
// of a file with that many tensors and of one with one more.
func safetensors(b *measure.Bench) error {
	most, length := 0, 0
	all, end := 2, int64(0) // the braces
	for i := range 2_000_000 {
		line := len(headerLine(nil, i, end))
		end += int64(itemBytes(i))
		all += line
		if all <= safetensorsLimit {
			most, length = i+1, all
		}
	}
	note := fmt.Sprintf("a header of %d bytes, at most %d are read; of 2,000,000 it would have %d", length, safetensorsLimit, all)
	if *python == "" {
		note += "; computed, -python has the library try it"
	} else {
		fits, err := trySafetensors(b, most)
		if err != nil {
			return err
		}
		more, err := trySafetensors(b, most+1)
		if err != nil {
			return err
		}
		if fits.Error != "" || more.Error == "" {
			return fmt.Errorf("of %d tensors safetensors says %q, of one more %q", most, fits.Error, more.Error)
		}
		note += fmt.Sprintf("; safetensors %s takes %.0f ms to open that many, and says of one more: %s", fits.Version, 1e3*fits.Seconds, more.Error)
	}
	b.Table.Add("tensors of that kind in a safetensors file, at most", float64(most), "tensors", nil, "%s", note)
	return nil
}

// headerLine appends what the header says of tensor i, whose bytes begin at offset.
func headerLine(dst []byte, i int, offset int64) []byte {
	n := itemBytes(i)
	if offset > 0 {
		dst = append(dst, ',')
	}
	dst = append(append(append(dst, '"'), measure.ItemName(i)...), `":{"dtype":"F32","shape":[`...)
	dst = strconv.AppendInt(dst, int64(n/4), 10)
	dst = append(dst, `],"data_offsets":[`...)
	dst = strconv.AppendInt(dst, offset, 10)
	dst = append(dst, ',')
	dst = strconv.AppendInt(dst, offset+int64(n), 10)
	return append(dst, "]}"...)
}

// attempt is what the safetensors library says of a file.
type attempt struct {
	Version string
	Seconds float64
	Error   string
}

const openSafetensors = `
import json, sys, time, safetensors
start, error = time.perf_counter(), ""
try:
    with safetensors.safe_open(sys.argv[1], "np") as f:
        assert len(f.keys()) == int(sys.argv[2])
except safetensors.SafetensorError as e:
    error = str(e)
json.dump({"Version": safetensors.__version__, "Seconds": time.perf_counter() - start, "Error": error}, sys.stdout)
`

// trySafetensors has the safetensors library open a file of count tensors. Their bytes are a hole.
func trySafetensors(b *measure.Bench, count int) (*attempt, error) {
	file := b.Path("many.safetensors")
	defer os.Remove(file)
	f, err := os.Create(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	w.Write(make([]byte, 8))
	w.WriteByte('{')
	var line []byte
	length, end := int64(2), int64(0)
	for i := range count {
		line = headerLine(line[:0], i, end)
		w.Write(line)
		length += int64(len(line))
		end += int64(itemBytes(i))
	}
	w.WriteByte('}')
	if err := w.Flush(); err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(binary.LittleEndian.AppendUint64(nil, uint64(length)), 0); err != nil {
		return nil, err
	}
	if err := f.Truncate(8 + length + end); err != nil {
		return nil, err
	}
	cmd := exec.Command(*python, "-c", openSafetensors, file, strconv.Itoa(count))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", *python, err)
	}
	var a attempt
	return &a, json.Unmarshal(out, &a)
}
