package main

import "strings"

// jsonFields are the fields of what commands print with --json, in their order, as help shows them. They are
// part of the command's interface: a test compares them with what commands print.
var jsonFields = []struct{ command, fields string }{
	{"ls, stat of a tensor", "name dtype shape dims* layout nnz* indptr* indices* bytes attrs"},
	{"stat of a store", "path kind tensors bytes size live dead segments [number kind file size live dead tensors sealed active]"},
	{"stat of a package", "path kind tensors bytes size digest attrs"},
	{"get", "name dtype shape dims* layout coordinates* values"},
	{"describe", "name dtype shape layout elements stored nonzero nan inf min max mean std histogram (edges counts)"},
	{"du", "prefix tensors bytes"},
	{"diff", "name only* dtype* shape* dims* layout* attrs* differing* nan* max_abs_diff* at*"},
	{"verify", "path ok segments records tensors bytes problems [problem tensors]"},
	{"compact", "removed created before after gained"},
	{"repair", "result kept lost [name file offset length reason saved_as*] lost_in notes old"},
	{"import", "store dry_run tensors bytes replaced imported [name from] skipped [file why]"},
	{"export", "out dry_run tensors bytes without_attrs exported [name to] skipped [file why]"},
	{"pack", "file tensors bytes digest skipped [file why]"},
	{"unpack, attach", "tensors"},
	{"digest", "digest"},
}

// jsonFieldsText is the table of all fields.
func jsonFieldsText() string {
	var b strings.Builder
	for _, f := range jsonFields {
		const width, indent = 74, "      "
		b.WriteString("  " + f.command + "\n")
		line := indent
		for _, word := range strings.Fields(f.fields) {
			if len(line)+len(word)+1 > width {
				b.WriteString(strings.TrimRight(line, " ") + "\n")
				line = indent
			}
			line += word + " "
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}
