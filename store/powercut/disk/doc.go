// Package disk models a disk with a volatile cache under a file system, in memory: what is surely on
// it, what may be on it, and what a power cut can leave of the rest.
//
// A [State] is advanced by operations ([Op]): writes, size changes, directory changes, and syncs. For
// everything since the last sync it keeps all versions, so that [State.Crash] can choose, from a seed,
// one of the many trees that the disk may hold after a cut. The operations of a run are a trace, which
// can be written to a file and replayed up to any point; so one run serves thousands of cuts.
//
// # What is promised after a cut
//
//   - A file's contents and size as of the start of its last successful fsync or fdatasync. Writes that
//     arrive while the sync runs are not covered by it.
//   - Directory entries as of the start of the last successful fsync of their directory; a rename between two
//     directories needs both. Syncing a file says nothing about its name, unless [Options.FsyncEntry] is set.
//   - Hard links, a rename and the rename over an existing name are atomic: all of it happened, or none.
//
// # What a cut may do with the rest
//
//   - Each 4 KiB block is, independently of every other, at any version since the last sync, or torn: some of its
//     512-byte sectors at a newer version, the others at an older one. A sector is never torn.
//   - The size is any that the file had since, or a block boundary inside a write that made the file grow; it need
//     not fit the blocks. Blocks that did not make it read as zeros (or as garbage, if [Policy.Garbage] asks for it).
//   - Shrinking a file is a change of metadata. Such changes of one file happen in order, as a journal would have it:
//     if the second truncation is there, so is the first, and data that needed blocks which the first one freed is
//     there only with it. Growing writes over blocks that stay are not bound by that.
//   - Of the directory changes any subset, as long as changes to one entry (directory, name) happen in order and
//     moves of directories do too, since the tree has to stay a tree.
//
// # After a sync that failed
//
// The kernel marks the pages clean although they never reached the disk. Here too: the data stays in the cache
// and can be read, a later successful sync does not write it, a later write to the same block makes the whole
// block dirty again, and when the cache is dropped the old contents come back. A failed sync of a directory
// leaves its changes waiting: a file system that can't write its journal does not go on, so there is no later
// sync that would succeed and lie.
package disk
