// Command package measures packages: making one of two million small tensors and of large ones,
// opening it, finding tensors in it, reading it through a map, and its size.
//
//	go run ./bench/package [-dir DIR] [-quick] [-run REGEXP] [-json FILE] [-size GIB] [-python PYTHON]
//
// It prints a table like that of bench/store, made in the same way. bench/README.md explains each
// figure, and why those that miss their aim do.
package main
