package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newImport() *cobra.Command {
	var flags contentFlags
	var prefix string
	cmd := &cobra.Command{
		Use:   "import STORE FILE...",
		Short: "Store many files, named after them, as one batch",
		Long: `Store the array of each FILE under the file's name without directory and extension, as one batch:
all of them become visible at once, and if one can't be stored, none is. The store is created if
there is none.`,
		Example: `  tstore import mystore *.npy
  tstore import mystore images.npy labels.npy --prefix train/
  tstore import mystore *.npy --attr source=camera2`,
		Args: namesAndMore("STORE", "FILE"),
	}
	flags.add(cmd)
	cmd.Flags().StringVar(&prefix, "prefix", "", "`TEXT` to put before each name, as train/")
	wait := lockFlag(cmd)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		path, files := args[0], args[1:]
		if err := flags.parse(); err != nil {
			return err
		}
		names, err := importNames(files, prefix)
		if err != nil {
			return err
		}
		// All files are opened and decoded before the store is touched. They are maps, so this
		// takes no memory, and what is wrong with one of them is known before anything is written.
		contents := make([]content, len(files))
		var total int64
		for i, file := range files {
			if err := cmd.Context().Err(); err != nil {
				return err
			}
			in, err := openInput(cmd, file)
			if err != nil {
				return err
			}
			defer in.close()
			total += int64(len(in.bytes))
			if contents[i], err = flags.read(in); err != nil {
				return err
			}
		}
		progress := newProgress(cmd, "importing", total)
		defer progress.end()
		defer progress.watch(path)()
		return update(cmd, path, store.Options{LockWait: *wait}, func(tx *store.Tx) error {
			for i, c := range contents {
				if err := cmd.Context().Err(); err != nil {
					return err
				}
				if err := c.put(tx, names[i]); err != nil {
					return fmt.Errorf("%s: %w", files[i], err)
				}
			}
			return nil
		})
	})
	return cmd
}

// importNames returns the names that files are stored under.
func importNames(files []string, prefix string) ([]string, error) {
	names := make([]string, len(files))
	from := make(map[string]string, len(files))
	for i, file := range files {
		if file == "-" {
			return nil, usagef("standard input has no name to store it under; use \"tstore put STORE NAME -\"")
		}
		stem, _ := splitExtension(filepath.Base(file))
		name := prefix + stem
		if err := store.CheckName(name); err != nil {
			return nil, usagef("%s: %v", file, err)
		}
		if other, ok := from[name]; ok {
			return nil, usagef("%s and %s would both be called %q; import them one at a time with different --prefix", other, file, name)
		}
		from[name] = file
		names[i] = name
	}
	return names, nil
}
