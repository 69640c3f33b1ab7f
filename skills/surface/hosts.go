package surface

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// hosts adds the hosts that a text connects to: those in code, those of bare URLs in the
// instructions, and those in prose beside a word that says to fetch or to send.
func (c *collector) hosts(s *source) {
	for at := range occurrences(s.lower, "://") {
		begin := at
		for begin > 0 && isWord(s.lower[begin-1]) {
			begin--
		}
		if s.lower[begin:at] != "file" && begin < at && reaches(s, begin, at) {
			c.host(s, hostOf(urlAt(s.content[at+len("://"):])), at)
		}
	}
	for _, m := range matches(s.code, connects, "connect", "gethostbyname", "getaddrinfo", "lookup", "resolve") {
		c.host(s, hostOf(s.code[m[2]:m[3]]), m[2])
	}
}

// connects matches the host of a connection that is no URL.
var connects = lazyregexp.New(`(?:connection|connect|gethostbyname|getaddrinfo|lookup|resolve)\(\(?\s*["']([a-z0-9-]+(?:\.[a-z0-9-]+)+)["']`)

func (c *collector) host(s *source, host string, at int) {
	if host != "" {
		c.add(Item{Kind: Host, Value: host, File: s.name, Line: s.line(at)})
	}
}

// reaches reports whether a URL counts that begins at an offset: begin with its scheme,
// at without.
func reaches(s *source, begin, at int) bool {
	if s.code[at] != ' ' && s.code[at] != '\n' {
		return true
	}
	if s.script { // a comment
		return false
	}
	line := lineAt(s.lower, at)
	if slices.ContainsFunc(words(line), fetches) {
		return true
	}
	linked := begin > 0 && (s.lower[begin-1] == '(' || s.lower[begin-1] == '<')
	return s.main && !linked && !strings.Contains(line, "homepage") && !strings.Contains(line, "license") && !strings.Contains(line, "repository")
}

// fetches reports whether a URL in prose counts beside a word.
func fetches(word string) bool {
	switch word {
	case "download", "downloads", "fetch", "fetches", "post", "posts", "send", "sends", "upload", "uploads", "submit", "submits", "curl", "wget", "install", "execute",
		"webhook", "endpoint", "forward", "transmit", "deliver", "pipe", "exfiltrate":
		return true
	}
	return false
}

// urlAt returns the rest of the URL at the beginning of a text.
func urlAt(text string) string {
	text = text[:min(len(text), 2048)]
	if end := strings.IndexAny(text, " \t\n\"'`<>\\|^,;"); end >= 0 {
		text = text[:end]
	}
	return strings.TrimRight(text, ".)]}:!?*_")
}

// originOf returns the host of the first URL of a text.
func originOf(text string) string {
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		return "a host that it computes"
	}
	rest = urlAt(rest)
	authority, _, _ := strings.Cut(rest, "/")
	return cmp.Or(hostOf(rest), authority)
}

// hostOf returns the host of a URL without its scheme, with its port unless that is the
// scheme's, and with the owner where many share the host; "" if it has none, or that of
// an example or of names of XML.
func hostOf(rest string) string {
	authority, path, _ := strings.Cut(rest, "/")
	if end := strings.IndexAny(authority, "?#"); end >= 0 {
		authority = authority[:end]
	}
	authority = strings.ToLower(authority[strings.LastIndexByte(authority, '@')+1:])
	if strings.ContainsAny(authority, "${}%()[]") && !strings.HasPrefix(authority, "[") || authority == "" {
		return "that it computes"
	}
	u, err := url.Parse("x://" + authority)
	if err != nil {
		return shorten(authority)
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if isExample(host) {
		return ""
	}
	if n := shared(host); n > 0 {
		host += "/" + ownerOf(path, n)
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
	case "", "www.w3.org", "schemas.openxmlformats.org", "schemas.microsoft.com", "purl.org", "json-schema.org", "json.schemastore.org", "docs.oasis-open.org", "0.0.0.0", "127.0.0.1", "localhost":
		return true
	}
	return !strings.ContainsAny(host, ".:")
}

// shared returns the number of parts of a path that say whose it is, for a host at which
// anybody may publish; 0 for others.
func shared(host string) int {
	switch host {
	case "gist.github.com", "pastebin.com", "paste.rs", "transfer.sh", "t.me", "webhook.site", "api.telegram.org", "storage.googleapis.com", "s3.amazonaws.com":
		return 1
	case "github.com", "raw.githubusercontent.com", "gist.githubusercontent.com", "codeload.github.com", "objects.githubusercontent.com",
		"gitlab.com", "bitbucket.org", "codeberg.org", "huggingface.co", "cdn.jsdelivr.net", "unpkg.com", "dropbox.com", "www.dropbox.com":
		return 2
	case "discord.com", "discordapp.com", "hooks.slack.com", "docs.google.com", "drive.google.com", "api.github.com", "script.google.com":
		return 4
	}
	return 0
}

// ownerOf returns the first parts of a path.
func ownerOf(path string, n int) string {
	if end := strings.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	parts := strings.Split(path, "/")
	return strings.ToLower(strings.Join(parts[:min(n, len(parts))], "/"))
}
