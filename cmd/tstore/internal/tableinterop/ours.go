package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// arrowTypes are the element types that tensors and Arrow both have.
var arrowTypes = []string{
	"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64", "bool",
	"date[day]", "date[ms]", "time32[s]", "time32[ms]", "time64[us]", "time64[ns]",
	"timestamp[s]", "timestamp[ms]", "timestamp[us, UTC]", "timestamp[ns, Europe/Berlin]",
	"duration[s]", "duration[ms]", "duration[us]", "duration[ns]",
	"interval[month_day_nano]", "decimal128[38, 2]", "decimal256[76, 10]", "fixed_size_binary[3]",
}

// tableTypes are those that text has numbers of.
var tableTypes = []string{"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "bool"}

// random returns a tensor of elements that every program takes for valid.
func random(r *rand.Rand, dtype string, shape ...int64) (*layout.Dense, error) {
	dt, err := layout.ParseDType(dtype)
	if err != nil {
		return nil, err
	}
	n, _ := layout.CheckedProduct(shape, int64(dt.Size()))
	data := make([]byte, n)
	for i := 0; i < len(data); i += dt.Size() {
		for k := range dt.Size() {
			data[i+k] = byte(r.Uint32())
		}
		switch high := i + dt.Size() - 1; dt.Kind() {
		case layout.KindBool:
			data[i] &= 1
		case layout.KindFloat16, layout.KindFloat32, layout.KindFloat64:
			data[high] &= 0xbf // no NaN, of which there are many
		case layout.KindDate, layout.KindTime, layout.KindTimestamp, layout.KindDuration, layout.KindInterval, layout.KindDecimal:
			// Times that exist: small numbers, and whole days where a date has milliseconds.
			clear(data[i+2 : i+dt.Size()])
			if dtype == "date[ms]" {
				days := int64(data[i]) * 86_400_000
				for k := range 8 {
					data[i+k] = byte(days >> (8 * k))
				}
			}
		}
	}
	return layout.NewDense(dt, shape, data)
}

// group is a set of tensors that go to one file.
type group struct {
	file    string // or several, by extension
	kinds   []string
	tensors map[string]*layout.Dense
}

func groups(r *rand.Rand) ([]group, error) {
	var all []group
	var failed error
	tensor := func(dtype string, shape ...int64) *layout.Dense {
		d, err := random(r, dtype, shape...)
		if err != nil {
			failed = err
		}
		return d
	}
	arrow := []string{"arrow", "arrows"}
	for i, dtype := range arrowTypes {
		all = append(all,
			group{fmt.Sprintf("fixed%d", i), arrow, map[string]*layout.Dense{"a": tensor(dtype, 3, 4), "b": tensor(dtype, 3, 4), "c": tensor(dtype, 3, 4)}},
			group{fmt.Sprintf("scalar%d", i), arrow, map[string]*layout.Dense{"a": tensor(dtype), "b": tensor(dtype)}},
			group{fmt.Sprintf("variable%d", i), arrow, map[string]*layout.Dense{"a": tensor(dtype, 3, 4), "b": tensor(dtype, 1, 2), "c": tensor(dtype, 0, 5)}})
	}
	mixed := map[string]*layout.Dense{}
	for i, dtype := range []string{"int16", "float32", "bool", "uint64"} {
		mixed[fmt.Sprintf("x/%d", i)] = tensor(dtype, 2, int64(i+1))
		mixed[fmt.Sprintf("y/%d", i)] = tensor(dtype, int64(i+1))
	}
	all = append(all, group{"mixed", arrow, mixed})
	for i, dtype := range tableTypes {
		all = append(all, group{fmt.Sprintf("table%d", i), []string{"csv", "tsv", "csv.gz", "csv.zst"}, map[string]*layout.Dense{"a": tensor(dtype, 5, 3)}})
	}
	for _, dtype := range []string{"uint8", "uint16"} {
		for _, shape := range [][]int64{{5, 7}, {4, 6, 2}, {6, 4, 3}, {3, 9, 4}} {
			if dtype == "uint16" && len(shape) == 3 {
				continue // which Pillow has no images of
			}
			all = append(all, group{fmt.Sprintf("image_%s_%d", dtype, len(all)), []string{"png"}, map[string]*layout.Dense{"a": tensor(dtype, shape...)}})
		}
	}
	return all, failed
}

// writeOurs puts tensors into a store and exports them.
func writeOurs(tstore, path, dir string) error {
	all, err := groups(rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		return err
	}
	st, err := store.Open(path, &store.Options{Sync: store.SyncNever})
	if err != nil {
		return err
	}
	defer st.Close()
	for _, g := range all {
		for name, d := range g.tensors {
			if err := st.Put(g.file+"/"+name, d); err != nil {
				return err
			}
		}
	}
	index, err := os.Create(filepath.Join(dir, "index.jsonl"))
	if err != nil {
		return err
	}
	defer index.Close()
	for _, g := range all {
		for _, kind := range g.kinds {
			file := filepath.Join(dir, g.file+"."+kind)
			if strings.HasPrefix(kind, "arrow") {
				_, err = output(tstore, "export", path, file, g.file+"/", "--strip", g.file+"/")
			} else {
				_, err = output(tstore, "get", path, g.file+"/a", "-o", file)
			}
			if err != nil {
				return err
			}
			for name, d := range g.tensors {
				if err := json.NewEncoder(index).Encode(described{
					File: g.file + "." + kind, By: "tstore", Name: name, DType: d.DType().String(), Shape: d.Shape(),
					Elements: hex.EncodeToString(d.AppendRowMajor(nil)),
				}); err != nil {
					return err
				}
			}
		}
	}
	return index.Close()
}
