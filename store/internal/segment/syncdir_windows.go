package segment

// syncDir does nothing: NTFS logs changes of directory entries by itself, and
// Windows has no call to flush a directory.
func syncDir(string) error { return nil }
