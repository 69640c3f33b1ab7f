package skillsext

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"slices"
	"sort"

	"github.com/skillsmcp/skills-mcp/skills"
)

// Bounds of one page.
const (
	pageSkills   = 50
	pageEncoded  = 256 << 10 // bytes of entries
	pageChildren = 100
)

// List returns the encoded entries of one page, and the cursor of the next page, or "".
// It omits skills that do not conform to the extension, and logs those that cannot be
// read.
func (l *Library) List(ctx context.Context, cursor string, log *slog.Logger) (entries []json.RawMessage, next string, err error) {
	left, err := l.after(cursor)
	if err != nil {
		return nil, "", err
	}
	entries = []json.RawMessage{}
	encoded := 0
	for i, skill := range left {
		entry, err := l.entry(ctx, skill)
		switch refused := (*NotServedError)(nil); {
		case ctx.Err() != nil:
			return nil, "", context.Cause(ctx)
		case errors.As(err, &refused):
			continue
		case err != nil:
			log.Warn("a skill is not listed", "skill", skill.QualifiedName(), "error", err)
			continue
		}
		line, err := json.Marshal(entry)
		if err != nil {
			return nil, "", err
		}
		entries = append(entries, line)
		if encoded += len(line); len(entries) == pageSkills || encoded >= pageEncoded {
			return entries, nextCursor(left, i+1), nil
		}
	}
	return entries, "", nil
}

// Listing returns one page of the listed skills, conforming or not, and the cursor of the
// next page, or "".
func (l *Library) Listing(cursor string) (page []*skills.Skill, next string, err error) {
	left, err := l.after(cursor)
	if err != nil {
		return nil, "", err
	}
	n := min(len(left), pageChildren)
	return left[:n], nextCursor(left, n), nil
}

// after returns the listed skills from a cursor on, also if the catalog has changed since.
func (l *Library) after(cursor string) ([]*skills.Skill, error) {
	name, err := decodeCursor(cursor)
	if err != nil {
		return nil, err
	}
	i, found := 0, false
	if cursor != "" {
		i, found = l.catalog.Place(name)
	}
	if found {
		i++
	}
	return slices.DeleteFunc(slices.Clone(l.catalog.Skills[i:]), func(s *skills.Skill) bool { return !Listed(s) }), nil
}

// nextCursor returns the cursor of the page after the first n skills, or "" if no skill
// follows.
func nextCursor(all []*skills.Skill, n int) string {
	if n == len(all) {
		return ""
	}
	return encodeCursor(all[n-1].QualifiedName())
}

// encodeCursor returns a cursor in base64, which mcp-go demands for its own lists.
func encodeCursor(name string) string { return base64.StdEncoding.EncodeToString([]byte(name)) }

func decodeCursor(cursor string) (name string, err error) {
	decoded, err := base64.StdEncoding.DecodeString(cursor)
	if err != nil {
		return "", &NotServedError{"the cursor is not one of this server; list from the beginning"}
	}
	return string(decoded), nil
}

// A Child is a file or a folder in a folder.
type Child struct {
	URI  string
	Name string
	Dir  bool
	// Skill is the skill whose SKILL.md it is, or nil.
	Skill *skills.Skill
	Size  int64  // of a file, in bytes
	Head  []byte // the first bytes of a file, at most 512
}

// Directory returns one page of the direct children of the folder at a URI, and the
// cursor of the next page, or "". The error is a [*NotServedError] if there is no folder.
func (l *Library) Directory(uri, cursor string) (children []Child, next string, err error) {
	after, err := decodeCursor(cursor)
	if err != nil {
		return nil, "", err
	}
	skill, files, dir, release, err := l.open(uri)
	if err != nil {
		return nil, "", err
	}
	defer release()
	if info, err := look(files, dir); err != nil {
		return nil, "", nothingAt(uri)
	} else if !info.IsDir() {
		return nil, "", &NotServedError{short(uri) + " is not a folder; resources/read returns it"}
	}
	entries, err := fs.ReadDir(files, dir) // sorted
	if err != nil {
		return nil, "", err
	}
	first := sort.Search(len(entries), func(i int) bool { return cursor == "" || entries[i].Name() > after })
	for _, entry := range entries[first:] {
		if len(children) == pageChildren {
			return children, encodeCursor(children[pageChildren-1].Name), nil
		}
		if child := child(skill, files, path.Join(dir, entry.Name())); child != nil {
			if child.Skill != nil && l.note != nil {
				child.Size += int64(len(l.note(skill)))
			}
			children = append(children, *child)
		}
	}
	return children, "", nil
}

// child returns the description of a file or folder, or nil if it is not served or was
// removed.
func child(skill *skills.Skill, files fs.FS, name string) *Child {
	info, err := look(files, name)
	if err != nil {
		return nil
	}
	c := &Child{URI: at(skill, name), Name: path.Base(name), Dir: info.IsDir()}
	if c.Dir {
		return c
	}
	c.Size, c.Head = info.Size(), head(files, name)
	if name == skillFile {
		c.Skill = skill
	}
	return c
}
