package docker

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// The parts of an installer's output that a transcript holds: pip prints the error at the
// end, npm at the beginning.
const (
	firstLines = 6
	lastLines  = 8
	lineLength = 300 // bytes
)

// A transcript tells of each line that is written to it, and keeps the first and
// the last ones.
type transcript struct {
	each        func(line string)
	hide        *strings.Replacer
	line        []byte // without end so far
	first, last []string
	cut         bool // there were more
}

func (t *transcript) Write(p []byte) (int, error) {
	n := len(p)
	for {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		t.line = append(t.line, part[:min(len(part), lineLength-len(t.line))]...)
		if !ended {
			return n, nil
		}
		t.add(string(t.line))
		t.line, p = t.line[:0], rest
	}
}

func (t *transcript) add(line string) {
	line = t.hide.Replace(strings.TrimSpace(strings.Map(printable, strings.ToValidUTF8(line, "\ufffd"))))
	if line == "" {
		return
	}
	t.each(line)
	if len(t.first) < firstLines {
		t.first = append(t.first, line)
		return
	}
	t.last = append(t.last, line)
	if len(t.last) > lastLines {
		t.last, t.cut = t.last[1:], true
	}
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f {
		return -1
	}
	return r
}

// secrets returns a replacer that hides possible passwords in the environment of an
// installer, as its output reaches a model: those in addresses, and the values of all
// variables with a name of a secret.
func secrets(env []string) *strings.Replacer {
	var pairs []string
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if value != "" && secretName().MatchString(name) {
			pairs = append(pairs, value, "***")
		}
		for _, word := range strings.Fields(value) {
			address, err := url.Parse(word)
			if err != nil || address.User == nil {
				continue
			}
			// In an address a password is escaped, in messages it may not be.
			_, escaped, _ := strings.Cut(address.User.String(), ":")
			if password, _ := address.User.Password(); password != "" {
				pairs = append(pairs, escaped, "***", password, "***")
			} else if user := address.User.Username(); user != "" { // a token
				pairs = append(pairs, user, "***")
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)token|password|passwd|secret|auth|credential|key`)
})

// String returns the lines that t holds, with an unfinished one.
func (t *transcript) String() string {
	if len(t.line) > 0 {
		t.add(string(t.line))
		t.line = t.line[:0]
	}
	if len(t.first) == 0 {
		return "the installer printed nothing"
	}
	lines := append([]string{}, t.first...)
	if t.cut {
		lines = append(lines, "…")
	}
	return strings.Join(append(lines, t.last...), "\n")
}
