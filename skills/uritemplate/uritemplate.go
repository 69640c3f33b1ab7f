// Package uritemplate reads the URI templates that skills declare: a URI with
// {name} for each part that the client chooses (RFC 6570, level 1).
//
// github.com/yosida95/uritemplate is not used: it matches only values as an expansion
// escapes them, but clients write notes://10:30 as RFC 3986 allows; and it matches an
// empty value, which a script's parameter is not.
//
// Start with [Parse].
package uritemplate

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// maxLength is the maximum length of a URI or a template, in bytes.
const maxLength = 512

// A Template is a URI with variables. It is immutable.
type Template struct {
	names   []string
	pattern *regexp.Regexp
}

// scheme matches the start of a URI (RFC 3986, 3.1), in lower case as is usual.
var scheme = lazyregexp.New(`^([a-z][a-z0-9+.-]*):.`)

// plain matches the characters of a URI (RFC 3986, 2).
var plain = lazyregexp.New(`^(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*$`)

// expression matches a variable in a template.
var expression = lazyregexp.New(`\{([^{}]*)\}`)

// variable matches a name that is valid as a script's parameter, too.
var variable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// value matches the value of a variable. It ends before the next part of the URI.
const value = `([^/?#]+)`

// Scheme returns the scheme of a URI or template. The error names
// the fault of a text that is neither.
func Scheme(text string) (string, error) {
	m := scheme.FindStringSubmatch(text)
	switch {
	case len(text) > maxLength:
		return "", fmt.Errorf("is longer than %d bytes", maxLength)
	case m == nil:
		return "", errors.New("does not begin with a scheme in lower case, such as notes: in notes:today")
	case !plain.MatchString(expression.ReplaceAllLiteralString(text, "x")):
		return "", errors.New("has characters that a URI cannot have")
	}
	return m[1], nil
}

// Parse reads a template, which has a variable at least. The error names its fault.
func Parse(text string) (*Template, error) {
	if _, err := Scheme(text); err != nil {
		return nil, err
	}
	t := &Template{}
	var pattern strings.Builder
	end := 0
	for _, m := range expression.FindAllStringSubmatchIndex(text, -1) {
		name := text[m[2]:m[3]]
		switch {
		case !variable.MatchString(name):
			return nil, fmt.Errorf("has {%s}, which is not a plain variable such as {name}", name)
		case slices.Contains(t.names, name):
			return nil, fmt.Errorf("has {%s} twice", name)
		case m[0] == end:
			return nil, fmt.Errorf("has nothing before {%s} that tells where it begins", name)
		}
		pattern.WriteString(regexp.QuoteMeta(text[end:m[0]]) + value)
		t.names, end = append(t.names, name), m[1]
	}
	if len(t.names) == 0 {
		return nil, errors.New("has no variable such as {name}")
	}
	var err error
	t.pattern, err = regexp.Compile(`^` + pattern.String() + regexp.QuoteMeta(text[end:]) + `$`)
	return t, err
}

// Names returns the variables, in order.
func (t *Template) Names() []string { return t.names }

// Match returns the decoded values with which the template is a URI. A value is valid
// UTF-8 and not empty.
func (t *Template) Match(uri string) (values map[string]string, ok bool) {
	found := t.pattern.FindStringSubmatch(uri)
	if found == nil {
		return nil, false
	}
	values = make(map[string]string, len(t.names))
	for i, name := range t.names {
		decoded, err := url.PathUnescape(found[i+1])
		if err != nil || !utf8.ValidString(decoded) {
			return nil, false
		}
		values[name] = decoded
	}
	return values, true
}
