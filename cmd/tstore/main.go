package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func main() {
	ctx, release := interruptible(context.Background())
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	release()
	os.Exit(code)
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitDone
	}
	line, code := explain(cmd, err)
	if line != "" {
		fmt.Fprintln(stderr, line)
	}
	return code
}

// newRoot returns the command with all its subcommands.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "tstore",
		Short: "Keep tensors in a store: put, get and list them",
		Long: `tstore keeps tensors in a store, a directory that any number of programs can read while one
writes. Each tensor is an Apache Arrow message; what goes in as a file comes out bit for bit.`,
		Example: `  tstore put mystore train/x x.npy      store an array (and create mystore)
  tstore import mystore *.npy           store many, as one batch
  tstore ls -l mystore                  see what is there
  tstore get mystore train/x            look at one
  tstore get mystore train/x -o x.npy   take it out again
  tstore rm mystore train/x             delete it`,
		Version:       version(),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("tstore {{.Version}}\n")
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newPut(), newImport(), newGet(), newLs(), newStat(), newDescribe(), newDiff(), newDu(), newConvert(), newCp(), newMv(), newRm(),
		newPack(), newUnpack(), newAttach(), newDigest(), newVerify(), newCompact(), newRepair())
	root.PersistentFlags().BoolP(quietFlag, "q", false, "show no progress and say nothing about work that went well")
	root.InitDefaultHelpCmd()
	return root
}

// Help begins with what a command is for and how it is used; the flags come last.
const (
	helpTemplate = `{{with or .Long .Short}}{{. | trimTrailingWhitespaces}}

{{end}}{{.UsageString}}`

	usageTemplate = `{{if .HasExample}}Examples:
{{.Example}}

{{end}}Usage:
{{- if or .Runnable (not .HasSubCommands)}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND ...

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" explains a command.
Exit codes: 0 done, 2 wrong usage, 3 store or tensor not found, 4 corrupt data,
5 locked by another process, 1 anything else.{{end}}
`
)

// version returns the version of the module, or the commit that the command was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "(devel) " + s.Value
		}
	}
	return "(devel)"
}

// grace is how long a command may take to stop after an interrupt before it is stopped.
const grace = 800 * time.Millisecond

// interruptible returns a context that an interrupt cancels. A command that does not stop by
// itself soon, because it is inside one long write, is ended: a store never holds half a batch.
// The second interrupt ends the process at once.
func interruptible(parent context.Context) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-done:
			return
		case <-signals:
		}
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		cancel(errInterrupted)
		select {
		case <-done:
		case <-time.After(grace):
			abandon()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
