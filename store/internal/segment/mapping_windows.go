package segment

// mapBeyondEnd says that a map may be longer than its file.
const mapBeyondEnd = false

// truncateMapped says that a file can be made shorter while it is mapped.
const truncateMapped = false

// retire leaves the view as it is: Windows can't put an inaccessible range in its
// place without a moment in which something else may be mapped there.
func retire([]byte) error { return nil }
