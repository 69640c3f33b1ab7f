package policy

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestCheckSecret(t *testing.T) {
	for _, test := range []struct {
		grant run.SecretGrant
		want  string // of the error, or the line
	}{
		{run.SecretGrant{Name: "A", Hosts: []string{"API.example.com", "b.example:8443", "[2001:db8::1]", "*.c.example"}, Methods: []string{"get", "POST"}, Paths: []string{"/repos/**"}},
			"A, masked: to api.example.com:443 or b.example:8443 or [2001:db8::1]:443 or *.c.example:443, GET or POST, /repos/**, in header and query, for what the skill has in the variable A"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, In: []string{"body"}, As: "B"}, "A, masked: to b.example:443, any method, any path, in body, for what the skill has in the variable B"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Header: "Authorization: Bearer"}, "A, masked: to b.example:443, any method, any path, added as Authorization: Bearer …"},
		{run.SecretGrant{Name: "A", Plain: true, As: "B"}, "A, plain: the skill sees it, in the variable B"},
		{run.SecretGrant{Name: "A"}, "say which hosts"},
		{run.SecretGrant{Name: "A-B", Plain: true}, "no name of a secret"},
		{run.SecretGrant{Name: "A", Plain: true, As: "B C"}, "no name of a variable"},
		{run.SecretGrant{Name: "A", Plain: true, Hosts: []string{"b.example"}}, "plain goes without hosts"},
		{run.SecretGrant{Name: "A", Hosts: []string{"https://b.example"}}, "is not a host"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Methods: []string{"G T"}}, "is no method"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Paths: []string{"repos"}}, "is no pattern of paths"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Paths: []string{"/[a"}}, "is no pattern of paths"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, In: []string{"cookie"}}, "is no part of a request"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Header: "X-Key\r\nHost: c"}, "is no header field"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Header: "host"}, "belongs to the connection"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Header: "Transfer-Encoding: Bearer"}, "belongs to the connection"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Header: "Proxy-Authorization: Basic"}, "belongs to the connection"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Header: "Host-Key"}, "added as Host-Key …"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example", "localhost"}}, "without the proxy"},
		{run.SecretGrant{Name: "A", Hosts: []string{"*.app.localhost:8443"}}, "without the proxy"},
		{run.SecretGrant{Name: "A", Hosts: []string{"127.0.0.1:8443"}}, "without the proxy"},
		{run.SecretGrant{Name: "A", Hosts: []string{"[::1]"}}, "without the proxy"},
		{run.SecretGrant{Name: "A", Hosts: []string{"127.0.0.2", "localhost.example"}}, "to 127.0.0.2:443 or localhost.example:443"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Header: "X-Key", As: "B"}, "leave out one or the other"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Header: "X-Key", File: "~/.netrc"}, "leave out one or the other"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, Header: "X-Key", Extract: "(a)"}, "leave out one or the other"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, As: "B", File: "~/.netrc"}, "leave out one or the other"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, File: ".netrc", Extract: `password (\S+)`},
			`in header and query, for what the skill has in the file ~/.netrc, by the group of ` + "`password (\\S+)`"},
		{run.SecretGrant{Name: "A", Hosts: []string{"b.example"}, File: "/tmp/.config/gh/hosts.yml"}, "in the file ~/.config/gh/hosts.yml"},
		{run.SecretGrant{Name: "A", Plain: true, File: "~/.ssh/id_ed25519"}, "A, plain: the skill sees it, in the file ~/.ssh/id_ed25519"},
		{run.SecretGrant{Name: "A", Plain: true, Extract: "(`)\x1b"}, `by the group of "(` + "`" + `)\x1b"`},
		{run.SecretGrant{Name: "A", Plain: true, Extract: "password"}, "with one group, the secret"},
		{run.SecretGrant{Name: "A", Plain: true, File: "~/../out/key"}, "is no file of the run's home folder"},
	} {
		err, got := CheckSecret(&test.grant), test.grant.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, test.want) {
			t.Errorf("%+v: %q, want %q", test.grant, got, test.want)
		}
	}
}

// A grant of a secret raises the class, gives its hosts and is part of the version; the
// book keeps it, and none for a host that is not public.
func TestSecretsOfTheBook(t *testing.T) {
	_, open := newStore(t)
	book, skill := open(), skillAt("demo", "/skills/demo")
	rule := Rule{Pattern: "demo", Origin: skill.Origin().String()}
	grant := run.SecretGrant{Name: "A", Hosts: []string{"a.example:443"}}
	rule.AddSecret(run.SecretGrant{Name: "A", Hosts: []string{"old.example:443"}})
	rule.AddSecret(grant)
	rule.AddSecret(run.SecretGrant{Name: "B", Hosts: []string{"10.0.0.1:443"}})
	if err := book.Put(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	p := New(&Options{Book: open()})
	d := decide(t, p, skill, "")
	if diff := cmp.Diff([]run.SecretGrant{grant}, d.Secrets); diff != "" {
		t.Error(diff)
	}
	if d.Class != skills.Mutating || d.Signatures != 1 || len(d.Grant.Hosts) != 1 || d.Grant.Hosts[0] != "a.example:443" || d.Grant.Write {
		t.Errorf("%+v", d)
	}
	rule.Secrets[0].Methods = []string{"GET"}
	if err := book.Put(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	if narrower := decide(t, p, skill, ""); narrower.Version == d.Version {
		t.Error("another method has the same version")
	}
	if rule.AddSecret(run.SecretGrant{Name: "A", Hosts: grant.Hosts, File: "~/.netrc"}); len(rule.Secrets) != 3 {
		t.Errorf("a file replaces a variable: %+v", rule.Secrets)
	}
	rule.Secrets = nil
	if err := book.Put(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	if revoked := decide(t, p, skill, ""); revoked.Secrets != nil || revoked.Class != skills.Safe || len(revoked.Grant.Hosts) > 0 {
		t.Errorf("%+v", revoked)
	}
	strange := skillAt("demo", "/work/.claude/skills/demo")
	strange.Source, strange.Workspace = skills.SourceSession, "/work"
	p = New(&Options{Rules: []Rule{{Pattern: "demo", Secrets: []run.SecretGrant{grant}}}})
	if d, err := p.Decide(t.Context(), &run.Proposal{Action: run.ActionSkill, Skill: strange}); err == nil && d.Secrets != nil {
		t.Errorf("a skill of a workspace that is not trusted: %+v", d)
	}
}
