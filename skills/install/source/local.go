package source

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// fileURL returns the source of a file: URL (RFC 8089) of this machine.
func fileURL(text string) (Source, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") || u.RawQuery != "" {
		return Source{}, fmt.Errorf("%q is not a file of this machine; write file:///path", text)
	}
	if strings.ContainsFunc(u.Path, isInvisible) {
		return Source{}, &RefusedError{fmt.Sprintf("%+q has invisible characters", text), "rename the file"}
	}
	s, err := hostPath(hostFromURL(u.Path), "")
	if err != nil || u.Fragment == "" {
		return s, err
	}
	folder, isFolder := strings.CutPrefix(u.Fragment, ":")
	if !isFolder {
		return Source{}, fmt.Errorf("#%s: a file has no branches; write #:folder for a folder of an archive", u.Fragment)
	}
	s.Path, err = cleanPath(folder)
	return s, err
}

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

// hostFromURL returns the host path of a file URL's path: /C:/x is C:\x on Windows.
func hostFromURL(path string) string {
	if runtime.GOOS == "windows" && filepath.VolumeName(filepath.FromSlash(path[1:])) != "" {
		path = path[1:]
	}
	return filepath.FromSlash(path)
}
