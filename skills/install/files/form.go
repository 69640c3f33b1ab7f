package files

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
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

// formOf returns the form of a file by its Content-Type, else by the extension of its
// URLs, else by its first bytes. A web page is one whatever it is said to be: many servers
// send one in place of an error.
func formOf(contentType string, urls []string, head []byte) form {
	first := byBytes(head)
	if first == page {
		return page
	}
	found := byType(contentType)
	for _, u := range urls {
		found = cmp.Or(found, byExtension(u))
	}
	return cmp.Or(found, first)
}

func byType(contentType string) form {
	switch contentType {
	case "application/zip", "application/x-zip-compressed", "application/gzip", "application/x-gzip",
		"application/tar+gzip", "application/x-tar", "application/x-gtar", "application/x-tgz", "application/x-compressed-tar":
		return archive
	case "text/markdown", "text/x-markdown":
		return skill
	case "application/json":
		return marketplace
	}
	return unknown
}

func byExtension(location string) form {
	u, err := url.Parse(location)
	if err != nil {
		return unknown
	}
	switch strings.ToLower(path.Ext(u.Path)) {
	case ".zip", ".skill", ".gz", ".tgz", ".tar":
		return archive
	case ".md":
		return skill
	case ".json":
		return marketplace
	}
	return unknown
}

func byBytes(head []byte) form {
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	switch {
	case bytes.HasPrefix(head, []byte("PK")), bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return archive
	case bytes.HasPrefix(text, []byte("---")):
		return skill
	case bytes.HasPrefix(text, []byte("{")):
		return marketplace
	case isPage(text):
		return page
	}
	return unknown
}

// isPage reports whether a text begins as a web page does.
func isPage(text []byte) bool {
	lower := bytes.ToLower(text)
	for _, tag := range []string{"<!doctype", "<html", "<head", "<body", "<?xml", "<script"} {
		if bytes.HasPrefix(lower, []byte(tag)) {
			return true
		}
	}
	return false
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
