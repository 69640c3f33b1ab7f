package policy_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

var update = flag.Bool("update", false, "write testdata/table.txt anew")

// The abilities of clients, and of the terminal for a person's own calls.
var abilities = []struct {
	name   string
	client func() *elicit.Client
	scope  approval.Scope // of the terminal; "" is none
}{
	{"yes", func() *elicit.Client { return form(`{"action":"accept","content":{"answer":"once"}}`, time.Second) }, approval.Once},
	{"instant yes", func() *elicit.Client { return form(`{"action":"accept","content":{"answer":"once"}}`, time.Second-1) }, ""},
	{"no", func() *elicit.Client { return form(`{"action":"decline"}`, time.Second) }, approval.No},
	{"instant no", func() *elicit.Client { return form(`{"action":"decline"}`, 0) }, ""},
	{"silence", func() *elicit.Client { return form("", time.Second) }, ""},
	{"links", func() *elicit.Client { return links() }, ""},
	{"none", func() *elicit.Client { return nil }, ""},
}

// A person answers every form after a time; "" is never.
type person struct {
	answer string
	after  time.Duration
}

func form(answer string, after time.Duration) *elicit.Client {
	return &elicit.Client{Asker: person{answer, after}, Can: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{}}}
}

// links is a client that opens links, and shows no form.
func links() *elicit.Client {
	c := form(`{"action":"accept"}`, time.Second)
	c.Can.Elicitation.URL = &struct{}{}
	return c
}

func (p person) Ask(ctx context.Context, requests map[string]*elicit.Request) (map[string]json.RawMessage, error) {
	if p.answer == "" {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	time.Sleep(p.after)
	answers := map[string]json.RawMessage{}
	for key := range requests {
		answers[key] = json.RawMessage(p.answer)
	}
	return answers, nil
}

// A terminal answers with a scope; "" is no terminal.
type terminal struct{ scope approval.Scope }

func (t terminal) Confirm(context.Context, *approval.Question) (approval.Scope, error) {
	if t.scope == "" {
		return "", errors.New("no terminal")
	}
	return t.scope, nil
}

// A caller is a principal with the way by which its call comes in.
type caller struct {
	way run.Way
	identity.Principal
}

func (c caller) String() string {
	kind := string(c.Kind)
	if kind == "" {
		kind = "anonymous"
	}
	return string(c.way) + " by " + kind
}

// callers returns every way in with each principal that it has.
func callers() []caller {
	var all []caller
	for _, way := range []run.Way{run.WayTool, run.WayRunSkill, run.WayPrompt, run.WaySkill, run.WayCode, run.WaySession} {
		for _, kind := range []identity.Kind{identity.Model, identity.Anonymous, identity.Token, identity.Subject} {
			all = append(all, caller{way, identity.Principal{Kind: kind, ID: string(kind)}})
		}
	}
	for _, way := range []run.Way{run.WayREST, run.WayPage} {
		for _, kind := range []identity.Kind{identity.Anonymous, identity.Token, identity.Subject} {
			all = append(all, caller{way, identity.Principal{Kind: kind, ID: string(kind)}})
		}
	}
	for _, way := range []run.Way{run.WayCommand, run.WayPage, run.WaySkill} {
		all = append(all, caller{way, identity.Principal{Kind: identity.Person}})
	}
	return all
}

// kinds are the kinds of rules, each about the skill s.
func kinds(t *testing.T) map[string]policy.Options {
	host, err := egress.ParseRule("api.example.com:443")
	if err != nil {
		t.Fatal(err)
	}
	on, off := true, false
	rule := func(r policy.Rule) policy.Options {
		r.Name = "rule"
		if r.Pattern == "" {
			r.Pattern = "s"
		}
		return policy.Options{Rules: []policy.Rule{r}}
	}
	return map[string]policy.Options{
		"no rule":                   {},
		"named":                     rule(policy.Rule{}),
		"a rule for *":              rule(policy.Rule{Pattern: "*", Timeout: time.Minute}),
		"network":                   rule(policy.Rule{Hosts: []egress.Rule{host}}),
		"workspace rw":              rule(policy.Rule{Write: &on}),
		"secrets":                   rule(policy.Rule{Env: []string{"KEY"}}),
		"class safe":                rule(policy.Rule{Class: skills.Safe}),
		"class dangerous":           rule(policy.Rule{Class: skills.Dangerous}),
		"approve always":            rule(policy.Rule{Approve: policy.Always}),
		"approve each":              rule(policy.Rule{Approve: policy.Each}),
		"of another origin":         rule(policy.Rule{Origin: "plugin", Class: skills.Safe}),
		"enabled: false":            rule(policy.Rule{Enabled: &off}),
		"denied":                    {Profiles: map[string]policy.Profile{"": {Deny: []string{"s"}}}},
		"denied as *, allowed as s": {Profiles: map[string]policy.Profile{"": {Deny: []string{"*"}, Allow: []string{"s"}}}},
		"not allowed":               {Profiles: map[string]policy.Profile{"": {Allow: []string{"t"}}}},
		"class at most mutating":    {Profiles: map[string]policy.Profile{"": {Class: skills.Mutating}}},
		"capabilities":              {Profiles: map[string]policy.Profile{"": {Capabilities: []string{}}}},
		"workspace: each, class up": rule(policy.Rule{Narrows: true, Class: skills.Mutating, Approve: policy.Each}),
		"workspace: widens":         rule(policy.Rule{Narrows: true, Class: skills.Safe, Hosts: []egress.Rule{host}, Write: &on, Env: []string{"KEY"}, Approve: policy.Always}),
	}
}

// TestEveryDecision: the outcome of a call for every class, mode, kind of rule, ability of the
// client, way in and principal. testdata/table.txt has it with equal ones together.
func TestEveryDecision(t *testing.T) {
	got := &bytes.Buffer{}
	fmt.Fprintln(got, "# Made by TestEveryDecision. A line for each set of callers with the same outcomes, by the answer of the person:")
	fmt.Fprintln(got, "#   yes, no; instant yes, instant no (faster than a person reads); silence (until the time is over);")
	fmt.Fprintln(got, "#   links (the client opens links, and shows no forms); none (nobody can be asked).")
	fmt.Fprintln(got, "# denied: PERMISSION_DENIED. asked: APPROVAL_REQUIRED with an ID, retryable. refused: APPROVAL_REQUIRED. An outcome")
	fmt.Fprintln(got, "# that is the same for every answer stands alone.")
	synctest.Test(t, func(t *testing.T) {
		b := &table{T: t, known: map[string]string{}}
		rules := kinds(t)
		for _, mode := range policy.Modes() {
			for _, class := range []skills.Class{skills.Safe, skills.Mutating, skills.Dangerous} {
				fmt.Fprintf(got, "\n== mode %s, class %s\n", mode, class)
				// A question reads all that wait: with one store for all of them the test is
				// four times as long.
				b.store = store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), nil)
				b.blocks(got, mode, class, rules)
				if err := b.store.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	})
	const file = "testdata/table.txt"
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

// A table makes the outcomes.
type table struct {
	*testing.T
	store *store.Store
	calls int
	known map[string]string // outcomes of questions, by all that they depend on
}

// blocks writes the outcomes for each kind of rules, those with the same ones together.
func (b *table) blocks(w *bytes.Buffer, mode policy.Mode, class skills.Class, rules map[string]policy.Options) {
	var order []string
	same := map[string][]string{}
	for _, kind := range slices.Sorted(maps.Keys(rules)) {
		options := rules[kind]
		options.Mode = mode
		block := b.block(&options, class)
		if same[block] == nil {
			order = append(order, block)
		}
		same[block] = append(same[block], kind)
	}
	for _, block := range order {
		fmt.Fprintf(w, "%s:\n%s", strings.Join(same[block], "; "), block)
	}
}

// block returns the outcomes under options.
func (b *table) block(options *policy.Options, class skills.Class) string {
	var w strings.Builder
	var order []string
	same := map[string][]string{}
	for _, c := range callers() {
		var cells []string
		for i := range abilities {
			cells = append(cells, b.outcome(options, class, c, i))
		}
		line := row(cells)
		if same[line] == nil {
			order = append(order, line)
		}
		same[line] = append(same[line], c.String())
	}
	for _, line := range order {
		fmt.Fprintf(&w, "  %s\n      %s\n", line, folded(same[line]))
	}
	return w.String()
}

// row joins the outcomes for each ability.
func row(cells []string) string {
	if len(slices.Compact(slices.Clone(cells))) == 1 {
		return cells[0]
	}
	for i, a := range abilities {
		cells[i] = a.name + ": " + cells[i]
	}
	return strings.Join(cells, " | ")
}

// folded joins the callers of each way.
func folded(list []string) string {
	var ways []string
	of := map[string][]string{}
	for _, c := range list {
		way, by, _ := strings.Cut(c, " by ")
		if of[way] == nil {
			ways = append(ways, way)
		}
		of[way] = append(of[way], by)
	}
	if len(list) == len(callers()) {
		return "every caller"
	}
	for i, way := range ways {
		by := strings.Join(of[way], ", ")
		if by == "model, anonymous, token, oidc" {
			by = "every client"
		}
		ways[i] = way + " (" + by + ")"
	}
	return strings.Join(ways, "; ")
}

// outcome returns the outcome of one call.
func (b *table) outcome(options *policy.Options, class skills.Class, c caller, ability int) string {
	b.calls++
	skill := &skills.Skill{
		Name: "s", Dir: "/skills/s", Class: class, ModelInvocable: true, Entry: &skills.Entry{Script: "run.sh"},
		Requires: skills.Requires{Capabilities: []string{"files"}},
	}
	p := &run.Proposal{
		Action: run.ActionSkill, Way: c.way, Principal: c.Principal, Skill: skill, Digest: "sha256:0", Workspaces: []string{"/work"},
		Client: abilities[ability].client(), Picked: c.way == run.WayPrompt,
	}
	switch c.way {
	case run.WayREST, run.WayPage:
		p.Client = forScripts(p.Client)
	case run.WayCode:
		p.Action = run.ActionCode
	case run.WaySession:
		p.Action = run.ActionSession
	case run.WaySkill:
		p.Stack = []string{"outer"}
	}
	decider := policy.New(options)
	d, err := decider.Decide(b.Context(), p)
	if err != nil {
		return named(err, "")
	}
	if may := decider.MayAsk(c.Principal, skill); p.Action == run.ActionSkill && may != (d.Signatures > 0) {
		b.Errorf("MayAsk: %t, and %d signatures", may, d.Signatures)
	}
	b.check(p, d)
	// A question depends on nothing else; that it does not on the way is shown once.
	shape := fmt.Sprint(d.Class, d.Signatures, d.Each, d.Always, d.Session, len(d.Variables) > 0)
	key := fmt.Sprint(shape, c.Kind, ability, p.Client != nil && p.Client.ScriptsOnly)
	if shape == fmt.Sprint(skills.Mutating, 1, false, false, false, false) {
		key += string(c.way)
	}
	if d.Signatures > 0 && b.known[key] == "" {
		b.known[key] = b.approve(options, p, d, ability)
	}
	if d.Signatures == 0 {
		return "runs" + granted(d)
	}
	if b.known[key] == "runs" {
		return "runs" + granted(d)
	}
	return b.known[key]
}

// forScripts returns a client whose answers approve nothing; nil for nil.
func forScripts(c *elicit.Client) *elicit.Client {
	if c == nil {
		return nil
	}
	other := *c
	other.ScriptsOnly = true
	return &other
}

// approve returns the outcome of the question of a decision, in a store where nothing of
// the skill was approved.
func (b *table) approve(options *policy.Options, p *run.Proposal, d *run.Decision, ability int) string {
	asked := *options
	asked.Approver = approval.New(b.store, &approval.Options{
		Terminal: terminal{abilities[ability].scope}, Pending: approval.Limits{Subject: 1 << 20, Client: 1 << 20, Owner: 1 << 20, Total: 1 << 20},
	})
	p.Decision = d
	p.Args, p.Variables = map[string]any{"call": b.calls}, d.Variables // another call than any before
	p.Command = &sandbox.Command{Skill: "s", Grant: d.Grant}
	return named(policy.New(&asked).Approve(b.Context(), p), "runs")
}

// check checks what holds for every decision.
func (b *table) check(p *run.Proposal, d *run.Decision) {
	gets := d.Grant.Write || len(d.Grant.Hosts) > 0 || slices.Contains(d.Variables, "KEY")
	switch {
	case gets && d.Signatures == 0:
		b.Errorf("%s: %+v is given without a question", p.Way, d)
	case gets && d.Class == skills.Safe, d.Class == skills.Dangerous && !d.Each, d.Rule == "":
		b.Errorf("%s: %+v", p.Way, d)
	case p.Action == run.ActionCode && d.Signatures > 0 && (d.Always || !d.Session):
		b.Errorf("%s: %+v has a lasting answer", p.Way, d)
	case p.Action == run.ActionSession && (gets || d.Class != skills.Safe):
		b.Errorf("%s: %+v is more than a safe grant", p.Way, d)
	}
}

// granted describes what a decision gives beyond a safe grant.
func granted(d *run.Decision) string {
	var all []string
	if d.Grant.Write {
		all = append(all, "writes")
	}
	if len(d.Grant.Hosts) > 0 {
		all = append(all, "connects")
	}
	if len(d.Variables) > 0 {
		all = append(all, "secret")
	}
	switch {
	case d.Signatures == 0:
	case d.Each:
		all = append(all, "asked each time")
	case d.Always:
		all = append(all, "asked once")
	}
	if all == nil {
		return ""
	}
	return " (" + strings.Join(all, ", ") + ")"
}

// named names the outcome of an error; well is that of none.
func named(err error, well string) string {
	e, refused := errors.AsType[*run.Error](err)
	switch {
	case err == nil:
		return well
	case !refused:
		return err.Error()
	case e.Code == run.PermissionDenied:
		return "denied"
	case e.Code == run.ApprovalRequired && e.Retryable && e.Approval != "":
		return "asked"
	case e.Code == run.ApprovalRequired && !e.Retryable:
		return "refused"
	}
	return fmt.Sprintf("%s, retryable %t", e.Code, e.Retryable)
}
