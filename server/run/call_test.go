package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/sandbox/sandboxtest"
	"github.com/skillsmcp/skills-mcp/sandbox/session"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recorder is a driver that keeps the commands it is given.
type recorder struct {
	commands []sandbox.Command
	run      func(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) // nil ends well
}

func (r *recorder) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	r.commands = append(r.commands, *cmd)
	if r.run != nil {
		return r.run(ctx, cmd)
	}
	cmd.Started()
	return &sandbox.Exit{Sandbox: "recorder"}, nil
}

func (r *recorder) Close() error { return nil }

// demo returns the skill of a SKILL.md, beside two scripts.
func demo(t *testing.T, fields string) *skills.Skill {
	t.Helper()
	fsys := fstest.MapFS{
		"demo/SKILL.md":       {Data: []byte("---\nname: demo\ndescription: d\n" + fields + "\n---\nDo it.\n")},
		"demo/run.sh":         {Data: []byte("echo")},
		"demo/scripts/one.py": {Data: []byte("print()")},
	}
	catalog, err := scan.Scan(t.Context(), []scan.Root{{FS: fsys, Label: "root"}}, nil)
	if err != nil || len(catalog.Skills) != 1 {
		t.Fatalf("scan: %v, %v", catalog, err)
	}
	return catalog.Skills[0]
}

// by returns a call of somebody other than the person at this machine.
func by(name string) run.Call {
	return run.Call{Principal: identity.Principal{Kind: identity.Token, ID: name}}
}

// in returns a call in a session of that principal.
func in(name, session string) run.Call {
	call := by(name)
	call.Session = session
	return call
}

// person returns a call of the person at this machine.
func person() run.Call { return run.Call{Principal: identity.Principal{Kind: identity.Person}} }

// A confirmer is a person who answers as the function does.
type confirmer func(context.Context, *run.Proposal) error

func (c confirmer) Approve(ctx context.Context, p *run.Proposal) error { return c(ctx, p) }

func (c confirmer) Approved(context.Context, identity.Principal, *skills.Skill) bool { return false }

// newExecutor returns an executor of a person who confirms everything, and grants
// hosts.
func newExecutor(t *testing.T, driver sandbox.Driver, options *run.Options, hosts ...egress.Rule) *run.Executor {
	t.Helper()
	return executorOf(t, driver, policy.New(&policy.Options{Rules: []policy.Rule{{Pattern: "demo"}}, Hosts: hosts, Approver: confirmer(yes)}), options)
}

func executorOf(t *testing.T, driver sandbox.Driver, decider run.Decider, options *run.Options) *run.Executor {
	t.Helper()
	runner := sandbox.New(driver, nil)
	t.Cleanup(func() {
		if err := runner.Close(); err != nil {
			t.Error(err)
		}
	})
	var o run.Options
	if options != nil {
		o = *options
	}
	o.Sessions = session.New(runner, nil)
	t.Cleanup(o.Sessions.Close)
	return run.New(runner, snapshot.New(t.TempDir()), decider, &o)
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var args map[string]any
	if err := decoder.Decode(&args); err != nil {
		t.Fatal(err)
	}
	return args
}

const typed = `script: run.sh
params:
  text: string
  count: integer
  ratio: number
  flag: boolean
  tags: {type: array}
  map: {type: object}
  mode: {type: string, default: fast}`

func TestArgv(t *testing.T) {
	for _, test := range []struct{ name, fields, args, want string }{
		{"defaults only", typed, `{}`, `bash run.sh --mode fast`},
		{"every type, in the manifest's order", typed,
			`{"map": {"b": 1, "a": [true, "<x>"]}, "tags": ["a", 1.50], "flag": false, "ratio": 0.5, "count": 12345678901234567890, "text": "t"}`,
			`bash run.sh --text t --count 12345678901234567890 --ratio 0.5 --flag false --tags ["a",1.50] --map {"a":[true,"<x>"],"b":1} --mode fast`},
		{"an integer with a fraction of zero", typed, `{"count": 3.0, "ratio": 3.0}`, `bash run.sh --count 3 --ratio 3.0 --mode fast`},
		{"values like flags", typed, `{"text": "--mode", "count": -5}`, `bash run.sh --text=--mode --count -5 --mode fast`},
		{"undeclared ones last, by name", typed, `{"z": 1, "b_c": "x", "text": "t"}`, `bash run.sh --text t --mode fast --b_c x --z 1`},
		{"null is absent", typed, `{"text": null}`, `bash run.sh --mode fast`},
		{"placeholder", "script: scripts/{name}.py\nparams: {name: {type: string, required: true}}", `{"name": "one"}`, `python3 scripts/one.py`},
	} {
		t.Run(test.name, func(t *testing.T) {
			driver := &recorder{}
			if _, err := newExecutor(t, driver, nil).Run(t.Context(), run.Request{Skill: demo(t, test.fields), Args: decode(t, test.args)}); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(driver.commands[0].Argv, " "); got != test.want {
				t.Errorf("argv %s\nwant %s", got, test.want)
			}
		})
	}
}

// Whatever a value is, the script receives it as one argument, unchanged.
func TestHostileValues(t *testing.T) {
	for name, value := range sandboxtest.Hostile() {
		t.Run(name, func(t *testing.T) {
			driver := &recorder{}
			if _, err := newExecutor(t, driver, nil).Run(t.Context(), run.Request{Skill: demo(t, "script: run.sh"), Args: map[string]any{"v": value}}); err != nil {
				t.Fatal(err)
			}
			want := []string{"bash", "run.sh", "--v", value}
			if strings.HasPrefix(value, "-") {
				want = []string{"bash", "run.sh", "--v=" + value}
			}
			if diff := cmp.Diff(want, driver.commands[0].Argv); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A bad call never reaches the sandbox.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name, fields, args string
		code               run.Code
		message            string
	}{
		{"missing parameter", "script: run.sh\nparams: {p: {required: true}}", `{}`, run.InvalidParam, `missing required parameter "p"`},
		{"wrong types", typed, `{"count": true, "text": 1}`, run.InvalidParam, `"count" must be an integer, not a boolean; "text" must be a string, not a number`},
		{"NUL", typed, `{"text": "a\u0000b"}`, run.InvalidParam, `"text" contains a NUL character, which no program can be passed; leave it out`},
		{"too long", typed, `{"text": "` + strings.Repeat("x", 128<<10) + `"}`, run.InvalidParam, `"text" is 131072 bytes long, more than the 131071 that a program can be passed; put it into a file of the workspace and pass its path`},
		{"name that is no option", typed, `{"-x y": 1}`, run.InvalidParam, `"-x y" cannot be passed as a parameter; use letters, digits, - and _`},
		{"placeholder with a path", "script: scripts/{name}.py", `{"name": "../run"}`, run.InvalidParam, `"name" must be a plain name, without / and ..`},
		{"placeholder that is missing", "script: scripts/{name}.py", `{}`, run.InvalidParam, `missing required parameter "name"`},
		{"placeholder of no script", "script: scripts/{name}.py", `{"name": "two"}`, run.InvalidParam, `scripts/two.py: there is no such script`},
		{"nothing to run", "", `{}`, run.InvalidParam, `skill demo has nothing to run: it gives instructions; read the instructions with load_skill`},
		{"unavailable", "script: gone.sh", `{}`, run.Unavailable, `skill demo cannot run: script gone.sh does not exist`},
		{"instructions for persons", "disable-model-invocation: true", `{}`, run.PermissionDenied, `skill demo may be called by a person only; tell them what you would call it for`},
		{"for persons", "script: run.sh\ndisable-model-invocation: true", `{}`, run.PermissionDenied, `skill demo may be called by a person only; tell them what you would call it for`},
		{"mutating", "script: run.sh\nclass: mutating", `{}`, run.ApprovalRequired, `skill demo is mutating, so only a person can start it, on a terminal of their own; tell them which arguments to give it, and do not try again`},
		{"dangerous", "script: run.sh\nclass: dangerous", `{}`, run.PermissionDenied, `skill demo is dangerous, and no rule of the person names it; ask the person whether to name it in policy.skills of the configuration`},
	} {
		t.Run(test.name, func(t *testing.T) {
			driver := &recorder{}
			outcome, err := executorOf(t, driver, policy.New(nil), nil).Run(t.Context(), run.Request{Skill: demo(t, test.fields), Args: decode(t, test.args)})
			var e *run.Error
			if !errors.As(err, &e) || e.Code != test.code || e.ForModel().Message != test.message {
				t.Errorf("error %v, want %s: %s", err, test.code, test.message)
			}
			if outcome != nil || len(driver.commands) > 0 {
				t.Errorf("it ran: %+v", driver.commands)
			}
		})
	}
}

// yes is a person who allows everything.
func yes(context.Context, *run.Proposal) error { return nil }

// A person's call of a skill that is not safe runs as it was confirmed, or not at
// all.
func TestPerson(t *testing.T) {
	for _, test := range []struct {
		fields  string
		confirm func(context.Context, *run.Proposal) error
		refused string // "" where it runs
	}{
		{"disable-model-invocation: true", nil, ""},
		{"class: mutating", yes, ""},
		{"class: dangerous", yes, ""},
		{"class: mutating", nil, "skill demo is mutating, so it runs only when a person says yes to it on a terminal, and this is none"},
		{"class: dangerous", nil, "skill demo is dangerous, so it runs only when a person says yes to it on a terminal, and this is none"},
		{"class: mutating", func(context.Context, *run.Proposal) error {
			return &run.Error{Code: run.ApprovalRequired, Message: "they said no"}
		}, "they said no"},
	} {
		driver := &recorder{}
		var proposed *run.Proposal
		r := run.Request{Skill: demo(t, "script: run.sh\nparams: {to: {type: string, default: all}}\nsandbox: {env: [A, C]}\n"+test.fields), Call: person()}
		options := &policy.Options{Rules: []policy.Rule{{Pattern: "demo"}}}
		if test.confirm != nil {
			options.Approver = confirmer(func(ctx context.Context, p *run.Proposal) error {
				proposed = p
				return test.confirm(ctx, p)
			})
		}
		x := executorOf(t, driver, policy.New(options), &run.Options{Workspaces: []string{"/work"}, Variables: run.Environ{"A=1", "B=2"}})
		outcome, err := x.Run(t.Context(), r)
		if test.refused != "" {
			wantError(t, err, run.ApprovalRequired, test.refused)
			if len(driver.commands) > 0 {
				t.Errorf("%s: it ran", test.fields)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.fields, err)
			continue
		}
		ran := driver.commands[0]
		if ran.Grant.Write != (test.confirm != nil) {
			t.Errorf("%s: workspace writable: %t", test.fields, ran.Grant.Write)
		}
		if p := proposed; p != nil && (p.Command.RunID != ran.RunID || p.Digest != outcome.Digest || p.Args["to"] != "all" || !slices.Equal(p.Variables, []string{"A"})) {
			t.Errorf("%s: proposed %+v", test.fields, p)
		}
	}
}

func TestPaths(t *testing.T) {
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(workspace, "..", "second")
	if err := os.Symlink(workspace, filepath.Join(filepath.Dir(workspace), "alias")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	options := &run.Options{Workspaces: []string{workspace, filepath.Clean(second)}}
	for _, test := range []struct{ value, folder, want string }{
		{"a/b.py", "", workspace + "/a/b.py"},
		{".", "", workspace},
		{"b.py", workspace + "/a", workspace + "/a/b.py"},
		{workspace + "/x/../y", "", workspace + "/y"},
		{filepath.Clean(second) + "/z", "", filepath.Clean(second) + "/z"},
		{filepath.Dir(workspace) + "/alias", "", workspace},
		{"/workspace/a", "", "/workspace/a"},
		{"/skill/data.txt", "", "/skill/data.txt"},
		{"../x", "", ""},
		{"/etc/passwd", "", ""},
		{"/skill/../etc/passwd", "", ""},
		{workspace + "-not", "", ""},
	} {
		driver := &recorder{}
		_, err := newExecutor(t, driver, options).Run(t.Context(), run.Request{
			Skill: demo(t, "script: run.sh\nparams: {p: {format: path}}"), Args: map[string]any{"p": test.value}, Folder: test.folder,
		})
		got := ""
		if len(driver.commands) > 0 {
			got = driver.commands[0].Argv[3]
		}
		if got != test.want {
			t.Errorf("%s: passed %q, want %q (%v)", test.value, got, test.want, err)
		}
		if test.want == "" && (err == nil || !strings.Contains(err.Error(), "is in no workspace; the workspaces are "+workspace)) {
			t.Errorf("%s: error %v", test.value, err)
		}
	}
	_, err = newExecutor(t, &recorder{}, nil).Run(t.Context(), run.Request{Skill: demo(t, "script: run.sh\nparams: {p: {format: path}}"), Args: map[string]any{"p": "a"}})
	if err == nil || !strings.Contains(err.Error(), "there is no workspace") {
		t.Errorf("without a workspace: %v", err)
	}
}

func TestCommand(t *testing.T) {
	driver := &recorder{}
	x := newExecutor(t, driver, &run.Options{Workspaces: []string{"/work"}, MaxTimeout: time.Minute})
	outcome, err := x.Run(t.Context(), run.Request{
		Skill: demo(t, "script: run.sh\nsandbox_image_role: node\ntimeout_seconds: 30"), Args: map[string]any{"a": "<b>"}, Call: by("ann"),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := driver.commands[0]
	if c.Skill != "demo" || c.Role != "node" || c.Limits.Timeout != 30*time.Second || c.Grant.Write || len(c.Grant.Workspaces) != 1 {
		t.Errorf("command %+v", c)
	}
	env := strings.Join(c.Env, " ")
	if want := "SKILL_NAME=demo SKILL_RUN_ID=" + c.RunID + ` SKILL_WORKSPACE=/work SKILL_PARAMS={"a":"<b>"}`; env != want {
		t.Errorf("environment %s, want %s", env, want)
	}
	if data, err := os.ReadFile(filepath.Join(c.Folder, "run.sh")); err != nil || string(data) != "echo" {
		t.Errorf("folder: %q, %v", data, err)
	}
	if outcome.RunID != c.RunID || !strings.HasPrefix(outcome.Digest, "sha256:") || outcome.Sandbox != "recorder" {
		t.Errorf("outcome %+v", outcome)
	}
}

func TestTimeouts(t *testing.T) {
	for _, test := range []struct {
		skill      string
		call, most time.Duration
		want       time.Duration
	}{
		{"600", 0, 0, 10 * time.Minute},
		{"3600", 0, 0, 10 * time.Minute},
		{"30", 0, time.Minute, 30 * time.Second},
		{"300", time.Second, time.Minute, time.Second},
		{"300", time.Hour, time.Minute, time.Minute},
		{"300", math.MaxInt64, 0, 10 * time.Minute},
		{"30", time.Minute, 0, time.Minute},
		{"300", 1, 0, 1},
		{"1e300", 0, time.Hour, time.Hour},
		{"1e-30", 0, 0, time.Millisecond},
	} {
		driver := &recorder{}
		if _, err := newExecutor(t, driver, &run.Options{MaxTimeout: test.most}).Run(t.Context(), run.Request{Skill: demo(t, "script: run.sh\ntimeout_seconds: "+test.skill), Call: run.Call{Timeout: test.call}}); err != nil {
			t.Fatal(err)
		}
		if got := driver.commands[0].Limits.Timeout; got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

func TestTimeoutRefused(t *testing.T) {
	driver := &recorder{}
	_, err := newExecutor(t, driver, nil).Run(t.Context(), run.Request{Skill: demo(t, "script: run.sh"), Call: run.Call{Timeout: -time.Second}})
	var e *run.Error
	if !errors.As(err, &e) || e.Code != run.InvalidParam || e.Message != "a timeout of -1s has passed before it began; give one above 0" || len(driver.commands) > 0 {
		t.Errorf("error %v, ran %d", err, len(driver.commands))
	}
	for n, want := range map[float64]string{
		0: `"t" is 0; write a number of seconds above 0`, -3: `"t" is -3; write a number of seconds above 0`, math.NaN(): `"t" is NaN; write a number of seconds above 0`,
	} {
		if _, err := run.Seconds("t", n); !errors.As(err, &e) || e.Code != run.InvalidParam || e.Message != want {
			t.Errorf("%v: %v", n, err)
		}
	}
}

func TestLongParams(t *testing.T) {
	driver := &recorder{}
	// Every byte is written as two in JSON.
	long := strings.Repeat("\n", 100<<10)
	if _, err := newExecutor(t, driver, nil).Run(t.Context(), run.Request{Skill: demo(t, "script: run.sh"), Args: map[string]any{"v": long}}); err != nil {
		t.Fatal(err)
	}
	if env := strings.Join(driver.commands[0].Env, " "); strings.Contains(env, "SKILL_PARAMS") {
		t.Error("SKILL_PARAMS is longer than a program can be passed")
	}
}

// The folder and the variables of a principal's profile take the place of the server's, and of
// the client's, for its calls alone; code has the folder, too.
func TestProfileReplaces(t *testing.T) {
	skill := demo(t, "script: run.sh\nsandbox: {env: [A, TEAM]}\n")
	options := &policy.Options{Variables: []string{"A"}, Profiles: map[string]policy.Profile{
		"red": {Workspace: "/red", Env: map[string]string{"TEAM": "red", "A": "own", "B": "unnamed"}}, "blue": {},
	}}
	for profile, want := range map[string]struct {
		workspaces []string
		env        []string
	}{"red": {[]string{"/red"}, []string{"A=own", "TEAM=red"}}, "blue": {[]string{"/client"}, []string{"A=1"}}} {
		driver := &recorder{}
		decider := policy.New(options)
		x := executorOf(t, driver, decider, &run.Options{Workspaces: []string{"/work"}, Assigned: decider.Workspace, Variables: run.Environ{"A=1", "B=2"}})
		call := run.Call{Principal: identity.Principal{Kind: identity.Model, Profile: profile}, Workspaces: []string{"/client"}}
		if _, err := x.Run(t.Context(), run.Request{Call: call, Skill: skill}); err != nil {
			t.Fatal(err)
		}
		if _, err := x.RunCode(t.Context(), run.CodeRequest{Call: call, Language: "bash", Code: "true"}); err != nil {
			t.Fatal(err)
		}
		for i, ran := range driver.commands {
			env := slices.DeleteFunc(slices.Clone(ran.Env), func(v string) bool { return strings.HasPrefix(v, "SKILL_") })
			slices.Sort(env)
			if i == 0 && !slices.Equal(env, want.env) || !slices.Equal(ran.Grant.Workspaces, want.workspaces) {
				t.Errorf("%s: %q in %q", profile, ran.Env, ran.Grant.Workspaces)
			}
		}
		if len(driver.commands) != 2 {
			t.Errorf("%s: %d commands", profile, len(driver.commands))
		}
	}
}
