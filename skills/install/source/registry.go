package source

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/agext/levenshtein"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

var (
	schemeText   = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*:`)
	word         = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)
	clawhubName  = lazyregexp.New(`^([a-zA-Z0-9][a-zA-Z0-9_.-]*/)?[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)
	npmName      = lazyregexp.New(`^(@[A-Za-z0-9~_][A-Za-z0-9._~-]*/)?[A-Za-z0-9~_][A-Za-z0-9._~-]*$`)
	versionText  = lazyregexp.New(`^[A-Za-z0-9^~<>=*|][A-Za-z0-9^~<>=*|., +_-]*$`)
	ociName      = lazyregexp.New(`^[a-zA-Z0-9.-]+(:[0-9]+)?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)+$`)
	ociReference = lazyregexp.New(`^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}|sha256:[0-9a-f]{64})$`)
)

func isWord(text string) bool { return word.MatchString(text) }

// schemeOf returns the scheme of a text in lower case, "" if it has none.
func schemeOf(text string) string {
	return strings.ToLower(strings.TrimSuffix(schemeText.FindString(text), ":"))
}

// parseScheme reads a text that begins with a scheme.
func parseScheme(scheme, text string) (Source, error) {
	rest := text[len(scheme)+1:]
	switch scheme {
	case "https", "http":
		return webSource(text)
	case "github", "gitlab":
		return shorthand(scheme+".com", rest)
	case "git+https", "git+http":
		return gitURL(strings.TrimPrefix(text[len("git"):], "+"))
	case "ssh", "git":
		return gitURL(text)
	case "git+ssh":
		return gitURL(text[len("git+"):])
	case "file":
		return fileURL(text)
	case "oci":
		return ociSource(rest)
	case "clawhub", "npm":
		return packageSource(Kind(scheme), "", rest)
	case "clawhub+https", "clawhub+http", "npm+https", "npm+http":
		return otherRegistry(text)
	case "skills-sh", "skills.sh", "skillssh":
		return Source{}, refuseMirror(strings.Split(rest, "/"))
	case "git+file":
		return Source{}, fmt.Errorf("%q: a folder of this machine is installed by its path, without Git", text)
	}
	return Source{}, unknownScheme(scheme, rest)
}

func unknownScheme(scheme, rest string) error {
	schemes := []string{"https", "github", "gitlab", "git+https", "git+ssh", "ssh", "git", "file", "oci", "clawhub", "npm"}
	slices.SortStableFunc(schemes, func(a, b string) int {
		return levenshtein.Distance(scheme, a, nil) - levenshtein.Distance(scheme, b, nil)
	})
	if levenshtein.Distance(scheme, schemes[0], nil) <= 2 {
		return fmt.Errorf("there are no sources of the kind %q; did you mean %q?", scheme+":", schemes[0]+":"+rest)
	}
	return fmt.Errorf("there are no sources of the kind %q; write owner/repo, https://…, ./folder, clawhub:…, oci://… or npm:…", scheme+":")
}

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

// packageSource reads [owner/]slug[@version] of ClawHub or package[@version] of npm.
func packageSource(kind Kind, registry, text string) (Source, error) {
	if kind == ClawHub {
		text = strings.TrimPrefix(text, "@") // its pages write @owner/slug
	}
	name, version := text, ""
	if at := strings.LastIndex(text, "@"); at > 0 {
		name, version = text[:at], text[at+1:]
		if version == "" {
			return Source{}, fmt.Errorf("%q ends in @; write a version after it, or nothing", text)
		}
	}
	pattern, form := clawhubName, "clawhub:[owner/]slug[@version]"
	if kind == NPM {
		pattern, form = npmName, "npm:package[@version]"
	}
	version, err := url.PathUnescape(version)
	if err != nil || !pattern.MatchString(name) || len(name) > 214 || version != "" && !versionText.MatchString(version) || len(version) > 128 {
		return Source{}, fmt.Errorf("%q is not read; write %s", text, form)
	}
	return Source{Kind: kind, Location: registry, Name: name, Ref: version}, nil
}

// otherRegistry reads kind+https://registry#name[@version].
func otherRegistry(text string) (Source, error) {
	scheme, rest, _ := strings.Cut(text, "+")
	u, err := webURL(rest)
	if err != nil {
		return Source{}, err
	}
	name := u.EscapedFragment()
	u.Fragment, u.RawFragment = "", ""
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return packageSource(Kind(strings.ToLower(scheme)), u.String(), name)
}

func isClawHub(site string) bool {
	return slices.Contains([]string{"clawhub.ai", "clawhub.com"}, strings.TrimPrefix(strings.ToLower(site), "www."))
}

// clawhubPage returns the source of a page /OWNER/skills/SLUG of ClawHub, or of an older
// /OWNER/SLUG.
func clawhubPage(segments []string) (Source, error) {
	if len(segments) == 3 && segments[1] == "skills" {
		segments = []string{segments[0], segments[2]}
	}
	if len(segments) != 2 {
		return Source{}, fmt.Errorf("this page of ClawHub is not a skill's; write clawhub:owner/slug")
	}
	if segments[0] == "skills" {
		segments = segments[1:]
	}
	return packageSource(ClawHub, "", strings.Join(segments, "/"))
}

// refuseMirror refuses a reference to the mirror of skills.sh, with the repository that
// it is a copy of if its name tells.
func refuseMirror(parts []string) error {
	remedy := "write owner/repo@skill of the repository that the skill comes from"
	if len(parts) == 3 && skillName.MatchString(parts[2]) && checkRepo(parts[:2]) == nil {
		remedy = fmt.Sprintf("install it from its repository: %s/%s@%s", parts[0], parts[1], parts[2])
	}
	return &RefusedError{"skills.sh mirrors other repositories, and nobody has looked at the copies", remedy}
}

// ociSource reads //registry/name[:tag][@sha256:…][#:path]. A digest beside a tag wins.
func ociSource(text string) (Source, error) {
	text, fragment, _ := strings.Cut(strings.TrimPrefix(text, "//"), "#")
	name, ref := text, ""
	if before, digest, ok := strings.Cut(name, "@"); ok {
		name, ref = before, digest
	}
	if colon := strings.LastIndex(name, ":"); colon > strings.LastIndex(name, "/") {
		if tag := name[colon+1:]; ref == "" {
			ref = tag
		}
		name = name[:colon]
	}
	host, repository, _ := strings.Cut(name, "/")
	name = strings.ToLower(host) + "/" + repository
	if !ociName.MatchString(name) || strings.HasPrefix(host, "-") || text != strings.TrimRight(text, ":@") || ref != "" && !ociReference.MatchString(ref) {
		return Source{}, fmt.Errorf("%q is not read; write oci://registry/name:tag or oci://registry/name@sha256:…, the name in lower case", "oci://"+text)
	}
	folder, isFolder := strings.CutPrefix(fragment, ":")
	folder, err := url.PathUnescape(folder)
	if fragment != "" && !isFolder || err != nil {
		return Source{}, fmt.Errorf("#%s: write #:folder for a folder of the artifact", fragment)
	}
	folder, err = cleanPath(folder)
	return Source{Kind: OCI, Location: name, Ref: ref, Path: folder}, err
}
