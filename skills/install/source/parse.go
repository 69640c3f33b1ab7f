package source

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Help lists the forms of a source, for a command's help.
const Help = `  ./DIR /DIR                     a folder; also a path that exists and is not owner/repo
  ./FILE                         a .zip, .skill, .tar.gz or .tgz file; file:///FILE
  https://HOST/…                 an archive, a SKILL.md or a marketplace.json
  https://HOST                   the skills that a site publishes (discovery index);
                                 also https://HOST/…/index.json
  OWNER/REPO[/PATH]              a GitHub repository, or a folder of it
  OWNER/REPO@SKILL               the skill of that name, as the "skills" tool reads it
  OWNER/REPO#REF[:PATH]          a branch, tag or commit; "#:PATH" is a folder of the default
  github:OWNER/REPO gitlab:GROUP/REPO
  https://github.com/…/tree/REF/PATH   as the browser shows it; GitLab, Codeberg, Bitbucket too
  https://HOST/X.git git+https://HOST/X ssh://HOST/X git@HOST:X [#REF[:PATH]]
  clawhub:[OWNER/]SLUG[@VERSION]       a skill of ClawHub; clawhub+https://HOST#SLUG of another
  oci://REGISTRY/NAME[:TAG|@sha256:…]  an OCI artifact
  npm:PACKAGE[@VERSION]          a package of npm`

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
	switch scheme := schemeOf(text); {
	case isHostPath(text):
		return hostPath(text, folder)
	case isSCP(text):
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

// isInvisible reports characters that a person does not see in a text on a terminal.
func isInvisible(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == '\u00a0'
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

// marketplaceFile is the name of the list of a Claude Code marketplace.
const marketplaceFile = "marketplace.json"

// isSkillFile reports the name of a skill's main file. Sites write it in either case.
func isSkillFile(base string) bool { return strings.EqualFold(base, "SKILL.md") }

// hasArchiveName reports whether a path or URL path has the extension of an archive
// that can be unpacked.
func hasArchiveName(name string) bool {
	name = strings.ToLower(name)
	for _, extension := range []string{".zip", ".skill", ".tar.gz", ".tgz"} {
		if strings.HasSuffix(name, extension) && len(path.Base(name)) > len(extension) {
			return true
		}
	}
	return false
}

// cleanPath returns a slash-separated path inside a source: relative, without "." and
// "..", the folder of the SKILL.md or marketplace.json that it ends in. "" is all.
func cleanPath(text string) (string, error) {
	if strings.Contains(text, `\`) || strings.HasPrefix(text, "/") || strings.ContainsFunc(text, isInvisible) || !utf8.ValidString(text) {
		return "", fmt.Errorf("the folder %+q: write it relative, with slashes", text)
	}
	for part := range strings.SplitSeq(text, "/") {
		if part == ".." {
			return "", fmt.Errorf("the folder %q leads out of the source; write it without %q", text, "..")
		}
	}
	text = path.Clean(text)
	if base := path.Base(text); isSkillFile(base) {
		text = path.Dir(text)
	} else if base == marketplaceFile {
		text = strings.TrimSuffix(path.Dir(text), ".claude-plugin")
		text = path.Clean(text)
	}
	if text == "." {
		return "", nil
	}
	return text, nil
}
