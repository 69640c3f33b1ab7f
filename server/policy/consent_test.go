package policy_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// An answerer is a client, or the terminal of a person's own call, that is asked for a scope.
type answerer struct {
	name   string
	answer string        // of a form, with %s for the scope; "" is never
	after  time.Duration // a person reads a question in 2 s
	person approval.Scope
}

// The clients. Scope stands for the scope that is wanted.
var answerers = []answerer{
	{"asks well", `{"action":"accept","content":{"answer":"%s"}}`, 2 * time.Second, "scope"},
	{"accepts at once", `{"action":"accept","content":{"answer":"%s"}}`, 0, ""},
	{"declines", `{"action":"decline"}`, 2 * time.Second, approval.No},
	{"declines at once", `{"action":"decline"}`, 0, ""},
	{"wrong fields", `{"action":"accept","content":{"yes":"%s"}}`, 2 * time.Second, ""},
	{"empty", `{"action":"accept","content":{}}`, 2 * time.Second, ""},
	{"silent", "", 0, ""},
	{"hook", `{"action":"accept","content":{"answer":"always"}}`, 100 * time.Microsecond, ""},
}

// ways are the ways in, each by its usual caller.
var ways = []caller{
	{run.WayTool, identity.Principal{Kind: identity.Model}}, {run.WayRunSkill, identity.Principal{Kind: identity.Model}},
	{run.WayPrompt, identity.Principal{Kind: identity.Model}}, {run.WaySkill, identity.Principal{Kind: identity.Model}},
	{run.WayTool, identity.Principal{Kind: identity.Token, ID: "t"}}, {run.WayREST, identity.Principal{Kind: identity.Token, ID: "t"}},
	{run.WayCommand, identity.Principal{Kind: identity.Person}}, {run.WayPage, identity.Principal{Kind: identity.Person}},
}

// A consent makes the rows of the table.
type consent struct {
	*testing.T
	store    *store.Store
	recorder *audit.Recorder // of the current cell
	proved   *seal.Agent     // of the passphrase
	key      *seal.Key       // that it signs with
	calls    int
	asked    string // the ID of the last question
}

// TestConsent: what becomes of a call, and what the record has of it, for every way in, class,
// scope and client, with and without a passphrase. testdata/consent.txt has it with equal
// ones together.
func TestConsent(t *testing.T) {
	got := &bytes.Buffer{}
	fmt.Fprintln(got, `# Made by TestConsent. For each class, passphrase and scope that the person wants, a line for
# each outcome, with the clients, and then the ways in, that have it.
#   runs, a yes by …: the way of the yes, as the record has it. The outcome of the row in the record is in brackets.
#   asked: APPROVAL_REQUIRED with an ID. The person then answers it on a terminal, and the call
#   is made again. "other arguments" are a second call after the yes: whether it asks again.`)
	hash, err := approval.HashPassphrase("correct horse")
	if err != nil {
		t.Fatal(err)
	}
	proved := &seal.Agent{}
	if !approval.Unlock(hash, "correct horse", proved) {
		t.Fatal("the passphrase is not its own")
	}
	synctest.Test(t, func(t *testing.T) {
		s := store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), nil)
		c := &consent{T: t, store: s, proved: proved, key: seal.New(filepath.Join(t.TempDir(), "key"), approval.Passphrases{Person: hash}.Keys())}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		for _, class := range []skills.Class{skills.Safe, skills.Mutating, skills.Dangerous} {
			for _, passphrase := range []bool{false, true} {
				for _, scope := range []approval.Scope{approval.Once, approval.Session, approval.Always} {
					fmt.Fprintf(got, "\n== %s, passphrase %t, %s\n", class, passphrase, scope)
					c.block(got, class, passphrase, scope)
				}
			}
		}
	})
	const file = "testdata/consent.txt"
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("%s is not what it was (-update writes it anew):\n%s", file, diff)
	}
}

// block writes the outcomes for all clients and ways in.
func (c *consent) block(w *bytes.Buffer, class skills.Class, passphrase bool, scope approval.Scope) {
	var order []string
	same := map[string][]string{}
	for _, way := range ways {
		var cells []string
		of := map[string][]string{}
		for _, a := range answerers {
			cell := c.outcome(way, a, class, passphrase, scope)
			if of[cell] == nil {
				cells = append(cells, cell)
			}
			of[cell] = append(of[cell], a.name)
		}
		var line strings.Builder
		for _, cell := range cells {
			name := strings.Join(of[cell], ", ")
			if len(of[cell]) == len(answerers) {
				name = "every client"
			}
			fmt.Fprintf(&line, "    %s: %s\n", name, cell)
		}
		if same[line.String()] == nil {
			order = append(order, line.String())
		}
		same[line.String()] = append(same[line.String()], way.String())
	}
	for _, line := range order {
		fmt.Fprintf(w, "  %s\n%s", strings.Join(same[line], "; "), line)
	}
}

// outcome returns what becomes of a call.
func (c *consent) outcome(way caller, a answerer, class skills.Class, passphrase bool, scope approval.Scope) string {
	c.calls++
	name := fmt.Sprintf("s%d", c.calls)
	c.recorder = audit.New(c.store, nil) // one joins the refusals of too many skills
	defer c.recorder.Close()
	way.Session = name
	options, ctx := c.options(way, a, scope), c.Context()
	if passphrase {
		options.Key = c.key
	}
	approvals := approval.New(c.store, options)
	rules := &policy.Options{Mode: policy.Confirm, Rules: []policy.Rule{{Name: "rule", Pattern: "*"}}, Approver: approvals}
	rules.Rules = append(rules.Rules, policy.Rule{Name: "rule", Pattern: name})
	var client *elicit.Client
	if way.Kind != identity.Person {
		client = form(strings.ReplaceAll(a.answer, "%s", string(scope)), a.after)
		if way.way == run.WayREST {
			client = forScripts(client)
		}
	}
	own := ctx // of the person's own call, who has proved who they are
	if passphrase && way.Kind == identity.Person {
		own = seal.NewContext(ctx, c.proved)
	}
	said, record := c.call(own, rules, way, client, class, name, 1)
	if said == "runs" {
		return c.yes(approvals, record, c.others(own, rules, options.Key, way, class, name))
	}
	text := fmt.Sprintf("%s [%s]", said, record.Outcome)
	if said != "asked" {
		return text
	}
	waiting, err := approvals.Find(ctx, c.asked)
	if err != nil {
		c.Fatalf("%s: no question: %v", name, err)
	}
	err = approvals.Confirm(ctx, waiting, approval.Local(), approval.ByTerminal, scope)
	if passphrase {
		if err == nil {
			c.Errorf("%s: a yes without the passphrase", name)
		}
		err = approvals.Confirm(seal.NewContext(ctx, c.proved), waiting, approval.Local(), approval.ByTerminal, scope)
	}
	if late := (*approval.AnswerError)(nil); errors.As(err, &late) {
		return text + ", and a terminal offers no such answer"
	}
	if err != nil {
		c.Fatal(err)
	}
	said, record = c.call(ctx, rules, way, nil, class, name, 1)
	if said != "runs" {
		return text + ", and after the yes " + said
	}
	return text + ", then " + c.yes(approvals, record, c.others(ctx, rules, options.Key, way, class, name))
}

// options returns the approvals of a call, whose terminal answers as its client does.
func (c *consent) options(way caller, a answerer, scope approval.Scope) *approval.Options {
	o := &approval.Options{Pending: manyPending()}
	if way.Kind == identity.Person {
		if a.person == "scope" {
			a.person = scope
		}
		o.Terminal = terminal{a.person}
	}
	if way.way == run.WayPage {
		o.Page = func(string) (string, bool) { return "", false }
	}
	return o
}

func manyPending() approval.Limits {
	return approval.Limits{Subject: 1 << 20, Client: 1 << 20, Owner: 1 << 20, Total: 1 << 20}
}

// others returns the outcome of the call with other arguments, when nobody can be asked.
func (c *consent) others(ctx context.Context, rules *policy.Options, key *seal.Key, way caller, class skills.Class, name string) string {
	if way.Kind == identity.Person {
		none := *rules
		none.Approver = approval.New(c.store, &approval.Options{Terminal: terminal{}, Pending: manyPending(), Key: key})
		rules = &none
	}
	said, _ := c.call(ctx, rules, way, nil, class, name, 2)
	return said
}

// yes describes a run that a person has confirmed.
func (c *consent) yes(approvals *approval.Approvals, r *store.Run, others string) string {
	if r.Approval == "" {
		return fmt.Sprintf("runs [%s] unasked", r.Outcome)
	}
	record, err := approvals.Find(c.Context(), r.Approval)
	if err != nil || len(record.Signatures) != 1 {
		c.Fatalf("the approval %s of the record: %+v, %v", r.Approval, record, err)
	}
	return fmt.Sprintf("runs, a yes %s [%s]; other arguments: %s", record.Signatures[0].Way, r.Outcome, others)
}

// call makes a call of a skill, and returns its outcome and its row in the record.
func (c *consent) call(ctx context.Context, rules *policy.Options, way caller, client *elicit.Client, class skills.Class, name string, argument int) (string, *store.Run) {
	c.Helper()
	skill := &skills.Skill{Name: name, Dir: "/skills/" + name, Class: class, ModelInvocable: true, Entry: &skills.Entry{Script: "run.sh"}}
	p := &run.Proposal{
		Action: run.ActionSkill, Way: way.way, Principal: way.Principal, RunID: run.NewID(), Skill: skill, Digest: "sha256:0", Workspaces: []string{"/work"},
		Args: map[string]any{"n": argument}, Client: client, Picked: way.way == run.WayPrompt,
	}
	if way.way == run.WaySkill {
		p.Stack = []string{"outer"}
	}
	decider := policy.New(rules)
	var err error
	if p.Decision, err = decider.Decide(ctx, p); err == nil {
		p.Command = &sandbox.Command{Skill: name, Grant: p.Decision.Grant}
		if p.Decision.Signatures > 0 {
			err = decider.Approve(ctx, p)
		}
	}
	if err != nil {
		c.asked = run.AsError(err).Approval
	}
	record := run.Record{Proposal: p, Err: err}
	if err == nil {
		record.Outcome = &run.Outcome{RunID: p.RunID, Result: &sandbox.Result{}}
		record.Outcome.Exited = true
	}
	c.recorder.Record(ctx, record)
	rows, failed := store.NewRuns(c.store).List(ctx, store.RunFilter{Skill: name, Limit: 1})
	if failed != nil || len(rows) != 1 || rows[0].Way != string(way.way) {
		c.Fatalf("the record of %s: %v, %v", name, rows, failed)
	}
	return named(err, "runs"), rows[0]
}
