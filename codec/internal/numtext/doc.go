// Package numtext writes elements of tensors as decimal numbers, for the formats that are text. Elements
// are given as the little-endian bytes that a tensor keeps them in.
package numtext
