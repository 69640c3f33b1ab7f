package run

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/redact"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// missingSecret returns the error of a run that is granted a secret without a value.
func missingSecret(s Secrets, p identity.Principal, d *Decision) error {
	for _, g := range d.Secrets {
		if !s.Has(p, g.Name) {
			return (&Error{Code: Unavailable, Message: fmt.Sprintf("the secret %s, which it is granted, has no value; set it with: skills-mcp secret set %s", g.Name, g.Name)}).Told("only the person can do so")
		}
	}
	return nil
}

// reveal returns the command of a proposal with its secrets. They are nowhere else: neither
// the proposal nor its record has their values.
func reveal(ctx context.Context, s Secrets, p *Proposal) (*sandbox.Command, error) {
	if p.Decision == nil || len(p.Decision.Secrets) == 0 {
		return p.Command, nil
	}
	command, named := *p.Command, map[string]string{}
	command.Env = slices.Clone(command.Env)
	for _, g := range p.Decision.Secrets {
		value, err := s.Value(ctx, p.Principal, g.Name)
		if err != nil {
			return nil, (&Error{Code: Unavailable, Message: fmt.Sprintf("the secret %s cannot be had: %v", g.Name, err), Retryable: true, Err: err}).Told("tell the person")
		}
		named[value] = "[secret " + g.Name + "]"
		shown := value
		if !g.Plain {
			if shown, err = s.Sentinel(value); err != nil {
				return nil, (&Error{Code: Unavailable, Message: fmt.Sprintf("the secret %s: %v", g.Name, err), Err: err}).Told("tell the person")
			}
			if command.Grant.Secrets == nil {
				command.Grant.Secrets = &sandbox.Secrets{}
			}
			command.Grant.Secrets.List = append(command.Grant.Secrets.List, g.secret(value, shown))
		}
		if variable := g.Variable(); variable != "" {
			command.Env = append(command.Env, variable+"="+shown)
		}
	}
	command.Redact = redact.New(named)
	return egress.Equip(&command)
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
