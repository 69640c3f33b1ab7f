package web

import (
	"errors"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

const (
	maxFile  = 32 << 20 // of a file that is read
	maxShown = 256 << 10
)

// skillScreens are the screens of one skill.
type skillScreens struct{ *Page }

// A fileScreen is the data of the screen of a file.
type fileScreen struct {
	Skill, Name string
	Size        int
	Text        string // "" is shown no other way than as Picture or for download
	Cut         bool   // Text is a part
	Picture     bool
	Raw         string // the path of the file itself
}

// skillFile shows a file of a skill.
func (p skillScreens) skillFile(r *http.Request) (*content, error) {
	skill, name := r.PathValue("name"), r.PathValue("file")
	data, err := p.readFile(r)
	if err != nil {
		return nil, err
	}
	s := &fileScreen{Skill: skill, Name: name, Size: len(data), Picture: isPicture(mediaType(name)), Raw: filePath(skill, "raw", name)}
	if utf8.Valid(data) && !strings.ContainsRune(string(data[:min(len(data), 8000)]), 0) {
		s.Text, s.Cut = truncate.String(string(data), maxShown), len(data) > maxShown
	}
	return &content{Title: termtext.Legible(path.Base(name)), Template: "file.html", Section: "skills", Data: s}, nil
}

// rawFile serves a file of a skill.
func (p skillScreens) rawFile(w http.ResponseWriter, r *http.Request) {
	data, err := p.readFile(r)
	if err != nil {
		p.fail(w, r, err)
		return
	}
	serveHostile(w, r.PathValue("file"), mediaType(r.PathValue("file")), data, false)
}

// mediaType returns the type of a file by its name.
func mediaType(name string) string {
	kind, _, _ := strings.Cut(mime.TypeByExtension(strings.ToLower(path.Ext(name))), ";")
	return kind
}

// readFile reads the file of a skill that a request names. Others than the person get none
// of a skill that waits for the person to accept a change.
func (p skillScreens) readFile(r *http.Request) ([]byte, error) {
	name := r.PathValue("file")
	skill, err := p.options.Service.Find(r.Context(), r.PathValue("name"))
	if err != nil {
		return nil, err
	}
	if skill.Blocked != "" && !isPerson(r.Context()) {
		return nil, &run.Error{Code: run.PermissionDenied, Message: "The skill has changed since it was accepted. Only the person may look at its files."}
	}
	missing := &run.Error{Code: run.NotFound, Message: "The skill has no such file."}
	if !fs.ValidPath(name) || skipped(name) {
		return nil, missing
	}
	data, err := skillfs.ReadRegular(skill.Files, name, maxFile)
	switch {
	case errors.Is(err, skillfs.ErrTooLarge):
		return nil, &run.Error{Code: run.InvalidParam, Message: "The file is too large to be shown here."}
	case err != nil:
		missing.Err = err
		return nil, missing
	}
	return data, nil
}

// skipped reports whether a file is in a folder that is no part of a skill, such as .git.
func skipped(name string) bool {
	parts := strings.Split(name, "/")
	for _, folder := range parts[:len(parts)-1] {
		if scan.Skip(folder) {
			return true
		}
	}
	return false
}

// filePath returns the path of a file of a skill: its view is "files" or "raw".
func filePath(skill, view, name string) string {
	return skillPath(skill) + "/" + view + "/" + escapedPath(name)
}

// escapedPath returns the path of a file as a part of a URL.
func escapedPath(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}
