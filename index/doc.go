// Package index says where in a store a name is and what is stored under it.
//
// One type, [Entry], is what is known of a name: the place of its record, its checksum, element
// type, layout, shape and attributes. Three things hold entries:
//
//   - [Table] is in memory: an immutable sorted map that shares what did not change with its older
//     versions. It has the names of all logs that are not sealed yet, and with one pointer a
//     snapshot has them as they were. It is the only thing that lookups in open logs touch.
//   - [Catalog] is the same on disk, a bbolt database, so that a store which is opened again need
//     only replay the end of its logs. It is derived from the logs: deleting it loses nothing.
//   - [Frozen] is the index at the end of a sealed segment or package, used in place from a map.
//     Opening one reads its header only; a lookup reads two or three cache lines.
//
// # Guarantees
//
// Bytes from outside are never believed. A frozen index or an entry that is wrong gives
// [ErrCorrupt], in time and memory bounded by the bytes that are there, and never a panic; every
// entry carries a checksum that is verified whenever it is used. A catalog about which there is
// any doubt gives [ErrCatalog] before bbolt, which trusts its file, gets to see it.
//
// Equal entries give equal bytes, so packages of equal content are equal.
//
// # Caveats
//
// The checksums find damage, not malice: whoever can write the file can make a valid index that
// lies. What lies can lead to is bounded by checks, not by checksums: a location that an entry
// gives must be compared with the segment it names before it is used.
//
// An [Entry] in memory takes some 400 bytes, so a [Table] of a million names takes 400 MB; sealed
// segments take none.
package index
