package disk

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// run applies operations to a state, new inodes being numbered by the caller.
func run(t testing.TB, s *State, ops ...Op) {
	t.Helper()
	for i := range ops {
		if ops[i].Data != nil {
			ops[i].Size = int64(len(ops[i].Data))
		}
		if err := s.Apply(&ops[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// synced returns the two operations of a sync that nothing disturbs.
func synced(s *State, ino uint64) []Op {
	return []Op{{Kind: OpSync, Ino: ino}, {Kind: OpSynced, Ino: ino, Begin: s.Next()}}
}

func crash(t testing.TB, s *State, seed uint64, p Policy) *State {
	t.Helper()
	after, _, err := s.Crash(seed, p)
	if err != nil {
		t.Fatal(err)
	}
	return after
}

// contents returns a file, and whether it is there.
func contents(s *State, name string) ([]byte, bool) {
	ino := s.Lookup(RootIno, name)
	info, ok := s.Stat(ino)
	if ino == 0 || !ok {
		return nil, false
	}
	data := make([]byte, info.Size)
	s.Read(ino, data, 0)
	return data, true
}

func filled(n int, b byte) []byte { return bytes.Repeat([]byte{b}, n) }

// outcomes counts what a thousand cuts leave, as described by look.
func outcomes(t *testing.T, s *State, p Policy, look func(*State) string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for seed := range uint64(1000) {
		seen[look(crash(t, s, seed, p))]++
	}
	return seen
}

// wantOutcomes checks that exactly these outcomes were seen.
func wantOutcomes(t *testing.T, seen map[string]int, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, want) {
		t.Errorf("outcomes %q, want %q", got, want)
	}
	t.Log(seen)
}

// names lists the root directory, with the contents' first byte of each file.
func names(s *State) string {
	text := ""
	for _, name := range s.Names(RootIno) {
		data, _ := contents(s, name)
		text += name
		if len(data) > 0 {
			text += string(data[0])
		}
		text += " "
	}
	return text
}

func TestUnsyncedBlockMayBeOldNewBetweenOrTorn(t *testing.T) {
	s := NewState(Options{})
	run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: "f", Ino: 2}, Op{Kind: OpWrite, Ino: 2, Data: filled(BlockSize, 'a')})
	run(t, s, synced(s, 2)...)
	run(t, s, synced(s, RootIno)...)
	run(t, s, Op{Kind: OpWrite, Ino: 2, Data: filled(BlockSize, 'b')}, Op{Kind: OpWrite, Ino: 2, Data: filled(BlockSize, 'c')})
	seen := outcomes(t, s, Policy{}, func(after *State) string {
		data, _ := contents(after, "f")
		if len(data) != BlockSize {
			return "wrong size"
		}
		kinds := ""
		for i := 0; i < len(data); i += SectorSize {
			if !bytes.Equal(data[i:i+SectorSize], filled(SectorSize, data[i])) {
				return "torn sector"
			}
			kinds += string(data[i])
		}
		if kinds == string(filled(8, kinds[0])) {
			return kinds[:1]
		}
		return "torn"
	})
	wantOutcomes(t, seen, "a", "b", "c", "torn")
}

func TestBlocksAreIndependent(t *testing.T) {
	s := NewState(Options{})
	run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: "f", Ino: 2}, Op{Kind: OpTruncate, Ino: 2, Size: 2 * BlockSize})
	run(t, s, synced(s, 2)...)
	run(t, s, synced(s, RootIno)...)
	run(t, s, Op{Kind: OpWrite, Ino: 2, Data: filled(BlockSize, '1')}, Op{Kind: OpWrite, Ino: 2, Off: BlockSize, Data: filled(BlockSize, '1')})
	seen := outcomes(t, s, Policy{Tear: -1}, func(after *State) string {
		data, _ := contents(after, "f")
		return fmt.Sprint(data[0] == '1', data[BlockSize] == '1')
	})
	wantOutcomes(t, seen, "false false", "false true", "true false", "true true")
}

func TestSizeOfGrowingFile(t *testing.T) {
	s := NewState(Options{})
	run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: "f", Ino: 2}, Op{Kind: OpWrite, Ino: 2, Data: filled(100, 'a')})
	run(t, s, synced(s, 2)...)
	run(t, s, synced(s, RootIno)...)
	run(t, s, Op{Kind: OpWrite, Ino: 2, Off: 100, Data: filled(2*BlockSize, 'b')})
	seen := outcomes(t, s, Policy{}, func(after *State) string {
		data, _ := contents(after, "f")
		if !bytes.Equal(data[:100], filled(100, 'a')) {
			return "lost what was synced"
		}
		zeros := ""
		if len(data) > 100 && bytes.Count(data[100:], []byte{0}) > 0 {
			zeros = " with zeros"
		}
		return fmt.Sprint(len(data), zeros)
	})
	wantOutcomes(t, seen, "100", "4096", "4096 with zeros", "8192", "8192 with zeros", "8292", "8292 with zeros")
}

func TestGarbageOnlyInNewSpace(t *testing.T) {
	s := NewState(Options{})
	run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: "f", Ino: 2}, Op{Kind: OpWrite, Ino: 2, Data: filled(BlockSize, 'a')})
	run(t, s, synced(s, 2)...)
	run(t, s, synced(s, RootIno)...)
	run(t, s, Op{Kind: OpWrite, Ino: 2, Data: filled(2*BlockSize, 'b')})
	noisy := 0
	for seed := range uint64(100) {
		data, _ := contents(crash(t, s, seed, Policy{Garbage: 1, Blocks: "drop", Sizes: "new", Tear: -1}), "f")
		if !bytes.Equal(data[:BlockSize], filled(BlockSize, 'a')) {
			t.Fatal("a block that was on the disk is damaged")
		}
		if !AllZero(data[BlockSize:]) {
			noisy++
		}
	}
	if noisy != 100 {
		t.Errorf("garbage in %d of 100 cuts, want all", noisy)
	}
}

func TestSyncCoversOnlyWhatCameBefore(t *testing.T) {
	s := NewState(Options{})
	run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: "f", Ino: 2})
	run(t, s, synced(s, RootIno)...)
	run(t, s, Op{Kind: OpWrite, Ino: 2, Data: []byte("a")})
	begin := s.Next()
	run(t, s, Op{Kind: OpSync, Ino: 2}, Op{Kind: OpWrite, Ino: 2, Data: []byte("b")})
	before := outcomes(t, s, Policy{}, names)
	wantOutcomes(t, before, "f ", "f\x00 ", "fa ", "fb ")
	run(t, s, Op{Kind: OpSynced, Ino: 2, Begin: begin})
	wantOutcomes(t, outcomes(t, s, Policy{}, names), "fa ", "fb ")
	run(t, s, synced(s, 2)...)
	wantOutcomes(t, outcomes(t, s, Policy{}, names), "fb ")
}

func TestEntries(t *testing.T) {
	file := func(name string, ino uint64) []Op {
		return []Op{{Kind: OpCreate, Dir: RootIno, Name: name, Ino: ino}, {Kind: OpWrite, Ino: ino, Data: []byte(name)}}
	}
	tests := []struct {
		name    string
		durable []Op
		then    []Op
		options Options
		want    []string
	}{
		{name: "create", then: file("a", 2), want: []string{"", "aa "}},
		{name: "two creates", then: append(file("a", 2), file("b", 3)...), want: []string{"", "aa ", "bb ", "aa bb "}},
		{name: "unlink", durable: file("a", 2), then: []Op{{Kind: OpUnlink, Dir: RootIno, Name: "a"}}, want: []string{"", "aa "}},
		{name: "rename", durable: file("a", 2), then: []Op{{Kind: OpRename, Dir: RootIno, Name: "a", ToDir: RootIno, ToName: "c"}}, want: []string{"aa ", "ca "}},
		{
			name: "rename over", durable: append(file("a", 2), file("b", 3)...),
			then: []Op{{Kind: OpRename, Dir: RootIno, Name: "a", ToDir: RootIno, ToName: "b"}},
			want: []string{"aa bb ", "ba "},
		},
		{
			name: "create, then rename over", durable: file("b", 3),
			then: append(file("a", 2), Op{Kind: OpRename, Dir: RootIno, Name: "a", ToDir: RootIno, ToName: "b"}),
			want: []string{"bb ", "aa bb ", "ba "},
		},
		{
			name: "link, unlink the old name", durable: file("a", 2),
			then: []Op{{Kind: OpLink, Ino: 2, Dir: RootIno, Name: "b"}, {Kind: OpUnlink, Dir: RootIno, Name: "a"}},
			want: []string{"", "aa ", "ba ", "aa ba "},
		},
		{
			name: "unlink, create again", durable: file("a", 2),
			then: append([]Op{{Kind: OpUnlink, Dir: RootIno, Name: "a"}}, Op{Kind: OpCreate, Dir: RootIno, Name: "a", Ino: 3}, Op{Kind: OpWrite, Ino: 3, Data: []byte("n")}),
			want: []string{"", "aa ", "an "},
		},
		{
			name: "file in a new directory", options: Options{},
			then: []Op{{Kind: OpMkdir, Dir: RootIno, Name: "d", Ino: 4}, {Kind: OpCreate, Dir: 4, Name: "x", Ino: 5}},
			want: []string{"", "d "},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := NewState(tt.options)
			run(t, s, tt.durable...)
			run(t, s, Op{Kind: OpSettle})
			run(t, s, tt.then...)
			for ino := range s.inodes {
				if !s.inodes[ino].isDir {
					run(t, s, synced(s, ino)...) // data only; the entries are what is tested
				}
			}
			wantOutcomes(t, outcomes(t, s, Policy{}, names), tt.want...)
			run(t, s, synced(s, RootIno)...)
			wantOutcomes(t, outcomes(t, s, Policy{}, names), names(s))
		})
	}
}

func TestRenameBetweenDirectoriesNeedsBothSyncs(t *testing.T) {
	look := func(s *State) string {
		return fmt.Sprint(s.Lookup(2, "f") != 0, s.Lookup(3, "g") != 0)
	}
	start := func() *State {
		s := NewState(Options{})
		run(t, s, Op{Kind: OpMkdir, Dir: RootIno, Name: "a", Ino: 2}, Op{Kind: OpMkdir, Dir: RootIno, Name: "b", Ino: 3},
			Op{Kind: OpCreate, Dir: 2, Name: "f", Ino: 4}, Op{Kind: OpSettle},
			Op{Kind: OpRename, Dir: 2, Name: "f", ToDir: 3, ToName: "g"})
		return s
	}
	s := start()
	wantOutcomes(t, outcomes(t, s, Policy{}, look), "true false", "false true")
	run(t, s, synced(s, 2)...)
	wantOutcomes(t, outcomes(t, s, Policy{}, look), "true false", "false true")
	run(t, s, synced(s, 3)...)
	wantOutcomes(t, outcomes(t, s, Policy{}, look), "false true")

	s = start() // a later durable change of the same entry brings the rename with it
	run(t, s, Op{Kind: OpRename, Dir: 3, Name: "g", ToDir: 3, ToName: "h"})
	run(t, s, synced(s, 3)...)
	if after := crash(t, s, 1, Policy{Entries: "drop"}); after.Lookup(2, "f") != 0 || after.Lookup(3, "h") == 0 {
		t.Error("the second rename is durable, so the first must be")
	}
}

func TestFsyncEntry(t *testing.T) {
	for _, entry := range []bool{false, true} {
		s := NewState(Options{FsyncEntry: entry})
		run(t, s, Op{Kind: OpMkdir, Dir: RootIno, Name: "d", Ino: 2}, Op{Kind: OpCreate, Dir: 2, Name: "f", Ino: 3}, Op{Kind: OpCreate, Dir: 2, Name: "g", Ino: 4})
		run(t, s, synced(s, 3)...)
		after := crash(t, s, 1, Policy{Entries: "drop"})
		if got := after.Lookup(2, "f") != 0; got != entry {
			t.Errorf("FsyncEntry %v: file there: %v", entry, got)
		}
		if after.Lookup(2, "g") != 0 {
			t.Errorf("FsyncEntry %v: a file that was not synced is there", entry)
		}
	}
}

func TestIgnoredSyncsLose(t *testing.T) {
	for _, tt := range []struct {
		ignore string
		want   []string
	}{
		{"", []string{"fa "}},
		{"dirs", []string{"", "fa "}},
		{"files", []string{"f ", "f\x00 ", "fa "}},
		{"all", []string{"", "f ", "f\x00 ", "fa "}},
	} {
		s := NewState(Options{Ignore: tt.ignore})
		run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: "f", Ino: 2}, Op{Kind: OpWrite, Ino: 2, Data: []byte("a")})
		run(t, s, synced(s, 2)...)
		run(t, s, synced(s, RootIno)...)
		wantOutcomes(t, outcomes(t, s, Policy{}, names), tt.want...)
	}
}

func TestTruncationComesBeforeWhatReusesItsSpace(t *testing.T) {
	s := NewState(Options{})
	run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: "f", Ino: 2}, Op{Kind: OpWrite, Ino: 2, Data: filled(2*BlockSize, 'a')}, Op{Kind: OpSettle},
		Op{Kind: OpTruncate, Ino: 2, Size: BlockSize},
		Op{Kind: OpWrite, Ino: 2, Off: BlockSize, Data: filled(BlockSize, 'b')})
	seen := outcomes(t, s, Policy{Tear: -1}, func(after *State) string {
		data, _ := contents(after, "f")
		if len(data) == BlockSize {
			return "short"
		}
		return fmt.Sprintf("%c", data[BlockSize])
	})
	wantOutcomes(t, seen, "a", "short", "\x00", "b") // old; cut off; grown again without and with its data

	// Once the truncation is there, what lay behind it never shows again.
	run(t, s, synced(s, 2)...)
	run(t, s, Op{Kind: OpTruncate, Ino: 2, Size: 10}, Op{Kind: OpTruncate, Ino: 2, Size: 2 * BlockSize})
	for seed := range uint64(500) {
		data, _ := contents(crash(t, s, seed, Policy{}), "f")
		switch data[len(data)-1] {
		case 'b':
			if len(data) != 2*BlockSize {
				t.Fatalf("seed %d: size %d with old data at its end", seed, len(data))
			}
		case 'a':
			if len(data) != 10 {
				t.Fatalf("seed %d: size %d ends in a", seed, len(data))
			}
		case 0:
			if !AllZero(data[10:]) {
				t.Fatalf("seed %d: the truncation happened, but data shows behind it", seed)
			}
		}
	}
}

func TestFailedSync(t *testing.T) {
	start := func(seed uint64) *State {
		s := NewState(Options{})
		run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: "f", Ino: 2}, Op{Kind: OpWrite, Ino: 2, Data: filled(8*BlockSize, 'a')}, Op{Kind: OpSettle},
			Op{Kind: OpWrite, Ino: 2, Data: filled(8*BlockSize, 'b')}, Op{Kind: OpWrite, Ino: 2, Off: 8 * BlockSize, Data: []byte("b")})
		run(t, s, Op{Kind: OpSync, Ino: 2}, Op{Kind: OpSynced, Ino: 2, Begin: s.Next(), Err: "EIO", Seed: seed})
		return s
	}
	look := func(s *State) string {
		data, _ := contents(s, "f")
		text := fmt.Sprint(len(data), " ")
		for i := 0; i < len(data); i += BlockSize {
			text += string(data[i])
		}
		return text
	}
	const oldLook, newLook = "32768 aaaaaaaa", "32769 bbbbbbbbb"

	s := start(0)
	if got := look(s); got != newLook {
		t.Errorf("after a failed sync the cache shows %s, want %s", got, newLook)
	}
	run(t, s, synced(s, 2)...) // succeeds, with nothing to write
	if got := look(crash(t, s, 0, Policy{Blocks: "drop", Sizes: "old", Tear: -1})); got != oldLook {
		t.Errorf("a later sync brought to the disk what an earlier one had failed to: %s", got)
	}
	if got := look(crash(t, s, 0, Policy{Blocks: "keep", Sizes: "new", Tear: -1})); got != newLook {
		t.Errorf("the data may have reached the disk before the error, but can't be there: %s", got)
	}
	run(t, s, Op{Kind: OpDropCache})
	if got := look(s); got != oldLook {
		t.Errorf("after dropping the cache: %s, want %s", got, oldLook)
	}
	wantOutcomes(t, outcomes(t, s, Policy{}, look), oldLook)

	// One more write into a block makes the whole block dirty, and one past the end corrects the size.
	s = start(0)
	run(t, s, Op{Kind: OpWrite, Ino: 2, Off: 10, Data: []byte("b")}, Op{Kind: OpWrite, Ino: 2, Off: 8 * BlockSize, Data: []byte("b")})
	run(t, s, synced(s, 2)...)
	run(t, s, Op{Kind: OpDropCache})
	if got, want := look(s), "32769 baaaaaaab"; got != want {
		t.Errorf("after writing again and a sync: %s, want %s", got, want)
	}
	wantOutcomes(t, outcomes(t, s, Policy{}, look), "32769 baaaaaaab")

	// Some of the blocks may have been written before the error.
	s = start(7)
	run(t, s, Op{Kind: OpDropCache})
	if got := look(s); got == oldLook || got == newLook || len(got) != len(oldLook) {
		t.Errorf("with a seed some of the blocks should have been written: %s", got)
	}
	// What was not yet covered by the failed sync is still dirty.
	s = start(0)
	run(t, s, Op{Kind: OpWrite, Ino: 2, Off: 2 * BlockSize, Data: []byte("c")}, Op{Kind: OpDropCache})
	if got, want := look(s), "32768 aacaaaaa"; got != want {
		t.Errorf("a dirty block was dropped: %s, want %s", got, want)
	}
}

func TestSettleAndCutAreDurable(t *testing.T) {
	start := func() *State {
		s := NewState(Options{})
		run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: "f", Ino: 2}, Op{Kind: OpWrite, Ino: 2, Data: []byte("a")}, Op{Kind: OpCreate, Dir: RootIno, Name: "g", Ino: 3})
		return s
	}
	s := start()
	run(t, s, Op{Kind: OpSettle})
	wantOutcomes(t, outcomes(t, s, Policy{}, names), "fa g ")

	s = start()
	run(t, s, Op{Kind: OpCut, Seed: 3, Policy: &Policy{Entries: "random"}})
	wantOutcomes(t, outcomes(t, s, Policy{}, names), names(s))
	run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: "h", Ino: 4}) // it goes on
}

func TestAllocated(t *testing.T) {
	s := NewState(Options{})
	want := func(blocks int64) {
		t.Helper()
		if got := s.Allocated(); got != blocks*BlockSize {
			t.Errorf("%d blocks in use, want %d", got/BlockSize, blocks)
		}
		before := s.allocated
		if s.recount(); s.allocated != before {
			t.Errorf("%d blocks counted along the way, there are %d", before, s.allocated)
		}
	}
	run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: "f", Ino: 2}, Op{Kind: OpWrite, Ino: 2, Size: 3*BlockSize + 1})
	want(4)
	run(t, s, Op{Kind: OpWrite, Ino: 2, Off: 1, Data: []byte("abc")})
	want(4)
	run(t, s, Op{Kind: OpTruncate, Ino: 2, Size: BlockSize + 1})
	want(2)
	run(t, s, synced(s, 2)...)
	want(2)
	run(t, s, Op{Kind: OpTruncate, Ino: 2, Size: 100 * BlockSize}, Op{Kind: OpWrite, Ino: 2, Off: 50 * BlockSize, Data: []byte("abc")})
	want(3)
	run(t, s, Op{Kind: OpSync, Ino: 2}, Op{Kind: OpSynced, Ino: 2, Begin: s.Next(), Err: "EIO"}, Op{Kind: OpDropCache})
	want(2)
	run(t, s, Op{Kind: OpLink, Ino: 2, Dir: RootIno, Name: "g"}, Op{Kind: OpUnlink, Dir: RootIno, Name: "f"})
	want(2)
	run(t, s, Op{Kind: OpUnlink, Dir: RootIno, Name: "g"})
	want(0)
	run(t, s, Op{Kind: OpWrite, Ino: 2, Off: 60 * BlockSize, Data: []byte("abc")}) // by someone who has it open
	want(0)
}

func TestImpossibleOperationsAreRefused(t *testing.T) {
	s := NewState(Options{})
	run(t, s, Op{Kind: OpMkdir, Dir: RootIno, Name: "d", Ino: 2}, Op{Kind: OpCreate, Dir: 2, Name: "f", Ino: 3}, Op{Kind: OpMkdir, Dir: 2, Name: "e", Ino: 4})
	for _, op := range []Op{
		{Kind: "nonsense"},
		{Kind: OpCreate, Dir: RootIno, Name: "d", Ino: 9},
		{Kind: OpCreate, Dir: RootIno, Name: "", Ino: 9},
		{Kind: OpCreate, Dir: RootIno, Name: "a/b", Ino: 9},
		{Kind: OpCreate, Dir: RootIno, Name: "..", Ino: 9},
		{Kind: OpCreate, Dir: RootIno, Name: "\xff", Ino: 9},
		{Kind: OpCreate, Dir: RootIno, Name: "x", Ino: 3},
		{Kind: OpCreate, Dir: RootIno, Name: "x"},
		{Kind: OpCreate, Dir: 3, Name: "x", Ino: 9},
		{Kind: OpLink, Dir: RootIno, Name: "x", Ino: 2},
		{Kind: OpLink, Dir: RootIno, Name: "x", Ino: 77},
		{Kind: OpUnlink, Dir: RootIno, Name: "d"},
		{Kind: OpUnlink, Dir: RootIno, Name: "x"},
		{Kind: OpRmdir, Dir: RootIno, Name: "d"},
		{Kind: OpRmdir, Dir: 2, Name: "f"},
		{Kind: OpRename, Dir: RootIno, Name: "d", ToDir: 4, ToName: "x"},
		{Kind: OpRename, Dir: RootIno, Name: "x", ToDir: RootIno, ToName: "y"},
		{Kind: OpRename, Dir: 2, Name: "f", ToDir: 2, ToName: "e"},
		{Kind: OpRename, Dir: 2, Name: "f", ToDir: 2, ToName: "f"},
		{Kind: OpWrite, Ino: 2, Data: []byte("x"), Size: 1},
		{Kind: OpWrite, Ino: 3, Data: []byte("x"), Size: 2},
		{Kind: OpWrite, Ino: 3, Size: 1 << 40},
		{Kind: OpWrite, Ino: 3, Off: -1, Size: 1},
		{Kind: OpTruncate, Ino: 3, Size: -1},
		{Kind: OpTruncate, Ino: 3, Size: 1 << 60},
		{Kind: OpTruncate, Ino: 2},
		{Kind: OpSync, Ino: 77},
		{Kind: OpSynced, Ino: 77},
		{Kind: OpSynced, Ino: 3, Begin: 99},
		{Kind: OpChmod, Ino: 77},
		{Kind: OpCut, Policy: &Policy{Blocks: "nonsense"}},
	} {
		next := s.Next()
		if err := s.Apply(&op); err == nil {
			t.Errorf("%+v was accepted", op)
		}
		if s.Next() != next {
			t.Errorf("%+v was refused and counted", op)
		}
	}
}

// history is what one file looked like since its last sync, kept apart from the model.
type history struct {
	ino      uint64
	versions [][]byte // whole contents; the first as of the last sync
}

// TestRandomRuns compares cuts of random runs with a second, slow model: every sector is as it was at some moment since the
// last sync of its file, the size is one that the file had or lies inside a growing write, and every entry is one that the name had.
func TestRandomRuns(t *testing.T) {
	for seed := range uint64(300) {
		randomRun(t, seed)
	}
}

func randomRun(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	s := NewState(Options{})
	files := map[uint64]*history{}
	entries := map[string][]uint64{} // of the root: what each name was since the last sync, 0 for nothing
	next := uint64(2)
	newEntry := func(name string, ino uint64) {
		if len(entries[name]) == 0 {
			entries[name] = []uint64{0}
		}
		entries[name] = append(entries[name], ino)
	}
	for range 60 {
		linked := s.Names(RootIno)
		name := fmt.Sprint("f", rng.IntN(5))
		ino := s.Lookup(RootIno, name)
		switch kind := rng.IntN(12); {
		case kind < 2 && ino == 0:
			run(t, s, Op{Kind: OpCreate, Dir: RootIno, Name: name, Ino: next})
			files[next] = &history{ino: next, versions: [][]byte{{}}}
			newEntry(name, next)
			next++
		case kind == 2 && ino != 0:
			run(t, s, Op{Kind: OpUnlink, Dir: RootIno, Name: name})
			newEntry(name, 0)
		case kind == 3 && ino != 0 && len(linked) > 1:
			to := linked[rng.IntN(len(linked))]
			if s.Lookup(RootIno, to) == ino {
				continue
			}
			run(t, s, Op{Kind: OpRename, Dir: RootIno, Name: name, ToDir: RootIno, ToName: to})
			newEntry(name, 0)
			newEntry(to, ino)
		case kind == 4:
			run(t, s, synced(s, RootIno)...)
			for name := range entries {
				entries[name] = []uint64{s.Lookup(RootIno, name)}
			}
		case kind == 5 && ino != 0:
			run(t, s, synced(s, ino)...)
			h := files[ino]
			h.versions = h.versions[len(h.versions)-1:]
		case kind == 6 && ino != 0:
			h := files[ino]
			old := h.versions[len(h.versions)-1]
			size := rng.IntN(4 * BlockSize)
			run(t, s, Op{Kind: OpTruncate, Ino: ino, Size: int64(size)})
			version := make([]byte, size)
			copy(version, old)
			h.versions = append(h.versions, version)
		case kind > 6 && ino != 0:
			h := files[ino]
			old := h.versions[len(h.versions)-1]
			off, n := rng.IntN(4*BlockSize), 1+rng.IntN(2*BlockSize)
			if rng.IntN(3) == 0 {
				off, n = off/BlockSize*BlockSize, (n+BlockSize-1)/BlockSize*BlockSize
			}
			data := filled(n, byte(1+rng.IntN(255)))
			run(t, s, Op{Kind: OpWrite, Ino: ino, Off: int64(off), Data: data})
			version := make([]byte, max(len(old), off+n))
			copy(version, old)
			copy(version[off:], data)
			h.versions = append(h.versions, version)
		}
		for name, is := range entries { // the live view
			if got := s.Lookup(RootIno, name); got != is[len(is)-1] {
				t.Fatalf("run %d: %s is %d, want %d", seed, name, got, is[len(is)-1])
			}
		}
	}
	for ino, h := range files {
		got := make([]byte, len(h.versions[len(h.versions)-1]))
		if n := s.Read(ino, got, 0); n != len(got) || !bytes.Equal(got, h.versions[len(h.versions)-1]) {
			t.Fatalf("run %d: file %d reads wrong", seed, ino)
		}
	}
	for cut := range uint64(40) {
		after := crash(t, s, cut, Policy{})
		for name, was := range entries {
			if got := after.Lookup(RootIno, name); !slices.Contains(was, got) {
				t.Fatalf("run %d, cut %d: %s is inode %d, was one of %d", seed, cut, name, got, was)
			}
		}
		for _, name := range after.Names(RootIno) {
			data, _ := contents(after, name)
			checkFile(t, fmt.Sprintf("run %d, cut %d, %s", seed, cut, name), data, files[after.Lookup(RootIno, name)].versions)
		}
	}
	same := crash(t, s, 5, Policy{})
	if again := crash(t, s, 5, Policy{}); names(same) != names(again) {
		t.Fatalf("run %d: the same seed gave two results", seed)
	}
}

func checkFile(t *testing.T, what string, got []byte, versions [][]byte) {
	t.Helper()
	sizes := map[int]bool{}
	for i, v := range versions {
		sizes[len(v)] = true
		if i > 0 && len(v) > len(versions[i-1]) {
			for size := (len(versions[i-1])/BlockSize + 1) * BlockSize; size < len(v); size += BlockSize {
				sizes[size] = true
			}
		}
	}
	if !sizes[len(got)] {
		t.Fatalf("%s: size %d is none of %v", what, len(got), slices.Sorted(maps.Keys(sizes)))
	}
	for off := 0; off < len(got); off += SectorSize {
		end := min(off+SectorSize, len(got))
		if !slices.ContainsFunc(versions, func(v []byte) bool { return bytes.Equal(got[off:end], window(v, off, end)) }) {
			t.Fatalf("%s: the sector at %d is of no version", what, off)
		}
	}
}

// window returns v[off:end], with zeros where v is too short.
func window(v []byte, off, end int) []byte {
	w := make([]byte, end-off)
	if off < len(v) {
		copy(w, v[off:])
	}
	return w
}
