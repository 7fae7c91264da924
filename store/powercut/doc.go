// Command powercut is a disk on which the power can be cut, for the tests of tstore.
//
//	powercut mount [flags] DIR      serve a file system that forgets, on cue, what was not synced
//	powercut image [flags] OUT      from a trace: the files as a cut at some point may have left them
//	powercut list FILE              print a trace
//	powercut ctl SOCKET REQUEST      send requests (JSON, see package control) to a mounted one
//
// A run of mount records every operation that reaches it. While it goes on, or later from the saved trace, images of
// what a cut at any point may have left are written into ordinary directories, as many as one likes: a program under test
// runs once and is then reopened thousands of times at the speed of an ordinary file system. What a cut keeps,
// drops and tears is documented in package disk. Operations can also be made to fail.
//
// It is a module of its own, so that those who embed tstore do not depend on a FUSE library.
//
// The exit code is 3 if there is no usable /dev/fuse, 2 if the command line is wrong, 1 for any other error.
package main
