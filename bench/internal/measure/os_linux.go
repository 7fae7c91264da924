package measure

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Datasync is fdatasync(2).
func Datasync(f *os.File) error { return os.NewSyscallError("fdatasync", unix.Fdatasync(int(f.Fd()))) }

// threadTime is how long this thread has been on a processor.
func threadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// ProcessorTime is how long all threads of this process have been on a processor; 0 where that can't
// be told.
func ProcessorTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// inMemory reports whether dir is on a file system without a disk.
func inMemory(dir string) bool {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return false
	}
	return s.Type == unix.TMPFS_MAGIC || s.Type == unix.RAMFS_MAGIC
}

// AnonymousMemory is how much memory of this process is backed by no file, in bytes; 0 where
// that can't be told.
func AnonymousMemory() int64 {
	return kilobytes("/proc/self/status", func(line string) (string, bool) { return strings.CutPrefix(line, "RssAnon:") })
}

// HugeMapped is how much of the maps of files below dir is mapped by huge pages, in bytes.
func HugeMapped(dir string) int64 {
	inside := false
	return kilobytes("/proc/self/smaps", func(line string) (string, bool) {
		if first, _, _ := strings.Cut(line, " "); !strings.HasSuffix(first, ":") { // the head of a map
			inside = strings.Contains(line, dir)
		}
		value, ok := strings.CutPrefix(line, "FilePmdMapped:")
		return value, ok && inside
	})
}

// kilobytes adds up what pick finds in the lines of a file.
func kilobytes(name string, pick func(line string) (string, bool)) int64 {
	f, err := os.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	var sum int64
	for s := bufio.NewScanner(f); s.Scan(); {
		if value, ok := pick(s.Text()); ok {
			n, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
			sum += n << 10
		}
	}
	return sum
}

// cpuName is the processor's name.
func cpuName() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	_, rest, _ := strings.Cut(string(b), "model name\t: ")
	name, _, _ := strings.Cut(rest, "\n")
	return name
}
