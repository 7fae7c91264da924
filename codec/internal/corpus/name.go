package main

import (
	"strconv"
	"strings"
)

// fileName turns the name of an element type into part of a file name:
// "timestamp[ns, UTC]" into "timestamp-ns-UTC".
func fileName(dtype string) string {
	return strings.NewReplacer("[", "-", ", ", "-", "]", "").Replace(dtype)
}

func digits(n int32) string { return strconv.Itoa(int(n)) }
