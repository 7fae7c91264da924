// Package measure is what the benchmark programs that work on a disk have in common: their flags and
// the directory that they measure in, measurements that take turns, and the table of figures, with
// the aims that they meet or miss.
package measure
