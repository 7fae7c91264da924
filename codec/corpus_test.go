package codec_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tstore/tstore/codec"
	"github.com/tstore/tstore/layout"
)

// lines decodes a file of JSON lines.
func lines[T any](t testing.TB, file string) []T {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		var v T
		if err := json.Unmarshal(scanner.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	return all
}

func readFile(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// checkAllFiles makes sure that the index of a directory lists all messages in it.
func checkAllFiles(t *testing.T, dir string, indexed int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.msg"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != indexed {
		t.Errorf("%s has %d messages, its index %d", dir, len(files), indexed)
	}
}

func TestCorpusIsAccepted(t *testing.T) {
	type accept struct {
		File, Layout, DType string
		Shape               []int64
		DimNames            []string `json:"dim_names"`
		Elements            string
	}
	all := lines[accept](t, corpusDir+"/accept.jsonl")
	checkAllFiles(t, corpusDir+"/accept", len(all))
	for _, want := range all {
		t.Run(want.File, func(t *testing.T) {
			msg := readFile(t, corpusDir, "accept", want.File)
			got, err := codec.Decode(msg)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]any{want.Layout, want.DType, want.Shape, want.DimNames},
				[]any{got.Layout().String(), got.DType().String(), got.Shape(), got.DimNames()}, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("index (-) and decoded (+) differ:\n%s", diff)
			}
			if err := codec.Validate(got); err != nil {
				t.Error(err)
			}
			dense, err := layout.ToDense(got, nil)
			if err != nil {
				t.Fatal(err)
			}
			if elements := hex.EncodeToString(dense.AppendRowMajor(nil)); elements != want.Elements {
				t.Errorf("elements %s, want %s", elements, want.Elements)
			}
			checkDescribed(t, msg, got)
		})
	}
}

// contentRules are those for what index arrays hold, and the errors of
// layout's Validate methods for them.
var contentRules = map[codec.Rule]error{
	"indices-bounds": layout.ErrIndex,
	"indices-order":  layout.ErrOrder,
	"indptr":         layout.ErrIndex,
}

func TestCorpusIsRejected(t *testing.T) {
	type reject struct {
		File, Base string
		Rule       codec.Rule
	}
	all := lines[reject](t, corpusDir+"/reject.jsonl")
	checkAllFiles(t, corpusDir+"/reject", len(all))
	for _, want := range all {
		t.Run(want.File, func(t *testing.T) {
			msg := readFile(t, corpusDir, "reject", want.File)
			got, err := codec.Decode(msg)
			if sentinel := contentRules[want.Rule]; sentinel != nil {
				if err != nil {
					t.Fatal(err)
				}
				if err := codec.Validate(got); !errors.Is(err, sentinel) {
					t.Errorf("validates with %v, want %v", err, sentinel)
				}
			} else {
				var broken *codec.Error
				if !errors.As(err, &broken) {
					t.Fatalf("decoded %v, %v; want rule %s", got, err, want.Rule)
				}
				if broken.Rule != want.Rule {
					t.Errorf("%v; want rule %s", err, want.Rule)
				}
			}
			// Only what breaks the rule is different from a message that
			// Decode takes.
			base := readFile(t, corpusDir, "accept", want.Base)
			if _, err := codec.Decode(base); err != nil {
				t.Errorf("%s: %v", want.Base, err)
			}
			if n := differing(base, msg); n > 12 || (n > 0 && len(msg) != len(base)) {
				t.Errorf("%d of %d bytes are not those of %s", n, len(msg), want.Base)
			}
		})
	}
}

// differing returns how many bytes of b differ from the same in a, of which b
// may be the beginning.
func differing(a, b []byte) int {
	n := 0
	for i := range b {
		if i >= len(a) || a[i] != b[i] {
			n++
		}
	}
	return n
}

// TestEveryRuleHasAReject makes sure that no rule goes untested, or is missing
// from the description of the format.
func TestEveryRuleHasAReject(t *testing.T) {
	tested := make(map[string]bool)
	for _, r := range lines[struct{ Rule string }](t, corpusDir+"/reject.jsonl") {
		tested[r.Rule] = true
	}
	source, format := readFile(t, "rules.go"), readFile(t, "../docs/FORMAT.md")
	n := 0
	for line := range bytes.Lines(source) {
		_, value, ok := bytes.Cut(line, []byte(`Rule = "`))
		if !ok {
			continue
		}
		rule, _, _ := bytes.Cut(value, []byte(`"`))
		n++
		if !tested[string(rule)] {
			t.Errorf("no file in %s/reject breaks %s", corpusDir, rule)
		}
		if !bytes.Contains(format, slices.Concat([]byte("`"), rule, []byte("`"))) {
			t.Errorf("docs/FORMAT.md does not mention %s", rule)
		}
	}
	if n == 0 {
		t.Error("no rules found")
	}
}
