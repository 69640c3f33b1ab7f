package approval

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// A browser opens links for its person, who answers on the page after a while.
type browser struct {
	reply  string // to the link
	answer func(id string)
}

func (b *browser) client() *elicit.Client {
	return &elicit.Client{Asker: b, Can: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{URL: &struct{}{}}}}
}

func (b *browser) Ask(_ context.Context, requests map[string]*elicit.Request) (map[string]json.RawMessage, error) {
	answers := map[string]json.RawMessage{}
	for key, r := range requests {
		var link struct {
			Mode, URL string
			ID        string `json:"elicitationId"`
		}
		if err := json.Unmarshal(r.Params, &link); err != nil {
			return nil, err
		}
		if link.Mode != "url" || !strings.HasSuffix(link.URL, link.ID) {
			return nil, elicit.ErrGone
		}
		time.Sleep(time.Second)
		answers[key] = json.RawMessage(b.reply)
		if b.answer != nil {
			b.answer(link.ID)
		}
	}
	return answers, nil
}

// A client that opens links, but shows no forms, gets the page, whose answer counts.
func TestPage(t *testing.T) {
	const opened, declined = `{"action":"accept"}`, `{"action":"decline"}`
	yes := func(a *Approvals) func(id string) {
		return func(id string) {
			r, err := a.Open(t.Context(), id, Local())
			if err == nil {
				err = a.Confirm(t.Context(), r, Local(), ByPage, Once)
			}
			if err != nil {
				t.Error(err)
			}
		}
	}
	no := func(a *Approvals) func(id string) {
		return func(id string) {
			if _, err := a.Deny(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
	}
	for name, test := range map[string]struct {
		reply  string
		answer func(a *Approvals) func(id string)
		page   bool
		want   string
	}{
		"yes":         {opened, yes, true, "runs"},
		"no":          {opened, no, true, "APPROVAL_REQUIRED"},
		"no answer":   {opened, nil, true, "APPROVAL_REQUIRED"},
		"not opened":  {declined, nil, true, "APPROVAL_REQUIRED"},
		"an error":    {`{"error":"no browser"}`, nil, true, "APPROVAL_REQUIRED+id!"},
		"without one": {opened, nil, false, "APPROVAL_REQUIRED+id!"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newApprovals(t, &Options{Page: func(id string) (string, bool) { return "http://127.0.0.1/approvals/" + id, test.page }})
				b := &browser{reply: test.reply}
				if test.answer != nil {
					b.answer = test.answer(a)
				}
				if got := outcome(a.Approve(t.Context(), proposed(b.client()))); got != test.want {
					t.Errorf("%s, want %s", got, test.want)
				}
			})
		})
	}
}

// The refusal of a call names the page, if there is one, and how to answer without it.
// Nothing in it answers: the address is that of a screen, and the command asks for keys.
func TestRefusalNamesThePage(t *testing.T) {
	for name, test := range map[string]struct {
		page func(id string) (string, bool)
		want string
	}{
		"a page":      {func(id string) (string, bool) { return "http://127.0.0.1:8765/ui/approvals/" + id, true }, "They answer on the page, http://127.0.0.1:8765/ui/approvals/ID , or in a terminal of their own, with: skills-mcp approve ID (until "},
		"no page now": {func(string) (string, bool) { return "", false }, "They answer in a terminal of their own, with: skills-mcp approve ID, or on the page, which Skills opens, if that is among the applications (until "},
		"no page":     {nil, "They answer in a terminal of their own, with: skills-mcp approve ID (until "},
	} {
		t.Run(name, func(t *testing.T) {
			p := proposed(nil)
			p.Decision.Signatures = 2
			a := newApprovals(t, &Options{Page: test.page})
			refusal := func() string {
				e := run.AsError(a.Approve(t.Context(), p))
				told := e.ForModel().Message
				if !strings.Contains(strings.ReplaceAll(told, e.Approval, "ID"), test.want) {
					t.Errorf("%s", told)
				}
				if strings.Contains(e.Message, "Do not try") || strings.Contains(e.Message, "to them") || !strings.Contains(e.Message, "with: skills-mcp approve "+e.Approval) {
					t.Errorf("a person reads %s", e.Message)
				}
				return e.Approval
			}
			id := refusal()
			r, err := a.Open(t.Context(), id, Local())
			if err == nil {
				err = a.Confirm(t.Context(), r, Local(), ByPage, Once)
			}
			if err != nil {
				t.Fatal(err)
			}
			if again := refusal(); again != id { // for the second person
				t.Errorf("the second person is asked about %s, not %s", again, id)
			}
		})
	}
}

// The person of a named principal is not led to a page on which only the person of the machine
// could answer.
func TestNoPageForQuestionsAboutTheServer(t *testing.T) {
	a := newApprovals(t, &Options{Forms: FormsAll, Page: func(id string) (string, bool) { return "http://127.0.0.1:1/ui/approvals/" + id, true }})
	for name, change := range map[string]func(*run.Proposal){
		"a call":              func(*run.Proposal) {},
		"trust":               func(p *run.Proposal) { p.Decision.Trust = &run.Trust{Workspace: "/work"} },
		"a gained capability": func(p *run.Proposal) { p.Decision.Grown = []string{"runs a shell"} },
	} {
		who := &person{answers: []string{choose(No)}}
		p := proposed(who.client())
		p.Principal = identity.Principal{Kind: identity.Subject, ID: "ann", Scopes: []identity.Scope{identity.ScopeRun, identity.ScopeApprove}}
		p.Args["n"] = name // a no stands for equal calls
		change(p)
		err := a.Approve(t.Context(), p)
		if own := name == "a call"; (len(who.asked) > 0) != own || !own && (strings.Contains(err.Error(), "/ui/") || !strings.Contains(err.Error(), "operator of this server")) {
			t.Errorf("%s: %q, %v", name, who.asked, err)
		}
	}
}
