package git

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A location is a repository that git may be started for.
type location struct {
	url       string
	host      string // without port; "" of a folder
	protocols string // for GIT_ALLOW_PROTOCOL
	plain     bool   // not encrypted
}

// locate checks a location before git sees it. The error is a [*source.RefusedError].
func (f *Fetcher) locate(ctx context.Context, text string, named bool) (*location, error) {
	l, err := parseLocation(text)
	if err != nil {
		return nil, err
	}
	switch {
	case named:
	case l.host == "":
		return nil, refuse("the source names a folder of this machine", "fetch it yourself if you want it")
	case l.plain:
		return nil, refuse("the source names a repository whose connection is not encrypted", "ask its author for an https:// URL")
	default:
		return l, f.checkPublic(ctx, l.host)
	}
	return l, nil
}

func refuse(reason, remedy string) error { return &source.RefusedError{Reason: reason, Remedy: remedy} }

// parseLocation reads a location as git does (git-clone(1), "Git URLs"), and accepts
// the forms that start no other program than git and ssh.
func parseLocation(text string) (*location, error) {
	scheme, rest, isURL := strings.Cut(text, "://")
	switch {
	case text == "" || strings.HasPrefix(text, "-"):
		return nil, refuse(fmt.Sprintf("%q is no repository", text), "write its https:// URL")
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return nil, refuse(fmt.Sprintf("%q has control characters", text), "write the URL by hand")
	case isHelper(text):
		return nil, refuse("git would start a program of this machine for the URL", "write an https:// or ssh:// URL")
	case isURL:
		return parseURL(text, scheme, rest)
	case filepath.IsAbs(text):
		return &location{url: text, protocols: "file"}, nil
	}
	host, path, ok := strings.Cut(text, ":")
	if !ok || strings.Contains(host, "/") {
		return nil, refuse(fmt.Sprintf("%q is no repository", text), "write its https:// URL")
	}
	if at := strings.LastIndexByte(host, '@'); !isHost(host[at+1:]) || strings.HasPrefix(path, "-") {
		return nil, refuse(fmt.Sprintf("%q looks like an option of ssh", text), "write its https:// URL")
	}
	return &location{url: text, host: host[strings.LastIndexByte(host, '@')+1:], protocols: encrypted}, nil
}

// encrypted are the protocols that prove the server. Settings of the person may replace
// one by the other (url.*.insteadOf).
const encrypted = "https:ssh"

// isHelper reports whether git would start the remote helper "git-remote-NAME".
func isHelper(text string) bool {
	name, _, ok := strings.Cut(text, "::")
	return ok && !strings.ContainsAny(name, "/@:[")
}

func parseURL(text, scheme, rest string) (*location, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, refuse(fmt.Sprintf("%q is no URL", text), "write its https:// URL")
	}
	if _, has := u.User.Password(); has {
		return nil, refuse("the URL has a password, which the lock file would keep", "leave it out, and let a credential helper of git keep it")
	}
	scheme = strings.ToLower(scheme)
	l := &location{url: scheme + "://" + rest, host: u.Hostname(), protocols: encrypted}
	if scheme == "file" {
		return &location{url: l.url, protocols: "file"}, nil
	}
	if !isHost(l.host) || strings.HasPrefix(u.User.Username(), "-") || strings.HasPrefix(u.Path, "/-") {
		return nil, refuse(fmt.Sprintf("%q has no host, or looks like an option", text), "write its https:// URL")
	}
	switch scheme {
	case "https", "ssh", "git+ssh", "ssh+git":
	case "http", "git":
		if !source.IsLoopback(l.host) {
			return nil, refuse(scheme+":// is neither encrypted nor proves the server", "write https://")
		}
		l.plain, l.protocols = true, encrypted+":"+scheme
	default:
		return nil, refuse(fmt.Sprintf("git would start a program of this machine for %s://", scheme), "write an https:// or ssh:// URL")
	}
	return l, nil
}

func isHost(host string) bool {
	return host != "" && host[0] != '-' && !strings.ContainsAny(host, " \\\"'$`;&|<>()")
}

// checkPublic refuses a host with an address that is not of the public internet.
func (f *Fetcher) checkPublic(ctx context.Context, host string) error {
	if f.options.Public == nil {
		return nil
	}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return fmt.Errorf("find the address of %s: %w", host, err)
	}
	for _, addr := range addresses {
		if !f.options.Public(addr.Unmap()) {
			return refuse(fmt.Sprintf("the source leads to %s, which is not a public address", host), "name the repository yourself if you want it")
		}
	}
	return nil
}
