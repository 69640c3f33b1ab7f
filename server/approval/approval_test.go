package approval

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newApprovals returns approvals in an empty store.
func newApprovals(t *testing.T, options *Options) *Approvals {
	t.Helper()
	s := store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), nil)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return New(s, options)
}

// proposed returns a call of a mutating skill by a model, which may be asked about.
func proposed(client *elicit.Client) *run.Proposal {
	skill := &skills.Skill{Name: "docx", Dir: "/home/ann/.claude/skills/docx", Class: skills.Mutating, Entry: &skills.Entry{Script: "edit.py"}}
	return &run.Proposal{
		Action: run.ActionSkill, Way: run.WayTool, Skill: skill, Digest: "sha256:0123456789abcdef0123", Client: client,
		Principal: identity.Principal{Kind: identity.Model, Session: "1"},
		Args:      map[string]any{"path": "a.docx"},
		Decision:  &run.Decision{Class: skills.Mutating, Signatures: 1, Version: "1", Rule: "the mode confirm"},
		Command:   &sandbox.Command{Skill: "docx", Grant: sandbox.Grant{Workspaces: []string{"/work"}, Write: true}},
	}
}

// A person answers the forms of a client.
type person struct {
	answers []string      // JSON, one after the other
	after   time.Duration // of thinking
	asked   []string      // the messages
	keys    []string
}

func (p *person) client() *elicit.Client {
	return &elicit.Client{Asker: p, Can: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}}
}

func (p *person) Ask(ctx context.Context, requests map[string]*elicit.Request) (map[string]json.RawMessage, error) {
	answers := map[string]json.RawMessage{}
	for key, r := range requests {
		var form struct{ Message string }
		if err := json.Unmarshal(r.Params, &form); err != nil {
			return nil, err
		}
		p.asked, p.keys = append(p.asked, form.Message), append(p.keys, key)
		select {
		case <-time.After(p.after):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if len(p.answers) == 0 {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		answers[key] = json.RawMessage(p.answers[0])
		p.answers = p.answers[1:]
		if err := r.Check(answers[key]); err != nil {
			answers[key] = elicit.Refuse(err.Error())
		}
	}
	return answers, nil
}

func choose(s Scope) string {
	return `{"action":"accept","content":{"answer":"` + string(s) + `"}}`
}

// outcome returns "runs", or the code of a refusal, with "+id" if it names a question and
// "!" if it may be tried again.
func outcome(err error) string {
	e, ok := errors.AsType[*run.Error](err)
	if err == nil {
		return "runs"
	}
	if !ok {
		return err.Error()
	}
	text := string(e.Code)
	if e.Approval != "" {
		text += "+id"
	}
	if e.Retryable {
		text += "!"
	}
	return text
}

// The ladder: for each client, the outcome of a call.
func TestLadder(t *testing.T) {
	slow := time.Second
	for name, test := range map[string]struct {
		person *person // nil is a client without forms
		want   string
	}{
		"no client that can be asked": {nil, "APPROVAL_REQUIRED+id!"},
		"yes, once":                   {&person{answers: []string{choose(Once)}}, "runs"},
		"yes, always":                 {&person{answers: []string{choose(Always)}}, "runs"},
		"no":                          {&person{answers: []string{choose(No)}}, "APPROVAL_REQUIRED"},
		"declined":                    {&person{answers: []string{`{"action":"decline"}`}, after: slow}, "APPROVAL_REQUIRED"},
		"dismissed":                   {&person{answers: []string{`{"action":"cancel"}`}, after: slow}, "APPROVAL_REQUIRED"},
		"declined by a program":       {&person{answers: []string{`{"action":"decline"}`}, after: 299 * time.Millisecond}, "APPROVAL_REQUIRED+id!"},
		"declined by a fast person":   {&person{answers: []string{`{"action":"decline"}`}, after: 300 * time.Millisecond}, "APPROVAL_REQUIRED"},
		"accepted without an answer":  {&person{answers: []string{`{"action":"accept","content":{}}`}, after: slow}, "APPROVAL_REQUIRED+id!"},
		"another answer":              {&person{answers: []string{choose("forever")}, after: slow}, "APPROVAL_REQUIRED+id!"},
		"no answer":                   {&person{}, "APPROVAL_REQUIRED"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApprovals(t, nil)
				var client *elicit.Client
				if test.person != nil {
					client = test.person.client()
				}
				p := proposed(client)
				if got := outcome(a.Approve(t.Context(), p)); got != test.want {
					t.Errorf("%s, want %s", got, test.want)
				}
				if (p.Approval != "") != (test.want == "runs") {
					t.Errorf("approval %q", p.Approval)
				}
				if test.person != nil && (len(test.person.asked) != 1 || !strings.HasPrefix(test.person.keys[0], "approval-")) {
					t.Errorf("asked %q by %q", test.person.asked, test.person.keys)
				}
			})
		})
	}
}
