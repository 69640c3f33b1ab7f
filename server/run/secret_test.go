package run_test

import (
	"context"
	"encoding/base64"
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

func (s safe) Value(_ context.Context, p identity.Principal, name string, kept bool) (string, error) {
	if kept && name == "PRINTED" { // by a command
		return "", nil
	}
	if value := s[string(p.Kind)+" "+name]; value != "" {
		return value, nil
	}
	return "", errors.New("its command failed")
}

// Mask writes a secret in capitals; a pattern is the secret.
func (safe) Mask(value, pattern string) (string, map[string]string, error) {
	if strings.HasPrefix(value, "-") {
		return "", nil, errors.New("too few letters")
	}
	if pattern != "" {
		sentinel := strings.ToUpper(pattern)
		return strings.ReplaceAll(value, pattern, sentinel), map[string]string{pattern: sentinel}, nil
	}
	return strings.ToUpper(value), map[string]string{value: strings.ToUpper(value)}, nil
}

// secretive decides that every run has the secrets, and keeps what it is told.
type secretive struct {
	secrets  []run.SecretGrant
	seen     strings.Builder
	asked    bool
	recorded string // the arguments and the error
}

func (s *secretive) MayAsk(identity.Principal, *skills.Skill) bool { return false }

func (s *secretive) Decide(context.Context, *run.Proposal) (*run.Decision, error) {
	return &run.Decision{Grant: sandbox.Grant{Hosts: []string{"a.example:443"}}, Secrets: s.secrets}, nil
}

func (s *secretive) keep(p *run.Proposal) {
	fmt.Fprintf(&s.seen, "%+v %+v %+v", *p, p.Decision, p.Command)
}

func (s *secretive) Approve(_ context.Context, p *run.Proposal) error {
	s.keep(p)
	s.asked = true
	return nil
}

func (s *secretive) Begin(_ context.Context, p *run.Proposal) error { s.keep(p); return nil }

func (s *secretive) Record(_ context.Context, r run.Record) {
	s.keep(r.Proposal)
	fmt.Fprintf(&s.seen, "%+v %v", r.Outcome, r.Err)
	s.recorded = r.Concealed(fmt.Sprint(r.Args, r.Err))
}

// The command that runs has the secrets, and the proposal, its record and its errors do not.
func TestSecrets(t *testing.T) {
	secrets := []run.SecretGrant{
		{Name: "MASKED", Hosts: []string{"a.example:443"}, Methods: []string{"GET"}, Paths: []string{"/x/**"}, In: []string{"header", "body"}, As: "TOKEN"},
		{Name: "ADDED", Hosts: []string{"a.example:443"}, Header: "Authorization: Bearer"},
		{Name: "PLAIN", Plain: true},
		{Name: "PART", Hosts: []string{"a.example:443"}, File: "~/.netrc", Extract: "part-value"},
		{Name: "KEY", Plain: true, File: "~/key", Extract: "inner-key"},
	}
	values := safe{"person MASKED": "masked-value", "person ADDED": "added-value", "person PLAIN": "plain-value", "person PART": "password part-value", "person KEY": "begin\ninner-key\nend"}
	var env []string
	var got *sandbox.Secrets
	driver := &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		env, got = cmd.Env, cmd.Grant.Secrets
		cmd.Started()
		_, _ = cmd.Stdout.Write([]byte("out plain-va"))
		_, _ = cmd.Stdout.Write([]byte("lue masked-value\n"))
		_, _ = cmd.Stderr.Write([]byte("plain-value part-value begin\ninner-key\nend inner-key"))
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
		{Name: "PART", Value: "part-value", Sentinel: "PART-VALUE", Hosts: []string{"a.example:443"}},
	}
	if diff := cmp.Diff(want, got.List); diff != "" {
		t.Error(diff)
	}
	all := strings.Join(env, "\n") + "\n"
	if !strings.Contains(all, "\nTOKEN=MASKED-VALUE\n") || !strings.Contains(all, "\nPLAIN=plain-value\n") || strings.Contains(all, "ADDED") || strings.Contains(all, "\nPART=") || !strings.Contains(all, "_0=password PART-VALUE\n") || !strings.Contains(all, "_1=begin\ninner-key\nend\n") || strings.Contains(all, "masked-value") {
		t.Errorf("environment %s", all)
	}
	if out := string(o.Stdout.Bytes()); out != "out [secret PLAIN] [secret MASKED]\n" || string(o.Stderr.Bytes()) != "[secret PLAIN] [secret PART] [secret KEY] [secret KEY]" {
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

// A call whose arguments hold a value is refused, before anybody is asked if no command prints
// it, and its record has none: neither has that of a call with arguments that are not valid.
func TestSecretsInArguments(t *testing.T) {
	for name, test := range map[string]struct {
		args  map[string]any
		want  string // of the error; "" is none
		asked bool
	}{
		"kept":     {map[string]any{"v": "use masked-value"}, "the argument v holds the value of a secret", false},
		"spelled":  {map[string]any{"v": base64.StdEncoding.EncodeToString([]byte("masked-value"))}, "the argument v holds", false},
		"nested":   {map[string]any{"all": []any{map[string]any{"masked-value": 1}}}, "the argument all holds", false},
		"printed":  {map[string]any{"v": "printed-value"}, "the argument v holds", true},
		"a part":   {map[string]any{"v": "part-value"}, "the argument v holds", false},
		"invalid":  {map[string]any{"n": "masked-value"}, `"n" must be an integer`, false},
		"another":  {map[string]any{"v": "another-value"}, "", true},
		"no value": {nil, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			driver, decider := &recorder{}, &secretive{secrets: []run.SecretGrant{{Name: "MASKED", Hosts: []string{"a.example:443"}}, {Name: "PRINTED", Plain: true}, {Name: "PART", Hosts: []string{"a.example:443"}, Extract: "part-value"}}}
			x := executorOf(t, driver, decider, &run.Options{Secrets: safe{"person MASKED": "masked-value", "person PRINTED": "printed-value", "person PART": "password part-value"}, Recorder: decider})
			_, err := x.Run(t.Context(), run.Request{Call: person(), Skill: demo(t, "script: run.sh\nparams: {v: {type: string}, n: {type: integer}, all: {type: array}}"), Args: test.args})
			if fault := new(run.Error); test.want != "" && (!errors.As(err, &fault) || fault.Code != run.InvalidParam || !strings.HasPrefix(fault.Message, test.want)) || test.want == "" && err != nil {
				t.Error(err)
			}
			if (len(driver.commands) == 0) != (test.want != "") || decider.asked != test.asked {
				t.Errorf("%d commands, asked: %t", len(driver.commands), decider.asked)
			}
			if text := decider.recorded; text == "" || strings.Contains(text, "masked-value") || strings.Contains(text, "printed-value") {
				t.Errorf("recorded: %s", text)
			}
		})
	}
}

// A value of several lines is in no variable, and a file in no workspace and of no second
// secret.
func TestSecretsOfNoPlace(t *testing.T) {
	broken := "the secret A: its value has line breaks or tabs, which neither a variable nor a header field holds; grant it with --file, such as --file '~/.netrc', or set it to the secret alone; tell the person"
	for _, test := range []struct {
		want    string
		secrets []run.SecretGrant
	}{
		{broken, []run.SecretGrant{{Name: "A", Plain: true}}},
		{broken, []run.SecretGrant{{Name: "A", Hosts: []string{"a.example:443"}, Extract: "lines"}}},
		{broken, []run.SecretGrant{{Name: "A", Hosts: []string{"a.example:443"}, Header: "X-Key"}}},
		{"two secrets are granted in B; grant one of them with another --as or --file; only the person can do so", []run.SecretGrant{{Name: "B", Plain: true}, {Name: "A", Hosts: []string{"a.example:443"}, As: "B"}}},
		{"two secrets are granted in ~/a; grant one of them with another --as or --file; only the person can do so", []run.SecretGrant{{Name: "A", Plain: true, File: "~/a"}, {Name: "B", Plain: true, File: "~/a"}}},
	} {
		driver := &recorder{}
		x := executorOf(t, driver, &secretive{secrets: test.secrets}, &run.Options{Secrets: safe{"person A": "two\nlines", "person B": "one line"}})
		_, err := x.Run(t.Context(), run.Request{Call: person(), Skill: demo(t, "script: run.sh")})
		wantError(t, err, run.Unavailable, test.want)
		if len(driver.commands) > 0 {
			t.Errorf("%v: it ran", test.secrets)
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
