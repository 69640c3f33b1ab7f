package run_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// safe has values by the kind of their owner and their name.
type safe map[string]string

func (s safe) Has(p identity.Principal, name string) bool {
	_, has := s[string(p.Kind)+" "+name]
	return has
}

func (s safe) Value(_ context.Context, p identity.Principal, name string) (string, error) {
	if value := s[string(p.Kind)+" "+name]; value != "" {
		return value, nil
	}
	return "", errors.New("its command failed")
}

func (safe) Sentinel(value string) (string, error) {
	if strings.HasPrefix(value, "-") {
		return "", errors.New("too few letters")
	}
	return strings.ToUpper(value), nil
}

// secretive decides that every run has the secrets, and keeps what it is told.
type secretive struct {
	secrets []run.SecretGrant
	seen    strings.Builder
}

func (s *secretive) MayAsk(identity.Principal, *skills.Skill) bool { return false }

func (s *secretive) Decide(context.Context, *run.Proposal) (*run.Decision, error) {
	return &run.Decision{Grant: sandbox.Grant{Hosts: []string{"a.example:443"}}, Secrets: s.secrets}, nil
}

func (s *secretive) keep(p *run.Proposal) {
	fmt.Fprintf(&s.seen, "%+v %+v %+v", *p, p.Decision, p.Command)
}

func (s *secretive) Approve(_ context.Context, p *run.Proposal) error { s.keep(p); return nil }

func (s *secretive) Begin(_ context.Context, p *run.Proposal) error { s.keep(p); return nil }

func (s *secretive) Record(_ context.Context, r run.Record) {
	s.keep(r.Proposal)
	fmt.Fprintf(&s.seen, "%+v %v", r.Outcome, r.Err)
}

// The command that runs has the secrets, and the proposal, its record and its errors do not.
func TestSecrets(t *testing.T) {
	secrets := []run.SecretGrant{
		{Name: "MASKED", Hosts: []string{"a.example:443"}, Methods: []string{"GET"}, Paths: []string{"/x/**"}, In: []string{"header", "body"}, As: "TOKEN"},
		{Name: "ADDED", Hosts: []string{"a.example:443"}, Header: "Authorization: Bearer"},
		{Name: "PLAIN", Plain: true},
	}
	values := safe{"person MASKED": "masked-value", "person ADDED": "added-value", "person PLAIN": "plain-value"}
	var env []string
	var got *sandbox.Secrets
	driver := &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		env, got = cmd.Env, cmd.Grant.Secrets
		cmd.Started()
		_, _ = cmd.Stdout.Write([]byte("out plain-va"))
		_, _ = cmd.Stdout.Write([]byte("lue masked-value\n"))
		_, _ = cmd.Stderr.Write([]byte("plain-value"))
		files := sandbox.Files{Taken: []sandbox.File{{Name: "plain-value", Data: []byte("x plain-value")}}, Left: []string{"plain-value: too long"}}
		return &sandbox.Exit{Out: files, Connections: []sandbox.Connection{{Host: "plain-value.example", Refused: "plain-value"}}}, nil
	}}
	decider := &secretive{secrets: secrets}
	x := executorOf(t, driver, decider, &run.Options{Secrets: values, Recorder: decider})
	o, err := x.Run(t.Context(), run.Request{Call: person(), Skill: demo(t, "script: run.sh")})
	if err != nil {
		t.Fatal(err)
	}
	want := []sandbox.Secret{
		{Name: "MASKED", Value: "masked-value", Sentinel: "MASKED-VALUE", Hosts: []string{"a.example:443"}, Methods: []string{"GET"}, Paths: []string{"/x/**"}, In: []string{"header", "body"}},
		{Name: "ADDED", Value: "added-value", Sentinel: "ADDED-VALUE", Header: "Authorization", Prefix: "Bearer ", Hosts: []string{"a.example:443"}},
	}
	if diff := cmp.Diff(want, got.List); diff != "" {
		t.Error(diff)
	}
	all := strings.Join(env, "\n") + "\n"
	if !strings.Contains(all, "\nTOKEN=MASKED-VALUE\n") || !strings.Contains(all, "\nPLAIN=plain-value\n") || strings.Contains(all, "ADDED") || strings.Contains(all, "masked-value") {
		t.Errorf("environment %s", all)
	}
	if out := string(o.Stdout.Bytes()); out != "out [secret PLAIN] [secret MASKED]\n" || string(o.Stderr.Bytes()) != "[secret PLAIN]" {
		t.Errorf("%q, %q", out, o.Stderr.Bytes())
	}
	for _, value := range values {
		for place, text := range map[string]string{"the proposal or record": decider.seen.String(), "the outcome": fmt.Sprintf("%+v %s", o.Result, o.Out.Taken[0].Data)} {
			if strings.Contains(text, value) {
				t.Errorf("%s has %s: %s", place, value, text)
			}
		}
	}
}

// A run without a value, or whose value cannot be had or masked, does not start.
func TestSecretsThatCannotBeHad(t *testing.T) {
	for want, values := range map[string]safe{
		"the secret A, which it is granted, has no value; set it with: skills-mcp secret set A; only the person can do so": {"oidc A": "another's value"},
		"the secret A cannot be had: its command failed; tell the person":                                                  {"person A": ""},
		"the secret A: too few letters; tell the person":                                                                   {"person A": "--------"},
	} {
		driver := &recorder{}
		x := executorOf(t, driver, &secretive{secrets: []run.SecretGrant{{Name: "A", Hosts: []string{"a.example:443"}}}}, &run.Options{Secrets: values})
		_, err := x.Run(t.Context(), run.Request{Call: person(), Skill: demo(t, "script: run.sh")})
		wantError(t, err, run.Unavailable, want)
		if len(driver.commands) > 0 {
			t.Errorf("%s: it ran", want)
		}
	}
}

// An error of the sandbox has no value, either.
func TestSecretsInErrors(t *testing.T) {
	driver := &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		return nil, fmt.Errorf("cannot start with %s", cmd.Env)
	}}
	x := executorOf(t, driver, &secretive{secrets: []run.SecretGrant{{Name: "A", Plain: true}}}, &run.Options{Secrets: safe{"person A": "plain-value"}})
	_, err := x.Run(t.Context(), run.Request{Call: person(), Skill: demo(t, "script: run.sh")})
	if err == nil || strings.Contains(err.Error(), "plain-value") || !strings.Contains(err.Error(), "A=[secret A]") {
		t.Errorf("%v", err)
	}
}
