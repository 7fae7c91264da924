// Package powercut runs tests on a disk whose power can be cut. It starts the file system of the module store/powercut in
// a process of its own and steers it; it depends on nothing but the standard library.
//
// A test does its work under [Client.Dir] and records with [Client.Mark] what has been acknowledged. Every operation that
// reaches the file system is recorded, in order, along with the marks. From that record [Client.Image] makes, as often as
// one likes, the directory that a cut at some point may have left, as ordinary files, which are then opened and compared with
// what had been acknowledged before that point ([Client.Trace]). So a run happens once and is cut thousands of times.
//
// What a cut keeps, drops and tears is documented in store/powercut/disk. In short: what was synced is there, the rest may be
// there in any part, a block or its sectors at a time. Operations can also be made to fail ([Client.Fault]); the cache then
// goes on showing what never reached the disk, until [Client.DropCache].
//
// It needs Linux and /dev/fuse; where that is missing, tests fail and say so. Only the process that serves the
// files knows FUSE; it ends when the test process does, however that ends.
package powercut
