package run_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/admission"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// A script is a fake of a running script.
type script struct {
	ctx context.Context
	in  *bufio.Reader
	out io.Writer
	cmd *sandbox.Command
}

// say prints a line and returns the answer to it, or "" at the end of standard input.
func (s *script) say(line string) string {
	fmt.Fprintln(s.out, line)
	answer, _ := s.in.ReadString('\n')
	return strings.TrimSuffix(answer, "\n")
}

// call calls a skill. It returns what the skill printed, or the error.
func (s *script) call(name string) string {
	answer := struct {
		Stdout string
		Error  *run.Error
	}{}
	line := s.say(fmt.Sprintf(`{"mcp": {"call": {"skill": %q}}}`, name))
	switch err := json.Unmarshal([]byte(line), &answer); {
	case line == "":
		return "nothing"
	case err != nil:
		return "no JSON: " + line
	case answer.Error != nil:
		return fmt.Sprintf("%s: %s", answer.Error.Code, answer.Error.Message)
	}
	return strings.TrimSpace(answer.Stdout)
}

// calls returns the script that calls a skill, prints the answer after its own name, and
// ends with a code.
func calls(name string, code int) func(*script) int {
	return func(s *script) int {
		fmt.Fprintf(s.out, "%s(%s)\n", s.cmd.Skill, s.call(name))
		return code
	}
}

// scripts is a driver of fake scripts by skill. One that is not there prints its name.
type scripts map[string]func(*script) int

func (all scripts) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	cmd.Started()
	s := &script{ctx, bufio.NewReader(strings.NewReader("")), cmd.Stdout, cmd}
	if cmd.Stdin != nil {
		s.in = bufio.NewReader(cmd.Stdin)
	}
	do := all[cmd.Skill]
	if do == nil {
		fmt.Fprintln(cmd.Stdout, cmd.Skill)
		return &sandbox.Exit{}, nil
	}
	ended := make(chan int, 1)
	go func() { ended <- do(s) }()
	select {
	case code := <-ended:
		if ctx.Err() == nil {
			return &sandbox.Exit{Code: code}, nil
		}
	case <-ctx.Done():
	}
	return nil, context.Cause(ctx)
}

func (scripts) Close() error { return nil }

// granting is a policy that grants every script to call the same skills, and a record of
// the runs.
type granting struct {
	*policy.Policy
	calls []string

	mu   sync.Mutex
	runs []run.Record
}

func (g *granting) Decide(ctx context.Context, p *run.Proposal) (*run.Decision, error) {
	d, err := g.Policy.Decide(ctx, p)
	if d != nil {
		d.Calls = g.calls
	}
	return d, err
}

func (g *granting) Begin(context.Context, *run.Proposal) error { return nil }

func (g *granting) Record(_ context.Context, r run.Record) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.runs = append(g.runs, r)
}

// recorded returns the runs in the order of their ends: the skill, its callers, whether
// its parent is the last of them, and the outcome.
func (g *granting) recorded() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []string
	for _, r := range g.runs {
		parent := slices.IndexFunc(g.runs, func(other run.Record) bool { return other.RunID == r.Parent })
		whose := "nobody"
		if parent >= 0 {
			whose = g.runs[parent].Skill.QualifiedName()
		}
		all = append(all, fmt.Sprintf("%s of %s by %v: %v", r.Skill.QualifiedName(), whose, r.Stack, r.Err))
	}
	return all
}

// A stage is an executor of fake scripts, whose skills have the frontmatter of fields.
type stage struct {
	*run.Executor
	*granting
	catalog *skills.Catalog
	runner  *sandbox.Runner
}

// frontmatter is that of skills by name.
type frontmatter map[string]string

// instructions is the frontmatter of a skill without a script.
const instructions = "keywords: []"

func newStage(t *testing.T, driver sandbox.Driver, fields frontmatter, o run.Options, confirm confirmer, slots admission.Slots) *stage {
	t.Helper()
	files := fstest.MapFS{}
	for name, fields := range fields {
		if fields != instructions {
			fields += "\nscript: run.sh"
		}
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: d\n" + fields + "\n---\nDo it.\n")}
		files[name+"/run.sh"] = &fstest.MapFile{Data: []byte("echo")}
	}
	catalog, err := scan.Scan(t.Context(), []scan.Root{{FS: files, Label: "root"}}, nil)
	if err != nil || len(catalog.Skills) != len(fields) {
		t.Fatalf("scan: %v, %v", catalog, err)
	}
	options := &policy.Options{}
	if confirm != nil {
		options.Approver = confirm
	}
	g := &granting{Policy: policy.New(options), calls: []string{"*"}}
	runner := sandbox.New(driver, &sandbox.Options{Admission: admission.New(&slots)})
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Recorder, o.Sessions = g, session.New(runner, nil)
	t.Cleanup(o.Sessions.Close)
	return &stage{run.New(runner, snapshot.New(t.TempDir()), g, &o), g, catalog, runner}
}

// start runs a skill. It returns its output, or the error.
func (s *stage) start(ctx context.Context, call run.Call, name string) string {
	skill, err := s.catalog.Lookup(name)
	if err != nil {
		return err.Error()
	}
	call.Callees = result.Callees(func(_ context.Context, name string) (*skills.Skill, error) { return s.catalog.Lookup(name) })
	o, err := s.Executor.Run(ctx, run.Request{Call: call, Skill: skill})
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(o.Stdout.Bytes()))
}

// chain is the frontmatter of skills that each call others.
func chain(names ...string) frontmatter {
	all := frontmatter{}
	for _, name := range names {
		all[name] = "calls: ['*']"
	}
	return all
}

// A script's call waits without a slot: the only one serves four skills that call each
// other. The fifth is too deep, and a skill on the stack is not called again.
func TestCallsNest(t *testing.T) {
	for name, test := range map[string]struct{ last, want string }{
		"to the end": {"none", "a(b(c(d(NOT_FOUND: there is no skill \"none\" (list_skills and search_skills name those there are)))))"},
		"too deep":   {"e", "a(b(c(d(INVALID_PARAM: skills call each other at most 4 deep: a → b → c → d → e))))"},
		"a circle":   {"b", "a(b(c(d(INVALID_PARAM: skills cannot call each other in a circle: a → b → c → d → b))))"},
		"itself":     {"d", "a(b(c(d(INVALID_PARAM: skills cannot call each other in a circle: a → b → c → d → d))))"},
	} {
		t.Run(name, func(t *testing.T) {
			driver := scripts{"a": calls("b", 0), "b": calls("c", 0), "c": calls("d", 0), "d": calls(test.last, 0)}
			s := newStage(t, driver, chain("a", "b", "c", "d", "e"), run.Options{}, nil, admission.Slots{Total: 1, PerTenant: 1, PerSkill: 1, Queue: 1})
			if got := s.start(t.Context(), by("ann"), "a"); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
			// A refused call has a row, too.
			if got := s.recorded(); len(got) == 5 && test.last != "none" && strings.HasPrefix(got[0], test.last+" of d by [a b c d]: skills c") {
				s.runs = s.runs[1:]
			} else if test.last != "none" {
				t.Errorf("recorded %q", got)
			}
			want := []string{"d of c by [a b c]: <nil>", "c of b by [a b]: <nil>", "b of a by [a]: <nil>", "a of nobody by []: <nil>"}
			if diff := cmp.Diff(want, s.recorded()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Nothing is called that the caller does not declare, or is not granted.
func TestCallsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		caller, callee string
		granted        []string
		call           run.Call
		want           string
	}{
		"granted":        {"calls: b", "", []string{"b"}, by("ann"), "b"},
		"not declared":   {"asks: person", "", []string{"*"}, by("ann"), "PERMISSION_DENIED: skill a does not declare that it calls others; its frontmatter has to say calls: [NAME]"},
		"another one":    {"calls: c", "", []string{"*"}, by("ann"), "PERMISSION_DENIED: skill a does not declare that it calls b; its frontmatter has to name it in calls"},
		"not granted":    {"calls: b", "", nil, by("ann"), "PERMISSION_DENIED: skill a is not granted to call others; only the person can, in the configuration"},
		"another grant":  {"calls: b", "", []string{"c", "p/*"}, by("ann"), "PERMISSION_DENIED: skill a is not granted to call b; only the person can, in the configuration"},
		"for persons":    {"calls: b", "disable-model-invocation: true", []string{"b"}, person(), "PERMISSION_DENIED: skill b may be called by a person only"},
		"not confirmed":  {"calls: b", "class: mutating", []string{"b"}, by("ann"), "APPROVAL_REQUIRED: skill b is mutating, so only a person can start it, on a terminal of their own; tell them which arguments to give it, and do not try again"},
		"bad arguments":  {"calls: b", "params: {n: {type: integer, required: true}}", []string{"b"}, by("ann"), `INVALID_PARAM: missing required parameter "n"`},
		"a failing one":  {"calls: b", "", []string{"b"}, by("ann"), "EXECUTION_ERROR: skill b failed with exit code 3; it wrote nothing to its error output: what it printed may say why"},
		"nothing to run": {"calls: b", instructions, []string{"b"}, by("ann"), "INVALID_PARAM: skill b has nothing to run: it gives instructions; read the instructions with load_skill"},
	} {
		t.Run(name, func(t *testing.T) {
			driver := scripts{"a": func(s *script) int { fmt.Fprintln(s.out, s.call("b")); return 0 }}
			if name == "a failing one" {
				driver["b"] = func(s *script) int { fmt.Fprintln(s.out, "oh"); return 3 }
			}
			s := newStage(t, driver, frontmatter{"a": test.caller, "b": test.callee}, run.Options{}, nil, admission.Slots{})
			s.granting.calls = test.granted
			if got := s.start(t.Context(), test.call, "a"); got != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
			if rows := s.recorded(); len(rows) != 2 || !strings.HasPrefix(rows[0], "b of a by [a]: ") || strings.HasSuffix(rows[0], "<nil>") != (name == "granted" || name == "a failing one") {
				t.Errorf("recorded %q", rows)
			}
		})
	}
}

// A safe skill gets no power by calling a mutating one: that one is confirmed, by the
// outermost call's person, who sees the path of callers, and gets its own grant.
func TestCallsConfirmed(t *testing.T) {
	for answer, want := range map[string]string{"yes": "a(b(c))", "no": "a(b(APPROVAL_REQUIRED: no))"} {
		var asked []string
		confirm := func(_ context.Context, p *run.Proposal) error {
			asked = append(asked, fmt.Sprintf("%s %s %v %d %s %t", p.Skill.Name, p.Way, p.Stack, len(p.Callers), p.Principal.Kind, p.Command.Grant.Write))
			if answer == "no" {
				return &run.Error{Code: run.ApprovalRequired, Message: "no"}
			}
			return nil
		}
		var wrote []string
		note := func(do func(*script) int) func(*script) int {
			return func(s *script) int {
				wrote = append(wrote, fmt.Sprint(s.cmd.Skill, s.cmd.Grant.Write, s.cmd.Grant.Workspaces))
				return do(s)
			}
		}
		driver := scripts{"a": note(calls("b", 0)), "b": note(calls("c", 0)), "c": note(func(s *script) int { fmt.Fprintln(s.out, "c"); return 0 })}
		fields := chain("a", "b")
		fields["c"] = "class: mutating"
		s := newStage(t, driver, fields, run.Options{Workspaces: []string{"/one", "/two"}}, confirm, admission.Slots{})
		call := person()
		call.Workspaces = []string{"/two"}
		for _, skill := range s.catalog.Skills {
			skill.Installed = skill.Name == "b" // whose digest is bound; a is the person's own
		}
		if got := s.start(t.Context(), call, "a"); got != want {
			t.Errorf("%s: %s", answer, got)
		}
		if diff := cmp.Diff([]string{"c skill [a b] 1 person true"}, asked); diff != "" {
			t.Error(diff)
		}
		ran := []string{"afalse [/two]", "bfalse [/two]", "ctrue [/two]"}
		if answer == "no" {
			ran = ran[:2]
		}
		if diff := cmp.Diff(ran, wrote); diff != "" {
			t.Error(diff)
		}
	}
}

// nothingGranted grants no workspace.
type nothingGranted struct{ *granting }

func (n nothingGranted) Decide(ctx context.Context, p *run.Proposal) (*run.Decision, error) {
	d, err := n.granting.Decide(ctx, p)
	if d != nil && len(p.Stack) == 0 {
		d.Grant.Workspaces = nil
	}
	return d, err
}

// A skill passes on no workspace that it has not, and names no file of the one that it
// calls.
func TestCallsReach(t *testing.T) {
	answers := map[string]string{}
	driver := scripts{"a": func(s *script) int {
		for _, path := range []string{"x.txt", "/one/x.txt", "/skill/run.sh", "/skill"} {
			answer := s.say(fmt.Sprintf(`{"mcp": {"call": {"skill": "b", "args": {"file": %q}}}}`, path))
			_, answers[path], _ = strings.Cut(answer, `"message":"`)
		}
		return 0
	}}
	s := newStage(t, driver, frontmatter{"a": "calls: b", "b": "params: {file: {format: path}}"}, run.Options{}, nil, admission.Slots{})
	x := run.New(s.runner, snapshot.New(t.TempDir()), nothingGranted{s.granting}, &run.Options{Workspaces: []string{"/one"}})
	s.Executor = x
	s.start(t.Context(), by("ann"), "a")
	for path, answer := range answers {
		want := "there is no workspace, so no file can be named"
		if strings.HasPrefix(path, "/skill") {
			want = "a skill cannot name files of one that it calls"
		}
		if !strings.Contains(answer, want) {
			t.Errorf("%s: %q", path, answer)
		}
	}
}

// The calls of one client's call are bounded at every depth together, and so are the
// lines of one script.
func TestCallsBounded(t *testing.T) {
	refused := 0
	driver := scripts{
		"a": func(s *script) int {
			for range 3 {
				if strings.HasPrefix(s.call("b"), "EXECUTION_ERROR: the skills of this call have called 100 others") {
					refused++
				}
			}
			return 0
		},
		"b": func(s *script) int {
			for range 32 {
				s.call("c")
			}
			return 0
		},
	}
	s := newStage(t, driver, chain("a", "b", "c"), run.Options{}, nil, admission.Slots{})
	s.start(t.Context(), by("ann"), "a")
	if runs := len(s.recorded()); runs != 100 || refused != 0 {
		t.Errorf("%d runs, %d refused", runs, refused)
	}
	driver["b"] = func(s *script) int {
		for range 60 {
			s.call("c")
		}
		return 0
	}
	s.start(t.Context(), by("ann"), "a")
	if runs := len(s.recorded()); runs != 201+23 || refused != 1 { // and the refused ones
		t.Errorf("%d runs, %d refused", runs, refused)
	}
}

// A call that is cancelled at any depth ends all scripts of its stack, and gives every
// slot back.
func TestCallsCancelled(t *testing.T) {
	for depth := 1; depth <= 4; depth++ {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				driver := waitingAt(depth, func(*script) { cancel() })
				for name, do := range driver { // the inner script may be gone before the outer one is told to end
					driver[name] = func(s *script) int { code := do(s); <-s.ctx.Done(); return code }
				}
				s := newStage(t, driver, chain("a", "b", "c", "d"), run.Options{}, nil, admission.Slots{Total: 1, PerTenant: 1, PerSkill: 1, Queue: 1})
				if got := s.start(ctx, by("ann"), "a"); got != "the call was cancelled" {
					t.Errorf("it ended with %q", got)
				}
				for i, ended := range s.recorded() {
					// An inner one may learn first that its caller has ended.
					if !strings.HasSuffix(ended, ": the call was cancelled") && !strings.HasSuffix(ended, ": the script has ended") {
						t.Errorf("%d: %s", i, ended)
					}
				}
				if runs := len(s.recorded()); runs != depth {
					t.Errorf("%d runs", runs)
				}
				if got := s.start(t.Context(), by("ann"), "d"); depth != 4 && got != "d(nothing)" && got != "d" {
					t.Errorf("the next call: %q", got)
				}
			})
		})
	}
}

// waitingAt returns the scripts a to d, each of which calls the next. The one at a depth
// waits for the end of its context, after it has called begun.
func waitingAt(depth int, begun func(*script)) scripts {
	names := []string{"a", "b", "c", "d"}
	driver := scripts{}
	for i, name := range names[:depth] {
		if i == depth-1 {
			driver[name] = func(s *script) int { begun(s); <-s.ctx.Done(); return 0 }
		} else {
			driver[name] = calls(names[i+1], 0)
		}
	}
	return driver
}

// The time of a caller is stopped while it waits, and a skill that exceeds its own time
// costs its caller an answer only.
func TestCallsTimeouts(t *testing.T) {
	for depth := 2; depth <= 4; depth++ {
		synctest.Test(t, func(t *testing.T) {
			fields := chain("a", "b", "c", "d")
			for i, name := range []string{"a", "b", "c", "d"} {
				fields[name] += fmt.Sprintf("\ntimeout_seconds: %d", 1+10*i)
			}
			s := newStage(t, waitingAt(depth, func(*script) {}), fields, run.Options{}, nil, admission.Slots{Total: 1, PerTenant: 1, PerSkill: 1, Queue: 1})
			began := time.Now()
			got := s.start(t.Context(), by("ann"), "a")
			late := fmt.Sprintf("(TIMEOUT: the skill was stopped at its time limit of %ds; ask for less at once; where it was about to ask: a question is one line, with a newline at its end, and has to be flushed)", 10*depth-9)
			if !strings.Contains(got, late) || !strings.HasPrefix(got, "a(") {
				t.Errorf("%d: %s", depth, got)
			}
			if took := time.Since(began); took != time.Duration(10*depth-9)*time.Second {
				t.Errorf("%d: it took %s", depth, took)
			}
		})
	}
}

// Skills that call others, of several principals at once, all end, whatever the number of
// slots.
func TestCallsAtOnce(t *testing.T) {
	for _, slots := range []admission.Slots{{Total: 1, PerTenant: 1, PerSkill: 1}, {Total: 2, PerTenant: 2, PerSkill: 1}, {Total: 5, PerTenant: 2}} {
		slots.Queue = 64
		driver := scripts{"a": calls("b", 0), "b": calls("c", 0), "c": calls("d", 0)}
		s := newStage(t, driver, chain("a", "b", "c", "d"), run.Options{}, nil, slots)
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				if got := s.start(t.Context(), by(fmt.Sprint("client", i%4)), "a"); got != "a(b(c(d)))" {
					t.Errorf("%s", got)
				}
			})
		}
		all.Wait()
	}
}

// Scripts that wait for others are bounded. One too many is told so, and nothing that was
// called ends.
func TestCallsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		driver := scripts{"a": calls("b", 0), "b": func(s *script) int { <-proceed; fmt.Fprintln(s.out, "b"); return 0 }}
		s := newStage(t, driver, chain("a", "b"), run.Options{}, nil, admission.Slots{Total: 100, PerTenant: 100, PerSkill: 100, Queue: 100})
		count := map[string]int{}
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() {
				got := s.start(t.Context(), by("ann"), "a")
				mu.Lock()
				defer mu.Unlock()
				count[got]++
			})
		}
		synctest.Wait()
		close(proceed)
		all.Wait()
		want := map[string]int{"a(b)": 4, "a(BUSY: too many calls wait for skills that their scripts have called; try again in a moment)": 1}
		if diff := cmp.Diff(want, count); diff != "" {
			t.Error(diff)
		}
	})
}

// A script in a kept sandbox calls nothing: it keeps its slot, which could be the only one.
func TestCallsInSession(t *testing.T) {
	answer := ""
	driver := &keeper{}
	s := newStage(t, driver, chain("a", "b"), run.Options{}, nil, admission.Slots{Total: 1, PerTenant: 1, PerSkill: 1, Queue: 1})
	skill, err := s.catalog.Lookup("a")
	if err != nil {
		t.Fatal(err)
	}
	opened, err := s.OpenSession(t.Context(), run.OpenRequest{Call: by("ann"), Skill: skill})
	if err != nil {
		t.Fatal(err)
	}
	driver.run = func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		answer = (&script{t.Context(), bufio.NewReader(cmd.Stdin), cmd.Stdout, cmd}).call("b")
		return &sandbox.Exit{}, nil
	}
	s.start(t.Context(), in("ann", opened.ID), "a")
	if answer != "UNAVAILABLE: nothing can be called in a kept sandbox" {
		t.Errorf("%s", answer)
	}
}
