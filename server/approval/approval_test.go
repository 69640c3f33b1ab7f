package approval

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
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
	schemas []json.RawMessage
}

// offered returns the answers of the first form but no; nil without a form.
func (p *person) offered(t *testing.T) []Scope {
	if len(p.schemas) == 0 {
		return nil
	}
	var form struct {
		Properties struct{ Answer struct{ Enum []Scope } }
	}
	if err := json.Unmarshal(p.schemas[0], &form); err != nil || form.Properties.Answer.Enum[0] != No {
		t.Fatalf("%s: %v", p.schemas[0], err)
	}
	return form.Properties.Answer.Enum[1:]
}

func (p *person) client() *elicit.Client {
	return &elicit.Client{Asker: p, Can: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}}
}

func (p *person) Ask(ctx context.Context, requests map[string]*elicit.Request) (map[string]json.RawMessage, error) {
	answers := map[string]json.RawMessage{}
	for key, r := range requests {
		var form struct {
			Message         string
			RequestedSchema json.RawMessage
		}
		if err := json.Unmarshal(r.Params, &form); err != nil {
			return nil, err
		}
		p.asked, p.keys, p.schemas = append(p.asked, form.Message), append(p.keys, key), append(p.schemas, form.RequestedSchema)
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

// The ladder: for each client, the outcome of a call. A program answers before a person
// can have read the question.
func TestLadder(t *testing.T) {
	decline, dismiss := `{"action":"decline"}`, `{"action":"cancel"}`
	const asked, refused = "APPROVAL_REQUIRED+id!", "APPROVAL_REQUIRED"
	for name, test := range map[string]struct {
		answer string // of a form; "" is none
		after  time.Duration
		want   string // with FormsOnce
		all    string // with FormsAll
	}{
		"yes, once":                  {choose(Once), unread, "runs", "runs"},
		"yes, once, by a program":    {choose(Once), unread - 1, asked, "runs"},
		"yes, once, at once":         {choose(Once), 0, asked, "runs"},
		"yes, this session":          {choose(Session), unread, "runs", "runs"},
		"session, by a program":      {choose(Session), instant, asked, "runs"},
		"yes, always":                {choose(Always), unread, asked, "runs"}, // which was not offered
		"always, by a program":       {choose(Always), 0, asked, "runs"},
		"no":                         {choose(No), unread, refused, refused},
		"no, by a program":           {choose(No), 0, asked, refused},
		"declined":                   {decline, unread, refused, refused},
		"dismissed":                  {dismiss, unread, refused, refused},
		"declined by a program":      {decline, instant - 1, asked, asked},
		"declined by a fast person":  {decline, instant, refused, refused},
		"dismissed by a program":     {dismiss, 0, asked, asked},
		"accepted without an answer": {`{"action":"accept","content":{}}`, unread, asked, asked},
		"another answer":             {choose("forever"), unread, asked, asked},
		"another field":              {`{"action":"accept","content":{"approved":true}}`, unread, asked, asked},
		"no answer":                  {"", 0, refused, refused},
	} {
		for _, forms := range AllForms() {
			t.Run(name+"/"+string(forms), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					want, most := test.want, 1
					switch forms {
					case FormsAll:
						want = test.all
					case FormsNever:
						want, most = asked, 0
					}
					a, who, p := newApprovals(t, &Options{Forms: forms}), &person{after: test.after}, proposed(nil)
					if test.answer != "" {
						who.answers = []string{test.answer}
					}
					p.Client = who.client()
					if got := outcome(a.Approve(t.Context(), p)); got != want {
						t.Errorf("%s, want %s", got, want)
					}
					if (p.Approval != "") != (want == "runs") {
						t.Errorf("approval %q", p.Approval)
					}
					if len(who.asked) != most || most > 0 && !strings.HasPrefix(who.keys[0], "approval-") {
						t.Errorf("asked %q by %q", who.asked, who.keys)
					}
				})
			})
		}
	}
}

// The answers that a form offers, for each kind of call; none of what lasts, or risks much.
func TestForms(t *testing.T) {
	both := []Scope{Once, Session}
	for name, test := range map[string]struct {
		change    func(*run.Proposal)
		once, all []Scope // with FormsOnce, and FormsAll; nil is no form
	}{
		"a mutating call": {func(*run.Proposal) {}, both, []Scope{Once, Session, Always}},
		"with hosts":      {func(p *run.Proposal) { p.Command.Grant.Hosts = []string{"a.example:443"} }, both, []Scope{Once, Session, Always}},
		"each time":       {func(p *run.Proposal) { p.Decision.Each = true }, []Scope{Once}, []Scope{Once}},
		"approve: always": {func(p *run.Proposal) { p.Decision.Always = true }, []Scope{Once}, []Scope{Always, Once}},
		"no session":      {func(p *run.Proposal) { p.Principal.Session = "" }, []Scope{Once}, []Scope{Once, Always}},
		"a script's call": {func(p *run.Proposal) { p.Way, p.Stack = run.WaySkill, []string{"outer"} }, both, []Scope{Once, Session, Always}},
		"dangerous":       {func(p *run.Proposal) { p.Decision.Class = skills.Dangerous }, nil, []Scope{Once}},
		"two people":      {func(p *run.Proposal) { p.Decision.Signatures = 2 }, nil, []Scope{Once}},
		"a variable":      {func(p *run.Proposal) { p.Variables = []string{"BANK_TOKEN"} }, nil, []Scope{Once, Session, Always}},
		"a secret": {func(p *run.Proposal) {
			p.Decision.Secrets = []run.SecretGrant{{Name: "A", Hosts: []string{"a.example:443"}}}
		}, nil, []Scope{Once, Session, Always}},
		"a grown skill": {func(p *run.Proposal) { p.Decision.Grown = []string{"+ runs a shell"} }, nil, []Scope{Once, Session, Always}},
		"trust": {func(p *run.Proposal) {
			p.Decision.Trust, p.Decision.Each = &run.Trust{Workspace: "/work"}, true
		}, nil, []Scope{Once}},
		"another server's files": {func(p *run.Proposal) { p.Decision.Fetch = &run.Fetch{Address: "a.example"} }, nil, []Scope{Once}},
		"an installation": {func(p *run.Proposal) {
			p.Action, p.Review, p.Decision.Each = run.ActionInstall, &run.Review{}, true
		}, nil, []Scope{Once}},
	} {
		for _, forms := range AllForms() {
			t.Run(name+"/"+string(forms), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					want := map[Forms][]Scope{FormsOnce: test.once, FormsAll: test.all}[forms]
					who := &person{answers: []string{`{"action":"accept","content":{}}`}, after: unread}
					p := proposed(who.client())
					test.change(p)
					if got := outcome(newApprovals(t, &Options{Forms: forms}).Approve(t.Context(), p)); got != "APPROVAL_REQUIRED+id!" {
						t.Error(got)
					}
					if !slices.Equal(who.offered(t), want) {
						t.Errorf("offered %q, want %q", who.offered(t), want)
					}
				})
			})
		}
	}
}
