package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newAttach() *cobra.Command {
	var clash clashFlags
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
		if err := checkRanges(cmd, pkg); err != nil {
			return err
		}
		var n int
		err = withWriting(path, store.Options{LockWait: *wait}, func(w *writing) error {
			progress := newProgress(cmd, "attaching "+file, sizeOf(file))
			defer progress.end()
			defer progress.watch(path)()
			n, err = clash.attach(cmd, w, file, link)
			return err
		})
		if err != nil {
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

// attach makes a package part of a store and returns how many tensors the store has got from it.
func (f *clashFlags) attach(cmd *cobra.Command, w *writing, file string, link bool) (int, error) {
	if err := cmd.Context().Err(); err != nil {
		return 0, err
	}
	n, err := w.Attach(cmd.Context(), file, &store.AttachOptions{Prefix: f.prefix, Clash: f.clash, Link: link})
	switch {
	case errors.Is(err, store.ErrExists):
		err = fmt.Errorf("%w; --replace or --keep says which one stays, --prefix gives other names", err)
	case errors.Is(err, store.ErrName):
		err = fmt.Errorf("--prefix %s: %w", f.prefix, err)
	}
	return n, err
}

// checkRanges makes sure that the tensors of a package lie one behind the other, before anything is
// done with each of them: it may be made so that a small file claims endless data.
func checkRanges(cmd *cobra.Command, pkg *store.Store) error {
	report, err := pkg.Verify(cmd.Context(), &store.VerifyOptions{Quick: true})
	if err != nil {
		return err
	}
	if len(report.Problems) > 0 {
		return report.Problems[0].Err
	}
	return nil
}
