package quarantine

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// maxNotes bounds the notes of one quarantine.
const maxNotes = 10

// names are the paths in a quarantine. No two have the same key.
type names struct {
	limits  Limits
	byKey   map[string]entry
	notes   []string
	omitted bool // there is a note of omit
}

type entry struct {
	name   string // clean
	folder bool
	link   bool // which Seal makes
}

// add checks a name and reserves it. made are the new folders of its path, each after
// the one it lies in; a folder may be added again.
func (n *names) add(name string, folder bool) (clean string, made []string, err error) {
	if clean, err = n.check(name); err != nil {
		return "", nil, err
	}
	if clean == "." {
		if folder {
			return clean, nil, nil
		}
		return "", nil, &Error{name, "a file has no name", "pack the folder anew"}
	}
	added := map[string]entry{}
	for at, dir := clean, folder; at != "."; at, dir = path.Dir(at), true {
		known, err := n.find(name, at, dir)
		if err != nil {
			return "", nil, err
		}
		if known {
			if at == clean && !folder {
				return "", nil, &Error{name, "there are two files of this name", "pack it anew from one folder"}
			}
			break
		}
		added[key(at)] = entry{name: at, folder: dir}
		if dir {
			made = append(made, at)
		}
	}
	if len(n.byKey)+len(added) > n.limits.Files {
		return "", nil, n.tooMany(name)
	}
	for k, e := range added {
		n.byKey[k] = e
		n.note(e.name)
	}
	slices.Reverse(made)
	return clean, made, nil
}

// find reports whether a path is known. The error says that a file system may take it
// for another one.
func (n *names) find(name, at string, folder bool) (bool, error) {
	known, ok := n.byKey[key(at)]
	switch {
	case !ok:
		return false, nil
	case known.name != at:
		return false, &Error{name, fmt.Sprintf("some machines take it for %q", known.name), "rename one of the two"}
	case known.folder != folder:
		return false, &Error{name, fmt.Sprintf("%q is a file and a folder", at), "pack it anew from one folder"}
	}
	return true, nil
}

func (n *names) remove(clean string) { delete(n.byKey, key(clean)) }

// get returns the entry of a clean path.
func (n *names) get(clean string) (entry, bool) {
	if clean == "." {
		return entry{name: ".", folder: true}, true
	}
	e, ok := n.byKey[key(clean)]
	return e, ok && e.name == clean
}

func (n *names) tooMany(name string) error {
	return &Error{name, fmt.Sprintf("there are more than %d files and folders", n.limits.Files), "leave out what the skill does not need"}
}

// check returns the path that a name means.
func (n *names) check(name string) (clean string, err error) {
	if clean, err = n.clean(name); err != nil {
		return "", err
	}
	if inGit(clean) {
		return "", &Error{name, "it lies in a folder that git takes for a repository", "leave out .git"}
	}
	return clean, nil
}

// clean returns the path that a name means, which may be in .git.
func (n *names) clean(name string) (clean string, err error) {
	if clean, err = skillfs.CleanName(name, n.limits.Depth); err != nil {
		return "", asError(name, err)
	}
	if i, r := skills.FindHidden(clean); i >= 0 {
		return "", &Error{name, fmt.Sprintf("its name has the invisible character %U", r), "rename it"}
	}
	for part := range strings.SplitSeq(clean, "/") {
		if message := foreign(part); message != "" && runtime.GOOS == "windows" {
			return "", &Error{name, message, "rename it"}
		}
	}
	return clean, nil
}

// asError returns the error of package skillfs as one of this package.
func asError(name string, err error) error {
	var fault *skillfs.ArchiveError
	if errors.As(err, &fault) {
		return &Error{cmp.Or(name, fault.Entry), fault.Message, fault.Remedy}
	}
	return err
}

// note notes a name that Windows does not have.
func (n *names) note(clean string) {
	if message := foreign(path.Base(clean)); message != "" && len(n.notes) < maxNotes {
		n.notes = append(n.notes, fmt.Sprintf("%q: %s", clean, message))
	}
}

// key returns the same text for the paths that one of the usual file systems takes for
// one: it ignores case and, as those of Apple and ext4 with casefold do, the forms of
// Unicode and ignorable characters.
func key(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(name)
	}
	folded := norm.NFD.String(cases.Fold().String(norm.NFD.String(name)))
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Cf) {
			return -1
		}
		return r
	}, folded)
}

// omit notes that a path in .git is left out, once.
func (n *names) omit(clean string) {
	if !n.omitted && len(n.notes) < maxNotes {
		n.omitted = true
		n.notes = append(n.notes, fmt.Sprintf("%q: files of a git repository are left out", clean))
	}
}

// inGit reports whether a path is .git or lies in it.
func inGit(clean string) bool { return slices.ContainsFunc(strings.Split(clean, "/"), isGit) }

// isGit reports whether some file system takes a name for .git.
func isGit(part string) bool {
	part, _, _ = strings.Cut(key(part), ":") // a stream of NTFS
	part = strings.TrimRight(part, ". ")
	return part == ".git" || part == "git~1"
}

// checkBare refuses a folder that git takes for a bare repository: its configuration
// starts programs when somebody runs git in the folder. Source: gitrepository-layout(5).
func (n *names) checkBare() error {
	for k, e := range n.byKey {
		if path.Base(k) != "head" {
			continue
		}
		_, objects := n.byKey[path.Join(path.Dir(k), "objects")]
		_, refs := n.byKey[path.Join(path.Dir(k), "refs")]
		if objects && refs {
			return &Error{path.Dir(e.name), "git takes the folder for a repository, whose configuration starts programs", "leave it out"}
		}
	}
	return nil
}

// foreign returns the reason why Windows has no file of this name, "" if it may have
// one. Source: Microsoft's "Naming Files, Paths, and Namespaces".
func foreign(part string) string {
	base, _, _ := strings.Cut(part, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch {
	case part == "." || part == "..":
		return ""
	case strings.ContainsAny(part, `<>:"|?*`):
		return "Windows has no names with one of " + `< > : " | ? *`
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return "Windows leaves out the dot or space at the end of the name"
	case isDevice(base):
		return "it is the name of a device of Windows"
	}
	return ""
}

func isDevice(base string) bool {
	if port, ok := strings.CutPrefix(base, "COM"); ok {
		base = "LPT" + port
	}
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	number, ok := strings.CutPrefix(base, "LPT")
	return ok && utf8.RuneCountInString(number) == 1 && strings.ContainsAny(number, "123456789¹²³")
}
