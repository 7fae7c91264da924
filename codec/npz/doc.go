// Package npz reads and writes NumPy's .npz archives, and the sparse tensors that SciPy and
// pydata/sparse keep in them.
//
// [Open] takes the bytes of a whole archive, usually a map of it, and gives its members, each a
// .npy file as package npy reads it. Of members that are not compressed the tensors lie over those
// bytes.
//
//	f, err := npz.Open(archive, nil)
//	if t, ok, err := f.SparseView(); ok { … }  // the whole archive is one sparse tensor
//	for _, m := range f.Members {
//		d, err := m.View()                 // *layout.Dense, at any alignment; m.Tensor() is aligned
//		…                                  // m.Name has no .npy at its end
//	}
//
// Compressed members are decompressed into memory, or to where [Options].Load puts them, such as a
// map of a temporary file. [Writer] writes an archive member by member; [WriteSparse] writes one
// that scipy.sparse.load_npz reads.
//
// # Checksums
//
// The CRC-32 of a member is checked each time its array is asked for, compressed or not: nothing
// else in the archive tells of damage. For a member that is not compressed it is a pass over its
// bytes at the speed of memory, which shortens the way of whoever reads them next; bench/README.md
// has what it costs an import. (archive/zip, and Python's zipfile, take a CRC of 0 for none. Here
// it is one.)
//
// # Alignment
//
// NumPy puts members wherever the one before ends, so that most arrays in its archives are not
// aligned. Tensor copies them for that reason, View does not. What Writer writes without
// compression has its elements at multiples of 64 bytes, by means of an extra field of zeros, which
// readers of zip skip.
//
// # Untrusted files
//
// Refused are members that are encrypted or compressed by other methods than NumPy's, that lie
// outside of the archive or in the same bytes as others, that come twice, or whose names are not
// those of files below some directory (absolute ones, with "..", backslashes or control
// characters). A zip bomb is refused by what its directory says: deflate makes at most 1032 bytes
// of one, and all members together may take 1 GiB or 100 times the size of the archive, if Options
// don't say otherwise. It is refused again by what comes out: no more than was said, with memory
// taken as the bytes come. Archives in archives are of no interest here.
//
// Directories are skipped. Comments, dates and extra fields are not looked at.
//
// # Libraries
//
// Reading the directory and writing archives is archive/zip of Go's standard library: well tested,
// with zip64, data descriptors and archives behind other data. Members are read past it, over the
// map, since it would copy those that are not compressed; so are decompression and checksum, by
// compress/flate and hash/crc32.
//
// Source: the documentation of numpy.savez and numpy.lib.format, APPNOTE.TXT of PKWARE, and for
// sparse tensors the documentation of scipy.sparse.save_npz and of sparse.save_npz, and what SciPy
// 1.17 and sparse 0.19 write.
package npz
