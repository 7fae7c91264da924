package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The Go code in README.md is the body of an Example, which go test compiles and runs.
func TestReadmeHasTheExample(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "```go\n")
	code, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatal("README.md has no Go code")
	}
	want := exampleBody(t, "../../store/example_test.go")
	if diff := cmp.Diff(want, code); diff != "" {
		t.Errorf("README.md differs from the example of package store (-example +README):\n%s", diff)
	}
}

// exampleBody returns what stands between the braces of func Example, indented by one step less.
func exampleBody(t *testing.T, path string) string {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name == "Example" {
			body := src[fset.Position(f.Body.Lbrace).Offset+1 : fset.Position(f.Body.Rbrace).Offset]
			lines := strings.SplitAfter(strings.TrimPrefix(string(body), "\n"), "\n")
			for i := range lines {
				lines[i] = strings.TrimPrefix(lines[i], "\t")
			}
			return strings.Join(lines, "")
		}
	}
	t.Fatalf("%s has no func Example", path)
	return ""
}
