package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newAttach() *cobra.Command {
	var clash clashFlags
	var asJSON bool
	var link bool
	cmd := &cobra.Command{
		Use:   "attach STORE FILE",
		Short: "Make the tensors of a package part of a store, without rewriting them",
		Long: `Take a package into STORE as it is: the file is copied (or cloned, where the file system can) and
becomes a segment of the store. All its tensors appear at once. The store is created if there is none.

With --link nothing is copied: the file gets a second name in the store. It must then never be
changed by other programs, and lie on the same file system.`,
		Example: `  tstore attach mystore digits.tstore
  tstore attach mystore digits.tstore --prefix digits/
  tstore attach mystore newer.tstore --replace
  tstore attach mystore huge.tstore --link`,
		Args: names("STORE", "FILE"),
	}
	clash.addTo(cmd)
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&link, "link", false, "share the file with the store instead of copying it")
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		path, file := args[0], args[1]
		if err := clash.parse(); err != nil {
			return err
		}
		pkg, err := openPackage(file)
		if err != nil {
			return err
		}
		defer pkg.Close()
		var n int
		err = withWriting(path, store.Options{LockWait: *wait}, func(w *writing) error {
			progress := newProgress(cmd, "attaching "+file, 1)
			defer progress.end()
			progress.then("checking names of " + file)
			defer w.onAbandon()()
			n, err = w.Attach(cmd.Context(), file, &store.AttachOptions{
				Prefix: clash.prefix, Clash: clash.clash, Link: link, Progress: progress.report, Committing: committing,
			})
			return clash.explain(err)
		})
		if err != nil {
			return err
		}
		if asJSON {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "{\"tensors\":%d}\n", n)
			return err
		}
		return say(cmd, "attached %s", count(n, "tensor"))
	})
	return cmd
}

// clashFlags are the flags that say under which names the tensors of a package become part of a store.
type clashFlags struct {
	prefix        string
	replace, keep bool

	clash store.Clash
}

func (f *clashFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.prefix, "prefix", "", "`TEXT` to put before each name, as train/")
	cmd.Flags().BoolVar(&f.replace, "replace", false, "where the store has a tensor of that name, the package's takes its place")
	cmd.Flags().BoolVar(&f.keep, "keep", false, "where the store has a tensor of that name, it stays")
}

func (f *clashFlags) parse() error {
	switch {
	case f.replace && f.keep:
		return usagef("--replace and --keep exclude each other")
	case f.replace:
		f.clash = store.ClashReplaces
	case f.keep:
		f.clash = store.ClashKeeps
	}
	return nil
}

// explain adds to an error of taking in a package which flags are about it.
func (f *clashFlags) explain(err error) error {
	switch {
	case errors.Is(err, store.ErrExists):
		err = fmt.Errorf("%w; --replace or --keep says which one stays, --prefix gives other names", err)
	case errors.Is(err, store.ErrName):
		err = fmt.Errorf("--prefix %s: %w", f.prefix, err)
	}
	return err
}

// onAbandon has unfinished segments of the store removed if the process is ended, until the returned
// function is called. Nobody else can have begun one: the store is locked.
func (w *writing) onAbandon() (done func()) {
	return onAbandon(w.path+" segments", func() {
		unfinished, _ := filepath.Glob(filepath.Join(w.path, "segments", "*.tmp"))
		for _, name := range unfinished {
			os.Remove(name)
		}
	})
}
