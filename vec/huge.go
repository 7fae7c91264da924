package vec

// hugePage is the size of a huge page on amd64, and on arm64 with pages of 4 KiB.
const hugePage = 2 << 20

// AdviseHuge asks the operating system to use huge pages for b, which is best done before anything is written to
// it: the first write to each page then takes a fault for 2 MiB at a time, not for 4 KiB. Go does not ask for its
// heap. It is advice: where there are no huge pages, or b is too short to hold one, nothing happens.
func AdviseHuge(b []byte) { adviseHuge(b) }
