package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/invopop/jsonschema"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newRecorder returns a recorder, the table that it writes, and its log.
func newRecorder(t *testing.T, file string, options Options) (*Recorder, store.Runs, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	s := store.New(file, nil)
	options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	r := New(s, &options)
	t.Cleanup(func() {
		r.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return r, store.NewRuns(s), &log
}

func inTemp(t *testing.T) string { return filepath.Join(t.TempDir(), "skills-mcp.db") }

// list returns all rows, the oldest first.
func list(t *testing.T, runs store.Runs) []*store.Run {
	t.Helper()
	found, err := runs.List(t.Context(), store.RunFilter{Oldest: true, Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// newProposal returns a call of a skill with two parameters, one of them secret, and a
// granted variable.
func newProposal(id string) *run.Proposal {
	return &run.Proposal{
		Action: run.ActionSkill, Way: run.WayTool, RunID: id, Parent: "run-0", Digest: "d1",
		Principal: identity.Principal{Kind: identity.Token, ID: "laptop", Profile: "work"},
		Skill: &skills.Skill{Name: "pay", Dir: "/skills/pay", Class: skills.Safe, Entry: &skills.Entry{Args: skills.Flags{
			{Name: "pin", Schema: &jsonschema.Schema{Type: "string", Format: "password"}},
			{Name: "to", Schema: &jsonschema.Schema{Type: "string"}},
		}}},
		Args:      map[string]any{"pin": "hunter22", "to": "me, with hunter22 and tok-123456"},
		Decision:  &run.Decision{Grant: sandbox.Grant{Workspaces: []string{"/w"}, Write: true, Hosts: []string{"h:443"}}, Class: skills.Mutating, Rule: "policy.skills.pay"},
		Variables: []string{"TOKEN"},
		Command:   &sandbox.Command{Skill: "pay", RunID: id, Env: []string{"SKILL_NAME=pay", "TOKEN=tok-123456"}},
	}
}

// A row has all that is known about a run, and no secret.
func TestRow(t *testing.T) {
	r, runs, log := newRecorder(t, inTemp(t), Options{Secrets: []string{"configured-secret"}})
	p := newProposal("run-1")
	p.Args["note"] = "configured-secret"
	o := &run.Outcome{Result: &sandbox.Result{Exited: true, WallTime: 5 * time.Second, Stdout: sandbox.Output{Total: 7}, Stderr: sandbox.Output{Total: 8}, Exit: sandbox.Exit{
		Code:        3,
		Out:         sandbox.Files{Taken: []sandbox.File{{Name: "a", Data: []byte("abc")}}},
		Connections: []sandbox.Connection{{Host: "h:443", Sent: 10, Got: 20}, {Host: "evil:443", Refused: "not granted"}, {Host: "evil:443", Refused: "not granted"}},
	}}}
	r.Record(t.Context(), run.Record{Proposal: p, Outcome: o})
	exit := 3
	want := &store.Run{
		Seq: 1, ID: "run-1", Parent: "run-0", Outcome: Error, Skill: "pay", Times: 1, Duration: 5 * time.Second, Exit: &exit,
		Principal: "token", Subject: "laptop", Profile: "work", Way: "tool", Action: "skill", Origin: "own:/skills/pay", Digest: "d1",
		Class: "mutating", Rule: "policy.skills.pay", Stdout: 7, Stderr: 8, Files: 3,
		Grant:       json.RawMessage(`{"workspaces":["/w"],"write":true,"hosts":["h:443"],"variables":["TOKEN"]}`),
		Connections: json.RawMessage(`[{"host":"h:443","sent":10,"got":20},{"host":"evil:443","refused":"not granted","sent":0,"got":0},{"host":"evil:443","refused":"not granted","sent":0,"got":0}]`),
		Args:        json.RawMessage(`{"note":"[redacted]","pin":"[redacted]","to":"me, with [redacted] and [redacted]"}`),
	}
	if diff := cmp.Diff([]*store.Run{want}, list(t, runs), cmpopts.IgnoreFields(store.Run{}, "Started", "Ended", "PID")); diff != "" {
		t.Error(diff)
	}
	for _, line := range []string{`msg="a skill connected" skill=pay run=run-1 host=h:443 address="" refused="" sent=10 got=20`, `level=WARN msg="a skill was refused connections" skill=pay run=run-1 count=2`} {
		if strings.Count(log.String(), line) != 1 {
			t.Errorf("%s is not in the log:\n%s", line, log)
		}
	}
}

// A call of a subagent has its session as its parent, but for one that a script of it makes.
func TestRowOfSubagent(t *testing.T) {
	r, runs, _ := newRecorder(t, inTemp(t), Options{})
	for _, parent := range []string{"", "run-0"} {
		p := newProposal("run-1" + parent)
		p.Parent, p.Principal.Session, p.Principal.Agents = parent, "0123456789ab", []string{"reviewer"}
		r.Record(t.Context(), run.Record{Proposal: p})
	}
	client := newProposal("run-2")
	client.Parent, client.Principal.Session = "", "stdio"
	r.Record(t.Context(), run.Record{Proposal: client})
	var parents []string
	for _, row := range list(t, runs) {
		parents = append(parents, row.Parent)
	}
	if diff := cmp.Diff([]string{"0123456789ab", "run-0", ""}, parents); diff != "" {
		t.Error(diff)
	}
}

// The message of a command that failed is the last line that it wrote to its error output,
// without secrets and control sequences.
func TestReason(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	for name, test := range map[string]struct {
		code         int
		stderr, want string
	}{
		"last line":    {6, "reading\n\x1b[31mno such invoice: 17\x1b[0m\r\n\n", "no such invoice: 17"},
		"secret":       {1, "the token is tok-\x1b[0m123456", "the token is [redacted]"},
		"long":         {1, "failed:\n" + long[:2*maxMessage], long[:maxMessage] + "… (1024 more bytes)"},
		"too long":     {1, "tok-123456 " + long[:4*maxMessage-5], ""},
		"said nothing": {1, " \n", ""},
		"ended well":   {0, "a warning", ""},
	} {
		r, runs, _ := newRecorder(t, inTemp(t), Options{})
		r.Record(t.Context(), run.Record{Proposal: newProposal("run-1"), Outcome: &run.Outcome{Result: &sandbox.Result{
			Exited: true, Exit: sandbox.Exit{Code: test.code}, Stderr: sandbox.Output{Head: []byte(test.stderr)},
		}}})
		if got := list(t, runs)[0].Message; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// The outcome tells each kind of end apart.
func TestOutcomes(t *testing.T) {
	ended := func(code int) *run.Outcome {
		return &run.Outcome{Result: &sandbox.Result{Exited: true, Exit: sandbox.Exit{Code: code}}}
	}
	stopped := &run.Outcome{Result: &sandbox.Result{}}
	of := func(code run.Code, cause error) error { return &run.Error{Code: code, Message: "m", Err: cause} }
	for _, test := range []struct {
		want    string
		outcome *run.Outcome
		err     error
	}{
		{OK, ended(0), nil},
		{OK, nil, nil}, // a session
		{Error, ended(1), nil},
		{Error, ended(0), of(run.ExecutionError, nil)}, // no JSON
		{Failed, stopped, of(run.Timeout, &sandbox.LimitError{Limit: sandbox.LimitTime})},
		{Failed, nil, of(run.Busy, sandbox.ErrBusy)},
		{Failed, nil, of(run.Unavailable, nil)},
		{Failed, nil, errors.New("unknown")},
		{Refused, nil, of(run.PermissionDenied, nil)},
		{Refused, nil, of(run.ApprovalRequired, nil)},
		{Invalid, nil, of(run.InvalidParam, nil)},
		{Invalid, nil, of(run.NotFound, nil)},
		{Undelivered, stopped, of(run.ExecutionError, context.Canceled)},
		{Undelivered, nil, of(run.ExecutionError, fmt.Errorf("wait: %w", context.DeadlineExceeded))},
	} {
		if got := outcome(run.Record{Outcome: test.outcome, Err: test.err}); got != test.want {
			t.Errorf("%v %v: %s, want %s", test.outcome, test.err, got, test.want)
		}
	}
}

// A confirmed run has a row from its start, and one row when it has ended.
func TestBegun(t *testing.T) {
	r, runs, _ := newRecorder(t, inTemp(t), Options{})
	p := newProposal("run-1")
	p.Approval = "ap-1"
	if err := r.Begin(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	first := list(t, runs)
	if len(first) != 1 || first[0].Outcome != store.Running || first[0].Approval != "ap-1" {
		t.Fatalf("%+v", first)
	}
	r.Record(t.Context(), run.Record{Proposal: p, Outcome: &run.Outcome{Result: &sandbox.Result{Exited: true}}})
	last := list(t, runs)
	if len(last) != 1 || last[0].Outcome != OK || !last[0].Started.Equal(first[0].Started) || last[0].Seq <= first[0].Seq {
		t.Errorf("%+v", last)
	}
}

// Where nothing can be recorded, a run that needed a person's confirmation is refused,
// and others run with one warning.
func TestCannotRecord(t *testing.T) {
	r, _, log := newRecorder(t, "", Options{})
	p := newProposal("run-1")
	for range 3 {
		if err := r.Begin(t.Context(), p); err != nil {
			t.Error(err)
		}
		r.Record(t.Context(), run.Record{Proposal: p})
	}
	if n := strings.Count(log.String(), "not recorded"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, log)
	}
	p.Decision.Signatures = 1
	e, ok := errors.AsType[*run.Error](r.Begin(t.Context(), p))
	if !ok || e.Code != run.Unavailable || !e.Retryable || !strings.Contains(e.Message, "XDG_STATE_HOME") {
		t.Errorf("%v", e)
	}
}

// A client that repeats refused calls makes a bounded number of rows, which count them.
func TestRefusals(t *testing.T) {
	r, runs, _ := newRecorder(t, inTemp(t), Options{})
	no := &run.Error{Code: run.PermissionDenied, Message: "no"}
	for i := range 500 {
		p := newProposal(fmt.Sprintf("run-%d", i))
		p.Skill.Name = fmt.Sprintf("skill-%d", i%200)
		r.Record(t.Context(), run.Record{Proposal: p, Err: no})
	}
	found, calls := list(t, runs), 0
	for _, row := range found {
		calls += row.Times
	}
	if len(found) > maxRefusals+1 || calls != 500 {
		t.Errorf("%d rows for %d calls", len(found), calls)
	}
	// Runs are never counted together.
	before := len(found)
	for range 3 {
		r.Record(t.Context(), run.Record{Proposal: newProposal("run-x"), Outcome: &run.Outcome{Result: &sandbox.Result{Exited: true}}})
	}
	if n := len(list(t, runs)); n != before+3 {
		t.Errorf("%d rows for 3 runs", n-before)
	}
}

// Arguments are bounded, in all and each, and a row is valid JSON.
func TestLongArguments(t *testing.T) {
	for name, args := range map[string]map[string]any{
		"one":    {"to": strings.Repeat("ä", maxText)},
		"many":   {"to": make([]any, maxArgs)},
		"huge":   {"to": strings.Repeat("x", maxSearch+1)},
		"quotes": {"to": slices.Repeat([]any{strings.Repeat(`"`, maxText-1)}, 100)},
	} {
		p := newProposal("run-1")
		p.Args = args
		got := arguments(p, nil)
		if !json.Valid(got) || len(got) > maxArgs {
			t.Errorf("%s: %d bytes, valid %v", name, len(got), json.Valid(got))
		}
	}
}

// The code of a model is recorded, as far as it fits.
func TestCode(t *testing.T) {
	p := &run.Proposal{Action: run.ActionCode, Args: map[string]any{"language": "python", "code": "print('hush')" + strings.Repeat("#", 1<<20)}}
	got := string(arguments(p, []string{"hush"}))
	if !strings.Contains(got, "print('"+Redacted+"')###") || !strings.Contains(got, "more bytes") || !strings.Contains(got, `"language":"python"`) {
		t.Errorf("%s", got)
	}
}

// BenchmarkRecord measures the record's part of a call: of a safe skill, of one that was
// confirmed, and of a refusal that was repeated.
func BenchmarkRecord(b *testing.B) {
	for name, approval := range map[string]string{"safe": "", "confirmed": "ap-1"} {
		b.Run(name, func(b *testing.B) {
			s := store.New(filepath.Join(b.TempDir(), "skills-mcp.db"), nil)
			defer s.Close()
			r := New(s, nil)
			defer r.Close()
			o := &run.Outcome{Result: &sandbox.Result{Exited: true}}
			for i := 0; b.Loop(); i++ {
				p := newProposal(fmt.Sprintf("run-%d", i))
				p.Approval = approval
				if err := r.Begin(b.Context(), p); err != nil {
					b.Fatal(err)
				}
				r.Record(b.Context(), run.Record{Proposal: p, Outcome: o})
			}
		})
	}
}
