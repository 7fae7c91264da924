// Package plot draws tensors: the sparsity pattern or the values of a matrix, and histograms, as an
// image with axes, ticks, labels and a colour bar, or as lines of text for a terminal.
//
// However large a tensor is, it is read once, front to back, where it lies, and added up in a grid
// that is not finer than what is drawn: each element belongs to one bin of the grid, and what is drawn
// for a bin is the mean of its finite elements, or how many of them are not zero. Memory depends on
// the size of the picture. Of a sparse tensor, only what it stores is looked at.
//
// The pictures are the project's own as far as they have to be: what can't be had elsewhere is a grid
// that is filled from a map or from stored elements alone. Axes and bars around it are some hundred
// lines on golang.org/x/image, which has the fonts. gonum.org/v1/plot, the library that would draw
// them, takes its data element by element and draws a rectangle for each, and it brings a dozen
// modules along, among them writers of PDF, SVG and LaTeX.
//
// Colour maps: viridis by S. van der Walt and N. Smith (in the public domain, CC0) for values of one
// sign, and the cool to warm map of K. Moreland, "Diverging Color Maps for Scientific Visualization"
// (2009), where they have both.
package plot
