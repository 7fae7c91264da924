// Package png reads and writes images as tensors.
//
// [Decode] takes a whole .png file and gives a tensor of height × width × channels, in the order in
// which a PNG has its pixels: from the top left, row by row. An image without color has no axis of
// channels, if it is not transparent:
//
//	gray of 1 to 8 bits          uint8   height × width
//	gray of 16 bits              uint16  height × width
//	gray with transparency       uint8, uint16  height × width × 2  (gray, alpha)
//	color, palette               uint8, uint16  height × width × 3  (red, green, blue)
//	either with transparency     uint8, uint16  height × width × 4  (red, green, blue, alpha)
//
// Gray of less than 8 bits is spread over the range of uint8. Colors are not multiplied by alpha. Only a
// palette is resolved: numbers are as the file has them, whatever it says of gamma or of profiles, and
// texts, dates and further frames are left out.
//
// [Encode] writes a uint8 or uint16 tensor of one of these shapes, or of height × width × 1, which is the
// same file as height × width. The file that a tensor makes gives the same tensor, but for that last axis.
//
// # Library
//
// Files are decoded by image/png of the standard library. They are not encoded by it: it can't write gray
// with transparency, and drops an alpha that is opaque everywhere, so that a tensor would come back with
// another shape.
//
// # Untrusted files
//
// Before memory is taken, what the file declares is looked at: an image of more than [MaxBytes], or of
// more bytes than zlib can get out of the file, is refused.
//
// Source: Portable Network Graphics (PNG) Specification (Third Edition), W3C.
package png
