package source

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

var (
	clawhubName  = lazyregexp.New(`^([a-zA-Z0-9][a-zA-Z0-9_.-]*/)?[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)
	versionText  = lazyregexp.New(`^[A-Za-z0-9^~<>=*|][A-Za-z0-9^~<>=*|., +_-]*$`)
	ociName      = lazyregexp.New(`^[a-zA-Z0-9.-]+(:[0-9]+)?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)+$`)
	ociReference = lazyregexp.New(`^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}|sha256:[0-9a-f]{64})$`)
)

// clawhubSource reads [owner/]slug[@version] of ClawHub.
func clawhubSource(registry, text string) (Source, error) {
	text = strings.TrimPrefix(text, "@") // its pages write @owner/slug
	name, version, versioned := strings.Cut(text, "@")
	if versioned && version == "" {
		return Source{}, fmt.Errorf("%q ends in @; write a version after it, or nothing", text)
	}
	version, err := url.PathUnescape(version)
	if err != nil || !clawhubName.MatchString(name) || len(name) > 214 || version != "" && !versionText.MatchString(version) || len(version) > 128 {
		return Source{}, fmt.Errorf("%q is not read; write clawhub:[owner/]slug[@version]", text)
	}
	return Source{Kind: ClawHub, Location: registry, Name: name, Ref: version}, nil
}

// otherRegistry reads clawhub+https://registry#name[@version].
func otherRegistry(text string) (Source, error) {
	_, rest, _ := strings.Cut(text, "+")
	u, err := webURL(rest)
	if err != nil {
		return Source{}, err
	}
	name := u.EscapedFragment()
	u.Fragment, u.RawFragment = "", ""
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), strings.TrimRight(u.RawPath, "/")
	return clawhubSource(u.String(), name)
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
	return clawhubSource("", strings.Join(segments, "/"))
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

// ociSource reads //registry/name[:tag][@sha256:…]. A digest beside a tag wins.
func ociSource(text string) (Source, error) {
	text = strings.TrimPrefix(text, "//")
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
	return Source{Kind: OCI, Location: name, Ref: ref}, nil
}
