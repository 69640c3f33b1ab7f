package lock

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of one entry.
const (
	maxFiles = 20_000
	maxName  = 255 // bytes
	maxPath  = 4096
)

// validate returns an [*Error] for content that no installation has written: a path that
// leads elsewhere, a digest that is none.
func (f *File) validate() error {
	folded := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(f.Entries)) {
		key := strings.ToLower(name)
		if other, taken := folded[key]; taken {
			return broken(name, fmt.Sprintf("it is the folder of %q on some machines", other))
		}
		folded[key] = name
		if reason := f.Entries[name].fault(name); reason != "" {
			return broken(name, reason)
		}
	}
	return nil
}

func broken(entry, reason string) error {
	return &Error{Message: fmt.Sprintf("the entry %q cannot be used: %s", entry, reason), Remedy: restore}
}

// fault returns the reason why an entry is not accepted; "" if it is.
func (e *Entry) fault(name string) string {
	switch {
	case e == nil:
		return "it is null"
	case !isPath(name):
		return "its path leads elsewhere"
	case !e.Exists() && (e.Next == nil || e.Removal || e.Previous != nil):
		return "it has no digest"
	case e.Next != nil && e.Removal:
		return "it is both changed and removed"
	}
	for _, s := range []*State{&e.State, e.Next, e.Previous} {
		if s == nil || s == &e.State && !e.Exists() {
			continue
		}
		if reason := s.fault(); reason != "" {
			return reason
		}
	}
	return ""
}

func (s *State) fault() string {
	switch {
	case s.Name == "" || len(s.Name) > maxName || !isPrintable(s.Name):
		return "its name is none"
	case s.Kind != Skill && s.Kind != Plugin:
		return fmt.Sprintf("its kind %q is unknown", s.Kind)
	case !isDigest(s.Digest):
		return "its digest is none"
	case s.Path != "" && s.Path != "." && !isPath(s.Path):
		return "its path in the source leads elsewhere"
	case !isPrintable(fmt.Sprint(s.Revision, s.Source, s.Origin)):
		return "its source has control characters"
	case len(s.Files) == 0 || len(s.Files) > maxFiles:
		return fmt.Sprintf("it has no files, or more than %d", maxFiles)
	}
	for name, file := range s.Files {
		if !isPath(name) {
			return fmt.Sprintf("the path of the file %q leads elsewhere", name)
		}
		if file.Size < 0 || !isDigest(file.Digest) && (file.Digest != "" || file.Link == "") {
			return fmt.Sprintf("the file %q has no digest", name)
		}
	}
	return ""
}

// isPath reports whether a name is a path below its folder on every system.
func isPath(name string) bool {
	return name != "." && len(name) <= maxPath && fs.ValidPath(name) && isPrintable(name) && !strings.Contains(name, `\`)
}

func isPrintable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

func isDigest(text string) bool {
	digits, ok := strings.CutPrefix(text, "sha256:")
	if !ok || len(digits) != 64 || strings.ToLower(digits) != digits {
		return false
	}
	_, err := hex.DecodeString(digits)
	return err == nil
}
