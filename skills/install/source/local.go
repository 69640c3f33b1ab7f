package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func isThere(text, folder string) bool {
	_, err := os.Stat(resolve(text, folder))
	return err == nil
}

// isHostPath reports whether a text can only be a path of this machine.
func isHostPath(text string) bool {
	slashed := filepath.ToSlash(text)
	return filepath.IsAbs(text) || filepath.VolumeName(text) != "" || strings.HasPrefix(slashed, "/") ||
		slashed == "." || slashed == ".." || strings.HasPrefix(slashed, "./") || strings.HasPrefix(slashed, "../") ||
		strings.HasPrefix(slashed, "~")
}

func resolve(text, folder string) string {
	if filepath.IsAbs(text) {
		return filepath.Clean(text)
	}
	return filepath.Join(folder, text)
}

// hostPath returns the source of a path of this machine. A name that ends in a slash is
// a folder, whatever its extension.
func hostPath(text, folder string) (Source, error) {
	if strings.HasPrefix(text, "~") {
		return Source{}, fmt.Errorf("%q: the shell did not expand ~; write the whole path", text)
	}
	location := resolve(text, folder)
	if !filepath.IsAbs(location) {
		return Source{}, fmt.Errorf("%q is a relative path, and there is no folder that it starts from; write an absolute one", text)
	}
	if text := filepath.ToSlash(text); strings.HasSuffix(text, "/") {
		return Source{Kind: Folder, Location: location}, nil
	}
	info, err := os.Stat(location)
	isFolder := err == nil && info.IsDir()
	switch base := filepath.Base(location); {
	case isFolder:
	case hasArchiveName(base):
		return Source{Kind: Archive, Location: location}, nil
	case isSkillFile(base):
		location = filepath.Dir(location)
	case base == marketplaceFile:
		location = filepath.Dir(location)
		if filepath.Base(location) == ".claude-plugin" {
			location = filepath.Dir(location)
		}
	}
	return Source{Kind: Folder, Location: location}, nil
}
