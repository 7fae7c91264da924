// Command tstore keeps tensors in stores and packages and looks at them, from a shell.
//
//	tstore put mystore train/x x.npy     store an array
//	tstore import mystore *.npy          store many, as one batch
//	tstore ls -l mystore                 see what is there
//	tstore get mystore train/x           look at one
//	tstore get mystore 'train/x[:, 0]'   or at a part of it
//	tstore plot mystore train/x          or at a picture of it
//	tstore get mystore train/x -o x.npy  take it out again
//	tstore rm mystore train/x            delete it
//	tstore pack mystore digits.tstore    make one file of all
//	tstore get digits.tstore train/x     read it in place
//	tstore verify digits.tstore          check every byte
//
// "tstore" alone lists all commands, "tstore help COMMAND" explains each.
//
// What a command changes it changes in one batch: after an error, an interrupt or a crash the store is
// as it was before. Commands that read open the store for reading only; they never wait for a process
// that writes, and never keep one waiting. They take a package where they take a store.
//
// The exit code is 0 when all is done, 2 for wrong usage, 3 if the store or a tensor is not there, 4 for
// corrupt data, 5 if another process has the store open for writing, and 1 for everything else; diff
// has its own: 0 equal, 1 different, 6 for everything else. Errors are one line on standard error.
//
// In the source, a file beside this one has one command and is named after it. main.go ties them
// together, exit.go turns errors into lines and codes, open.go opens stores and packages; format.go has
// the registry of file formats, with one format_*.go for each; input.go and output.go open and create
// the files that are read and written, sources.go finds those that are imported, batch.go stores any
// number of tensors at once, and places.go says where files may be put; slice.go is the index in
// brackets behind a name; progress.go is what a terminal shows meanwhile. complete.go is what a shell
// completes, completion.go the scripts for it, topics.go what "tstore help TOPIC" says, json_fields.go
// what --json prints.
package main
