// Package summary computes what describes the values of a tensor: smallest and largest, mean, standard
// deviation, a histogram, how many are zero, NaN or infinite.
//
// Mean, deviation, range and histogram are over the finite values; NaNs and infinities are counted
// apart. The elements that a sparse tensor does not store are zeros like others. Sums are taken in
// float64 over blocks that are merged pairwise by mean and squared deviation (Chan, Golub and LeVeque
// 1979), so that neither many values nor a large offset costs digits: mean and deviation are right to
// 13 digits of the largest value. All else is exact.
//
// A dense tensor is read where it lies, twice: for the range first, then for the histogram, both by the
// kernels of package vec. Values of one or two bytes are read once: how often each of the 256 or 65,536
// occurs tells everything. All processors share the work.
package summary
