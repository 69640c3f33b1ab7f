package skillfs

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// The limits of a package. Source of maxPackage: LinX's limit for packages.
const (
	maxPackage  = 50 << 20  // bytes of the package itself
	maxEntries  = 10_000    // files and folders
	maxFile     = 64 << 20  // bytes of one file
	maxUnpacked = 256 << 20 // bytes of all files together
	maxRepacked = 32 << 20  // bytes of all files of a tar.gz file, which are in memory
	maxDepth    = 20        // folders, one in the other
	maxPath     = 1024      // bytes of one path
	maxName     = 255       // bytes of one component of it
)

// An ArchiveError is the reason why a package is refused.
type ArchiveError struct {
	// Entry is the name of the file as the package has it; "" is the whole
	// package.
	Entry   string
	Message string
	Remedy  string // an imperative
}

func (e *ArchiveError) Error() string {
	if e.Entry == "" {
		return e.Message + "; " + e.Remedy
	}
	return fmt.Sprintf("%q: %s; %s", e.Entry, e.Message, e.Remedy)
}

// limits are bytes of a package, of one file, of all files, and of those of a tar.gz file.
// Tests have small ones.
type limits struct{ packed, file, unpacked, repacked int64 }

// contents collects the entries of a package, and refuses one that breaks a limit or
// that an attack may need.
type contents struct {
	limits   limits
	folders  map[string]bool // by path; false is a file
	unpacked int64           // bytes of all files
	entries  int
	meant    bool        // there is a SKILL.md somewhere
	refused  error       // why the package is
	zipped   []*zip.File // those of a ZIP file that were added
	repacked *zip.Writer // of the files of a tar.gz file, to memory
	memory   bytes.Buffer
}

// addFile adds a file and returns its clean path. entry is its name in the package.
func (c *contents) addFile(entry string, size int64) (name string, err error) {
	if name, err = CleanName(entry, maxDepth); err != nil {
		return "", err
	}
	if name == "." {
		return "", &ArchiveError{entry, "a file has no name", "pack the skill anew"}
	}
	if size < 0 || size > c.limits.file {
		return "", &ArchiveError{entry, fmt.Sprintf("it is larger than %d MB", c.limits.file>>20), "leave it out"}
	}
	if c.unpacked += size; c.unpacked > c.limits.unpacked {
		return "", &ArchiveError{entry, fmt.Sprintf("the package holds more than %d MB", c.limits.unpacked>>20), "leave out what the skill does not need"}
	}
	if _, twice := c.folders[name]; twice {
		return "", &ArchiveError{entry, "the package has two entries of this name", "pack it anew from one folder"}
	}
	return name, c.add(entry, name, false)
}

// addDir adds a folder and returns its clean path, with a slash; "" for one that is
// known and for the top. A package may have the same folder twice.
func (c *contents) addDir(entry string) (name string, err error) {
	if name, err = CleanName(entry, maxDepth); err != nil {
		return "", err
	}
	folder, known := c.folders[name]
	switch {
	case known && !folder:
		return "", &ArchiveError{entry, "the package has a file and a folder of this name", "pack it anew from one folder"}
	case known:
		return "", nil
	}
	if err := c.add(entry, name, true); err != nil || name == "." {
		return "", err
	}
	return name + "/", nil
}

// add adds a path, and the folders above it.
func (c *contents) add(entry, name string, folder bool) error {
	for {
		c.folders[name] = folder
		if len(c.folders) > maxEntries {
			return &ArchiveError{entry, fmt.Sprintf("the package has more than %d files and folders", maxEntries), "leave out what the skill does not need"}
		}
		if name == "." {
			return nil
		}
		name = path.Dir(name)
		if above, known := c.folders[name]; known {
			if !above {
				return &ArchiveError{entry, "a file of the package is a folder of this one", "pack it anew from one folder"}
			}
			return nil
		}
		folder = true
	}
}

// CleanName returns the path that the name of an archive's entry means, at most depth
// folders deep. The error is an [*ArchiveError] for a name that a skill does not need
// and that an attack may.
func CleanName(entry string, depth int) (string, error) {
	fault := func(message, remedy string) error { return &ArchiveError{shorten(entry), message, remedy} }
	switch {
	case len(entry) > maxPath:
		return "", fault(fmt.Sprintf("its path is longer than %d bytes", maxPath), "shorten it")
	case !utf8.ValidString(entry) || strings.ContainsFunc(entry, unicode.IsControl):
		return "", fault("its name is not UTF-8, or has control characters", "rename it")
	case strings.Contains(entry, `\`):
		return "", fault("its path has a backslash", "pack the skill with a program that writes /")
	case path.IsAbs(entry) || driveLetter(entry):
		return "", fault("its path is absolute", "pack the skill's folder with paths inside of it")
	}
	parts := strings.Split(strings.TrimRight(entry, "/"), "/")
	for _, part := range parts {
		switch {
		case part == "..":
			return "", fault("its path leads out of the package", "pack the skill's folder with paths inside of it")
		case len(part) > maxName:
			return "", fault(fmt.Sprintf("its name is longer than %d bytes", maxName), "shorten it")
		}
	}
	if len(parts) > depth {
		return "", fault(fmt.Sprintf("it lies more than %d folders deep", depth), "pack the skill with fewer")
	}
	return path.Clean(strings.Join(parts, "/")), nil
}

// driveLetter reports whether a path begins as absolute ones of Windows do.
func driveLetter(name string) bool {
	return len(name) > 1 && name[1] == ':' && (name[0]|0x20) >= 'a' && (name[0]|0x20) <= 'z'
}

// shorten returns a name for a message: it may have any bytes, and any number.
func shorten(name string) string { return truncate.String(strings.ToValidUTF8(name, ""), maxName) }

// root returns the folder that has SKILL.md, at the top or one level down.
func (c *contents) root() (string, error) {
	if len(c.folders) == 0 {
		return "", &ArchiveError{"", "it is empty", "pack the folder of a skill"}
	}
	var found []string
	for _, name := range c.sorted() {
		dir, base := path.Split(name)
		if c.folders[name] || base != "SKILL.md" && base != "skill.md" && base != "Skill.md" {
			continue
		}
		switch strings.Count(dir, "/") {
		case 0:
			return ".", nil
		case 1:
			found = append(found, path.Clean(dir))
		}
	}
	switch found = slices.Compact(found); len(found) {
	case 0:
		return "", &ArchiveError{"", "it has no SKILL.md, neither at its top nor in a folder there", "pack the folder that has SKILL.md"}
	case 1:
		return found[0], nil
	}
	return "", &ArchiveError{"", fmt.Sprintf("it has %d skills, such as %q and %q", len(found), found[0], found[1]), "pack each alone"}
}

func (c *contents) sorted() []string { return slices.Sorted(maps.Keys(c.folders)) }

// ErrNoSkill is wrapped, beside an [*ArchiveError], by the error for a file
// without a SKILL.md: it was not meant to be a skill.
var ErrNoSkill = errors.New("no skill")

// noSkill is an [*ArchiveError] that is [ErrNoSkill], too.
type noSkill struct{ fault *ArchiveError }

func (n noSkill) Error() string        { return n.fault.Error() }
func (n noSkill) Unwrap() error        { return n.fault }
func (n noSkill) Is(target error) bool { return target == ErrNoSkill }

// unmeant marks an error about a package without a SKILL.md.
func (c *contents) unmeant(err error) error {
	var fault *ArchiveError
	if !c.meant && errors.As(err, &fault) {
		return noSkill{fault}
	}
	return err
}
