package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// storeStat is what is known of a store or package as a whole.
type storeStat struct {
	path    string
	pkg     bool
	tensors int64
	bytes   int64 // of the elements and index arrays
	size    int64 // of the files

	// Of a package.
	digest store.Digest
	attrs  []layout.Attr

	// Of a store.
	segments []store.SegmentInfo
}

// statStore shows a store or package as a whole.
func statStore(cmd *cobra.Command, st *store.Store, asJSON bool) error {
	s, err := gatherStat(cmd, st)
	if err != nil {
		return fmt.Errorf("%s: %w", st.Path(), err)
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	if asJSON {
		out.Write(append(s.appendJSON(nil), '\n'))
	} else {
		s.write(out)
	}
	return out.Flush()
}

func gatherStat(cmd *cobra.Command, st *store.Store) (*storeStat, error) {
	s := &storeStat{path: st.Path(), pkg: st.IsPackage()}
	for e, err := range eachEntry(cmd, st.List("")) {
		if err != nil {
			return nil, err
		}
		s.tensors++
		s.bytes += e.Bytes
	}
	var err error
	if s.pkg {
		s.digest, _ = st.Digest()
		if s.attrs, err = st.Attrs(); err != nil {
			return nil, err
		}
		info, err := os.Stat(s.path)
		if err != nil {
			return nil, err
		}
		s.size = info.Size()
		return s, nil
	}
	if s.segments, err = st.Segments(); err != nil {
		return nil, err
	}
	for _, g := range s.segments {
		s.size += g.Size
	}
	return s, nil
}

func (s *storeStat) space() (live, dead int64) {
	for _, g := range s.segments {
		live += g.Live
		dead += g.Dead
	}
	return live, dead
}

func (s *storeStat) write(out *bufio.Writer) {
	kind := "store"
	if s.pkg {
		kind = "package"
	}
	list := [][2]string{
		{kind, printable(s.path)},
		{"tensors", strconv.FormatInt(s.tensors, 10)},
		{"bytes", byteText(s.bytes)},
		{"size", byteText(s.size)},
	}
	if s.pkg {
		writePairs(out, "", append(list, [2]string{"digest", s.digest.String()}))
		rest, readme := cutReadme(s.attrs)
		writeAttrs(out, rest)
		if readme != "" {
			out.WriteString("\n" + printableText(readme))
		}
		return
	}
	live, dead := s.space()
	writePairs(out, "", append(list, [2]string{"live", byteText(live)}, [2]string{"dead", byteText(dead)}))
	if len(s.segments) > 0 {
		out.WriteString("segments\n")
		writeSegments(out, s.segments)
	}
}

// cutReadme takes the text about a dataset out of its attributes.
func cutReadme(attrs []layout.Attr) (rest []layout.Attr, readme string) {
	i := slices.IndexFunc(attrs, func(a layout.Attr) bool { return a.Key == readmeKey })
	if i < 0 {
		return attrs, ""
	}
	return slices.Delete(slices.Clone(attrs), i, i+1), attrs[i].Value
}

// printableText is printable for a text of several lines.
func printableText(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(printable(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}

func writeSegments(out *bufio.Writer, segments []store.SegmentInfo) {
	rows := [][]string{{"FILE", "KIND", "TENSORS", "SIZE", "LIVE", "DEAD"}}
	for _, g := range segments {
		kind := g.Kind
		switch {
		case g.Active:
			kind += ", active"
		case g.Sealed && g.Kind == "log":
			kind += ", sealed"
		}
		rows = append(rows, []string{filepath.Base(g.Path), kind, strconv.Itoa(g.Tensors),
			strconv.FormatInt(g.Size, 10), strconv.FormatInt(g.Live, 10), strconv.FormatInt(g.Dead, 10)})
	}
	writeTable(out, "  ", rows, 2)
}

// appendJSON appends the object that stat --json prints of a store. The keys and their order are part
// of the command's interface.
func (s *storeStat) appendJSON(b []byte) []byte {
	kind := "store"
	if s.pkg {
		kind = "package"
	}
	b = appendString(append(b, `{"path":`...), s.path)
	b = appendString(append(b, `,"kind":`...), kind)
	b = appendInt(b, "tensors", s.tensors)
	b = appendInt(b, "bytes", s.bytes)
	b = appendInt(b, "size", s.size)
	if s.pkg {
		b = appendString(append(b, `,"digest":`...), s.digest.String())
		return append(appendAttrs(append(b, `,"attrs":`...), s.attrs), '}')
	}
	live, dead := s.space()
	b = appendInt(b, "live", live)
	b = appendInt(b, "dead", dead)
	b = append(b, `,"segments":[`...)
	for i, g := range s.segments {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(append(b, `{"number":`...), g.Number, 10)
		b = appendString(append(b, `,"kind":`...), g.Kind)
		b = appendString(append(b, `,"file":`...), filepath.Base(g.Path))
		b = appendInt(b, "size", g.Size)
		b = appendInt(b, "live", g.Live)
		b = appendInt(b, "dead", g.Dead)
		b = appendInt(b, "tensors", int64(g.Tensors))
		b = strconv.AppendBool(append(b, `,"sealed":`...), g.Sealed)
		b = append(strconv.AppendBool(append(b, `,"active":`...), g.Active), '}')
	}
	return append(b, "]}"...)
}
