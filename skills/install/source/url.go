package source

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// hostName are the hosts that are read: names in ASCII, so that two that look the same
// are the same, and addresses.
var hostName = lazyregexp.New(`^([A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_.])?|[0-9A-Fa-f:.]+)$`)

// webURL parses a URL and refuses those that hold credentials, or whose content anybody
// on the way could change.
func webURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case strings.Contains(text, "@") && (err != nil || u.User != nil):
		if err == nil && isLogin(u) {
			break
		}
		return nil, &RefusedError{"the URL holds credentials, which would be recorded", "write it without them; a Git credential helper or ssh key is asked for them"}
	case err != nil:
		return nil, fmt.Errorf("%q is not a URL; write https://host/path", text)
	case !hostName.MatchString(u.Hostname()):
		return nil, fmt.Errorf("%q has no host that can be read; write https://host/path, the host in ASCII", text)
	}
	u.Host, u.Scheme = strings.ToLower(u.Host), strings.ToLower(u.Scheme)
	if name := secretParameter(u); name != "" {
		return nil, &RefusedError{fmt.Sprintf("the URL's parameter %q looks like a credential, which would be recorded", name), "download the file and install it by its path"}
	}
	if u.Scheme == "http" && !IsLoopback(u.Hostname()) {
		return nil, &RefusedError{"http:// is not protected on the way", "write https://" + strings.TrimPrefix(text, text[:len("http://")])}
	}
	return u, nil
}

// isLogin reports whether the user of a URL is only a login name, as ssh has one.
func isLogin(u *url.URL) bool {
	_, secret := u.User.Password()
	name := u.User.Username()
	return strings.HasSuffix(strings.ToLower(u.Scheme), "ssh") && !secret && isWord(name) && !strings.HasPrefix(name, "-")
}

func secretParameter(u *url.URL) string {
	for name := range u.Query() {
		plain := strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
		for _, word := range []string{"token", "secret", "password", "signature", "apikey"} {
			if strings.Contains(plain, word) {
				return name
			}
		}
	}
	return ""
}

// IsLoopback reports whether a host name is this machine's own, by its form. It is not
// looked up, because the answer of a resolver can be anybody's.
func IsLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() || host == "localhost" || strings.HasSuffix(host, ".localhost")
}

func web(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}

// urlSource returns the source of a file on the web.
func urlSource(u *url.URL, fragment string) (Source, error) {
	if fragment != "" {
		return Source{}, fmt.Errorf("#%s: a file on the web has neither branches nor folders; choose a skill with --skill, or write git+https:// for a Git repository", fragment)
	}
	return Source{Kind: URL, Location: u.String()}, nil
}

// pathSegments returns the parts of a URL's path, each decoded, so that a branch's name
// may hold an encoded slash. Empty parts are left out.
func pathSegments(u *url.URL) []string {
	var segments []string
	for part := range strings.SplitSeq(u.EscapedPath(), "/") {
		if decoded, err := url.PathUnescape(part); err == nil && part != "" {
			segments = append(segments, decoded)
		}
	}
	return segments
}

var word = lazyregexp.New(`^[A-Za-z0-9_.-]+$`)

func isWord(text string) bool { return word.MatchString(text) }
