package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/redact"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// checkSecrets returns the error of a run that is granted a secret without a value, or two in
// one variable or file.
func checkSecrets(s Secrets, p identity.Principal, d *Decision) error {
	for i, g := range d.Secrets {
		place := g.File + g.Variable()
		if place != "" && slices.ContainsFunc(d.Secrets[:i], func(o SecretGrant) bool { return o.File+o.Variable() == place }) {
			return (&Error{Code: Unavailable, Message: fmt.Sprintf("two secrets are granted in %s; grant one of them with another --as or --file", place)}).Told("only the person can do so")
		}
		if s == nil || !s.Has(p, g.Name) {
			return (&Error{Code: Unavailable, Message: fmt.Sprintf("the secret %s, which it is granted, has no value; set it with: skills-mcp secret set %s", g.Name, g.Name)}).Told("only the person can do so")
		}
	}
	return nil
}

// readKept returns the values, by name, of the secrets of a decided proposal that no command
// prints, before anybody is asked about its arguments. The error comes from conceal.
func readKept(ctx context.Context, s Secrets, p *Proposal) (map[string]string, error) {
	if s == nil || len(p.Args) == 0 || len(p.Decision.Secrets) == 0 {
		return nil, nil
	}
	kept, named := map[string]string{}, map[string]string{}
	for _, g := range p.Decision.Secrets {
		if value, err := s.Value(ctx, p.Principal, g.Name, true); err == nil && value != "" { // reveal reports the error
			kept[g.Name] = value
			_, sentinels, _ := g.mask(s, value)
			for secret := range sentinels {
				named[secret] = "[secret " + g.Name + "]"
			}
		}
	}
	return kept, p.conceal(named)
}

// conceal keeps secrets, each with the text in its place, out of the record of a proposal. The
// error, an [*Error], is that of an argument that holds one: it would be in the sandbox, and
// in the question to the person.
func (p *Proposal) conceal(named map[string]string) error {
	p.redact = redact.New(named)
	for _, name := range slices.Sorted(maps.Keys(p.Args)) {
		text, _ := json.Marshal(p.Args[name]) // of JSON, so it is some
		if p.Concealed(string(text)) != string(text) {
			return invalid("the argument %s holds the value of a secret that the skill is granted; leave the value out: the skill has it already, or the proxy adds it", p.Concealed(name))
		}
	}
	return nil
}

// Concealed returns a text without the values of the secrets that the run is granted.
func (p *Proposal) Concealed(text string) string { return p.redact.String(text) }

// reveal returns the command of a proposal with its secrets; kept are values that were read
// already, by name. They are nowhere else: neither the proposal nor its record has them.
func reveal(ctx context.Context, s Secrets, kept map[string]string, p *Proposal) (*sandbox.Command, error) {
	if p.Decision == nil || len(p.Decision.Secrets) == 0 {
		return p.Command, nil
	}
	command, named := *p.Command, map[string]string{}
	command.Env = slices.Clone(command.Env)
	var files []egress.File
	for _, g := range p.Decision.Secrets {
		value, err := kept[g.Name], error(nil)
		if value == "" {
			value, err = s.Value(ctx, p.Principal, g.Name, false)
		}
		if err != nil {
			return nil, (&Error{Code: Unavailable, Message: fmt.Sprintf("the secret %s cannot be had: %v", g.Name, err), Retryable: true, Err: err}).Told("tell the person")
		}
		shown, sentinels, err := g.mask(s, value)
		if err != nil {
			return nil, (&Error{Code: Unavailable, Message: fmt.Sprintf("the secret %s: %v", g.Name, err), Err: err}).Told("tell the person")
		}
		for _, secret := range slices.Sorted(maps.Keys(sentinels)) {
			named[secret] = "[secret " + g.Name + "]"
			if g.Plain {
				continue
			}
			if command.Grant.Secrets == nil {
				command.Grant.Secrets = &sandbox.Secrets{}
			}
			command.Grant.Secrets.List = append(command.Grant.Secrets.List, g.secret(secret, sentinels[secret]))
		}
		if g.File != "" {
			files = append(files, egress.File{Path: g.File, Text: shown})
		} else if variable := g.Variable(); variable != "" {
			command.Env = append(command.Env, variable+"="+shown)
		}
	}
	if err := p.conceal(named); err != nil {
		return nil, err
	}
	command.Redact = p.redact
	equipped, err := egress.Equip(&command, files...)
	if err != nil {
		return nil, (&Error{Code: Unavailable, Message: err.Error(), Err: err}).Told("tell the person")
	}
	return equipped, nil
}

// mask returns the text that a skill has for a value, with the sentinels by the secrets in it.
// The error has nothing of the value.
func (g *SecretGrant) mask(s Secrets, value string) (shown string, sentinels map[string]string, err error) {
	if g.File == "" && strings.ContainsAny(value, "\t\n\r") {
		return "", nil, errors.New("its value has line breaks or tabs, which neither a variable nor a header field holds; grant it with --file, such as --file '~/.netrc', or set it to the secret alone")
	}
	sentinels = map[string]string{}
	if shown = value; !g.Plain || g.Extract != "" {
		if shown, sentinels, err = s.Mask(value, g.Extract); err != nil {
			return "", nil, err
		}
	}
	if g.Plain {
		shown, sentinels[value] = value, ""
	}
	return shown, sentinels, nil
}

// redacted returns an error without secrets.
func redacted(r sandbox.Redactor, err error) error {
	if err == nil || r == nil {
		return err
	}
	if text := r.String(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}
