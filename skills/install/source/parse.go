package source

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// Help lists the forms of a source, for a command's help.
const Help = `  ./DIR /DIR                     a folder; also a path that exists and is not owner/repo
  ./FILE                         a .zip, .skill, .tar.gz or .tgz file
  https://HOST/…                 an archive, a SKILL.md or a marketplace.json
  https://HOST                   the skills that a site publishes (discovery index);
                                 also https://HOST/…/index.json
  OWNER/REPO[/PATH]              a GitHub repository, or a folder of it
  OWNER/REPO@SKILL               the skill of that name, as the "skills" tool reads it
  OWNER/REPO#REF[:PATH]          a branch, tag or commit; "#:PATH" is a folder of the default
  github:OWNER/REPO gitlab:GROUP/REPO
  https://github.com/…/tree/REF/PATH   as the browser shows it; GitLab too
  https://HOST/X.git git+https://HOST/X ssh://HOST/X git@HOST:X [#REF[:PATH]]
  clawhub:[OWNER/]SLUG[@VERSION]       a skill of ClawHub; clawhub+https://HOST#SLUG of another
  oci://REGISTRY/NAME[:TAG|@sha256:…]  an OCI artifact`

// maxText bounds the text of a source in bytes.
const maxText = 4096

// Parse returns the source that a person has written. Relative paths start from folder,
// an absolute host path. The error is a [*RefusedError] for a form that is not accepted
// from anybody; others say which form was probably meant. [Help] has all forms.
func Parse(text, folder string) (Source, error) {
	text = strings.TrimSpace(text)
	if err := acceptable(text); err != nil {
		return Source{}, err
	}
	s, err := parseForm(text, folder)
	if err != nil {
		return Source{}, err
	}
	return s, nil
}

func parseForm(text, folder string) (Source, error) {
	switch scheme := strings.ToLower(strings.TrimSuffix(schemeText.FindString(text), ":")); {
	case isHostPath(text):
		return hostPath(text, folder)
	case scpText.MatchString(text): // user@host:path
		return scpSource(text)
	case scheme != "":
		return parseScheme(scheme, text)
	}
	return parseBare(text, folder)
}

// acceptable refuses a text that a terminal, a command line or Git would act on.
func acceptable(text string) error {
	switch {
	case text == "":
		return errors.New("no source; write owner/repo, a URL, or ./folder")
	case len(text) > maxText:
		return fmt.Errorf("a source of %d bytes; %d are the limit", len(text), maxText)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, isInvisible):
		return &RefusedError{fmt.Sprintf("%+q has invisible characters", text), "type it by hand"}
	case strings.HasPrefix(text, "-"):
		return &RefusedError{fmt.Sprintf("%q looks like an option", text), "write ./" + text + " for a path"}
	}
	if helper, _, ok := strings.Cut(text, "::"); ok && isWord(helper) {
		return &RefusedError{helper + ":: makes Git start a program of this machine", "write the repository's https:// URL"}
	}
	return nil
}

// parseBare reads a text without a scheme: a repository of GitHub, the URL of a known
// site without its scheme, or a path that exists.
func parseBare(text, folder string) (Source, error) {
	site, _, _ := strings.Cut(text, "/")
	if strings.Contains(text, "/") && (isForge(site) || isClawHub(site)) {
		return parseScheme("https", "https://"+text)
	}
	exists := isThere(text, folder)
	switch short, err := shorthand("github.com", text); {
	case hasArchiveName(text), exists && err != nil:
		return hostPath(text, folder)
	case err == nil && exists:
		return Source{}, fmt.Errorf("%q is a path here and could be a repository; write ./%s or github:%s", text, text, text)
	case err == nil:
		return short, nil
	case strings.Contains(site, ".") && strings.Contains(text, "/"):
		return Source{}, fmt.Errorf("cannot tell what %q is; write https://%s or oci://%s", text, text, text)
	case strings.Contains(text, "/"):
		return Source{}, fmt.Errorf("%q: %w", text, err)
	}
	return Source{}, fmt.Errorf("cannot tell what %q is, and no such path exists; write owner/repo, a URL, ./folder or clawhub:%s", text, text)
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
	case "ssh":
		return gitURL(text)
	case "git":
		return Source{}, &RefusedError{"git:// is not protected on the way", "write https:// or ssh://"}
	case "git+ssh":
		return gitURL(text[len("git+"):])
	case "oci":
		return ociSource(rest)
	case "clawhub":
		return clawhubSource("", rest)
	case "clawhub+https", "clawhub+http":
		return otherRegistry(text)
	case "npm", "npm+https", "npm+http":
		return Source{}, &RefusedError{"packages of npm are not fetched", "download it with npm pack, and install the .tgz file"}
	case "skills-sh", "skills.sh", "skillssh":
		return Source{}, refuseMirror(strings.Split(rest, "/"))
	case "file", "git+file":
		return Source{}, fmt.Errorf("%q: a folder or archive of this machine is installed by its path", text)
	}
	return Source{}, fmt.Errorf("there are no sources of the kind %q; write owner/repo, https://…, ./folder, clawhub:… or oci://…", scheme+":")
}

var schemeText = lazyregexp.New(`^[A-Za-z][A-Za-z0-9+.-]*:`)
