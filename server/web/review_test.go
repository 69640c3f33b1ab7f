package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A review is a page over a real store.
type review struct {
	t         *testing.T
	page      *Page
	handler   http.Handler
	approvals *approval.Approvals
	recorder  *audit.Recorder
	runs      store.Runs
	jobs      *jobs.Jobs
	subagents *heldSubagents
	queries   atomic.Int32 // of stamps
}

// newReview returns a page with nothing to see yet. runner runs its jobs; approvers are
// the hashes of the second people.
func newReview(t *testing.T, runner jobs.Runner, approvers map[string]string) *review {
	t.Helper()
	s := store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), nil)
	passphrases := approval.Passphrases{Approvers: approvers}
	key := seal.New(filepath.Join(t.TempDir(), "key"), passphrases.Keys())
	v := &review{t: t, approvals: approval.New(s, &approval.Options{Key: key, Page: func(id string) (string, bool) { return "http://127.0.0.1:8765" + approvalPath(id), true }}), recorder: audit.New(s, nil), runs: store.NewRuns(s)}
	held := jobs.New(runner, nil)
	v.jobs, v.subagents = held, &heldSubagents{}
	v.page = New(Options{Logger: slog.New(slog.DiscardHandler), Service: api.New(api.Options{
		Approvals: v.approvals, Runs: v.runs, Jobs: held, Subagents: v.subagents, Passphrases: passphrases,
		Published: func(context.Context) uint64 { v.queries.Add(1); return 0 },
	})})
	v.handler = v.page.Handler()
	t.Cleanup(func() {
		held.Close()
		v.recorder.Close()
		if err := errors.Join(v.page.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	return v
}

// proposed returns a call of a mutating skill by a model.
func proposed(name string) *run.Proposal {
	skill := &skills.Skill{Name: name, Dir: "/home/ann/.claude/skills/" + name, Class: skills.Mutating, Entry: &skills.Entry{Script: "edit.py"}}
	return &run.Proposal{
		Action: run.ActionSkill, Way: run.WayTool, Skill: skill, Digest: "sha256:0123456789abcdef0123",
		Principal: identity.Principal{Kind: identity.Model, Session: "1"},
		Args:      map[string]any{"path": "a.docx"},
		Decision:  &run.Decision{Class: skills.Mutating, Signatures: 1, Version: "1", Rule: "the mode confirm"},
		Command:   &sandbox.Command{Skill: name, Grant: sandbox.Grant{Workspaces: []string{"/work"}, Write: true}},
	}
}

// call makes a call, which is recorded, and returns the ID of its question; "" if it ran.
func (v *review) call(p *run.Proposal) string {
	v.t.Helper()
	p.RunID, p.Approval = run.NewID(), ""
	err := v.approvals.Approve(v.t.Context(), p)
	record := run.Record{Proposal: p, Err: err}
	if err == nil {
		record.Outcome = &run.Outcome{RunID: p.RunID, Digest: p.Digest, Result: &sandbox.Result{}}
		record.Outcome.WallTime = 1500 * time.Millisecond
		record.Outcome.Exited = true
		record.Outcome.Connections = []sandbox.Connection{{Host: "api.example:443", Address: "192.0.2.1:443", Sent: 10, Got: 2000}, {Host: "evil.example:80", Refused: "it is not granted"}}
	}
	v.recorder.Record(v.t.Context(), record)
	if err == nil {
		return ""
	}
	return run.AsError(err).Approval
}

// get returns a screen, as a person sees it.
func (v *review) get(path string) string {
	v.t.Helper()
	w := get(v.t, v.handler, identity.Person, path)
	if w.Code != http.StatusOK {
		v.t.Fatalf("GET %s: %d %s", path, w.Code, w.Body)
	}
	return w.Body.String()
}

// post sends a form with fields in pairs, and returns the status, and the screen that
// follows.
func (v *review) post(kind identity.Kind, path string, fields ...string) (status int, next string) {
	v.t.Helper()
	form := url.Values{}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r := httptest.NewRequest("POST", path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	v.handler.ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), identity.Principal{Kind: kind})))
	if w.Code != http.StatusSeeOther {
		return w.Code, w.Body.String()
	}
	return w.Code, v.get(w.Header().Get("Location"))
}

// golden compares the main part of a screen, without IDs, with a file of testdata.
func (v *review) golden(name, screen string, ids ...string) {
	v.t.Helper()
	_, screen, _ = strings.Cut(screen, `<main id="main" tabindex="-1">`)
	screen, _, _ = strings.Cut(screen, "</main>")
	for i, id := range ids {
		screen = strings.ReplaceAll(screen, id, fmt.Sprintf("ID%d", i+1))
	}
	screen = regexp.MustCompile(`\n\s*\n+`).ReplaceAllString(strings.TrimSpace(screen), "\n") + "\n"
	file := filepath.Join("testdata", "review", name+".html")
	if *updateGolden {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(screen), 0o644)); err != nil {
			v.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		v.t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), screen); diff != "" {
		v.t.Errorf("%s: run go test -update if it is right: %s", file, diff)
	}
}

// A refused call becomes a question in the list; one click answers it, its screen says
// what that means, and after the repetition of the call it proves what ran.
func TestAnswering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newReview(t, nil, nil)
		v.golden("approvals-empty", v.get(Path+"approvals"))
		id := v.call(proposed("docx"))
		v.golden("approvals-waiting", v.get(Path+"approvals"), id)
		v.golden("approval-waiting", v.get(approvalPath(id)), id)
		status, given := v.post(identity.Person, approvalPath(id), "answer", "once")
		if status != http.StatusSeeOther {
			t.Fatal(status, given)
		}
		v.golden("approval-given", given, id)
		p := proposed("docx")
		if again := v.call(p); again != "" {
			t.Fatalf("the repetition asks %s", again)
		}
		v.golden("approval-used", v.get(approvalPath(id)), id, p.RunID)
		v.golden("run", v.get(Path+"runs/"+p.RunID), id, p.RunID)
		if again := v.call(proposed("docx")); again == "" || again == id {
			t.Errorf("the approval counts twice: %q", again)
		}
		if status, shown := v.post(identity.Person, approvalPath(id), "answer", "no"); status != http.StatusSeeOther || !strings.Contains(shown, "the approval is used") {
			t.Errorf("a late second click: %d %s", status, shown)
		}
	})
}

// Each answer has its effect on the same call.
func TestAnswers(t *testing.T) {
	for answer, want := range map[string]struct {
		shown string
		asks  bool
	}{
		"once":         {"the same call succeeds once", false},
		"always":       {"Approved until", false},
		"no":           {"You said no", true},
		"revoke":       {"It was revoked", true},
		"this session": {"cannot be confirmed", true},
		"":             {"cannot be confirmed", true},
	} {
		t.Run(answer, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newReview(t, nil, nil)
				id := v.call(proposed("docx"))
				if _, shown := v.post(identity.Person, approvalPath(id), "answer", answer); !strings.Contains(shown, want.shown) {
					t.Errorf("no %q in %s", want.shown, shown)
				}
				p := proposed("docx")
				if v.call(p); (p.Approval == "") != want.asks {
					t.Errorf("the call ran: %t", p.Approval != "")
				}
			})
		})
	}
}

// Nobody but a person answers, and is offered to.
func TestOnlyPersonsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newReview(t, nil, nil)
		p := proposed("docx")
		p.Principal = identity.Principal{Kind: identity.Token}
		id := v.call(p)
		for _, path := range []string{Path + "approvals", approvalPath(id)} {
			w := get(t, v.handler, identity.Token, path)
			if body := w.Body.String(); !strings.Contains(body, "docx") || strings.Contains(body, `name="answer"`) {
				t.Errorf("%s: %d %s", path, w.Code, body)
			}
		}
		for _, answer := range []string{"once", "always", "no", "revoke"} {
			if status, body := v.post(identity.Token, approvalPath(id), "answer", answer); status != http.StatusForbidden {
				t.Errorf("%s: %d %s", answer, status, body)
			}
		}
		if w := get(t, v.handler, identity.Anonymous, approvalPath(id)); w.Code != http.StatusNotFound {
			t.Errorf("another principal sees the question: %d", w.Code)
		}
		p.Approval = ""
		if v.call(p); p.Approval != "" {
			t.Error("it ran")
		}
	})
}

// Two people confirm: the person of the page, and one of policy.approvers with their
// passphrase.
func TestTwoPeople(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hash, err := approval.HashPassphrase("a long passphrase")
		if err != nil {
			t.Fatal(err)
		}
		v := newReview(t, nil, map[string]string{"bea": hash})
		p := proposed("pay")
		p.Decision.Class, p.Decision.Signatures = skills.Dangerous, 2
		id := v.call(p)
		first := v.get(approvalPath(id))
		if !strings.Contains(first, `name="passphrase"`) || strings.Contains(first, "required") {
			t.Errorf("first: %s", first)
		}
		if status, next := v.post(identity.Person, approvalPath(id), "answer", "once"); status != 303 || !strings.Contains(next, "It waits for a second person") || !strings.Contains(next, " required") {
			t.Fatalf("%d %s", status, next)
		}
		if list := v.get(Path + "approvals"); strings.Contains(list, `name="answer"`) || !strings.Contains(list, "A second person confirms it") {
			t.Errorf("the list offers the second answer without a proof: %s", list)
		}
		for _, wrong := range [][]string{{}, {"as", "bea"}, {"as", "bea", "passphrase", "a wrong passphrase"}, {"as", "eve", "passphrase", "a long passphrase"}} {
			if status, next := v.post(identity.Person, approvalPath(id), append(wrong, "answer", "once")...); status == 303 {
				t.Errorf("%v: %s", wrong, next)
			}
		}
		if status, next := v.post(identity.Person, approvalPath(id), "answer", "once", "as", "bea", "passphrase", "a long passphrase"); status != 303 || !strings.Contains(next, "the same call succeeds once") {
			t.Errorf("%d %s", status, next)
		}
		if v.call(p); p.Approval != id {
			t.Error("it did not run")
		}
	})
}

// A new question comes after those that wait: it moves no button.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newReview(t, nil, nil)
		for _, name := range []string{"first", "second", "third"} {
			v.call(proposed(name))
			time.Sleep(time.Second)
		}
		list := v.get(Path + "approvals")
		if a, b, c := strings.Index(list, "<bdi>first"), strings.Index(list, "<bdi>second"), strings.Index(list, "<bdi>third"); a < 0 || a > b || b > c {
			t.Errorf("%d %d %d", a, b, c)
		}
	})
}

// evilText is a text that would leave its element, turn others around, or hide.
const evilText = "</main><script>alert(1)</script>\" onclick=\"x\" '\u202e\u200b\x1b[2K\r\n{{.}}javascript:x"

// evilCall returns a call all of whose texts are evilText.
func evilCall() *run.Proposal {
	p := proposed(evilText)
	p.Skill.Dir, p.Skill.Entry.Script = "/"+evilText, evilText
	p.Args = map[string]any{evilText: evilText, "long": strings.Repeat("x", 5000), "longer": strings.Repeat("y", 140_000)}
	p.Stack, p.Decision.Rule, p.Decision.Grown = []string{evilText}, evilText, []string{evilText}
	p.Command.Grant = sandbox.Grant{Workspaces: []string{evilText}, Hosts: []string{evilText}}
	p.Variables, p.Skill.Secrets = []string{evilText}, []string{"TOKEN", "A" + evilText}
	return p
}

// Texts of strangers are texts: in the questions, and in the record.
func TestHostileTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newReview(t, nil, nil)
		plain := v.call(evilCall())
		trust := evilCall()
		trust.Decision.Trust = &run.Trust{Workspace: evilText, Changes: []string{evilText}}
		fetch := evilCall()
		fetch.Decision.Fetch = &run.Fetch{Server: evilText, Address: evilText, Files: 3, Bytes: 4}
		review := evilCall()
		review.Review = &run.Review{Digest: evilText, Lines: []string{"> " + evilText}, Summary: evilText}
		ids := []string{plain, v.call(trust), v.call(fetch), v.call(review)}
		if _, err := v.runs.Add(t.Context(), &store.Run{ID: "evil", Outcome: "ok", Action: "skill", Skill: evilText, Subject: evilText, Profile: evilText, Message: evilText, Rule: evilText, Origin: evilText, Digest: evilText, Parent: evilText, Approval: evilText,
			Args: []byte(`{"a":"</pre><script>` + "\u202e" + `"}`), Grant: []byte(`{"hosts":["<script>"]}`), Connections: []byte(`[{"host":"<script>","refused":"<script>"}]`)}); err != nil {
			t.Fatal(err)
		}
		if asked := v.get(approvalPath(plain)); strings.Count(asked, "which it does not have; if it should use one, skills-mcp secret set") != 2 || !strings.Contains(asked, "skills-mcp secret grant NAME TOKEN --host HOST") {
			t.Errorf("the question does not name the secrets that the skill asks for: %s", asked)
		}
		paths := []string{Path + "approvals", Path + "runs", Path + "runs/evil", Path + "runs?skill=" + url.QueryEscape(evilText)}
		for _, id := range ids {
			paths = append(paths, approvalPath(id))
		}
		for _, path := range paths {
			body := v.get(path)
			if strings.Count(body, "<script") != 1 || strings.Count(body, "</main>") != 1 || strings.Contains(body, `onclick="`) || strings.Contains(body, "href=\"javascript") || strings.Contains(body, "ZgotmplZ") {
				t.Errorf("%s: %s", path, body)
			}
			if path != paths[3] && strings.ContainsAny(body, "\u202e\u200b\x1b") { // the form has the text as it was sent
				t.Errorf("%s shows a character that is not seen, or turns others", path)
			}
		}
		list, whole := v.get(Path+"approvals"), v.get(approvalPath(plain))
		if strings.Contains(list, strings.Repeat("x", 5000)) || !strings.Contains(list, "Not shown whole: it has 5002 bytes, with the sha256 ") {
			t.Error("the list shows a long argument whole, or hides that it does not")
		}
		if !strings.Contains(whole, strings.Repeat("x", 5000)) || !strings.Contains(whole, "Not shown whole: it has 140002 bytes") {
			t.Error("the screen of the question does not show an argument as it is stored")
		}
	})
}

// Arguments are shown as they were: with the characters of HTML, which the record has as
// codes, and with codes for those that are not seen.
func TestShownJSON(t *testing.T) {
	for data, want := range map[string]string{
		`{"a":"\u003cb\u003e \u202e \\u003c","n":12345678901234567890}`: "{\n  \"a\": \"<b> \\u202e \\\\u003c\",\n  \"n\": 12345678901234567890\n}",
		`"cut`: `"cut`,
		"":     "",
	} {
		if got := shownJSON([]byte(data)); got != want {
			t.Errorf("%s: %s, want %s", data, got, want)
		}
	}
}

// Runs are filtered, and shown a page after the other.
func TestRuns(t *testing.T) {
	v := newReview(t, nil, nil)
	for i := range 1200 {
		outcome, code := "ok", 0
		if i%2 == 1 {
			outcome, code = "error", 3
		}
		r := &store.Run{ID: fmt.Sprintf("r%04d", i), Action: "skill", Skill: fmt.Sprintf("s%d", i%3), Outcome: outcome, Exit: &code, Started: time.Now().Add(-48 * time.Hour), Ended: time.Now().Add(time.Duration(i-1200) * time.Minute)}
		if _, err := v.runs.Add(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	first := v.get(Path + "runs?skill=s1&outcome=error")
	if n := strings.Count(first, "<tr id="); n != 50 || !strings.Contains(first, "r1195") || !strings.Contains(first, `data-topics="runs,approvals"`) || !strings.Contains(first, `value="s1"`) || !strings.Contains(first, "<option selected>error") {
		t.Fatalf("%d rows: %s", n, first)
	}
	older := regexp.MustCompile(`href="(/ui/runs\?[^"]*cursor=[^"]*)"`).FindStringSubmatch(first)
	if older == nil {
		t.Fatal(first)
	}
	second := v.get(strings.ReplaceAll(older[1], "&amp;", "&"))
	if n := strings.Count(second, "<tr id="); n != 50 || strings.Contains(second, "r1195") || strings.Contains(second, `data-topics="runs`) {
		t.Errorf("%d rows on the second page: %s", n, second)
	}
	for _, path := range []string{"runs?since=x", "runs?since=-1h", "runs?outcome=x", "runs?cursor=x"} {
		if w := get(t, v.handler, identity.Person, Path+path); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// The list says why each run did not end well.
func TestReasons(t *testing.T) {
	six, zero := 6, 0
	for want, r := range map[string]store.Run{
		`refused</span> <bdi>a person has to confirm it</bdi></td>`:                   {Outcome: "refused", Message: "a person\nhas to confirm it"},
		`failed</span> <bdi>the skill was stopped at its time limit of 1s</bdi></td>`: {Outcome: "failed", Message: "the skill was stopped at its time limit of 1s"},
		`error</span> <bdi>exit code 6: no such invoice &lt;b&gt;</bdi></td>`:         {Outcome: "error", Exit: &six, Message: "no such invoice <b>"},
		`error</span> <bdi>exit code 6</bdi></td>`:                                    {Outcome: "error", Exit: &six},
		`interrupted</span> <bdi>skills-mcp was ended while it ran</bdi></td>`:        {Outcome: store.Interrupted},
		`ok</span></td>`: {Outcome: "ok", Exit: &zero},
		`invalid</span> <bdi>` + strings.Repeat("x", maxText-3) + "…</bdi></td>": {Outcome: "invalid", Message: strings.Repeat("x", 1000)},
	} {
		v := newReview(t, nil, nil)
		r.ID, r.Action, r.Skill = "r1", "skill", "s"
		if _, err := v.runs.Add(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
		if screen := v.get(Path + "runs"); !strings.Contains(screen, want) {
			t.Errorf("%s is not in %s", want, screen)
		}
	}
}

// A client polls for changes, in the bubble of a test.
type client struct {
	*httptest.ResponseRecorder
	leave context.CancelFunc
	done  chan struct{}
}

// poll begins a poll.
func (v *review) poll(query string) *client {
	c := &client{ResponseRecorder: httptest.NewRecorder(), done: make(chan struct{})}
	r := httptest.NewRequest("GET", Path+"events?"+query, nil)
	ctx := identity.NewContext(v.t.Context(), identity.Principal{Kind: identity.Person})
	ctx, c.leave = context.WithCancel(ctx)
	go func() {
		defer close(c.done)
		v.handler.ServeHTTP(c, r.WithContext(ctx))
	}()
	synctest.Wait()
	return c
}

// within returns the answer of a poll that ends up to so long from now, or "none".
func (c *client) within(d time.Duration) string {
	time.Sleep(d)
	synctest.Wait()
	select {
	case <-c.done:
		return strings.TrimSpace(fmt.Sprint(c.Code, " ", c.Body))
	default:
		return "none"
	}
}

// A poll answers within 1.25 s of a change of a topic that its client wants.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newReview(t, nil, nil)
		v.call(proposed("first"))
		// stamp returns the stamp that a poll answers with for a screen of long ago.
		stamp := func(topics string) string {
			_, now, _ := strings.Cut(v.poll("topics="+topics).within(pollGap), "200 ")
			return now
		}
		screen := regexp.MustCompile(`data-stamp="(\w+)"`).FindStringSubmatch(v.get(Path + "approvals"))[1]
		if now := stamp("approvals"); now != screen {
			t.Errorf("the screen has the stamp %s, and a poll %s", screen, now)
		}
		both, runs, approvals := v.poll("topics=approvals,runs&stamp="+stamp("approvals,runs")), v.poll("topics=runs&stamp="+stamp("runs")), v.poll("topics=approvals&stamp="+screen)
		skills := v.poll("topics=skills&stamp=" + stamp("skills"))
		const latency = stampAge + pollGap
		if got := both.within(latency); got != "none" {
			t.Errorf("without a change %q", got)
		}
		v.call(proposed("docx")) // a question, and a run that was refused
		v.queries.Store(0)
		for _, c := range []*client{both, runs, approvals} {
			if got := c.within(latency); !strings.HasPrefix(got, "200 ") || strings.HasSuffix(got, screen) {
				t.Errorf("after a call %q", got)
			}
		}
		if got := skills.within(pollLife); got != "204" {
			t.Errorf("in silence %q", got)
		}
		if n, most := int(v.queries.Load()), int((pollLife+3*latency)/stampAge); n > most || n < most/2 {
			t.Errorf("%d queries", n)
		}
		v.queries.Store(0)
		if time.Sleep(time.Minute); v.queries.Load() > 0 {
			t.Errorf("%d queries while nobody polls", v.queries.Load())
		}
	})
}

// A poll answers after each step of a run, but not more often than four times a second.
func TestRunEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := make(chan string)
		v := newReview(t, func(_ context.Context, r run.Request) (*result.Run, error) {
			for step := range steps {
				r.Progress(step)
			}
			return &result.Run{RunID: r.RunID}, nil
		}, nil)
		person := identity.NewContext(t.Context(), identity.Principal{Kind: identity.Person})
		r := run.Request{Call: run.Call{Principal: identity.Principal{Kind: identity.Person}}, Skill: &skills.Skill{Name: "demo"}}
		job, err := v.jobs.Start(person, r, true)
		if err != nil {
			t.Fatal(err)
		}
		stamp := ""
		for _, step := range []func(){func() {}, func() {
			for range 100 {
				steps <- "a line"
			}
		}, func() { close(steps) }} {
			c := v.poll("topics=run/" + job.ID + "&stamp=" + stamp)
			step()
			if got := c.within(pollGap - time.Millisecond); got != "none" {
				t.Errorf("at once %q", got)
			}
			got := c.within(time.Millisecond)
			if !strings.HasPrefix(got, "200 ") || strings.TrimPrefix(got, "200 ") == stamp {
				t.Errorf("after a step %q", got)
			}
			stamp = strings.TrimPrefix(got, "200 ")
		}
	})
}

// There are few polls at once, and they end with the page.
func TestPollsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newReview(t, nil, nil)
		_, stamp, _ := strings.Cut(v.poll("topics=skills").within(pollGap), "200 ")
		query := "topics=skills&stamp=" + stamp
		var all []*client
		for range maxPolls {
			all = append(all, v.poll(query))
		}
		if c := v.poll(query); c.within(0) == "none" || c.Code != http.StatusServiceUnavailable || c.Header().Get("Retry-After") == "" {
			t.Errorf("one more: %d", c.Code)
		}
		all[0].leave()
		<-all[0].done
		if got := v.poll(query).within(pollGap); got != "none" {
			t.Errorf("after one has left: %s", got)
		}
		if err := v.page.Close(); err != nil {
			t.Error(err)
		}
		for _, c := range all[1:] {
			if got := c.within(0); got != "204" {
				t.Errorf("at the end: %s", got)
			}
		}
		if c := v.poll(query); c.within(0) == "none" || c.Code != http.StatusServiceUnavailable {
			t.Errorf("after the end: %d", c.Code)
		}
	})
	v := newReview(t, nil, nil)
	for _, topics := range []string{"", "x", "run/", "run/a%2Fb", "skills,", strings.Repeat("skills,", maxTopics) + "runs"} {
		if w := get(t, v.handler, identity.Person, Path+"events?topics="+topics); w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", topics, w.Code)
		}
	}
}

// A linker is a client that opens links, and shows no forms. Its person answers on the
// page after a while.
type linker struct {
	review *review
	answer string
	opened *url.URL
}

func (l *linker) Ask(_ context.Context, requests map[string]*elicit.Request) (map[string]json.RawMessage, error) {
	answers := map[string]json.RawMessage{}
	for key, r := range requests {
		var link struct{ Mode, URL string }
		err := json.Unmarshal(r.Params, &link)
		if err == nil && link.Mode == "url" {
			l.opened, err = url.Parse(link.URL)
		}
		if err != nil {
			return nil, err
		}
		time.Sleep(time.Second)
		go func() {
			time.Sleep(5 * time.Second)
			if status, body := l.review.post(identity.Person, l.opened.Path, "answer", l.answer); status != http.StatusSeeOther {
				l.review.t.Errorf("%d %s", status, body)
			}
		}()
		answers[key] = json.RawMessage(`{"action":"accept"}`)
	}
	return answers, nil
}

// The call of a client that opens links waits for the answer on the page: nothing has to
// be made again. The link is that of a screen, and holds nothing that answers.
func TestLinkToThePage(t *testing.T) {
	for answer, runs := range map[string]bool{"once": true, "no": false} {
		synctest.Test(t, func(t *testing.T) {
			v := newReview(t, nil, nil)
			l := &linker{review: v, answer: answer}
			p := proposed("docx")
			p.Client = &elicit.Client{Asker: l, Can: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{URL: &struct{}{}}}}
			began := time.Now()
			again := v.call(p)
			if took := time.Since(began); (p.Approval != "") != runs || again != "" || took < 6*time.Second || took > 7*time.Second {
				t.Errorf("%s: approval %q, asked again %q, after %s", answer, p.Approval, again, took)
			}
			if l.opened.RawQuery != "" || l.opened.Fragment != "" || !strings.HasPrefix(l.opened.Path, Path+"approvals/") {
				t.Errorf("the link is %s", l.opened)
			}
			synctest.Wait()
		})
	}
}

func TestQuestionSaysWhoWants(t *testing.T) {
	t.Parallel()
	for caller, want := range map[string]string{
		"a model":                         "A model wants",
		"you, on the page":                "You, on the page, want",
		"a program, over the REST API":    "A program, over the REST API, wants",
		`the skill "report"`:              `The skill "report" wants`,
		"somebody on the page \u202e bad": `Somebody on the page \u202e bad wants`,
	} {
		q := newQuestion(&approval.Question{Caller: caller})
		if got := q.Wants(); got != want {
			t.Errorf("%q: %q, want %q", caller, got, want)
		}
	}
}

// Every screen counts the questions that wait, in its title and beside Approvals, and its
// script learns their IDs; those of another principal count for nobody but a person.
func TestWaitingIsCounted(t *testing.T) {
	v := newReview(t, nil, nil)
	const link = `<a href="/ui/approvals"`
	count := func(kind identity.Kind, path string) (title, nav string) {
		body := get(t, v.handler, kind, path).Body.String()
		_, title, _ = strings.Cut(body, "<title>")
		title, _, _ = strings.Cut(title, " · ")
		before, after, _ := strings.Cut(body, link)
		after, _, _ = strings.Cut(after, "</a>")
		return title, before[strings.LastIndex(before, "<li"):] + after
	}
	if title, nav := count(identity.Person, "/ui/runs"); title != "Runs" || strings.Contains(nav, "badge") {
		t.Errorf("without a question: %s, %s", title, nav)
	}
	first, second := v.call(proposed("rename-files")), v.call(proposed("<b>other\nfiles"))
	for _, path := range []string{"/ui/runs", "/ui/approvals", "/ui/approvals/" + first} {
		title, nav := count(identity.Person, path)
		if !strings.HasPrefix(title, "(2) ") {
			t.Errorf("the title of %s is %q", path, title)
		}
		for _, want := range []string{`id="nav-approvals" data-live`, `data-waiting="` + second + " " + first + ` "`, `data-newest="&lt;b&gt;other`, ">2<"} {
			if !strings.Contains(nav, want) {
				t.Errorf("%s: no %s in %s", path, want, nav)
			}
		}
		if strings.Contains(nav, "<b>") {
			t.Errorf("%s shows the name as it is: %s", path, nav)
		}
	}
	if title, nav := count(identity.Token, "/ui/runs"); title != "Runs" || strings.Contains(nav, first) {
		t.Errorf("another principal sees %s, %s", title, nav)
	}
	v.post(identity.Person, "/ui/approvals/"+first, "answer", "no")
	if title, _ := count(identity.Person, "/ui/runs"); title != "(1) Runs" {
		t.Errorf("after an answer: %q", title)
	}
}
