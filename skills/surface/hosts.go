package surface

import (
	"iter"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// hosts adds the hosts that a text connects to: those in code, those of bare URLs in the
// instructions, and those in prose beside a word that says to fetch or to send.
func (c *collector) hosts(s *source) {
	for from := 0; ; {
		at := strings.Index(s.lower[from:], "://")
		if at < 0 {
			break
		}
		at += from
		from = at + len("://")
		begin := at
		for begin > 0 && isScheme(s.lower[begin-1]) {
			begin--
		}
		host := hostOf(urlAt(s.content[begin:]))
		if host != "" && c.reaches(s, begin, at) {
			c.host(s, host, at)
		}
	}
	for _, m := range matches(s.code, connects, "connect", "gethostbyname", "getaddrinfo", "lookup", "resolve") {
		c.host(s, hostOf("tcp://"+s.code[m[2]:m[3]]), m[2])
	}
	for at, address := range addresses(s.code) {
		c.host(s, hostOf("tcp://"+address), at)
	}
}

func (c *collector) host(s *source, host string, at int) {
	if host != "" {
		c.add(Item{Kind: Host, Value: host, File: s.name, Line: s.line(at)})
	}
}

var (
	// connects matches the host of a connection that is no URL.
	connects = lazyregexp.New(`(?:connection|connect|gethostbyname|getaddrinfo|lookup|resolve)\(\(?\s*["']([a-z0-9-]+(?:\.[a-z0-9-]+)+)["']`)
	// fetches matches a word beside which a URL in prose counts.
	fetches = lazyregexp.New(`\b(download|downloads|fetch|fetches|post|posts|send|sends|upload|uploads|submit|submits|curl|wget|install|execute|webhook|endpoint|forward|transmit|deliver|pipe|exfiltrate|report to)\b`)
)

// addresses returns the IPv4 addresses of a text by their offsets.
func addresses(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := 0; i < len(text); i++ {
			if text[i] < '0' || text[i] > '9' {
				continue
			}
			end := i
			for end < len(text) && ('0' <= text[end] && text[end] <= '9' || text[end] == '.') {
				end++
			}
			before := i == 0 || !isWord(text[i-1]) && text[i-1] != '-' && text[i-1] != '.'
			after := end == len(text) || !isWord(text[end]) && text[end] != '-'
			if word := strings.TrimRight(text[i:end], "."); before && after && len(word) <= len("255.255.255.255") && strings.Count(word, ".") == 3 {
				if address, err := netip.ParseAddr(word); err == nil && !address.IsUnspecified() && !address.IsLoopback() && !yield(i, word) {
					return
				}
			}
			i = end
		}
	}
}

func isScheme(b byte) bool {
	return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b == '+' || b == '.' || b == '-'
}

// reaches reports whether a URL counts that begins at an offset: begin with its scheme,
// at without.
func (c *collector) reaches(s *source, begin, at int) bool {
	if s.code[at] != ' ' && s.code[at] != '\n' {
		return true
	}
	line := lineAt(s.lower, at)
	if s.script { // a comment
		return false
	}
	if fetches.MatchString(line) {
		return true
	}
	linked := begin > 0 && strings.ContainsRune("(<", rune(s.lower[begin-1]))
	return s.main && !linked && !strings.Contains(line, "homepage") && !strings.Contains(line, "license") && !strings.Contains(line, "repository")
}

// urlAt returns the URL at the beginning of a text.
func urlAt(text string) string {
	text = text[:min(len(text), 2048)]
	if end := strings.IndexAny(text, " \t\n\"'`<>\\|^,;"); end >= 0 {
		text = text[:end]
	}
	return strings.TrimRight(text, ".)]}:!?*_")
}

// hostOf returns the host of a URL with its port, unless that is the scheme's, and the
// owner where many share the host; "" if it has none, or that of an example or of names
// of XML.
func hostOf(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme == "file" || scheme == "" {
		return ""
	}
	authority, path, _ := strings.Cut(rest, "/")
	authority, _, _ = strings.Cut(authority, "?")
	authority, _, _ = strings.Cut(authority, "#")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		authority = authority[i+1:]
	}
	if strings.ContainsAny(authority, "${}%()[]") && !strings.HasPrefix(authority, "[") || authority == "" {
		return "that it computes"
	}
	u, err := url.Parse("x://" + strings.ToLower(authority))
	if err != nil {
		return shorten(strings.ToLower(authority))
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if isExample(host) {
		return ""
	}
	if shared(host) {
		host += "/" + ownerOf(host, path)
	}
	switch port := u.Port(); port {
	case "", "80", "443":
		return host
	default:
		return net.JoinHostPort(host, port)
	}
}

// isExample reports whether a host is one of examples, or one whose URLs are only names.
func isExample(host string) bool {
	for _, suffix := range []string{"example.com", "example.org", "example.net", ".example", ".invalid"} {
		if host == suffix || strings.HasSuffix(host, "."+strings.TrimPrefix(suffix, ".")) {
			return true
		}
	}
	switch host {
	case "", "www.w3.org", "schemas.openxmlformats.org", "schemas.microsoft.com", "purl.org", "json-schema.org", "json.schemastore.org", "docs.oasis-open.org", "0.0.0.0", "127.0.0.1", "localhost", "255.255.255.255":
		return true
	}
	return !strings.ContainsAny(host, ".:")
}

// shared reports whether anybody may publish at a host.
func shared(host string) bool {
	switch host {
	case "github.com", "raw.githubusercontent.com", "gist.github.com", "gist.githubusercontent.com", "api.github.com", "codeload.github.com", "objects.githubusercontent.com",
		"gitlab.com", "bitbucket.org", "codeberg.org", "huggingface.co", "pastebin.com", "paste.rs", "transfer.sh", "storage.googleapis.com", "s3.amazonaws.com",
		"drive.google.com", "docs.google.com", "discord.com", "discordapp.com", "hooks.slack.com", "api.telegram.org", "t.me", "webhook.site", "script.google.com", "cdn.jsdelivr.net", "unpkg.com", "dropbox.com", "www.dropbox.com":
		return true
	}
	return false
}

// ownerOf returns the part of a path that says whose it is at a shared host.
func ownerOf(host, path string) string {
	path, _, _ = strings.Cut(path, "?")
	path, _, _ = strings.Cut(path, "#")
	parts := strings.Split(path, "/")
	n := 2
	switch host {
	case "discord.com", "discordapp.com", "hooks.slack.com", "docs.google.com", "drive.google.com", "api.github.com", "script.google.com":
		n = 4
	case "gist.github.com", "pastebin.com", "paste.rs", "transfer.sh", "t.me", "webhook.site", "api.telegram.org", "storage.googleapis.com", "s3.amazonaws.com":
		n = 1
	}
	return strings.ToLower(strings.Join(parts[:min(n, len(parts))], "/"))
}
