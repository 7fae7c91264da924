// Corpus writes the conformance corpus of messages:
//
//	go run ./codec/internal/corpus testdata/corpus
//
// In accept/ are messages that a reader must take, described in accept.jsonl.
// In reject/ are messages that it must refuse, each named after the rule that
// it breaks and equal to an accepted one but for that; reject.jsonl says which.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: corpus DIRECTORY")
		os.Exit(2)
	}
	if err := write(os.Args[1], files()); err != nil {
		fmt.Fprintln(os.Stderr, "corpus:", err)
		os.Exit(1)
	}
}

// write replaces the messages in dir by the given files.
func write(dir string, files map[string][]byte) error {
	for _, sub := range []string{"accept", "reject"} {
		old, err := filepath.Glob(filepath.Join(dir, sub, "*.msg"))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// files returns the whole corpus, by path.
func files() map[string][]byte {
	files := make(map[string][]byte)
	add := func(name string, content []byte) {
		if files[name] != nil {
			panic("two files called " + name)
		}
		files[name] = content
	}
	accepted := make(map[string][]byte)
	var index bytes.Buffer
	for _, a := range accepts() {
		accepted[a.name] = a.message
		add("accept/"+a.name+".msg", a.message)
		writeLine(&index, map[string]any{
			"file":      a.name + ".msg",
			"layout":    a.layout,
			"dtype":     a.dtype,
			"shape":     append([]int64{}, a.shape...),
			"dim_names": a.names,
			"elements":  fmt.Sprintf("%x", a.elements),
		})
	}
	add("accept.jsonl", index.Bytes())

	index = bytes.Buffer{}
	for _, r := range rejects() {
		base := accepted[r.base]
		if base == nil {
			panic("no accepted message " + r.base)
		}
		e := &editor{msg: bytes.Clone(base)}
		r.edit(e)
		if bytes.Equal(e.msg, base) {
			panic(fmt.Sprintf("%s %s changes nothing", r.rule, r.variant))
		}
		name := string(r.rule)
		if r.variant != "" {
			name += "." + r.variant
		}
		add("reject/"+name+".msg", e.msg)
		writeLine(&index, map[string]any{"file": name + ".msg", "rule": r.rule, "base": r.base + ".msg"})
	}
	add("reject.jsonl", index.Bytes())
	return files
}

func writeLine(b *bytes.Buffer, v any) {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	b.Write(append(line, '\n'))
}
