package main

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// places are the paths of files in a directory, each of which can be made on every system, below the
// directory, and beside all others.
type places struct {
	taken map[string]place // by a form that is the same for paths that clash somewhere
}

type place struct {
	path, name string
	directory  bool
}

func newPlaces() *places { return &places{map[string]place{}} }

// add takes a path, with slashes, for the tensor of a name.
func (p *places) add(file, name string) error {
	if err := checkPath(file); err != nil {
		return fmt.Errorf("%q would be file %q: %w", name, file, err)
	}
	for at, directory := file, false; at != "."; at, directory = path.Dir(at), true {
		folded := foldCase(at)
		other, taken := p.taken[folded]
		switch {
		case !taken:
			p.taken[folded] = place{at, name, directory}
		case !directory || !other.directory:
			return fmt.Errorf("%q would be file %q, where %q would have %q", name, file, other.name, other.path)
		case other.path != at:
			return fmt.Errorf("%q would be in directory %q, and %q in %q, which is the same where case does not count", name, at, other.name, other.path)
		}
	}
	return nil
}

// maxPart is the longest name of a file in bytes.
const maxPart = 255

// checkPath says why a path can't be that of a file everywhere.
func checkPath(file string) error {
	for part := range strings.SplitSeq(file, "/") {
		switch {
		case part == "":
			return fmt.Errorf("it begins with a slash, or has two of them in a row")
		case part == "." || part == ".." || strings.HasPrefix(part, "."):
			return fmt.Errorf("%q is hidden, or leads elsewhere", part)
		case strings.ContainsAny(part, `\:*?"<>|`):
			return fmt.Errorf("%q has a character that names of files can't have everywhere", part)
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
			return fmt.Errorf("%q ends with a point or a space, which Windows drops", part)
		case len(part) > maxPart:
			return fmt.Errorf("a part of it has %d bytes, and files at most %d", len(part), maxPart)
		case isWindowsDevice(part):
			return fmt.Errorf("%q is a device on Windows", part)
		}
	}
	return nil
}

// isWindowsDevice reports whether Windows takes a name of a file for a device, with whatever extension.
func isWindowsDevice(part string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(part), ".")
	switch stem = strings.TrimRight(stem, " "); stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	rest, serial := strings.CutPrefix(stem, "com")
	if !serial {
		if rest, serial = strings.CutPrefix(stem, "lpt"); !serial {
			return false
		}
	}
	return utf8.RuneCountInString(rest) == 1 && strings.ContainsAny(rest, "0123456789¹²³")
}

// foldCase returns a form that is the same for names that differ in case only.
func foldCase(s string) string {
	return strings.Map(func(r rune) rune {
		// The smallest of the runes that are one another in another case.
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, s)
}
