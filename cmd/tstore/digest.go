package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newDigest() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "digest FILE",
		Short: "Print the identity of a package",
		Long: `Print the digest of a package, 64 hexadecimal digits. Packages with equal digests have the same
tensors under the same names with the same attributes. It was computed when the package was made and
is only looked up; "tstore verify" computes it again and compares.`,
		Example: `  tstore digest digits.tstore
  test "$(tstore digest a.tstore)" = "$(tstore digest b.tstore)" && echo "the same tensors"`,
		Args: names("FILE"),
	}
	jsonFlag(cmd, &asJSON)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		pkg, err := openPackage(args[0])
		if err != nil {
			return err
		}
		defer pkg.Close()
		digest, _ := pkg.Digest()
		line := digest.String() + "\n"
		if asJSON {
			line = fmt.Sprintf("{\"digest\":\"%v\"}\n", digest)
		}
		_, err = cmd.OutOrStdout().Write([]byte(line))
		return err
	})
	return cmd
}
