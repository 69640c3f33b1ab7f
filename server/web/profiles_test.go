package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A person makes two profiles, chooses their skills, and sees what each of their clients has.
// Nobody else sees or changes one.
func TestProfileScreens(t *testing.T) {
	b := newSecretBench(t)
	person := identity.Principal{Kind: identity.Person}
	done := func(path string, form url.Values) {
		t.Helper()
		if w := b.as(person, path, form); w.Code != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	shows := func(path string, parts ...string) {
		t.Helper()
		w := b.as(person, path, nil)
		for _, part := range parts {
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), part) {
				t.Errorf("%s: %d, without %q:\n%s", path, w.Code, part, w.Body)
			}
		}
	}
	shows("profiles", "There are none yet.", `aria-current="page"`)
	done("profiles", url.Values{"name": {"red"}})
	done("profiles", url.Values{"name": {"blue"}})
	done("profiles/red", url.Values{
		"mode": {"read-only"}, "class": {"safe"}, "slots": {"2"}, "timeout": {"90s"}, "workspace": {"/work"},
		"allow": {"issues\r\nteam/*\r\n"}, "secrets": {"none"}, "env": {"TEAM=red\r\nSTAGE="}, "pin": {"issues"},
	})
	done("profiles/blue/skill", url.Values{"skill": {"issues"}, "to": {"deny"}})
	shows("profiles", "TEAM=red", "read-only", "secrets</span> <bdi>none")
	shows("profiles/red", "<option selected>read-only</option>", "1m30s", "exists</span> ready", "place 1", "does not exist</span> <bdi>the profile red.allow does not have it")
	shows("profiles/blue", "does not exist</span> <bdi>the profile blue.deny has &#34;issues&#34;")
	want := []policy.NamedProfile{{Name: "blue", Profile: policy.Profile{Deny: []string{"issues"}}}, {Name: "red", Profile: policy.Profile{
		Mode: policy.ReadOnly, Class: skills.Safe, MaxConcurrent: 2, Timeout: 90e9, Workspace: "/work", Allow: []string{"issues", "team/*"},
		Secrets: []string{}, Env: map[string]string{"TEAM": "red", "STAGE": ""}, Pin: []string{"issues"},
	}}}
	stored := func() []policy.NamedProfile { return (&policy.Options{Book: b.book}).NamedProfiles(t.Context()) }
	if diff := cmp.Diff(want, stored()); diff != "" {
		t.Error(diff)
	}
	for path, form := range map[string]url.Values{
		"profiles": {"name": {"a b"}}, "profiles/red": {"timeout": {"soon"}}, "profiles/blue": {"env": {"TEAM"}}, "profiles/green": {},
		"profiles/red/skill": {"skill": {"["}, "to": {"deny"}},
	} {
		if w := b.as(person, path, form); w.Code < 400 || w.Code >= 500 {
			t.Errorf("%s %v: %d", path, form, w.Code)
		}
	}
	for _, who := range []identity.Principal{{}, {Kind: identity.Token}, {Kind: identity.Subject, ID: "issuer|ann", Scopes: []identity.Scope{identity.ScopeRun, identity.ScopeApprove}}} {
		for path, form := range map[string]url.Values{"profiles": nil, "profiles/red": nil, "profiles/red/remove": {}, "profiles/blue": {"allow": {"*"}}} {
			if w := b.as(who, path, form); w.Code != http.StatusForbidden {
				t.Errorf("%+v: %s: %d", who, path, w.Code)
			}
		}
	}
	if diff := cmp.Diff(want, stored()); diff != "" {
		t.Error(diff)
	}
	shows("profiles/red/remove", "No skill exists then")
	done("profiles/red/remove", url.Values{})
	if left := stored(); len(left) != 1 || left[0].Name != "blue" {
		t.Errorf("%+v", left)
	}
}

// The buttons of a skill change the lists of a profile so that the skill exists, or does not,
// and nothing else does.
func TestChoose(t *testing.T) {
	for name, test := range map[string]struct {
		before policy.Profile
		to     string
		want   policy.Profile
	}{
		"denied":                {policy.Profile{}, "deny", policy.Profile{Deny: []string{"a"}}},
		"denied once":           {policy.Profile{Allow: []string{"a", "b"}, Deny: []string{"a"}}, "deny", policy.Profile{Allow: []string{"b"}, Deny: []string{"a"}}},
		"the last is denied":    {policy.Profile{Allow: []string{"a"}}, "deny", policy.Profile{Allow: []string{}, Deny: []string{"a"}}},
		"allowed":               {policy.Profile{Deny: []string{"a"}}, "allow", policy.Profile{Deny: []string{}}},
		"allowed by a pattern":  {policy.Profile{Deny: []string{"a*"}}, "allow", policy.Profile{Allow: []string{"*", "a"}, Deny: []string{"a*"}}},
		"allowed beside others": {policy.Profile{Allow: []string{"b"}}, "allow", policy.Profile{Allow: []string{"b", "a"}}},
		"first":                 {policy.Profile{Pin: []string{"b", "a"}}, "first", policy.Profile{Pin: []string{"a", "b"}}},
		"no longer first":       {policy.Profile{Pin: []string{"b", "a"}}, "unpin", policy.Profile{Pin: []string{"b"}}},
		"something else":        {policy.Profile{Pin: []string{"b"}}, "x", policy.Profile{Pin: []string{"b"}}},
	} {
		choose(&test.before, "a", test.to)
		if diff := cmp.Diff(test.want, test.before); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
