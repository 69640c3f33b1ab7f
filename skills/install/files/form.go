package files

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A form is a form of file that a URL may lead to.
type form string

// The forms of files.
const (
	archive     form = "archive"
	skill       form = "SKILL.md"
	marketplace form = ".claude-plugin/marketplace.json"
	page        form = "page"
	unknown     form = ""
)

// formOf returns the form of a file by its first bytes: names and Content-Types are often
// wrong, and many servers send a web page in place of an error.
func formOf(head []byte) form {
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	switch {
	case skillfs.IsArchive(head):
		return archive
	case bytes.HasPrefix(text, []byte("---")):
		return skill
	case bytes.HasPrefix(text, []byte("{")):
		return marketplace
	case bytes.HasPrefix(text, []byte("<")):
		return page
	}
	return unknown
}

// unexpected returns the error for a file that is not installed.
func unexpected(found form, r *download.Response) error {
	got := "a file of the type " + cmp.Or(r.ContentType, "that nobody states")
	remedy := "write the URL of a .zip, .skill or .tar.gz file, or of a SKILL.md"
	if found == page {
		got = "a web page"
		remedy += "; for a repository that the page shows, write git+https:// before its address"
	}
	return &source.RefusedError{Reason: fmt.Sprintf("%s is %s of %d bytes, no archive and no SKILL.md", r.URL, got, r.Size), Remedy: remedy}
}
