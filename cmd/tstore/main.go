package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
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
	help := keepHelpError(root)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil && help.err != nil {
		err = &failure{help.err}
	}
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
	cobra.EnableCommandSorting = false // help lists them in the order in which one needs them
	root := &cobra.Command{
		Use:   "tstore",
		Short: "Keep tensors in a store: put, get, list and draw them",
		Long: `A store is a directory that any number of programs can read while one writes; a package is a whole
dataset in one file. Each tensor is an Apache Arrow message; what goes in as a file comes out bit for
bit. NAMEs may be followed by an index, as x[0:10], and a package can stand for a store where one reads.`,
		Example: `  tstore put mystore train/x x.npy         store an array (and create mystore)
  tstore import mystore *.npy              store many, as one batch
  tstore ls -l mystore                     see what is there
  tstore get mystore train/x               look at one
  tstore get mystore 'train/x[:, 0]'       or at a part of it
  tstore describe mystore train/x          range, mean, histogram
  tstore plot mystore train/x -o x.png     a picture of it
  tstore get mystore train/x -o x.npy      take it out again
  tstore pack mystore digits.tstore        make one file of all, to ship it
  tstore get digits.tstore train/x         read it in place
  tstore verify digits.tstore              check every byte
  tstore rm mystore train/x                delete it`,
		Version:       version(),
		Args:          noSuchCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("tstore {{.Version}}\n")
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.PersistentFlags().BoolP(quietFlag, "q", false, "show no progress and say nothing about work that went well")
	addGroup(root, "Put in and take out",
		completeArgs(newPut(), aFile, aNew, aFile),
		completeArgs(newImport(), aFile),
		completeArgs(newGet(), aFile, aName, aNew),
		completeArgs(newExport(), aFile, aFile, aName))
	addGroup(root, "Look",
		completeArgs(newLs(), aFile, aName, aNew),
		completeArgs(newStat(), aFile, aName, aNew),
		completeArgs(newDescribe(), aFile, aName, aNew),
		completeArgs(newPlot(), aFile, aName, aNew),
		completeArgs(newDu(), aFile, aName, aNew),
		completeArgs(newDiff(), aFile, aFile, aName, aNew))
	addGroup(root, "Change",
		completeArgs(newConvert(), aFile, aName, aNew),
		completeArgs(newCp(), aFile, aName, aFile, aNew),
		completeArgs(newMv(), aFile, aName, aNew),
		completeArgs(newRm(), aFile, aName))
	addGroup(root, "Packages",
		completeArgs(newPack(), aFile, aFile),
		completeArgs(newUnpack(), aFile, aFile),
		completeArgs(newAttach(), aFile),
		completeArgs(newDigest(), aFile))
	addGroup(root, "Keep sound",
		completeArgs(newVerify(), aFile, aNew),
		completeArgs(newCompact(), aFile, aNew),
		completeArgs(newRepair(), aFile, aFile))
	root.AddCommand(newTopics()...)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Args = checkTopic
		case "completion":
			dressCompletion(c)
		}
	}
	return root
}

// noSuchCommand is the error for a command that there is none of.
func noSuchCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	for _, root.SuggestionsMinimumDistance = range []int{1, 2} {
		if like := root.SuggestionsFor(args[0]); len(like) > 0 {
			return usagef("unknown command %q (did you mean %s?)", args[0], listOr(like))
		}
	}
	return usagef("unknown command %q", args[0])
}

// addGroup adds commands that help lists under a heading.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
		root.AddCommand(c)
	}
}

// checkTopic makes "tstore help" refuse words that it knows nothing about.
func checkTopic(help *cobra.Command, args []string) error {
	if c, _, err := help.Root().Find(args); err != nil || c == help.Root() && len(args) > 0 {
		return usagef("no command and no topic is called %q", strings.Join(args, " "))
	}
	return nil
}

// keepHelpError has help written to a writer that keeps the error, which cobra does not pass on.
func keepHelpError(root *cobra.Command) *keepingWriter {
	show := root.HelpFunc()
	out := &keepingWriter{}
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out.w = cmd.OutOrStdout()
		cmd.SetOut(out)
		show(cmd, args)
	})
	return out
}

// keepingWriter keeps the first error of writing, and drops what comes after it.
type keepingWriter struct {
	w   io.Writer
	err error
}

func (k *keepingWriter) Write(b []byte) (int, error) {
	if k.err == nil {
		_, k.err = k.w.Write(b)
	}
	return len(b), nil
}

// Help begins with one sentence and examples; the flags come last.
const (
	helpTemplate = `{{.Short}}.

{{.UsageString}}`

	usageTemplate = `{{if .HasExample}}Examples:
{{.Example}}

{{end}}{{with .Long}}{{. | trimTrailingWhitespaces}}

{{end}}Usage:
{{- if or .Runnable (not .HasSubCommands)}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND ...{{$all := .Commands}}{{if .Groups}}{{range $group := .Groups}}

{{.Title}}:{{range $all}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}

More help:{{range $all}}{{if or (and (eq .GroupID "") .IsAvailableCommand) .IsAdditionalHelpTopicCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{else}}

Commands:{{range $all}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.Flags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if not .HasParent}}

"{{.CommandPath}} COMMAND --help" explains a command, "{{.CommandPath}} help TOPIC" a topic.
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
const grace = 600 * time.Millisecond

// interruptible returns a context that an interrupt cancels. A command that does not stop by
// itself soon, because it is inside one long write, is ended: a store never holds half a batch.
// The second interrupt ends the process at once.
func interruptible(parent context.Context) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	done := make(chan struct{})
	endings := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup has it
		endings = append(endings, syscall.SIGHUP)
	}
	signal.Notify(signals, endings...)
	go func() {
		select {
		case <-done:
			return
		case <-signals:
		}
		signal.Reset(endings...)
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
