// Corpus writes the conformance corpus of stores and packages:
//
//	go run ./store/internal/corpus testdata/corpus
//
// In accept/ are segments (.seg) that make a store and packages (.tstore) that a
// reader must take, described in accept-stores.jsonl. In reject/ are files that it
// must refuse, each named after the rule of docs/FORMAT.md that it breaks and equal
// to an accepted one but for that; reject-stores.jsonl says which, and where it has
// to be noticed. README.md there explains the fields.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
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

// write replaces the stores and packages in dir by the given files.
func write(dir string, files map[string][]byte) error {
	for _, pattern := range []string{"accept/*.seg", "accept/*.tstore", "reject/*.seg", "reject/*.tstore"} {
		old, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, path := range old {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
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
	all := accepts()
	accepted := make(map[string]accept)
	var index bytes.Buffer
	for _, a := range all {
		accepted[a.File] = a
		add("accept/"+a.File, a.content)
		writeLine(&index, a)
	}
	add("accept-stores.jsonl", index.Bytes())

	index = bytes.Buffer{}
	for _, r := range rejects() {
		base, ok := accepted[r.Base]
		if !ok {
			panic("no accepted file " + r.Base)
		}
		e := &editor{b: bytes.Clone(base.content)}
		r.edit(e)
		if bytes.Equal(e.b, base.content) && r.without == 0 && r.instead == nil {
			panic(fmt.Sprintf("%s %s changes nothing", r.Rule, r.variant))
		}
		name := r.Rule
		if r.variant != "" {
			name += "." + r.variant
		}
		r.File = name + filepath.Ext(r.Base)
		r.Number, r.With = base.Number, base.With
		if base.With != nil {
			r.With = maps.Clone(base.With)
			delete(r.With, r.without)
			maps.Copy(r.With, r.instead)
		}
		add("reject/"+r.File, e.b)
		writeLine(&index, r)
	}
	add("reject-stores.jsonl", index.Bytes())
	return files
}

func writeLine(b *bytes.Buffer, v any) {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	b.Write(append(line, '\n'))
}
