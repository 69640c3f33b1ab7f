package source

import (
	"net/url"
	"path/filepath"
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
	case ClawHub:
		return s.clawhubText()
	case OCI:
		text := "oci://" + s.Location
		if strings.HasPrefix(s.Ref, "sha256:") {
			text += "@" + s.Ref
		} else if s.Ref != "" {
			text += ":" + s.Ref
		}
		return text
	}
	return s.Location
}

// fileText returns a host path that is not misread.
func (s Source) fileText() string {
	base := filepath.Base(s.Location)
	if s.Kind == Folder && (hasArchiveName(base) || isSkillFile(base) || base == marketplaceFile || strings.TrimSpace(base) != base) {
		return s.Location + string(filepath.Separator)
	}
	return s.Location
}

func (s Source) clawhubText() string {
	text := "clawhub:" + s.Name
	if s.Location != "" {
		text = "clawhub+" + s.Location + "#" + s.Name
	}
	if s.Ref != "" {
		text += "@" + url.PathEscape(s.Ref)
	}
	return text
}

// gitText returns the text of a source of kind Git.
func (s Source) gitText() string {
	text := s.Location
	for _, prefix := range []string{"github", "gitlab"} {
		if repo, ok := strings.CutPrefix(s.Location, "https://"+prefix+".com/"); ok && strings.HasSuffix(repo, ".git") {
			text = prefix + ":" + strings.TrimSuffix(repo, ".git")
		}
	}
	if web(text) && !strings.HasSuffix(text, ".git") {
		text = "git+" + text
	}
	if s.Name != "" {
		text += "@" + s.Name
	}
	return text + fragmentText(s.Ref, s.Path)
}

// fragmentText returns "#ref:path" with percent-encoding where a part would be misread.
func fragmentText(ref, folder string) string {
	if ref == "" && folder == "" {
		return ""
	}
	encode := func(text string) string {
		return strings.NewReplacer("%2F", "/", "%40", "@").Replace(url.PathEscape(text))
	}
	text := "#" + strings.ReplaceAll(encode(ref), ":", "%3A")
	if folder != "" {
		text += ":" + encode(folder)
	}
	return text
}
