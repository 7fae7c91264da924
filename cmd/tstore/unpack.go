package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newUnpack() *cobra.Command {
	var clash clashFlags
	cmd := &cobra.Command{
		Use:   "unpack FILE STORE [PREFIX...]",
		Short: "Put the tensors of a package into a store",
		Long: `Put the tensors of a package into STORE, or those whose names begin with one of the PREFIXes. All of
them appear at once. The store is created if there is none.

Every tensor is compared with its checksum on the way, so that damage stays outside. "tstore attach"
is faster: it takes the whole package in as it is.`,
		Example: `  tstore unpack digits.tstore mystore
  tstore unpack digits.tstore mystore train/
  tstore unpack digits.tstore mystore --prefix digits/ --keep`,
		Args: namesAndMore("FILE", "STORE"),
	}
	clash.addTo(cmd)
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		file, path, prefixes := args[0], args[1], args[2:]
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
		snap, err := pkg.Snapshot()
		if err != nil {
			return err
		}
		defer snap.Close()
		var tensors int64
		size, err := choose(cmd, snap, prefixes, &tensors)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		var n int
		err = withWriting(path, store.Options{LockWait: *wait}, func(w *writing) error {
			n, err = unpack(cmd, w, snap, prefixes, size, &clash)
			return err
		})
		if err != nil {
			return err
		}
		return say(cmd, "unpacked %s", count(n, "tensor"))
	})
	return cmd
}

// unpack puts tensors into a store as one batch, however many they are and however large: as a
// package of their own, which the store takes in by a link. Until then its file has a name that no
// store takes for one of its own, and that the next writer removes (FORMAT.md, 1).
func unpack(cmd *cobra.Command, w *writing, snap *store.Snapshot, prefixes []string, size int64, clash *clashFlags) (int, error) {
	file := filepath.Join(w.path, "segments", "unpack.seg.tmp")
	remove := func() { os.Remove(file) }
	defer onAbandon(file, remove)()
	defer remove()
	err := output{path: file, what: "unpacking", size: size}.write(cmd, func(out io.Writer) error {
		p, err := store.NewPackageWriter(out)
		if err != nil {
			return err
		}
		defer onAbandon("package", p.Abort)()
		defer p.Abort()
		if err := snap.PackTo(cmd.Context(), p, &store.PackOptions{Prefixes: prefixes}); err != nil {
			return err
		}
		_, err = p.Close()
		return err
	})
	if err != nil {
		return 0, err
	}
	n, err := clash.attach(cmd, w, file, true)
	var noLink *os.LinkError
	if errors.As(err, &noLink) { // not every file system has links
		n, err = clash.attach(cmd, w, file, false)
	}
	return n, err
}
