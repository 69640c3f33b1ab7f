package skillshost

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// The bounds of an entry. The numbers of files and bytes are those that the extension
// advises servers to keep to.
const (
	maxEntry  = 1 << 20 // bytes of its JSON
	maxFiles  = 512
	maxBytes  = 16 << 20 // of all files together
	maxURI    = 2048     // bytes
	maxFolder = 20       // folders, one in the other
	maxName   = 255      // bytes of a file's or a folder's name
)

// skillFile is the name of the file that has the instructions.
const skillFile = "SKILL.md"

// A Resource is a file of a skill, as its server states it.
type Resource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // "sha256:" and 64 hexadecimal digits
	Size   int64  `json:"size"`   // bytes

	name string // the path in the skill's folder, slash-separated
}

// An Entry is a skill of a server. Its files are the server's statement: a
// file with another content is not used.
type Entry struct {
	URI         string
	Frontmatter map[string]any // as JSON values
	Files       []Resource     // all, SKILL.md among them

	name   string // of the skill
	prefix string // the folders above it, joined by "/"; "" is none
	raw    json.RawMessage
}

// An EntryError says why a skill of a server cannot be used.
type EntryError struct {
	URI    string // a stranger's
	Reason string
}

// Error implements error.
func (e *EntryError) Error() string { return fmt.Sprintf("skill %.200q: %s", e.URI, e.Reason) }

// digestPattern matches the digest of a file.
var digestPattern = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// namePattern matches the name of a skill, as the Agent Skills standard has it.
var namePattern = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// parseEntry reads an entry of skills/list or skills/get. The error is an [*EntryError].
func parseEntry(raw json.RawMessage) (*Entry, error) {
	if len(raw) > maxEntry {
		return nil, &EntryError{"", fmt.Sprintf("its entry has more than %d bytes", maxEntry)}
	}
	var given struct {
		URI         string          `json:"uri"`
		Frontmatter map[string]any  `json:"frontmatter"`
		Resources   json.RawMessage `json:"resources"`
	}
	if err := json.Unmarshal(raw, &given); err != nil {
		return nil, &EntryError{given.URI, fmt.Sprintf("its entry is not as the extension has it: %v", err)}
	}
	e := &Entry{URI: given.URI, Frontmatter: given.Frontmatter, raw: raw}
	if err := e.identify(); err != nil {
		return nil, &EntryError{given.URI, err.Error()}
	}
	if err := e.readFiles(given.Resources); err != nil {
		return nil, &EntryError{given.URI, err.Error()}
	}
	return e, nil
}

// identify reads the URI, and compares it with the frontmatter.
func (e *Entry) identify() error {
	segments, err := splitURI(e.URI)
	if err != nil {
		return err
	}
	if len(segments) < 2 || segments[len(segments)-1] != skillFile {
		return errors.New("its URI does not end with the skill's name and " + skillFile)
	}
	e.name, e.prefix = segments[len(segments)-2], strings.Join(segments[:len(segments)-2], "/")
	description, _ := e.Frontmatter["description"].(string)
	switch {
	case len(e.name) > 64 || !namePattern.MatchString(e.name):
		return fmt.Errorf("its name %.100q is not one that the Agent Skills standard allows", e.name)
	case e.Frontmatter["name"] != e.name:
		return fmt.Errorf("the name in its frontmatter is not that of its URI, %q", e.name)
	case strings.TrimSpace(description) == "" || len(description) > 4096:
		return errors.New("its description is missing, or longer than the standard allows")
	}
	return nil
}

// splitURI returns the segments of a skill:// URI. The error says why it names no file.
func splitURI(uri string) ([]string, error) {
	rest, ok := strings.CutPrefix(uri, "skill://")
	switch {
	case len(uri) > maxURI:
		return nil, errors.New("a URI is too long")
	case !ok || strings.ContainsAny(rest, "?#"):
		return nil, fmt.Errorf("%.200q is no skill:// URI of a file", uri)
	}
	parts := strings.Split(rest, "/")
	if len(parts) > maxFolder {
		return nil, fmt.Errorf("%.200q has more than %d folders", uri, maxFolder)
	}
	for i, part := range parts {
		name, err := url.PathUnescape(part)
		if err == nil {
			err = checkName(name)
		}
		if err != nil {
			return nil, fmt.Errorf("%.200q names no file: %w", uri, err)
		}
		parts[i] = name
	}
	return parts, nil
}

// checkName returns an error for a name that some file system takes for another file.
func checkName(name string) error {
	switch {
	case !fs.ValidPath(name) || name == "." || strings.ContainsAny(name, `/\:<>"|?*`) || len(name) > maxName:
		return fmt.Errorf("%.100q is no name of a file", name)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }):
		return fmt.Errorf("%.100q has invisible characters", name)
	case strings.TrimRight(name, " .") != name:
		return fmt.Errorf("%.100q ends with a space or a dot", name)
	case strings.EqualFold(name, ".git"):
		return fmt.Errorf("%.100q is a folder of a program", name)
	}
	return nil
}

// readFiles reads the list of files. It refuses names that lead out of the skill's
// folder, and two that some file system takes for one.
func (e *Entry) readFiles(raw json.RawMessage) error {
	if string(raw) == `"dynamic"` {
		return errors.New(`its server does not state its files ("dynamic"), so that nothing of it can be consented to or verified`)
	}
	var all []json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return errors.New("its resources are no list")
	}
	if len(all) > maxFiles {
		return fmt.Errorf("it has more than %d files", maxFiles)
	}
	base, seen, total := strings.TrimSuffix(e.URI, skillFile), map[string]bool{}, int64(0)
	for _, one := range all {
		r, err := readResource(one, base)
		if err != nil {
			return err
		}
		if total += r.Size; total > maxBytes {
			return fmt.Errorf("its files have more than %d bytes", maxBytes)
		}
		e.Files = append(e.Files, r)
	}
	slices.SortFunc(e.Files, func(a, b Resource) int { return strings.Compare(a.name, b.name) })
	for _, r := range e.Files {
		if err := claim(seen, r.name); err != nil {
			return err
		}
	}
	if e.file(skillFile) == nil {
		return errors.New("its resources do not have its " + skillFile)
	}
	return nil
}

// readResource reads one file of a list. base is the URI of the skill's folder.
func readResource(raw json.RawMessage, base string) (Resource, error) {
	var r Resource
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, fmt.Errorf("its resources are not as the extension has them: %w", err)
	}
	segments, err := splitURI(r.URI)
	above, _ := splitURI(base + skillFile)
	depth := len(above) - 1
	switch {
	case err != nil:
		return r, err
	case len(segments) <= depth || !slices.Equal(segments[:depth], above[:depth]):
		return r, fmt.Errorf("%.200q is not in its folder", r.URI)
	case !digestPattern.MatchString(r.Digest):
		return r, fmt.Errorf("%.200q has no sha256 digest", r.URI)
	case r.Size < 0 || r.Size > maxBytes:
		return r, fmt.Errorf("%.200q has no size that is accepted", r.URI)
	}
	r.name = strings.Join(segments[depth:], "/")
	return r, nil
}

// claim adds a path to those that were seen, by the name under which a file system that
// folds case and normalises Unicode has it. A folder may be seen again, with one spelling.
func claim(seen map[string]bool, name string) error {
	parts := strings.Split(name, "/")
	for i := range parts {
		path := strings.Join(parts[:i+1], "/")
		folded, last := fold(path), i == len(parts)-1
		same, known := seen[folded+"\x00"+path], seen[folded]
		if known && (last || !same || seen[folded+"\x00file"]) {
			return fmt.Errorf("%.200q is the name of two files, on some machines", name)
		}
		seen[folded], seen[folded+"\x00"+path] = true, true
		if last {
			seen[folded+"\x00file"] = true
		}
	}
	return nil
}

// fold returns the same text for the paths that one of the usual file systems takes for
// one.
func fold(name string) string {
	return norm.NFD.String(cases.Fold().String(norm.NFD.String(name)))
}

// file returns the file of a path, or nil.
func (e *Entry) file(name string) *Resource {
	for i := range e.Files {
		if e.Files[i].name == name {
			return &e.Files[i]
		}
	}
	return nil
}

// Size returns the number of bytes of all files.
func (e *Entry) Size() (total int64) {
	for _, r := range e.Files {
		total += r.Size
	}
	return total
}

// Set returns the digest of all that a consent is about: the URI, the frontmatter, and
// each file with its digest and size.
func (e *Entry) Set() string {
	type stated struct {
		URI    string
		Digest string
		Size   int64
	}
	files := make([]stated, len(e.Files))
	for i, r := range e.Files {
		files[i] = stated{r.URI, r.Digest, r.Size}
	}
	const dynamic = false                                                               // of earlier versions, whose digests stay
	text, _ := json.Marshal([]any{"skill set 1", e.URI, e.Frontmatter, files, dynamic}) // of JSON, so it is some; sorted by name
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// verify returns an error for the content of a file that is not as its server has stated.
func (r *Resource) verify(data []byte) error {
	if int64(len(data)) != r.Size {
		return fmt.Errorf("it has %d bytes, and its server states %d", len(data), r.Size)
	}
	sum := sha256.Sum256(data)
	if "sha256:"+hex.EncodeToString(sum[:]) != r.Digest {
		return errors.New("it has not the digest that its server states")
	}
	return nil
}

// sameJSON reports whether two values are the same JSON.
func sameJSON(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// Name returns the skill's name.
func (e *Entry) Name() string { return e.name }

// Description returns the skill's purpose, a stranger's text.
func (e *Entry) Description() string {
	text, _ := e.Frontmatter["description"].(string)
	return text
}

// A VerificationError says that a skill is not as its server has stated it. Nothing of it
// is used.
type VerificationError struct {
	URI string // of the skill or the file
	Err error
}

// Error implements error.
func (e *VerificationError) Error() string {
	return fmt.Sprintf("%.200q is not used: %v", e.URI, e.Err)
}

// Unwrap returns the reason.
func (e *VerificationError) Unwrap() error { return e.Err }
