package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// checkTable fails unless the nodes of a table are as their comments say.
func checkTable(t interface {
	Helper()
	Fatalf(string, ...any)
}, table Table) {
	t.Helper()
	count, depths := 0, make(map[int]bool)
	var walk func(n *tableNode, low, high string, depth int)
	walk = func(n *tableNode, low, high string, depth int) {
		if n.skip != common(low, high) {
			t.Fatalf("a node between %q and %q skips %d bytes", low, high, n.skip)
		}
		if (n.leaf == nil) == (n.inner == nil) {
			t.Fatalf("a node is neither leaf nor inner node")
		}
		if n.leaf != nil {
			depths[depth] = true
			for i := range n.count {
				name := n.leaf[i].Name
				if name < low || high != "" && name >= high || i > 0 && name <= n.leaf[i-1].Name {
					t.Fatalf("name %q is out of order or not between %q and %q", name, low, high)
				}
				if n.keys[i] != keyAt(name, n.skip) {
					t.Fatalf("name %q has a wrong key", name)
				}
			}
			for i := n.count; i < tableFanout; i++ {
				if n.leaf[i] != nil {
					t.Fatalf("a leaf keeps an entry past its end")
				}
			}
			count += n.count
			return
		}
		if n.count < 1 {
			t.Fatalf("an inner node without children")
		}
		for i := range n.count {
			if i < n.count-1 {
				if s := n.inner.separators[i]; n.keys[i] != keyAt(s, n.skip) || s <= low || high != "" && s >= high {
					t.Fatalf("separator %q between %q and %q", s, low, high)
				}
			}
			childLow, childHigh := n.fences(i, low, high)
			walk(n.inner.children[i], childLow, childHigh, depth+1)
		}
		for i := n.count; i < tableFanout; i++ {
			if n.inner.children[i] != nil || n.inner.separators[i-1] != "" {
				t.Fatalf("an inner node keeps a child past its end")
			}
		}
	}
	if table.root != nil {
		walk(table.root, "", "", 0)
	}
	if count != table.Len() {
		t.Fatalf("Len is %d, there are %d entries", table.Len(), count)
	}
	if len(depths) > 1 {
		t.Fatalf("leaves at different depths: %v", depths)
	}
}

func namesOf(seq func(func(*Entry) bool)) []string {
	names := []string{}
	for e := range seq {
		names = append(names, e.Name)
	}
	return names
}

// A table behaves as a sorted map, every older table stays as it was, and no operation depends on
// what the names look like.
func TestTableIsASortedMapWithHistory(t *testing.T) {
	nameKinds := map[string]*rapid.Generator[string]{
		"long common prefixes": rapid.Custom(func(t *rapid.T) string {
			return strings.Repeat("train/", rapid.IntRange(0, 3).Draw(t, "depth")) + fmt.Sprintf("%04d", rapid.IntRange(0, 3000).Draw(t, "i"))
		}),
		"greatest keys": rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0xFE, 0xFF}), 1, 12), func(b []byte) string { return string(b) }),
		"zero bytes":    rapid.StringOfN(rapid.SampledFrom([]rune{0, 1, 'a'}), 1, 12, -1),
		"any":           rapid.StringN(1, 20, 40),
	}
	for kind, names := range nameKinds {
		t.Run(kind, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				model := map[string]uint64{}
				type version struct {
					table Table
					model map[string]uint64
				}
				var history []version
				ed := Table{}.Edit()
				steps := rapid.IntRange(1, 40).Draw(t, "steps")
				for seq := range uint64(steps) {
					batch := rapid.SliceOfN(names, 1, 200).Draw(t, "batch")
					remove := rapid.Bool().Draw(t, "remove")
					for _, name := range batch {
						if remove {
							_, there := model[name]
							if ed.Remove(name) != there {
								t.Fatalf("Remove(%q) reports %v", name, !there)
							}
							delete(model, name)
						} else {
							ed.Set(&Entry{Name: name, Seq: seq})
							model[name] = seq
						}
					}
					history = append(history, version{ed.Table(), maps.Clone(model)})
				}
				for _, v := range history {
					checkTable(t, v.table)
					want := slices.Sorted(maps.Keys(v.model))
					if diff := cmp.Diff(want, namesOf(v.table.Ascend("")), cmp.Transformer("nil", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
						t.Fatalf("names (-want +got):\n%s", diff)
					}
					for name, seq := range v.model {
						if e := v.table.Get(name); e == nil || e.Seq != seq || e.Name != name {
							t.Fatalf("Get(%q) = %v, want seq %d", name, e, seq)
						}
					}
				}
				last := history[len(history)-1]
				sorted := slices.Sorted(maps.Keys(last.model))
				for range 20 {
					probe := names.Draw(t, "probe")
					if _, there := last.model[probe]; (last.table.Get(probe) != nil) != there {
						t.Fatalf("Get(%q) finds what is not there, or the other way round", probe)
					}
					i, _ := slices.BinarySearch(sorted, probe)
					if diff := cmp.Diff(append([]string{}, sorted[i:]...), namesOf(last.table.Ascend(probe))); diff != "" {
						t.Fatalf("Ascend(%q) (-want +got):\n%s", probe, diff)
					}
					prefix := probe[:len(probe)/2]
					want := []string{}
					for _, name := range sorted {
						if strings.HasPrefix(name, prefix) {
							want = append(want, name)
						}
					}
					if diff := cmp.Diff(want, namesOf(last.table.Prefix(prefix))); diff != "" {
						t.Fatalf("Prefix(%q) (-want +got):\n%s", prefix, diff)
					}
				}
			})
		})
	}
}

func TestTableStaysSmallWhenNamesComeInOrder(t *testing.T) {
	ed := Table{}.Edit()
	for i := range 100_000 {
		ed.Set(&Entry{Name: fmt.Sprintf("train/%06d/x", i)})
	}
	table := ed.Table()
	checkTable(t, table)
	leaves := 0
	var walk func(n *tableNode)
	walk = func(n *tableNode) {
		if n.leaf != nil {
			leaves++
			return
		}
		for _, c := range n.inner.children[:n.count] {
			walk(c)
		}
	}
	walk(table.root)
	if least := (100_000 + tableFanout - 1) / tableFanout; leaves != least {
		t.Errorf("%d leaves, want %d: all full", leaves, least)
	}
}

func TestTableGrowsAndShrinksThroughEveryHeight(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	names := make([]string, 30_000)
	for i := range names {
		names[i] = fmt.Sprintf("%s/%05d", []string{"train", "val", "test"}[i%3], i)
	}
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	ed := Table{}.Edit()
	for i, name := range names {
		ed.Set(&Entry{Name: name, Seq: uint64(i)})
	}
	checkTable(t, ed.Table())
	rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for i, name := range names {
		if !ed.Remove(name) {
			t.Fatalf("%q is not there", name)
		}
		if ed.Get(name) != nil {
			t.Fatalf("%q is still there", name)
		}
		if i%1000 == 0 {
			checkTable(t, ed.Table())
		}
	}
	if table := ed.Table(); table.Len() != 0 || table.root != nil {
		t.Errorf("%d entries left", table.Len())
	}
}

func TestBatchCopiesEachNodeOnce(t *testing.T) {
	ed := Table{}.Edit()
	for i := range 1000 {
		ed.Set(&Entry{Name: fmt.Sprintf("%04d", i)})
	}
	ed.Table()
	ed.Set(&Entry{Name: "0500", Seq: 1})
	perEdit := testing.AllocsPerRun(100, func() { ed.Set(&Entry{Name: "0500", Seq: 2}) })
	if perEdit > 1 {
		t.Errorf("%v allocations for an edit of a leaf that was copied before; want 1, the entry", perEdit)
	}
}

// Run with -race: readers of old tables while an editor goes on.
func TestTableMayBeReadWhileItIsEdited(t *testing.T) {
	ed := Table{}.Edit()
	for i := range 5000 {
		ed.Set(&Entry{Name: fmt.Sprintf("n/%05d", i)})
	}
	var wg sync.WaitGroup
	for round := range 10 {
		table, want := ed.Table(), 5000-round*100
		wg.Go(func() {
			if n := len(namesOf(table.Prefix("n/"))); n != want {
				t.Errorf("%d names, want %d", n, want)
			}
		})
		for i := range 100 {
			ed.Remove(fmt.Sprintf("n/%05d", round*100+i))
			ed.Set(&Entry{Name: fmt.Sprintf("n/%05d", 4000), Seq: uint64(i)})
		}
	}
	wg.Wait()
}

func TestZeroTableIsEmpty(t *testing.T) {
	var table Table
	if table.Len() != 0 || table.Get("x") != nil || len(namesOf(table.Ascend(""))) != 0 || len(namesOf(table.Prefix(""))) != 0 {
		t.Error("the zero Table has something in it")
	}
	if table.Edit().Remove("x") {
		t.Error("removed a name from an empty table")
	}
}
