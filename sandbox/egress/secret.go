package egress

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/redact"
)

// A secret is one that the proxy puts into requests.
type secret struct {
	sandbox.Secret
	hosts    []Rule
	exchange *redact.Replacer // its sentinel by its value
}

// parseSecret checks a secret.
func parseSecret(s sandbox.Secret) (*secret, error) {
	parsed := &secret{Secret: s, exchange: redact.New(map[string]string{s.Sentinel: s.Value})}
	if len(s.In) == 0 {
		parsed.In = []string{"header", "query"}
	}
	if len(s.Value) < redact.MinLength || len(s.Sentinel) != len(s.Value) {
		return nil, fmt.Errorf("the secret %s cannot be masked: it has less than %d bytes, or its sentinel has another length", s.Name, redact.MinLength)
	}
	for _, host := range s.Hosts {
		rule, err := ParseRule(host)
		if err != nil {
			return nil, fmt.Errorf("the secret %s: %w", s.Name, err)
		}
		if rule.port == 0 {
			rule.port = 443
		}
		parsed.hosts = append(parsed.hosts, rule)
	}
	for _, pattern := range s.Paths {
		if !doublestar.ValidatePattern(pattern) {
			return nil, fmt.Errorf("the secret %s: %q is no pattern of paths; write one such as /repos/**", s.Name, pattern)
		}
	}
	return parsed, nil
}

// isFor reports whether the secret is for a host.
func (s *secret) isFor(host Rule) bool {
	return slices.ContainsFunc(s.hosts, func(r Rule) bool { return r.Covers(host) })
}

// fill puts the secret into a request to one of its hosts. It returns a fault for a request
// that would take it elsewhere.
func (s *secret) fill(r *http.Request) *fault {
	refuse := func(format string, args ...any) *fault {
		return &fault{status: http.StatusForbidden, message: "the secret " + s.Name + " " + fmt.Sprintf(format, args...)}
	}
	allowed := s.allows(r)
	if s.Header != "" {
		if allowed {
			r.Header.Set(s.Header, s.Prefix+s.Value)
		}
		return nil
	}
	if signedByAWS(r) {
		return refuse("cannot sign requests in the sandbox, as AWS has it: programs sign with the secret itself, which is not there; it has to be granted as plain")
	}
	filled := s.filled(r)
	body := slices.Contains(s.In, "body") && r.Body != nil && r.Body != http.NoBody
	switch {
	case len(filled.parts) == 0 && (!body || !allowed): // a body that may have it goes as it is
		return nil
	case !allowed:
		return refuse("was not granted for %s %.200s", r.Method, r.URL.Path)
	case filled.bare != "":
		return refuse("is sent in header fields for credentials, such as Authorization, and not in %s", filled.bare)
	}
	for _, part := range filled.parts {
		if !slices.Contains(s.In, part) {
			return refuse("was granted for %s, and not for %s", strings.Join(s.In, " and "), part)
		}
	}
	path, err := url.PathUnescape(filled.path)
	if err != nil {
		return refuse("makes a path that is none")
	}
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery, r.Header = path, filled.path, filled.query, filled.header
	if body {
		if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
			return refuse("cannot be put into a body that is compressed as %.20q", encoding)
		}
		// The length stays: a sentinel is as long as its value in each spelling.
		r.Body = s.exchange.Reader(r.Body)
	}
	return nil
}

// A filling is the head of a request with the value in place of the sentinel.
type filling struct {
	path, query string // escaped
	header      http.Header
	parts       []string // that have the value: header, query, path
	bare        string   // a header field with the value that is none for credentials
}

// filled returns the head of a request with the value.
func (s *secret) filled(r *http.Request) *filling {
	path := r.URL.EscapedPath()
	f := &filling{path: s.exchange.String(path), query: s.exchange.String(r.URL.RawQuery), header: r.Header.Clone()}
	if f.path != path {
		f.parts = append(f.parts, "path")
	}
	if f.query != r.URL.RawQuery {
		f.parts = append(f.parts, "query")
	}
	for name, values := range f.header {
		for i, value := range values {
			if values[i] = s.fillField(name, value); values[i] == value {
				continue
			}
			if f.parts = append(f.parts, "header"); !credential(name) {
				f.bare = name
			}
		}
	}
	return f
}

// credential reports whether header fields of a name carry credentials. Others, such as
// User-Agent, are kept in logs and sent back.
func credential(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "token", "key", "secret", "cookie", "session", "credential", "passw", "signature"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// fillField returns a header field with the value for the sentinel, also in the name and
// password of Basic authentication.
func (s *secret) fillField(name, value string) string {
	scheme, encoded, found := strings.Cut(value, " ")
	if found && strings.EqualFold(scheme, "Basic") && textproto.CanonicalMIMEHeaderKey(name) == "Authorization" {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded)); err == nil {
			if filled := s.exchange.String(string(plain)); filled != string(plain) {
				return scheme + " " + base64.StdEncoding.EncodeToString([]byte(filled))
			}
		}
	}
	return s.exchange.String(value)
}

// overrides are header fields by which a request names another method or path to some hosts,
// which take _ in their names for -.
var overrides = []string{"x-http-method-override", "x-http-method", "x-method-override", "x-original-url", "x-rewrite-url"}

// allows reports whether a request's method and path are among those granted.
func (s *secret) allows(r *http.Request) bool {
	if len(s.Methods) > 0 && !slices.Contains(s.Methods, r.Method) {
		return false
	}
	for name := range r.Header {
		if len(s.Methods)+len(s.Paths) > 0 && slices.Contains(overrides, strings.ReplaceAll(strings.ToLower(name), "_", "-")) {
			return false
		}
	}
	if len(s.Paths) == 0 {
		return true
	}
	// Servers differ in what they take these for.
	escaped := strings.ToLower(r.URL.EscapedPath())
	odd := []string{"%2f", "%5c", "%25", "/.;", "/..;"}
	if r.URL.Path != path.Clean(r.URL.Path)+strings.Repeat("/", trailing(r.URL.Path)) || strings.Contains(r.URL.Path, `\`) || slices.ContainsFunc(odd, func(part string) bool { return strings.Contains(escaped, part) }) {
		return false
	}
	return slices.ContainsFunc(s.Paths, func(pattern string) bool { return doublestar.MatchUnvalidated(pattern, r.URL.Path) })
}

// trailing is 1 for a path other than "/" with a slash at its end.
func trailing(p string) int {
	if len(p) > 1 && strings.HasSuffix(p, "/") {
		return 1
	}
	return 0
}

// signedByAWS reports whether a request has a signature of AWS, version 4.
func signedByAWS(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-") || r.URL.Query().Has("X-Amz-Signature")
}
