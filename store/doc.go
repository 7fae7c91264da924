// Package store is an embedded, file-backed store for tensors: a directory that
// maps names to arrays, dense or sparse. Every tensor is kept as one Apache Arrow
// message and read where it lies, in a file that is mapped into memory.
//
// # The nouns
//
// A Store is an open directory. A Tx is a transaction: Update commits everything
// its closure does as one batch, View shows the last committed batch. A Snapshot
// shows the store as it was at one moment for as long as one likes. An Entry is
// what is known of a tensor without touching its data: type, shape, attributes,
// where it lies.
//
// # What is guaranteed
//
//   - When Put, Update, Delete or Rename return without an error, the change is on
//     disk (with SyncNever: in the operating system's hands). After a crash or a
//     power cut the store opens with every such change, and with no part of a batch
//     that was not committed whole.
//   - An error from a write means that nothing was changed, unless it is
//     ErrOutcomeUnknown: then the change is there whole or not at all when the store
//     is opened again.
//   - Damage to what was durable is found by checksums and is ErrCorrupt, with file
//     and offset; it is never passed over. View and Snapshot, which copy nothing,
//     check the head of a tensor; Get reads and checks all of it.
//   - Readers wait for nobody and keep nobody waiting, in this process and others. A
//     process that opens the store with Options.ReadOnly works beside a writer.
//   - The segment files hold everything. catalog.db only makes opening faster: it
//     may be deleted while the store is closed.
//
// # What will hurt
//
//   - A tensor from View is valid until the closure returns, one from a Snapshot
//     until it is closed: it is memory of a mapped file, the strings of its dimension
//     names included. After Store.Close it is no longer accessible, and reading it is
//     a fault that ends the program. Copy what is to stay (layout.Dense.Clone), or use
//     Get.
//   - If another program cuts a segment file short while it is mapped, or the disk
//     fails, reading such memory is a fault too. Get reads by system calls and
//     returns an error.
//   - One writer at a time. Update closures run one after the other, and must not
//     call methods of the Store that write.
//   - Overwriting and deleting give no space back until the store is compacted.
//   - A network file system works for one host at a time; its locks are not trusted
//     to do more.
//   - 64-bit little-endian machines only.
package store
