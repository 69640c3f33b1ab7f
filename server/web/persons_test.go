package web

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// as sends a request of a principal, with a form if it has fields in pairs.
func (v *review) as(who identity.Principal, path string, fields ...string) *httptest.ResponseRecorder {
	v.t.Helper()
	method, form := http.MethodGet, url.Values{}
	for i := 0; i < len(fields); i += 2 {
		method = http.MethodPost
		form.Set(fields[i], fields[i+1])
	}
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	v.handler.ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), who)))
	return w
}

// team are two people, one who oversees all, and a program.
func team() (ann, bea, boss, bot identity.Principal) {
	scopes := []identity.Scope{identity.ScopeRun, identity.ScopeApprove}
	ann = identity.Principal{Kind: identity.Subject, ID: "https://id.example|1", Name: "Ann <b>", Scopes: scopes}
	bea = identity.Principal{Kind: identity.Token, ID: "bea", Scopes: scopes}
	boss = identity.Principal{Kind: identity.Token, ID: "boss", Scopes: append(scopes, identity.ScopeAdmin)}
	bot = identity.Principal{Kind: identity.Token, ID: "bot", Scopes: scopes[:1]}
	return ann, bea, boss, bot
}

// Two people confirm a call by the page, each by their own session: the one whose call it is,
// and then one who oversees all. No other sees the question, its count, or that something has
// changed.
func TestTwoPeopleOnThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newReview(t, nil, nil)
		ann, bea, boss, bot := team()
		stamp := func(who identity.Principal) string {
			_, after, _ := strings.Cut(v.as(who, Path+"approvals").Body.String(), `data-stamp="`)
			stamp, _, _ := strings.Cut(after, `"`)
			return stamp
		}
		v.call(proposed("first")) // makes the store
		before := map[string]string{}
		everybody := map[string]identity.Principal{"ann": ann, "bea": bea, "boss": boss, "bot": bot}
		for name, who := range everybody {
			before[name] = stamp(who)
		}
		p := proposed("docx")
		p.Principal, p.Decision.Signatures = ann.In("s"), 2
		id := v.call(p)
		time.Sleep(stampAge)
		for name, who := range everybody {
			sees := name == "ann" || name == "boss"
			if changed := stamp(who) != before[name]; changed != sees {
				t.Errorf("%s learns of the question: %t", name, changed)
			}
			list := v.as(who, Path+"approvals").Body.String()
			if strings.Contains(list, id) != sees || strings.Contains(list, "<title>(1) ") != (name == "ann") {
				t.Errorf("%s is shown %s", name, list)
			}
			if w := v.as(who, approvalPath(id)); (w.Code == 200) != sees || strings.Contains(w.Body.String(), `name="answer"`) != (name == "ann") {
				t.Errorf("%s: %d %s", name, w.Code, w.Body)
			}
		}
		answer := func(who identity.Principal, want int) {
			t.Helper()
			if w := v.as(who, approvalPath(id), "answer", "once"); w.Code != want {
				t.Errorf("%s answers: %d %s", who.ID, w.Code, w.Body)
			}
		}
		answer(boss, 403)
		answer(bea, 404)
		answer(bot, 403)
		answer(ann, 303)
		if text := v.as(ann, approvalPath(id)).Body.String(); !strings.Contains(text, "You have confirmed it") || strings.Contains(text, `name="answer"`) {
			t.Error(text)
		}
		if text := v.as(boss, approvalPath(id)).Body.String(); !strings.Contains(text, "<title>(1) ") || strings.Contains(text, "passphrase") || !strings.Contains(text, `name="answer"`) {
			t.Error(text)
		}
		answer(ann, 400)
		answer(boss, 303)
		if v.call(p) != "" {
			t.Error("after two people it does not run")
		}
		if text := v.as(bea, Path+"runs").Body.String(); strings.Contains(text, p.RunID) {
			t.Errorf("another one sees the run: %s", text)
		}
		if text := v.as(ann, Path+"runs/"+p.RunID).Body.String(); !strings.Contains(text, p.RunID) {
			t.Error(text)
		}
	})
}

// A yes that changes the server for everybody is of the person who runs it.
func TestQuestionsAboutTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newReview(t, nil, nil)
		ann, _, boss, _ := team()
		for name, change := range map[string]func(p *run.Proposal){
			"trust": func(p *run.Proposal) { p.Decision.Trust = &run.Trust{Workspace: "/work"} },
			"grown": func(p *run.Proposal) { p.Decision.Grown = []string{"runs a shell"} },
		} {
			p := proposed(name)
			p.Principal, p.Decision.Signatures = ann, 2
			change(p)
			id := v.call(p)
			for _, who := range []identity.Principal{ann, boss} {
				if w := v.as(who, approvalPath(id)); !strings.Contains(w.Body.String(), "the person who runs it gives it") || strings.Contains(w.Body.String(), `name="answer"`) {
					t.Errorf("%s: %s", name, w.Body)
				}
				if w := v.as(who, approvalPath(id), "answer", "once"); w.Code != 403 {
					t.Errorf("%s: %d %s", name, w.Code, w.Body)
				}
			}
		}
	})
}

// The page of a person on a shared server has their screens and their name, and nothing of the
// machine.
func TestOwnPage(t *testing.T) {
	v := newReview(t, nil, nil)
	ann, _, boss, bot := team()
	for _, who := range []identity.Principal{ann, boss, bot} {
		text := v.as(who, Path+"approvals").Body.String()
		for _, section := range sections(true) {
			own := section.Name == "skills" || section.Name == "approvals" || section.Name == "runs" || section.Name == "secrets"
			if strings.Contains(text, `href="`+section.Path+`"`) != own {
				t.Errorf("%s is shown a link to %s: %t", who.ID, section.Name, !own)
			}
			if own {
				continue
			}
			if w := v.as(who, section.Path); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "skills-mcp ui") {
				t.Errorf("%s reads %s: %d %s", who.ID, section.Name, w.Code, w.Body)
			}
		}
	}
	if text := v.as(ann, Path+"approvals").Body.String(); !strings.Contains(text, "<bdi>Ann &lt;b&gt;</bdi>") || strings.Contains(text, "signed in with a token") {
		t.Error(text)
	}
}
