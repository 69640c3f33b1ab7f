package source

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// String returns the source as a person writes it: [Parse] returns the same source for
// it, except for Pin.
func (s Source) String() string {
	switch s.Kind {
	case Folder, Archive:
		return s.fileText()
	case Git:
		return s.gitText()
	case ClawHub, NPM:
		return s.packageText()
	case OCI:
		text := "oci://" + s.Location
		if strings.HasPrefix(s.Ref, "sha256:") {
			text += "@" + s.Ref
		} else if s.Ref != "" {
			text += ":" + s.Ref
		}
		return text + fragmentText("", s.Path)
	}
	return s.Location + fragmentText("", s.Path)
}

// fileText returns a host path, or a URL where a path would be misread.
func (s Source) fileText() string {
	text := s.Location
	if base := filepath.Base(text); s.Kind == Folder && (hasArchiveName(base) || isSkillFile(base) || base == marketplaceFile) {
		text += string(filepath.Separator)
	}
	if s.Path == "" && strings.TrimSpace(text) == text {
		return text
	}
	location := filepath.ToSlash(text)
	if !strings.HasPrefix(location, "/") {
		location = "/" + location
	}
	return (&url.URL{Scheme: "file", Path: location}).String() + fragmentText("", s.Path)
}

// hostFromURL returns the host path of a file URL's path: /C:/x is C:\x on Windows.
func hostFromURL(path string) string {
	if runtime.GOOS == "windows" && filepath.VolumeName(filepath.FromSlash(path[1:])) != "" {
		path = path[1:]
	}
	return filepath.FromSlash(path)
}

// packageText returns the text of a source of kind ClawHub or NPM.
func (s Source) packageText() string {
	text := string(s.Kind) + ":" + s.Name
	if s.Location != "" {
		text = string(s.Kind) + "+" + s.Location + "#" + s.Name
	}
	if s.Ref != "" {
		text += "@" + url.PathEscape(s.Ref)
	}
	return text
}
