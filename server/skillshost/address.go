package skillshost

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// An Address is the place of a server: an endpoint of Streamable HTTP, or a program that
// speaks MCP on its standard input and output.
type Address struct {
	URL     string   `json:"url,omitempty"`
	Command []string `json:"command,omitempty"`
}

// The schemes of an address.
const (
	schemeHTTPS = "mcp+https://"
	schemeHTTP  = "mcp+http://"
	schemeStdio = "mcp+stdio:"
)

// ParseAddress returns the address that a person has written: mcp+https://HOST/PATH,
// mcp+http:// with a host of this machine (both also without "mcp+"), or
// mcp+stdio:PROGRAM followed by its arguments.
func ParseAddress(words []string) (Address, error) {
	if len(words) == 0 {
		return Address{}, errors.New("there is no address")
	}
	text := words[0]
	if program, ok := strings.CutPrefix(text, schemeStdio); ok {
		command := append([]string{program}, words[1:]...)
		if program == "" || slices.ContainsFunc(command, func(s string) bool { return strings.ContainsRune(s, 0) }) {
			return Address{}, fmt.Errorf("write the server's program after %s", schemeStdio)
		}
		return Address{Command: command}, nil
	}
	if len(words) > 1 {
		return Address{}, fmt.Errorf("only %sPROGRAM has arguments", schemeStdio)
	}
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		text = "mcp+" + text
	}
	https, http := strings.HasPrefix(text, schemeHTTPS), strings.HasPrefix(text, schemeHTTP)
	if !https && !http {
		return Address{}, fmt.Errorf("write %sHOST/PATH, %s127.0.0.1:PORT/PATH or %sPROGRAM", schemeHTTPS, schemeHTTP, schemeStdio)
	}
	u, err := url.Parse(strings.TrimPrefix(text, "mcp+"))
	switch {
	case err != nil:
		return Address{}, err
	case u.Hostname() == "" || u.Fragment != "":
		return Address{}, errors.New("the address names no host, or has a fragment")
	case u.User != nil:
		return Address{}, errors.New("the address has a password; pass a token with --token-env")
	case http && !local(u.Hostname()):
		return Address{}, fmt.Errorf("plain http is for servers of this machine; write %s", schemeHTTPS)
	}
	return Address{URL: u.String()}, nil
}

// local reports whether a host name is one of this machine.
func local(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback() || host == "localhost"
}

// String returns the address as a person writes it. The parts of a command are quoted
// where a shell needs that.
func (a Address) String() string {
	if len(a.Command) == 0 {
		return "mcp+" + a.URL
	}
	words := make([]string, len(a.Command))
	for i, word := range a.Command {
		if words[i] = word; word == "" || strings.ContainsAny(word, " \t\n'\"\\$`|&;<>()*?[]#~") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return schemeStdio + strings.Join(words, " ")
}

var label = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// maxLabel bounds a label, in bytes: it begins the names of tools.
const maxLabel = 24

// CheckLabel returns an error for a label that cannot stand before the names of skills.
func CheckLabel(text string) error {
	if len(text) > maxLabel || !label.MatchString(text) {
		return fmt.Errorf("write a name of at most %d lower-case letters, digits and single hyphens, not %q", maxLabel, text)
	}
	return nil
}
