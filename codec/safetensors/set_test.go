package safetensors_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tstore/tstore/codec/safetensors"
	"github.com/tstore/tstore/layout"
)

// indexes are texts of index files; reason is why one is refused.
var indexes = []struct{ text, reason string }{
	{`{"weight_map":{}}`, ""},
	{`{"metadata":{"total_size":12},"weight_map":{"a":"1.safetensors","b":"2.safetensors","c":"1.safetensors"}}`, ""},
	{`{"weight_map":{"a":"1"},"metadata":{"total_size":12.0,"mode":"x","n":-1.5e3,"yes":true,"no":null,"deep":{"y":[1]},"list":[]},"other":[{}]}`, ""},
	{``, "'{' expected"},
	{`{}`, `without "weight_map"`},
	{`[]`, "'{' expected"},
	{`{"weight_map":{}} x`, "the end expected"},
	{`{"weight_map":{},"weight_map":{}}`, `"weight_map" comes twice`},
	{`{"metadata":{},"metadata":{},"weight_map":{}}`, `"metadata" comes twice`},
	{`{"metadata":{"k":"1","k":"2"},"weight_map":{}}`, `"k" of the metadata comes twice`},
	{`{"metadata":{"total_size":-1},"weight_map":{}}`, "not a whole number"},
	{`{"metadata":{"total_size":1.5},"weight_map":{}}`, "not a whole number"},
	{`{"metadata":{"total_size":"1"},"weight_map":{}}`, "a number expected"},
	{`{"metadata":{"total_size":99999999999999999999},"weight_map":{}}`, "63 bits"},
	{`{"metadata":[],"weight_map":{}}`, "'{' expected"},
	{`{"weight_map":[]}`, "'{' expected"},
	{`{"weight_map":{"a":1}}`, "a string expected"},
	{`{"weight_map":{"a":"1","a":"2"}}`, `tensor "a" comes twice`},
	{`{"weight_map":{"a":""}}`, "not the name of a file beside the index"},
	{`{"weight_map":{"a":"."}}`, "not the name of a file beside the index"},
	{`{"weight_map":{"a":".."}}`, "not the name of a file beside the index"},
	{`{"weight_map":{"a":"../x.safetensors"}}`, "not the name of a file beside the index"},
	{`{"weight_map":{"a":"x/../../y"}}`, "not the name of a file beside the index"},
	{`{"weight_map":{"a":"/etc/passwd"}}`, "not the name of a file beside the index"},
	{`{"weight_map":{"a":"..\\x"}}`, "not the name of a file beside the index"},
	{`{"weight_map":{"a":"C:x"}}`, "not the name of a file beside the index"},
	{`{"weight_map":{"a":"\u002e\u002e\u002fx"}}`, "not the name of a file beside the index"},
	{`{"weight_map":{"a":"x\u0000"}}`, "not the name of a file beside the index"},
	{`{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `,"weight_map":{}}`, "deep"},
}

func TestParseIndex(t *testing.T) {
	for _, c := range indexes {
		_, err := safetensors.ParseIndex([]byte(c.text))
		if c.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", c.text, err)
			}
		} else if !errors.Is(err, safetensors.ErrInvalid) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%.100s: error %v, want ErrInvalid … %s", c.text, err, c.reason)
		}
	}
	x, err := safetensors.ParseIndex([]byte(indexes[1].text))
	want := &safetensors.Index{
		TotalSize: 12,
		Shards:    []string{"1.safetensors", "2.safetensors"},
		Tensors:   []safetensors.Place{{"a", 0}, {"b", 1}, {"c", 0}},
	}
	if diff := cmp.Diff(want, x); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	x, err = safetensors.ParseIndex([]byte(indexes[2].text))
	want = &safetensors.Index{
		TotalSize: 12,
		Metadata:  []layout.Attr{{Key: "mode", Value: "x"}, {Key: "n", Value: "-1.5e3"}, {Key: "yes", Value: "true"}},
		Shards:    []string{"1"},
		Tensors:   []safetensors.Place{{"a", 0}},
	}
	if diff := cmp.Diff(want, x); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if x, err = safetensors.ParseIndex([]byte(`{"weight_map":{}}`)); err != nil || x.TotalSize != -1 {
		t.Errorf("total size %d, %v, want -1 for none", x.TotalSize, err)
	}
}

func TestParseSet(t *testing.T) {
	named := func(names ...string) []safetensors.Named {
		var all []safetensors.Named
		for _, name := range names {
			all = append(all, safetensors.Named{Name: name, Tensor: layout.DenseOf([]int32{int32(name[0])})})
		}
		return all
	}
	shards := map[string][]byte{
		"1":       encode(t, named("a", "c"), layout.Attr{Key: "format", Value: "pt"}, layout.Attr{Key: "k", Value: "first"}),
		"2":       encode(t, named("b"), layout.Attr{Key: "format", Value: "pt"}, layout.Attr{Key: "k", Value: "second"}),
		"damaged": []byte("not a file"),
	}
	failure := errors.New("permission denied")
	opened := ""
	open := func(shard string) ([]byte, error) {
		opened += shard + " "
		if b, ok := shards[shard]; ok {
			return b, nil
		}
		return nil, fmt.Errorf("%s: %w", shard, failure)
	}

	set, err := safetensors.ParseSet([]byte(`{"metadata":{"total_size":12,"from":"index"},"weight_map":{"b":"2","a":"1","c":"1"}}`), open)
	if err != nil {
		t.Fatal(err)
	}
	if opened != "2 1 " {
		t.Errorf("opened %s, want each shard once", opened)
	}
	got := ""
	for _, e := range set.Entries {
		d, err := e.Tensor()
		if err != nil || !layout.Equal(d, layout.DenseOf([]int32{int32(e.Name[0])})) {
			t.Errorf("tensor %s is %v, %v", e.Name, d, err)
		}
		got += e.Name
	}
	if got != "bac" {
		t.Errorf("tensors %s", got)
	}
	want := []layout.Attr{{Key: "from", Value: "index"}, {Key: "format", Value: "pt"}, {Key: "k", Value: "second"}}
	if diff := cmp.Diff(want, set.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}

	for _, c := range []struct {
		weights, reason string
		is              error
	}{
		{`{"a":"1"}`, `tensor "c" in 1 is not in the index`, safetensors.ErrInvalid},
		{`{"a":"1","c":"2","b":"2"}`, `tensor "c" is in 1, and the index has it in 2`, safetensors.ErrInvalid},
		{`{"a":"1","c":"1","d":"1"}`, `tensor "d" is not in 1`, safetensors.ErrInvalid},
		{`{"a":"damaged"}`, "damaged: ", safetensors.ErrInvalid},
		{`{"a":"3"}`, "3: permission denied", failure},
	} {
		_, err := safetensors.ParseSet([]byte(`{"weight_map":`+c.weights+`}`), open)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: error %v, want %s", c.weights, err, c.reason)
		}
	}
}
