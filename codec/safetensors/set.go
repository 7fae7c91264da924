package safetensors

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tstore/tstore/layout"
)

// Index is what a model.safetensors.index.json says: which tensor is in which file of a set.
type Index struct {
	// Metadata are the strings, numbers and truth values of the object "metadata", but for
	// total_size.
	Metadata []layout.Attr

	// TotalSize is total_size of the metadata, the bytes of all tensors, or −1 if there is none.
	// Writers disagree on whether a tensor that has several names counts once, so it is not
	// checked.
	TotalSize int64

	// Shards are the names of the files, in the order in which they come up. Each is the name of a
	// file in the directory of the index: none has a slash, a backslash or a colon.
	Shards []string

	// Tensors are the names of the tensors, in the order in which they stand there.
	Tensors []Place
}

// Place says where a tensor is.
type Place struct {
	Name  string
	Shard int // position in Shards
}

// ParseIndex reads an index file. The error is [ErrInvalid].
func ParseIndex(text []byte) (*Index, error) {
	x := &Index{TotalSize: -1}
	p := &parser{text: text}
	var metadata, weights bool
	err := p.object(func(key string) error {
		var seen *bool
		var read func(*Index) error
		switch key {
		case "metadata":
			seen, read = &metadata, p.indexMetadata
		case "weight_map":
			seen, read = &weights, p.weightMap
		default:
			return p.skip(1)
		}
		if *seen {
			return p.fail("%q comes twice", key)
		}
		*seen = true
		return read(x)
	})
	if err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	if !weights {
		return nil, fmt.Errorf("%w: an index without \"weight_map\"", ErrInvalid)
	}
	return x, nil
}

func (p *parser) indexMetadata(x *Index) error {
	keys := make(map[string]struct{})
	return p.object(func(key string) error {
		n := len(keys)
		if keys[key] = struct{}{}; len(keys) == n {
			return p.fail("key %.100q of the metadata comes twice", key)
		}
		switch c := p.peek(); {
		case key == "total_size":
			// Some writers make it a float.
			text, err := p.number()
			if err != nil {
				return err
			}
			whole := &parser{text: bytes.TrimSuffix(text, []byte(".0")), base: p.base + p.pos - len(text)}
			x.TotalSize, err = whole.integer()
			return err
		case c == '"':
			value, err := p.str()
			x.Metadata = append(x.Metadata, layout.Attr{Key: key, Value: value})
			return err
		case c == '{' || c == '[':
			return p.skip(1)
		}
		first := p.pos
		if err := p.skip(1); err != nil {
			return err
		}
		if value := string(p.text[first:p.pos]); value != "null" {
			x.Metadata = append(x.Metadata, layout.Attr{Key: key, Value: value})
		}
		return nil
	})
}

func (p *parser) weightMap(x *Index) error {
	names := make(map[string]struct{})
	shards := make(map[string]int)
	return p.object(func(key string) error {
		if names[key] = struct{}{}; len(names) == len(x.Tensors) {
			return p.fail("tensor %.100q comes twice", key)
		}
		shard, err := p.str()
		if err != nil {
			return err
		}
		number, ok := shards[shard]
		if !ok {
			if shard == "" || shard == "." || shard == ".." || strings.ContainsAny(shard, "/\\:\x00") {
				return p.fail("tensor %.100q is in %.100q, which is not the name of a file beside the index", key, shard)
			}
			number = len(x.Shards)
			shards[shard] = number
			x.Shards = append(x.Shards, shard)
		}
		x.Tensors = append(x.Tensors, Place{Name: key, Shard: number})
		return nil
	})
}

// ParseSet reads a set of files that an index holds together, as one. open is called once for each
// file of the set, with its name, and returns all its bytes; those must stay as they are while the
// entries or their tensors are used, as in [Parse].
//
// The tensors of the set are those of the index. One that is not in its file is an error, and so
// is one in a file that the index does not list or has in another. The metadata is that of the
// index, followed by what the files have beside it; of two values for one key the first counts.
//
// The errors are those of Parse and [ParseIndex], with the name of the file, and of open.
func ParseSet(index []byte, open func(shard string) ([]byte, error)) (*File, error) {
	x, err := ParseIndex(index)
	if err != nil {
		return nil, err
	}
	set := &File{Metadata: x.Metadata}
	known := make(map[string]struct{})
	for _, a := range x.Metadata {
		known[a.Key] = struct{}{}
	}
	wanted := make(map[string]int, len(x.Tensors))
	for _, t := range x.Tensors {
		wanted[t.Name] = t.Shard
	}
	for number, shard := range x.Shards {
		file, err := open(shard)
		if err != nil {
			return nil, err
		}
		f, err := Parse(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shard, err)
		}
		for _, a := range f.Metadata {
			if _, ok := known[a.Key]; !ok {
				known[a.Key] = struct{}{}
				set.Metadata = append(set.Metadata, a)
			}
		}
		for _, e := range f.Entries {
			at, ok := wanted[e.Name]
			switch {
			case !ok:
				return nil, fmt.Errorf("%w: tensor %.100q in %s is not in the index", ErrInvalid, e.Name, shard)
			case at != number:
				return nil, fmt.Errorf("%w: tensor %.100q is in %s, and the index has it in %s", ErrInvalid, e.Name, shard, x.Shards[at])
			}
		}
		set.Entries = append(set.Entries, f.Entries...)
	}
	// Each tensor was found once, as it can be in one file only, and there once.
	if len(set.Entries) == len(wanted) {
		return set, nil
	}
	for _, e := range set.Entries {
		delete(wanted, e.Name)
	}
	for _, t := range x.Tensors {
		if _, missing := wanted[t.Name]; missing {
			return nil, fmt.Errorf("%w: tensor %.100q is not in %s, where the index has it", ErrInvalid, t.Name, x.Shards[t.Shard])
		}
	}
	return set, nil
}
