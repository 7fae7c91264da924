package main

import (
	"io"

	"github.com/tstore/tstore/codec/csv"
	"github.com/tstore/tstore/layout"
)

// headerKey is the attribute of a table that has the names of its columns.
const headerKey = "csv.header"

// csvFormat and tsvFormat are tables of numbers. The names of the columns are kept in an attribute, so that
// they come back.
var (
	csvFormat = tableFormat("csv", ',')
	tsvFormat = tableFormat("tsv", '\t')
)

func tableFormat(name string, comma rune) *format {
	return &format{
		name:       name,
		extensions: []string{"." + name},
		dense:      always,
		attrs:      func(key string) bool { return key == headerKey },
		text:       true,
		read: parsed(func(b []byte, o readOptions, progress func(done int64)) (content, error) {
			header := map[string]csv.Header{"yes": csv.HeaderYes, "no": csv.HeaderNo}[o.header]
			table, err := csv.Decode(b, &csv.Options{Comma: comma, Header: header, Progress: progress})
			if err != nil {
				return content{}, err
			}
			c := content{tensor: table.Tensor}
			if table.Columns != nil {
				c.attrs = []layout.Attr{{Key: headerKey, Value: csv.FormatHeader(table.Columns)}}
			}
			return c, nil
		}),
		write: func(w io.Writer, c content) error {
			var columns []string
			for _, a := range c.attrs {
				if a.Key != headerKey {
					continue
				}
				var err error
				if columns, err = csv.ParseHeader(a.Value); err != nil {
					return err
				}
			}
			return csv.Encode(w, c.tensor, columns, &csv.Options{Comma: comma})
		},
	}
}
