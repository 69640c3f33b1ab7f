package source

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

var (
	ownerName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
	repoName  = lazyregexp.New(`^[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*$`)
	skillName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)
	scpText   = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9_.-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[^-:#][^:#]*(#.*)?$`)
	commitID  = lazyregexp.New(`^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$`)
)

func scpSource(text string) (Source, error) {
	location, fragment, _ := strings.Cut(text, "#")
	location = strings.TrimRight(location, "/")
	if strings.HasSuffix(location, ":") {
		return Source{}, fmt.Errorf("%q has no repository; write its path after the host", text)
	}
	return gitSource(location, fragment)
}

// repositoryAt returns the source of a repository of any server.
func repositoryAt(u *url.URL, fragment string) (Source, error) {
	repo := strings.TrimRight(u.EscapedPath(), "/")
	switch {
	case u.RawQuery != "" || u.ForceQuery:
		return Source{}, fmt.Errorf("%q: the URL of a repository has no parameters; write it without ?%s", u, u.RawQuery)
	case repo == "" || strings.HasPrefix(repo, "/-"):
		return Source{}, fmt.Errorf("%q has no repository; write its path after the host", u)
	case strings.Contains(repo, "//"):
		return Source{}, fmt.Errorf("%q: write a folder of a repository as #:folder", u)
	}
	return gitSource(strings.TrimRight(u.String(), "/"), fragment)
}

// gitSource returns the source of a repository's URL and a fragment "ref", "ref:path" or
// ":path", which may be percent-encoded.
func gitSource(location, fragment string) (Source, error) {
	ref, folder, _ := strings.Cut(fragment, ":")
	var err error
	if ref, err = url.PathUnescape(ref); err == nil {
		folder, err = url.PathUnescape(folder)
	}
	if err != nil {
		return Source{}, fmt.Errorf("the ref and folder %q: %w", fragment, err)
	}
	return gitAt(location, ref, folder)
}

func gitAt(location, ref, folder string) (Source, error) {
	if !IsRef(ref) {
		return Source{}, fmt.Errorf("%+q cannot be the name of a branch, tag or commit", ref)
	}
	folder, err := cleanPath(folder)
	return Source{Kind: Git, Location: location, Ref: ref, Path: folder}, err
}

// IsCommit reports whether a text is the whole id of a commit.
func IsCommit(text string) bool { return commitID.MatchString(text) }

// IsRef reports whether Git accepts a name of a branch or tag (git-check-ref-format), and
// takes it for nothing else. "" is the default branch.
func IsRef(ref string) bool {
	return ref == "" || len(ref) <= 255 &&
		!strings.HasPrefix(ref, "-") && !strings.HasPrefix(ref, "+") && !strings.HasPrefix(ref, "/") && !strings.HasSuffix(ref, "/") &&
		!strings.HasSuffix(ref, ".") && !strings.HasSuffix(ref, ".lock") &&
		!strings.Contains(ref, "..") && !strings.Contains(ref, "//") && !strings.Contains(ref, "@{") &&
		!strings.ContainsAny(ref, " ~^:?*[\\") && !strings.ContainsFunc(ref, isInvisible)
}

// shorthand reads owner/repo[/path][@skill][#ref[:path]] of GitHub, and
// group/…/repo[@skill][#ref[:path]] of GitLab, whose groups have groups. The form with
// @skill is that of the "skills" tool and of skills.sh. Its #ref@skill is not read: tags
// have an @, too.
func shorthand(site, text string) (Source, error) {
	text, fragment, _ := strings.Cut(text, "#")
	text = strings.TrimSuffix(text, "/")
	text, skill, named := cutSkill(text)
	if named && !skillName.MatchString(skill) {
		return Source{}, fmt.Errorf("%q cannot be the name of a skill; write %s#%s for a branch, tag or commit", skill, text, skill)
	}
	parts := strings.Split(text, "/")
	repo, folder := len(parts), ""
	if site == "github.com" && len(parts) > 2 {
		repo, folder = 2, strings.Join(parts[2:], "/")
	}
	if err := checkRepo(parts[:repo]); err != nil {
		return Source{}, err
	}
	s, err := gitSource(repoURL("https", site, parts[:repo]), fragment)
	if err != nil {
		return Source{}, err
	}
	if folder != "" && s.Path != "" {
		return Source{}, fmt.Errorf("two folders, %q and %q; write one", folder, s.Path)
	}
	if folder != "" {
		s.Path, err = cleanPath(folder)
	}
	s.Name = skill
	return s, err
}

// cutSkill cuts @skill from a text that ends in it. An @ in a folder's name is not one.
func cutSkill(text string) (rest, skill string, found bool) {
	at := strings.LastIndex(text, "@")
	if at < 0 || strings.Contains(text[at:], "/") || at > 0 && text[at-1] == '/' {
		return text, "", false
	}
	return text[:at], text[at+1:], true
}

// IsRepo reports whether a text is OWNER/REPO of GitHub.
func IsRepo(text string) bool {
	parts := strings.Split(text, "/")
	return len(parts) == 2 && checkRepo(parts) == nil
}

// checkRepo checks the parts of a repository's name: owner and repository, or groups and
// repository.
func checkRepo(parts []string) error {
	if len(parts) < 2 {
		return fmt.Errorf("a repository has an owner and a name; write owner/repo")
	}
	for i, part := range parts {
		pattern := ownerName
		if i > 0 {
			pattern = repoName
		}
		if !pattern.MatchString(part) || len(part) > 100 {
			return fmt.Errorf("%q cannot be part of a repository's name; write owner/repo, a URL, or ./folder", part)
		}
	}
	return nil
}

// repoURL returns the URL to clone a repository of a forge.
func repoURL(scheme, site string, parts []string) string {
	repo := strings.TrimSuffix(strings.Join(parts, "/"), ".git")
	return scheme + "://" + site + "/" + repo + ".git"
}
