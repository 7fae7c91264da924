// Command store measures the store against the disk and the memory that it runs on.
//
//	go run ./bench/store [-dir DIR] [-quick] [-run REGEXP] [-json FILE]
//
// It prints a table with a row for each figure: what is aimed at, what was measured, whether
// that meets the aim, and the absolute numbers behind it. Nearly every figure is a ratio. What
// it is compared with (the plain writes, reads and loads that do the same work without a store)
// runs in the same directory in the same minute, in turns with the store, many times over; the
// figure is the median of the turns. That is what makes it mean something on a machine that is
// shared and noisy.
//
// bench/README.md explains each figure, and why those that miss their aim do.
package main
