package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tstore/tstore/layout"
)

// field is a field of an object, as jsonFields describes it.
type field struct {
	name     string
	optional bool
	array    bool    // of objects
	fields   []field // of the objects
}

// parseFields parses fields up to a closing bracket.
func parseFields(words []string) (fields []field, rest []string) {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		if c := word[0]; c == '(' || c == '[' {
			last := &fields[len(fields)-1]
			last.array = c == '['
			last.fields, words = parseFields(append([]string{word[1:]}, words...))
			continue
		}
		name := strings.TrimRight(word, ")]")
		fields = append(fields, field{name: strings.TrimSuffix(name, "*"), optional: strings.HasSuffix(name, "*")})
		if name != word {
			return fields, words
		}
	}
	return fields, nil
}

// check returns what is wrong with an object.
func check(fields []field, object map[string]any) error {
	for _, f := range fields {
		v, ok := object[f.name]
		if !ok && !f.optional {
			return fmt.Errorf("%s is missing", f.name)
		}
		if f.fields == nil || !ok {
			continue
		}
		all := []any{v}
		if f.array {
			all, ok = v.([]any)
			if !ok {
				return fmt.Errorf("%s is no array: %v", f.name, v)
			}
		}
		for _, x := range all {
			inner, ok := x.(map[string]any)
			if !ok {
				return fmt.Errorf("%s: no object: %v", f.name, x)
			}
			if err := check(f.fields, inner); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
	}
	for name := range object {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == name }) {
			return fmt.Errorf("%s is not documented", name)
		}
	}
	return nil
}

// What commands print with --json has the fields that "tstore help json" lists.
func TestJSONFields(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	x := writeNPY(t, layout.DenseOf(arange[float32](24), 4, 6))
	y := writeNPY(t, layout.DenseOf([]float32{0, 1, 0, 0, 9, 0}, 2, 3))
	if err := os.MkdirAll("files", 0o777); err != nil {
		t.Fatal(err)
	}
	for name, from := range map[string]string{"files/x.npy": x, "files/y.npy": y, "files/notes.txt": "json_test.go"} {
		b, err := os.ReadFile(from)
		if err != nil {
			b = []byte("no tensor")
		}
		if err := os.WriteFile(filepath.FromSlash(name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	flip := func(name string) func() {
		return func() {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/4] ^= 1
			if err := os.WriteFile(name, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	seen := map[string]bool{}
	for _, step := range []struct {
		of   string // the entry of jsonFields
		line string
		code int
		then func()
	}{
		{"", "put s a/x " + x + " --attr unit=m --dims row,column", 0, nil},
		{"", "put s a/y " + y + " --layout csr", 0, nil},
		{"", "put s c " + y + " --layout coo", 0, nil},
		{"", "put t c " + x, 0, nil},
		{"", "put s a/x " + x, 0, nil},
		{"import", "import --json s files", 0, nil},
		{"import", "import --json u files --dry-run", 0, nil},
		{"ls, stat of a tensor", "ls --json s", 0, nil},
		{"ls, stat of a tensor", "stat --json s a/y", 0, nil},
		{"stat of a store", "stat --json s", 0, nil},
		{"get", "get --json s a/y", 0, nil},
		{"get", "get --json s a/x", 0, nil},
		{"describe", "describe --json s a/y", 0, nil},
		{"describe", "describe --json s a/x[0:0]", 0, nil},
		{"du", "du --json s", 0, nil},
		{"diff", "diff --json s t", exitDifferent, nil},
		{"diff", "diff --json s s a/x[0] a/x[1]", exitDifferent, nil},
		{"diff", "diff --json s s a/y c", exitDifferent, nil},
		{"verify", "verify --json s", 0, nil},
		{"compact", "compact --json s", 0, nil},
		{"export", "export --json s out", 0, nil},
		{"pack", "pack --json s p.tstore", 0, nil},
		{"pack", "pack --json q.tstore --from files", 0, nil},
		{"stat of a package", "stat --json p.tstore", 0, nil},
		{"digest", "digest --json p.tstore", 0, nil},
		{"unpack, attach", "unpack --json p.tstore v", 0, nil},
		{"unpack, attach", "attach --json w p.tstore", 0, flip("p.tstore")},
		{"verify", "verify --json p.tstore", exitCorrupt, nil},
		{"repair", "repair --json p.tstore r.tstore", exitCorrupt, nil},
	} {
		code, stdout, stderr := inside(t, strings.Fields(step.line)...)
		if code != step.code {
			t.Fatalf("%s: exit code %d, want %d: %s", step.line, code, step.code, stderr)
		}
		if step.then != nil {
			step.then()
		}
		if step.of == "" {
			continue
		}
		var fields []field
		for _, f := range jsonFields {
			if f.command == step.of {
				fields, _ = parseFields(strings.Fields(f.fields))
				seen[step.of] = true
			}
		}
		if stdout == "" {
			t.Errorf("%s printed nothing", step.line)
		}
		for line := range strings.Lines(stdout) {
			var object map[string]any
			if err := json.Unmarshal([]byte(line), &object); err != nil {
				t.Fatalf("%s: %q: %v", step.line, line, err)
			}
			if err := check(fields, object); err != nil {
				t.Errorf("%s: %v: %s", step.line, err, line)
			}
		}
	}
	for _, f := range jsonFields {
		if !seen[f.command] {
			t.Errorf("%s was not tried", f.command)
		}
	}
}

// Every command that has --json is in the list.
func TestJSONCommands(t *testing.T) {
	for _, c := range newRoot().Commands() {
		if c.Flags().Lookup("json") == nil {
			continue
		}
		if !slices.ContainsFunc(jsonFields, func(f struct{ command, fields string }) bool {
			return slices.Contains(strings.FieldsFunc(f.command, func(r rune) bool { return r == ' ' || r == ',' }), c.Name())
		}) {
			t.Errorf("%s --json is not documented", c.Name())
		}
	}
}
