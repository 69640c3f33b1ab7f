package connect

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
)

// A format reads and edits one kind of file. Files have no byte order mark; the
// empty one is valid. Errors name a line where there is one.
type format interface {
	// tree returns the decoded file.
	tree(data []byte) (map[string]any, error)
	// text returns the entry of a name as written in the file, for people.
	text(data []byte, name string) string
	// set adds the entry, or replaces the one of its name.
	set(data []byte, name string, entry fields) ([]byte, error)
	// remove removes the entry, which exists.
	remove(data []byte, name string) ([]byte, error)
	// snippet returns a file with this entry only.
	snippet(name string, entry fields) []byte
	// within returns the key of the map of entries.
	within() string
}

// errChangedMore reports a bug of this package: the file is not written.
var errChangedMore = errors.New("the edit would change more than the entry; edit the file by hand")

// errNotAll is returned for an entry that a file defines in several places.
var errNotAll = errors.New("the entry is not in one place; edit the file by hand")

// entries returns the entries of a file by name. A section that is not a map is an
// error.
func entries(f format, data []byte) (map[string]any, error) {
	tree, err := f.tree(data)
	if err != nil {
		return nil, err
	}
	section, ok := tree[f.within()]
	if !ok {
		return nil, nil
	}
	found, ok := section.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q is not a map of servers; fix it by hand", f.within())
	}
	return found, nil
}

// verify returns an error unless an edit changed one entry only, and as wanted.
func verify(f format, before, after []byte, name string, wanted func(entry any) bool) error {
	was, err := f.tree(before)
	if err != nil {
		return err
	}
	is, err := f.tree(after)
	if err != nil {
		return fmt.Errorf("%w (%w)", errChangedMore, err)
	}
	// As text, because a TOML file may hold values that do not equal themselves.
	if fmt.Sprintf("%#v", without(f, was, name)) != fmt.Sprintf("%#v", without(f, is, name)) {
		return errChangedMore
	}
	if found, err := entries(f, after); err != nil || !wanted(found[name]) {
		return errors.Join(errNotAll, err)
	}
	return nil
}

func without(f format, tree map[string]any, name string) map[string]any {
	rest := maps.Clone(tree)
	section, ok := rest[f.within()].(map[string]any)
	if !ok {
		return rest
	}
	section = maps.Clone(section)
	delete(section, name)
	rest[f.within()] = section
	if len(section) == 0 {
		delete(rest, f.within())
	}
	return rest
}

// nesting returns the depth of a file's brackets, or more if texts have some that are not
// closed: the parsers recurse.
func nesting(data []byte) (deepest int) {
	depth := 0
	for _, b := range data {
		switch b {
		case '{', '[':
			depth++
			deepest = max(deepest, depth)
		case '}', ']':
			depth--
		}
	}
	return deepest
}

// newline returns the first line end of a file, LF if it has none.
func newline(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
