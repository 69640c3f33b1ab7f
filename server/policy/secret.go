package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/secrets"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

var (
	headerField = lazyregexp.New(`^[!#$%&'*+.^_|~0-9A-Za-z-]+(: ?[!-~]+( [!-~]+)*)?$`) // RFC 9110, and a scheme
	unsentField = lazyregexp.New(`(?i)^(host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|proxy-[^:]*|forwarded|x-forwarded-(for|host|proto))(:|$)`)
	directHost  = lazyregexp.New(`^((.*\.)?localhost|127\.0\.0\.1|\[::1\]):`) // of NO_PROXY in sandboxes
	methodName  = lazyregexp.New(`^[A-Z]{1,20}$`)
)

// CheckSecret checks the grant of a secret, and writes its hosts with their ports and its
// methods in capitals. The error has the remedy.
func CheckSecret(g *run.SecretGrant) error {
	switch masks := len(g.Hosts)+len(g.Methods)+len(g.Paths)+len(g.In) > 0 || g.Header != ""; {
	case secrets.CheckName(g.Name) != nil:
		return secrets.CheckName(g.Name)
	case g.As != "" && secrets.CheckName(g.As) != nil:
		return fmt.Errorf("%.70q is no name of a variable", g.As)
	case g.Plain && masks:
		return errors.New("a skill that sees a secret can send it to any of its hosts, so plain goes without hosts, methods, paths, places and header; give it hosts with: skills-mcp grant NAME --network HOST")
	case g.Extract != "" && secrets.CheckPattern(g.Extract) != nil:
		return secrets.CheckPattern(g.Extract)
	case g.File != "" && g.As != "":
		return errors.New("a secret is in a file or in a variable; leave out one or the other")
	case g.File != "":
		file, err := egress.HomeFile(g.File)
		if err != nil {
			return err
		}
		g.File = file
	}
	switch {
	case g.Plain:
		return nil
	case len(g.Hosts) == 0:
		return fmt.Errorf("say which hosts get %s, such as api.github.com; or grant it as plain, which the skill sees", g.Name)
	case g.Header != "" && !headerField.MatchString(g.Header):
		return fmt.Errorf("%.70q is no header field; write one such as 'Authorization: Bearer'", g.Header)
	case unsentField.MatchString(g.Header):
		return fmt.Errorf("%.70q belongs to the connection, and the proxy never sends one with a secret; write the field in which the host expects it, such as 'Authorization: Bearer'", g.Header)
	case g.Header != "" && (len(g.In) > 0 || g.As+g.File+g.Extract != ""):
		return errors.New("a header is added to requests, and the skill has neither a variable nor a file for it then; leave out one or the other")
	}
	for i, text := range g.Hosts {
		host, err := egress.ParseRule(text)
		if err != nil {
			return err
		}
		if whole, err := egress.ParseRule(host.String() + ":443"); err == nil { // it has no port
			host = whole
		}
		if g.Hosts[i] = host.String(); directHost.MatchString(g.Hosts[i]) {
			return fmt.Errorf("%.70q is the sandbox itself to a skill, whose programs reach it without the proxy, and so without the secret; write another host or address of the server", text)
		}
	}
	for i, method := range g.Methods {
		if g.Methods[i] = strings.ToUpper(method); !methodName.MatchString(g.Methods[i]) {
			return fmt.Errorf("%.30q is no method; write one such as GET", method)
		}
	}
	for _, pattern := range g.Paths {
		if !strings.HasPrefix(pattern, "/") || !doublestar.ValidatePattern(pattern) {
			return fmt.Errorf("%.70q is no pattern of paths; write one such as /repos/**", pattern)
		}
	}
	for _, place := range g.In {
		if places := []string{"header", "query", "path", "body"}; !slices.Contains(places, place) {
			return fmt.Errorf("%.30q is no part of a request; write one of %s", place, strings.Join(places, ", "))
		}
	}
	return nil
}

// sameSecret reports whether two grants are of one secret for one use, so that one replaces the
// other.
func sameSecret(a, b run.SecretGrant) bool {
	return a.Name == b.Name && a.Header == b.Header && a.Variable() == b.Variable() && a.File == b.File
}

// AddSecret adds the grant of a secret to a rule, in place of an earlier one for the same
// variable, file or header.
func (r *Rule) AddSecret(g run.SecretGrant) {
	r.Secrets = append(slices.DeleteFunc(slices.Clone(r.Secrets), func(was run.SecretGrant) bool { return sameSecret(was, g) }), g)
}

// PublicSecret reports whether all hosts of a grant are public.
func PublicSecret(g run.SecretGrant) bool {
	return !slices.ContainsFunc(g.Hosts, func(text string) bool {
		host, err := egress.ParseRule(text)
		return err != nil || !host.Public()
	})
}
