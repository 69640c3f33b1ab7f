// Package skillsext implements the Skills extension of MCP (SEP-2640,
// https://modelcontextprotocol.io/seps/2640-skills-extension): it serves the folders of
// skills under skill:// URIs, and lists the skills.
//
// Start with [New], which returns the [Library] of a catalog. Files are read for each
// request, and never before it.
package skillsext

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A NotServedError is the error of a request for a URI or cursor that is not served. Its
// message is for the client.
type NotServedError struct{ Message string }

func (e *NotServedError) Error() string { return e.Message }

// A Library serves the folders of a catalog's skills.
type Library struct {
	catalog *skills.Catalog
	digests *Digests
	note    func(*skills.Skill) string // as of [Library.WithNotes]; nil is none
}

// New returns the library of a catalog. Libraries of several catalogs may share digests.
func New(catalog *skills.Catalog, digests *Digests) *Library {
	return &Library{catalog, digests, nil}
}

// WithNotes returns a library whose SKILL.md files end with a note each, which may be "".
func (l *Library) WithNotes(note func(*skills.Skill) string) *Library {
	return &Library{l.catalog, l.digests, note}
}

// maxSkillFile is the largest SKILL.md that loads, in bytes.
const maxSkillFile = 1 << 20

// readSkillFile returns the SKILL.md of a skill as it is served.
func (l *Library) readSkillFile(skill *skills.Skill, files fs.FS) ([]byte, error) {
	data, err := skillfs.ReadRegular(files, skillFile, maxSkillFile)
	if err == nil && l.note != nil {
		data = append(data, l.note(skill)...)
	}
	return data, err
}

// lookup returns the skill of a qualified name, or nil if it has no folder here.
func (l *Library) lookup(qualified string) *skills.Skill {
	i, found := l.catalog.Place(qualified)
	if !found || !Has(l.catalog.Skills[i]) {
		return nil
	}
	return l.catalog.Skills[i]
}

// find returns the skill whose folder a URI is in, and the path below it. A skill of a
// plugin precedes a folder in a skill of the plugin's name.
func (l *Library) find(uri string) (skill *skills.Skill, name string, ok bool) {
	segments, ok := split(uri)
	if !ok {
		return nil, "", false
	}
	for n := min(3, len(segments)); n > 0; n-- {
		if skill = l.lookup(strings.Join(segments[:n], "/")); skill != nil {
			return skill, path.Join(append([]string{"."}, segments[n:]...)...), true
		}
	}
	return nil, "", false
}

// open returns the skill of a URI and its files, which are valid until release is called.
func (l *Library) open(uri string) (skill *skills.Skill, files fs.FS, name string, release func(), err error) {
	skill, name, ok := l.find(uri)
	if !ok {
		return nil, nil, "", nil, nothingAt(uri)
	}
	if skill.Blocked != "" {
		return nil, nil, "", nil, &NotServedError{skill.Blocked}
	}
	files, release, err = skillfs.Hold(skill.Files)
	return skill, files, name, release, err
}

func nothingAt(uri string) error {
	return &NotServedError{"there is nothing at " + short(uri) + "; skills/list and resources/directory/read tell what there is"}
}

// short cuts a URI for a message.
func short(uri string) string {
	if len(uri) > 200 {
		return strings.ToValidUTF8(uri[:200], "") + "…"
	}
	return uri
}

// A File is the content of a file.
type File struct {
	Name string // of the file itself
	Data []byte
}

// Read returns the current content of the file at a URI. The error is a [*NotServedError]
// if there is none.
func (l *Library) Read(uri string) (*File, error) {
	skill, files, name, release, err := l.open(uri)
	if err != nil {
		return nil, err
	}
	defer release()
	info, err := look(files, name)
	switch {
	case err != nil:
		return nil, nothingAt(uri)
	case info.IsDir():
		return nil, &NotServedError{short(uri) + " is a folder; resources/directory/read tells what is in it"}
	}
	if name == skillFile {
		data, err := l.readSkillFile(skill, files)
		return &File{name, data}, err
	}
	data, err := skillfs.ReadRegular(files, name, maxBytes)
	if err != nil {
		return nil, err
	}
	return &File{path.Base(name), data}, nil
}

// Digest returns the digest of the file at a URI, or "" if there is none.
func (l *Library) Digest(ctx context.Context, uri string) string {
	skill, files, name, release, err := l.open(uri)
	if err != nil {
		return ""
	}
	defer release()
	info, err := look(files, name)
	if err != nil || info.IsDir() {
		return ""
	}
	r, err := l.digests.of(skill, files, name, info)
	if err != nil || ctx.Err() != nil {
		return ""
	}
	return r.Digest
}

// Skill returns the skill whose folder a URI is in, or nil.
func (l *Library) Skill(uri string) *skills.Skill {
	skill, _, _ := l.find(uri)
	return skill
}
