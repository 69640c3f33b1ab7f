package source

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
)

// webSource returns the source of an http or https URL: by its site, then by its path.
func webSource(text string) (Source, error) {
	u, err := webURL(text)
	if err != nil {
		return Source{}, err
	}
	fragment := u.EscapedFragment()
	u.Fragment, u.RawFragment = "", ""
	site := strings.TrimPrefix(u.Host, "www.")
	switch segments := pathSegments(u); {
	case site == "skills.sh":
		return Source{}, refuseMirror(segments)
	case isClawHub(site):
		return clawhubPage(segments)
	case isForge(site):
		u.Host = site
		return forgeSource(u, segments, fragment)
	default:
		return siteSource(u, segments, fragment)
	}
}

// siteSource returns the source of a URL of a site that is not known, by its path.
func siteSource(u *url.URL, segments []string, fragment string) (Source, error) {
	if repo, ref, folder, ok := treePage(segments); ok {
		return pageSource(u, repo, ref, folder, fragment)
	}
	whole, base := strings.TrimSuffix(u.Path, "/"), path.Base(u.Path)
	switch {
	case u.RawQuery != "":
		return urlSource(u, fragment)
	case len(segments) == 0:
		return indexSource(u, "", fragment)
	case strings.HasSuffix(whole, "/.well-known/agent-skills"):
		return indexSource(u, strings.TrimSuffix(u.EscapedPath(), "/")+"/index.json", fragment)
	case base == "index.json":
		return indexSource(u, u.EscapedPath(), fragment)
	case strings.HasSuffix(whole, ".git"), strings.Contains(whole, ".git//"), slices.Contains(segments, "_git"):
		return repositoryAt(u, fragment)
	}
	return urlSource(u, fragment)
}

func indexSource(u *url.URL, escaped, fragment string) (Source, error) {
	if fragment != "" {
		return Source{}, fmt.Errorf("a discovery index has no folders; choose a skill with --skill, and write the URL without #%s", fragment)
	}
	return Source{Kind: Index, Location: u.Scheme + "://" + u.Host + escaped}, nil
}

// gitURL returns the source of a URL that says that it is a repository's.
func gitURL(text string) (Source, error) {
	u, err := webURL(text)
	if err != nil {
		return Source{}, err
	}
	fragment, site := u.EscapedFragment(), strings.TrimPrefix(u.Host, "www.")
	u.Fragment, u.RawFragment = "", ""
	if web(text) && isForge(site) {
		u.Host = site
		return forgeSource(u, pathSegments(u), fragment)
	}
	return repositoryAt(u, fragment)
}
