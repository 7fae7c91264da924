package npz

import (
	"archive/zip"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// extension is what names of arrays end with in an archive.
const extension = ".npy"

const (
	// maxExpansion is how many bytes deflate can make of one: 258 for every two bits.
	maxExpansion = 1032

	// Up to smallTotal bytes, and up to plausibleExpansion times the size of the archive, members
	// may take when decompressed without being taken for a zip bomb.
	smallTotal         = 1 << 30
	plausibleExpansion = 100
)

// Flags of a zip entry.
const (
	flagEncrypted       = 1 << 0
	flagStronglyEncrypt = 1 << 6
	flagMasked          = 1 << 13
)

// Options say how an archive is read. The zero value, and a nil pointer, ask for the defaults.
type Options struct {
	// Load reads the bytes of a compressed member, of which there are size, from r and returns all
	// of them. It is called by each Tensor, View and Sparse that needs them; the tensor shares
	// their memory. A program that reads archives larger than its memory writes them to a
	// temporary file and returns a map of that. Errors of r have to be returned as they are.
	//
	// It is also called for the indices of a sparse tensor that is a COO, of which an archive has an
	// array for each axis and a tensor a matrix.
	//
	// By default all of that is in memory.
	Load func(size int64, r io.Reader) ([]byte, error)

	// MaxBytes limits how large all compressed members may be together when decompressed, by what
	// the archive says; that it tells the truth is checked on the way. 0 means 1 GiB, or 100 times
	// the size of the archive if that is more, which hardly any array exceeds.
	MaxBytes int64
}

// File is an archive.
type File struct {
	// Members are the arrays of the archive, in the order of its directory.
	Members []*Member

	// Others are the names of what is in the archive and is not called .npy, without directories.
	// NumPy gives such members as bytes.
	Others []string

	byName map[string]*Member
	load   func(size int64, r io.Reader) ([]byte, error)
}

// Member is an array in an archive.
type Member struct {
	// Name is the name of the array, without the extension: UTF-8, relative, with slashes, without
	// empty parts or any that are . or .., and different from those of all other members.
	Name string

	// Size is the number of bytes of the .npy file that the member is, when decompressed.
	Size int64

	// Compressed says that the member has to be decompressed.
	Compressed bool

	stored []byte // as it lies in the archive
	crc    uint32 // of the decompressed bytes
	load   func(size int64, r io.Reader) ([]byte, error)
}

// Open reads the directory of an archive, which is all of file, and makes sure that each of its
// members lies in it, in bytes of its own. It looks at no member. The members keep file, which has
// to stay as it is while they or their tensors are used. o may be nil.
//
// The errors are [ErrInvalid], [ErrTruncated], [ErrUnsupported] and [ErrTooLarge].
func Open(file []byte, o *Options) (*File, error) {
	if o == nil {
		o = &Options{}
	}
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, noArchive(file, err)
	}
	f := &File{byName: make(map[string]*Member), load: o.Load}
	var spans []span
	var total int64
	for _, entry := range z.File {
		if strings.HasSuffix(entry.Name, "/") && entry.UncompressedSize64 == 0 {
			continue
		}
		name, isArray := strings.CutSuffix(entry.Name, extension)
		if fault := nameFault(name); fault != "" {
			return nil, fmt.Errorf("%w: the name of member %.100q: %s", ErrInvalid, entry.Name, fault)
		}
		at, stored, err := locate(entry, file)
		if err != nil {
			return nil, err
		}
		spans = append(spans, span{at, at + int64(len(stored)), entry.Name})
		if !isArray {
			f.Others = append(f.Others, entry.Name)
			continue
		}
		if f.byName[name] != nil {
			return nil, fmt.Errorf("%w: two members are called %.100q", ErrInvalid, entry.Name)
		}
		m := &Member{Name: name, Size: int64(entry.UncompressedSize64), stored: stored, crc: entry.CRC32, load: o.Load}
		if err := m.checkMethod(entry); err != nil {
			return nil, err
		}
		if m.Compressed {
			// Sizes are at most maxExpansion times those of bytes that are there, so no sum of
			// them overflows.
			total += m.Size
		}
		f.Members = append(f.Members, m)
		f.byName[name] = m
	}
	if err := checkOverlap(spans); err != nil {
		return nil, err
	}
	limit := o.MaxBytes
	if limit == 0 {
		limit = max(smallTotal, plausibleExpansion*int64(len(file)))
	}
	if total > limit {
		return nil, fmt.Errorf("%w: its members say that they have %d bytes, and the archive has %d; %d are allowed, since it may be a zip bomb (if it is none, unzip it and take the .npy files)", ErrTooLarge, total, len(file), limit)
	}
	return f, nil
}

// noArchive says why zip took file for no archive.
func noArchive(file []byte, err error) error {
	const member = "PK\x03\x04"
	n := min(len(file), len(member))
	switch {
	case string(file[:n]) != member[:n] && !bytes.HasPrefix(file, []byte("PK\x05\x06")):
		return fmt.Errorf("%w: it does not begin with PK\\x03\\x04", ErrInvalid)
	case err == zip.ErrFormat:
		return fmt.Errorf("%w: the directory at its end is missing", ErrTruncated)
	}
	return fmt.Errorf("%w: its directory: %v", ErrInvalid, err)
}

// nameFault says why a name can't be that of a file below any directory on every system, or "" if
// it can.
func nameFault(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case !utf8.ValidString(name):
		return "it is not UTF-8"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "it has a control character"
	case strings.ContainsRune(name, '\\'):
		return "it has a backslash"
	case name[0] == '/' || len(name) > 2 && name[1:3] == ":/":
		return "it is an absolute path"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "":
			return "a part of it is empty"
		case ".", "..":
			return "a part of it is " + part
		}
	}
	return ""
}

// locate returns the bytes that an entry of the directory has in the archive, and where they are.
func locate(entry *zip.File, file []byte) (int64, []byte, error) {
	if entry.Flags&(flagEncrypted|flagStronglyEncrypt|flagMasked) != 0 {
		return 0, nil, fmt.Errorf("%w: member %.100q is encrypted", ErrUnsupported, entry.Name)
	}
	at, err := entry.DataOffset()
	if err != nil {
		return 0, nil, fmt.Errorf("%w: member %.100q does not begin where the directory says: %v", ErrInvalid, entry.Name, err)
	}
	if at > int64(len(file)) || entry.CompressedSize64 > uint64(int64(len(file))-at) {
		return 0, nil, fmt.Errorf("%w: member %.100q has %d bytes, %d are there", ErrInvalid, entry.Name, entry.CompressedSize64, max(0, int64(len(file))-at))
	}
	end := at + int64(entry.CompressedSize64)
	return at, file[at:end:end], nil
}

// checkMethod makes sure that a member can be decompressed, to as many bytes as it says.
func (m *Member) checkMethod(entry *zip.File) error {
	there := uint64(len(m.stored))
	switch entry.Method {
	case zip.Store:
		if entry.UncompressedSize64 != there {
			return fmt.Errorf("%w: member %.100q is not compressed and has %d bytes, and the directory says %d", ErrInvalid, m.Name, there, entry.UncompressedSize64)
		}
	case zip.Deflate:
		if entry.UncompressedSize64 > maxExpansion*there {
			return fmt.Errorf("%w: member %.100q can't have the %d bytes that the directory says: it has %d compressed ones", ErrInvalid, m.Name, entry.UncompressedSize64, there)
		}
		m.Compressed = true
	default:
		return fmt.Errorf("%w: member %.100q is compressed by method %d; NumPy stores or deflates", ErrUnsupported, m.Name, entry.Method)
	}
	return nil
}

// span is a piece of an archive, and what it belongs to.
type span struct {
	begin, end int64
	name       string
}

// checkOverlap makes sure that no byte belongs to two members. Archives in which they do make much
// out of little.
func checkOverlap(spans []span) error {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	for i := 1; i < len(spans); i++ {
		if spans[i].begin < spans[i-1].end {
			return fmt.Errorf("%w: members %.100q and %.100q lie in the same bytes", ErrInvalid, spans[i-1].name, spans[i].name)
		}
	}
	return nil
}
