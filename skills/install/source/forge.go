package source

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// isForge reports the sites whose two-part paths are repositories.
func isForge(site string) bool {
	return slices.Contains([]string{"github.com", "gitlab.com", "codeberg.org", "bitbucket.org", "gist.github.com"},
		strings.TrimPrefix(strings.ToLower(site), "www."))
}

// forgeSource returns the source of a page of a forge: a repository, or a folder or file
// of it at a branch, tag or commit. A branch's name with a slash must be encoded there,
// or be written as #branch: a page's URL does not tell where it ends.
func forgeSource(u *url.URL, segments []string, fragment string) (Source, error) {
	if repo, ref, folder, ok := treePage(segments); ok {
		return pageSource(u, repo, ref, folder, fragment)
	}
	rest := segments[min(2, len(segments)):]
	switch base := path.Base(u.Path); {
	case len(rest) == 0, u.Host == "gitlab.com" && !slices.Contains(segments, "-"):
		if hasArchiveName(base) && len(rest) > 0 {
			return urlSource(u, fragment)
		}
		return pageSource(u, segments, "", "", fragment)
	case rest[0] == "releases" && len(rest) == 3 && rest[1] == "tag", rest[0] == "commit" && len(rest) == 2:
		return pageSource(u, segments[:2], rest[len(rest)-1], "", fragment)
	case hasArchiveName(base), isSkillFile(base), base == marketplaceFile:
		return urlSource(u, fragment)
	}
	return Source{}, fmt.Errorf("%s is a page of %s, not a repository, folder or file; write the URL of the repository", u, u.Host)
}

// treePage reads the path of a page that shows a folder or file of a repository, in the
// shapes of GitHub (OWNER/REPO/tree/REF/PATH) and GitLab (with "-" before the marker).
func treePage(segments []string) (repo []string, ref, folder string, ok bool) {
	dash := slices.Index(segments, "-")
	at := 2 // of the marker
	if dash >= 2 {
		at = dash + 1
	}
	if len(segments) < at+2 || segments[at] != "tree" && segments[at] != "blob" {
		return nil, "", "", false
	}
	repo, rest := segments[:at], segments[at+1:]
	if dash >= 2 {
		repo = segments[:dash]
	}
	if file := rest[len(rest)-1]; segments[at] == "blob" && !isSkillFile(file) && file != marketplaceFile {
		return nil, "", "", false
	}
	return repo, rest[0], strings.Join(rest[1:], "/"), true
}

// pageSource returns the source of a repository of a forge. A fragment is read as a ref
// and folder if the URL has none; a browser's, such as #readme, is not expected after one.
func pageSource(u *url.URL, repo []string, ref, folder, fragment string) (Source, error) {
	if u.Scheme != "https" && !IsLoopback(u.Hostname()) {
		return Source{}, fmt.Errorf("%s: write https://", u)
	}
	if u.Host != "gist.github.com" || len(repo) > 1 {
		if err := checkRepo(repo); err != nil {
			return Source{}, err
		}
	}
	location := repoURL(u.Scheme, u.Host, repo)
	if fragment == "" {
		return gitAt(location, ref, folder)
	}
	if ref != "" {
		return Source{}, fmt.Errorf("%s has a branch, and #%s another; write one of them", u, fragment)
	}
	return gitSource(location, fragment)
}
