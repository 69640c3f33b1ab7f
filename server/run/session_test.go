package run_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// keeper is a recorder that can keep sandboxes. Their commands are recorded
// beside the others.
type keeper struct {
	recorder
	opened []sandbox.Command
	closed atomic.Int32
}

func (k *keeper) Open(_ context.Context, cmd *sandbox.Command) (sandbox.Session, error) {
	k.opened = append(k.opened, *cmd)
	return (*keptBox)(k), nil
}

type keptBox keeper

func (k *keptBox) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	return k.recorder.Run(ctx, cmd)
}

func (k *keptBox) Close() error {
	k.closed.Add(1)
	return nil
}

func wantError(t *testing.T, err error, code run.Code, message string) {
	t.Helper()
	var e *run.Error
	if !errors.As(err, &e) || e.Code != code || e.ForModel().Message != message {
		t.Errorf("error %v\nwant %s: %s", err, code, message)
	}
}

func TestOpen(t *testing.T) {
	driver := &keeper{}
	x := newExecutor(t, driver, &run.Options{Workspaces: []string{"/one", "/two"}})
	kept, err := x.OpenSession(t.Context(), run.OpenRequest{Skill: demo(t, "script: run.sh\nclass: dangerous\nsandbox_image_role: gpu"), Call: by("ann"), Workspace: "/two"})
	if err != nil {
		t.Fatal(err)
	}
	command := driver.opened[0]
	if command.RunID != kept.ID || command.Skill != "demo" || command.Role != "gpu" || command.Folder == "" {
		t.Errorf("opened %+v", command)
	}
	// As for a safe skill, whatever the skill says of itself.
	if diff := cmp.Diff(sandbox.Grant{Workspaces: []string{"/two"}}, command.Grant); diff != "" {
		t.Error(diff)
	}
	want := &run.Session{kept.ID, kept.Digest, "gpu", []string{"/two"}, 10 * time.Minute, time.Hour}
	if diff := cmp.Diff(want, kept); diff != "" || !strings.HasPrefix(kept.ID, "box-") || !strings.HasPrefix(kept.Digest, "sha256:") {
		t.Error(diff, kept)
	}

	_, err = x.OpenSession(t.Context(), run.OpenRequest{Call: by("ann"), Workspace: "/three"})
	wantError(t, err, run.InvalidParam, `"/three" is no workspace; the workspaces are /one, /two`)
	_, err = x.OpenSession(t.Context(), run.OpenRequest{Call: by("ann"), Skill: demo(t, "script: run.sh\ndisable-model-invocation: true")})
	wantError(t, err, run.PermissionDenied, "skill demo may be called by a person only")
	if _, err = x.OpenSession(t.Context(), run.OpenRequest{Call: by("ann"), Role: "node"}); err != nil || driver.opened[1].Role != "node" || driver.opened[1].Folder == command.Folder {
		t.Errorf("%v, opened %+v", err, driver.opened[1])
	}
	_, err = x.OpenSession(t.Context(), run.OpenRequest{Call: by("ann")})
	wantError(t, err, run.Busy, "at most 2 sandboxes are kept for one client; close one with close_sandbox")
	_, err = newExecutor(t, &recorder{}, nil).OpenSession(t.Context(), run.OpenRequest{})
	wantError(t, err, run.Unavailable, "this sandbox driver cannot keep a sandbox between calls; run each call in a sandbox of its own, without container_id")

	x.EndSessions(by("ann").Principal.Key())
	if kept, err := x.OpenSession(t.Context(), run.OpenRequest{Call: by("bob")}); err != nil {
		t.Error(err)
	} else if err := x.CloseSession(t.Context(), by("bob").Principal.Key(), kept.ID); err != nil {
		t.Error(err)
	}
}

func TestRunInContainer(t *testing.T) {
	driver := &keeper{}
	x := newExecutor(t, driver, &run.Options{Workspaces: []string{"/one", "/two"}})
	skill := demo(t, "script: run.sh\nparams: {p: {format: path}}")
	kept, err := x.OpenSession(t.Context(), run.OpenRequest{Skill: skill, Call: by("ann"), Workspace: "/two"})
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := x.Run(t.Context(), run.Request{Skill: skill, Call: in("ann", kept.ID), Args: map[string]any{"p": "file"}})
	if err != nil || outcome.Digest != kept.Digest {
		t.Fatalf("outcome %+v, %v", outcome, err)
	}
	// Paths start from what the sandbox sees.
	command := driver.commands[0]
	if got := strings.Join(command.Argv, " "); got != "bash run.sh --p /two/file" || !strings.Contains(strings.Join(command.Env, " "), "SKILL_WORKSPACE=/two") {
		t.Errorf("argv %s, env %v", got, command.Env)
	}

	changed := demo(t, "script: run.sh\nwhen_to_use: never")
	other := demo(t, "script: run.sh")
	other.Name = "other"
	id := kept.ID
	for _, test := range []struct {
		r       run.Request
		code    run.Code
		message string
	}{
		{run.Request{Skill: skill, Call: in("bob", id)}, run.NotFound, `there is no sandbox "` + id + `" of yours: it was never opened, or has ended; open one with open_sandbox`},
		{run.Request{Skill: skill, Call: in("ann", "box-x")}, run.NotFound, `there is no sandbox "box-x" of yours: it was never opened, or has ended; open one with open_sandbox`},
		{run.Request{Skill: other, Call: in("ann", id)}, run.InvalidParam, "sandbox " + id + " was not opened for skill other, so its folder is not in it; open one with open_sandbox and this skill, or leave out container_id"},
		{run.Request{Skill: changed, Call: in("ann", id)}, run.InvalidParam, "skill demo has changed since sandbox " + id + " was opened; open another one, or leave out container_id"},
		{run.Request{Skill: skill, Call: in("ann", id), Args: map[string]any{"p": "/one/file"}}, run.InvalidParam, `"p": /one/file is in no workspace; the workspaces are /two (a person can add one with --workspace)`},
	} {
		_, err := x.Run(t.Context(), test.r)
		wantError(t, err, test.code, test.message)
	}
	mutating := *skill
	mutating.Class = "mutating"
	_, err = x.Run(t.Context(), run.Request{Skill: &mutating, Call: in("ann", id)})
	wantError(t, err, run.InvalidParam, "skill demo is granted more than a kept sandbox is; leave out container_id")
	own, err := x.OpenSession(t.Context(), run.OpenRequest{Skill: skill, Call: person()})
	if err != nil {
		t.Fatal(err)
	}
	call := person()
	call.Session = own.ID
	_, err = x.Run(t.Context(), run.Request{Skill: &mutating, Call: call})
	wantError(t, err, run.InvalidParam, "skill demo is granted more than a kept sandbox is; leave out container_id")

	_, err = x.RunCode(t.Context(), run.CodeRequest{Language: "bash", Code: "true", Skill: other, Call: in("ann", id)})
	wantError(t, err, run.InvalidParam, "sandbox "+id+" was not opened for skill other, so its folder is not in it; open one with open_sandbox and this skill, or leave out container_id")
	for _, s := range []run.CodeRequest{{Skill: skill}, {}} {
		s.Language, s.Code, s.Call = "bash", "true", in("ann", id)
		if _, err := x.RunCode(t.Context(), s); err != nil {
			t.Error(err)
		}
	}
	if len(driver.commands) != 3 {
		t.Errorf("%d commands ran", len(driver.commands))
	}
	if err := x.CloseSession(t.Context(), by("ann").Principal.Key(), id); err != nil || driver.closed.Load() != 1 {
		t.Errorf("close: %v, %d times", err, driver.closed.Load())
	}
	wantError(t, x.CloseSession(t.Context(), by("ann").Principal.Key(), id), run.NotFound, `there is no sandbox "`+id+`" of yours: it was never opened, or has ended; open one with open_sandbox`)
}

func TestRunCode(t *testing.T) {
	var code []byte
	driver := &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		var err error
		code, err = io.ReadAll(cmd.Stdin)
		return &sandbox.Exit{}, err
	}}
	x := newExecutor(t, driver, &run.Options{Workspaces: []string{"/work"}, MaxTimeout: time.Minute})
	skill := demo(t, "script: run.sh\nclass: dangerous\ntimeout_seconds: 1")
	for i, test := range []struct {
		r          run.CodeRequest
		argv, role string
	}{
		{run.CodeRequest{Language: "bash", Args: []string{"-a", "b c"}}, "bash -c IFS= read -rd '' code; exec </dev/null; eval \"unset code; $code\" bash -a b c", ""},
		{run.CodeRequest{Language: "python", Skill: skill, Call: run.Call{Timeout: time.Hour}}, "python3 -", ""},
		{run.CodeRequest{Language: "node", Call: run.Call{Timeout: time.Second}}, "node -", "node"},
		{run.CodeRequest{Language: "typescript", Args: []string{"--eval"}}, "node --no-warnings -e  -- --eval", "node"},
	} {
		test.r.Code = strings.Repeat("x", 200<<10)
		outcome, err := x.RunCode(t.Context(), test.r)
		if err != nil {
			t.Fatal(err)
		}
		command := driver.commands[i]
		if test.r.Language == "typescript" { // the program that strips types
			command.Argv[3] = ""
		}
		if got := strings.Join(command.Argv, " "); got != test.argv || command.Role != test.role || string(code) != test.r.Code {
			t.Errorf("argv %s, role %s, code %d bytes", got, command.Role, len(code))
		}
		// The rule of newExecutor names the skill.
		if diff := cmp.Diff(sandbox.Grant{Workspaces: []string{"/work"}, Write: test.r.Skill != nil}, command.Grant); diff != "" {
			t.Error(diff)
		}
		env := strings.Join(command.Env, " ")
		if named := strings.Contains(env, "SKILL_NAME=demo"); named != (test.r.Skill != nil) || named != (outcome.Digest != "") || !strings.Contains(env, "SKILL_WORKSPACE=/work") {
			t.Errorf("env %s, digest %q", env, outcome.Digest)
		}
		if want := min(time.Minute, max(test.r.Timeout, time.Second)); test.r.Timeout > 0 && command.Limits.Timeout != want {
			t.Errorf("timeout %s, want %s", command.Limits.Timeout, want)
		}
	}
}

func TestRunCodeRefused(t *testing.T) {
	driver := &recorder{}
	x := newExecutor(t, driver, nil)
	for _, test := range []struct {
		r       run.CodeRequest
		code    run.Code
		message string
	}{
		{run.CodeRequest{Language: "perl", Code: "1"}, run.InvalidParam, `"perl" is no language that is run; write one of bash, python, node, typescript`},
		{run.CodeRequest{Language: "bash", Code: " \n"}, run.InvalidParam, "the code is empty; write what is to be run"},
		{run.CodeRequest{Language: "bash", Code: strings.Repeat("x", (1<<20)+1)}, run.InvalidParam, "the code is 1048577 bytes long, more than the 1048576 that are run; put data into files of the workspace"},
		{run.CodeRequest{Language: "bash", Code: "a\x00b"}, run.InvalidParam, "the code contains a NUL character; write it as an escape"},
		{run.CodeRequest{Language: "bash", Code: "a", Args: []string{"", "a\x00"}}, run.InvalidParam, `"args[1]" contains a NUL character, which no program can be passed; leave it out`},
		{run.CodeRequest{Language: "bash", Code: "a", Skill: demo(t, "disable-model-invocation: true")}, run.PermissionDenied, "skill demo may be called by a person only; tell them what you would call it for"},
		{run.CodeRequest{Language: "bash", Code: "a", Call: run.Call{Session: "box"}}, run.NotFound, `there is no sandbox "box" of yours: it was never opened, or has ended; open one with open_sandbox`},
		{run.CodeRequest{Language: "bash", Code: "a", Call: run.Call{Timeout: -1}}, run.InvalidParam, "a timeout of -1ns has passed before it began; give one above 0"},
	} {
		_, err := x.RunCode(t.Context(), test.r)
		wantError(t, err, test.code, test.message)
	}
	if len(driver.commands) > 0 {
		t.Errorf("it ran: %+v", driver.commands)
	}
}

// Code with a grant of variables gets none where other calls would find them, and in a
// sandbox of its own they are there alone.
func TestRunCodeVariables(t *testing.T) {
	driver := &keeper{}
	decider := policy.New(&policy.Options{Rules: []policy.Rule{{Pattern: "demo", Env: []string{"KEY"}}}, Approver: confirmer(yes)})
	x := executorOf(t, driver, decider, &run.Options{Variables: run.Environ{"KEY=hush", "OTHER=no"}})
	skill, other := demo(t, "description: A text."), demo(t, "description: Another text.")
	other.Name = "other"
	kept, err := x.OpenSession(t.Context(), run.OpenRequest{Skill: skill})
	if err != nil {
		t.Fatal(err)
	}
	code := run.CodeRequest{Language: "bash", Code: "env", Skill: skill}
	code.Session = kept.ID
	_, err = x.RunCode(t.Context(), code)
	wantError(t, err, run.InvalidParam, "skill demo is granted more than a kept sandbox is; leave out container_id")
	for _, test := range []struct {
		skill *skills.Skill
		given bool
	}{{skill, true}, {other, false}, {nil, false}} {
		if _, err := x.RunCode(t.Context(), run.CodeRequest{Language: "bash", Code: "env", Skill: test.skill}); err != nil {
			t.Fatal(err)
		}
		env := driver.commands[len(driver.commands)-1].Env
		if slices.Contains(env, "KEY=hush") != test.given || slices.Contains(env, "OTHER=no") {
			t.Errorf("skill %v: %q", test.skill, env)
		}
		if strings.Contains(strings.Join(env, " "), "SKILL_PARAMS") {
			t.Errorf("the code is in its own environment: %q", env)
		}
	}
}
