package main

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/store"
)

func newVerify() *cobra.Command {
	var quick, asJSON bool
	cmd := &cobra.Command{
		Use:   "verify STORE",
		Short: "Check every byte of a store or package",
		Long: `Read every byte of a store or package and compare it with its checksums, each index with what it
is about, and the digest of a package with its tensors. What is wrong is listed with the tensors that
it hits, and the exit code is 4. It works beside a program that writes to the store.

With --quick, the tensors themselves are not read: of a package only its end and index are checked.
With --json, an object with path, ok, segments, records, tensors and bytes (that were looked at), and
problems: an array of objects with problem and tensors.`,
		Example: `  tstore verify mystore
  tstore verify digits.tstore
  tstore verify --quick huge.tstore
  tstore verify --json mystore | jq -r '.problems[].tensors[]'`,
		Args: names("STORE"),
	}
	cmd.Flags().BoolVar(&quick, "quick", false, "do not read the tensors themselves")
	jsonFlag(cmd, &asJSON)
	cmd.RunE = action(func(cmd *cobra.Command, args []string) error {
		report, err := verify(cmd, args[0], quick)
		if err != nil {
			return err
		}
		out := bufio.NewWriter(cmd.OutOrStdout())
		if asJSON {
			out.Write(append(appendReportJSON(nil, args[0], &report), '\n'))
		} else {
			writeProblems(out, report.Problems)
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if n := len(report.Problems); n > 0 {
			return &damage{fmt.Sprintf("%s: %s", args[0], count(n, "problem")), damageHint()}
		}
		if asJSON {
			return nil
		}
		if quick {
			return say(cmd, "%s, %s: the names and where they lead are whole; the tensors were not read",
				count(report.Segments, "file"), count(report.Tensors, "tensor"))
		}
		return say(cmd, "%s, %s, %s: all is well", count(report.Segments, "file"), count(report.Tensors, "tensor"), roundBytes(report.Bytes))
	})
	return cmd
}

// damage is an error of a command that has found and listed damage.
type damage struct {
	message string
	hint    string // what to do
}

func (d *damage) Error() string { return d.message }
func (d *damage) Unwrap() error { return store.ErrCorrupt }

// verify checks a store or package. Damage that keeps it from being opened is a problem like others.
func verify(cmd *cobra.Command, path string, quick bool) (store.VerifyReport, error) {
	st, err := openReading(path)
	if errors.Is(err, store.ErrCorrupt) {
		return store.VerifyReport{Problems: []store.Problem{{Err: err}}}, nil
	}
	if err != nil {
		return store.VerifyReport{}, err
	}
	defer st.Close()
	progress := newProgress(cmd, "verifying "+path, 1)
	defer progress.end()
	progress.then("checking names of " + path)
	return st.Verify(cmd.Context(), &store.VerifyOptions{Quick: quick, Progress: progress.report})
}

// tensorsShown is how many tensors are named that a problem hits.
const tensorsShown = 10

// writeProblems lists what is wrong, with the tensors that it hits.
func writeProblems(out *bufio.Writer, problems []store.Problem) {
	for _, p := range problems {
		out.WriteString(oneLine(p.Err) + "\n")
		for i, name := range p.Tensors {
			if i == tensorsShown && len(p.Tensors) > tensorsShown+1 {
				fmt.Fprintf(out, "  and %d more tensors; --json lists all\n", len(p.Tensors)-i)
				break
			}
			out.WriteString("  tensor " + printable(name) + "\n")
		}
	}
}

// appendReportJSON appends the object that verify --json prints. The keys and their order are part of
// the command's interface.
func appendReportJSON(b []byte, path string, r *store.VerifyReport) []byte {
	b = appendString(append(b, `{"path":`...), path)
	b = strconv.AppendBool(append(b, `,"ok":`...), len(r.Problems) == 0)
	b = appendInt(b, "segments", int64(r.Segments))
	b = appendInt(b, "records", int64(r.Records))
	b = appendInt(b, "tensors", int64(r.Tensors))
	b = appendInt(b, "bytes", r.Bytes)
	b = append(b, `,"problems":[`...)
	for i, p := range r.Problems {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(append(b, `{"problem":`...), p.Err.Error())
		b = append(appendStrings(append(b, `,"tensors":`...), p.Tensors), '}')
	}
	return append(b, "]}"...)
}
