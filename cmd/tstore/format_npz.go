package main

import (
	"io"
	"path"

	"github.com/tstore/tstore/codec/npz"
	"github.com/tstore/tstore/layout"
	"github.com/tstore/tstore/store"
)

// npzFormat is NumPy's archive of arrays, or the form in which SciPy keeps one sparse tensor.
var npzFormat = &format{
	name:       "npz",
	extensions: []string{".npz"},
	begins:     startsWith("PK\x03\x04"),
	dense:      func(many bool) bool { return many },
	attrs:      never,
	read: func(in *input, o readOptions) (*archive, error) {
		f, err := npz.Open(in.bytes, &npz.Options{Load: in.unpack})
		if err != nil {
			return nil, err
		}
		a := &archive{}
		for _, name := range f.Others {
			a.skipped = append(a.skipped, skipped{name, "not called .npy"})
		}
		if t, ok, err := sparse(f, o); ok || err != nil {
			a.names = []string{""}
			a.load = func(int) (content, error) { return content{tensor: t}, nil }
			return a, err
		}
		for _, m := range f.Members {
			a.names = append(a.names, m.Name)
		}
		a.load = func(i int) (content, error) {
			read := f.Members[i].Tensor
			if o.inPlace {
				read = f.Members[i].View
			}
			d, err := read()
			return content{tensor: d}, err
		}
		return a, nil
	},
	write: func(w io.Writer, c content) error {
		if c.tensor.Layout() != layout.LayoutDense {
			return npz.WriteSparse(w, c.tensor, false)
		}
		z := npz.NewWriter(w, false)
		if err := z.Add(path.Base(c.name), c.tensor); err != nil {
			return err
		}
		return z.Close()
	},
	writeAll: func(w io.Writer, heads []*store.Entry, tensor func(i int) (*layout.Dense, error)) error {
		z := npz.NewWriter(w, false)
		for i, h := range heads {
			d, err := tensor(i)
			if err != nil {
				return err
			}
			if err := z.Add(h.Name, d); err != nil {
				return err
			}
		}
		return z.Close()
	},
}

// sparse returns the sparse tensor that an archive is, if it looks like one.
func sparse(f *npz.File, o readOptions) (layout.Tensor, bool, error) {
	if o.inPlace {
		return f.SparseView()
	}
	return f.Sparse()
}
