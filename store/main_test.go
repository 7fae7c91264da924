package store_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// childEnv names, in the environment of a child process, which of children it is
// to run instead of the tests.
const childEnv = "TSTORE_TEST_CHILD"

// children are the programs that the test binary can be run as: writers that get
// killed, stopped or limited, which a test can't do to its own process.
var children = map[string]func(args []string) error{}

func TestMain(m *testing.M) {
	name := os.Getenv(childEnv)
	if name == "" {
		checks := "50" // unless the command line says otherwise
		if raceEnabled {
			checks = "15" // several times slower
		}
		flag.Set("rapid.checks", checks)
		os.Exit(m.Run())
	}
	if err := children[name](os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is the command that runs one of children.
func child(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	if children[name] == nil {
		t.Fatalf("no child program is called %q", name)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	cmd.Stderr = os.Stderr
	return cmd
}
