package run_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
)

func TestPlan(t *testing.T) {
	for name, test := range map[string]struct {
		fields string
		argv   string
		grant  sandbox.Grant
		env    string // names
		role   string
		after  time.Duration
		err    string // a part of it
	}{
		"parameters in their order": {
			fields: "script: run.sh\nparams: {b: string, a: {type: integer, required: true}}\ntimeout_seconds: 5",
			argv:   "bash run.sh --b <b> --a <a>", grant: sandbox.Grant{Workspaces: []string{"/work"}},
			env: "SKILL_NAME SKILL_RUN_ID SKILL_WORKSPACE SKILL_PARAMS", after: 5 * time.Second,
		},
		"what may change things": {
			fields: "script: run.sh\nclass: mutating\nsandbox_image_role: node\nsandbox: {network: [api.example.com]}",
			argv:   "bash run.sh", grant: sandbox.Grant{Workspaces: []string{"/work"}, Write: true, Hosts: []string{"api.example.com"}},
			env: "SKILL_NAME SKILL_RUN_ID SKILL_WORKSPACE SKILL_PARAMS", role: "node", after: time.Minute,
		},
		"a script of parameters": {
			fields: "script: '{kind}.py'\nparams: {x: string}",
			argv:   "<interpreter> <kind>.py --x <x>", grant: sandbox.Grant{Workspaces: []string{"/work"}},
			env: "SKILL_NAME SKILL_RUN_ID SKILL_WORKSPACE SKILL_PARAMS", after: time.Minute,
		},
		"a private address": {
			fields: "script: run.sh\nclass: mutating\nsandbox: {network: [10.1.2.3]}",
			argv:   "bash run.sh", env: "SKILL_NAME SKILL_RUN_ID SKILL_PARAMS", after: time.Minute, // and no workspace: nothing is granted
			err: "connects to 10.1.2.3, which is not public and not granted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			driver := &recorder{}
			x := newExecutor(t, driver, &run.Options{Workspaces: []string{"/work"}, MaxTimeout: time.Minute}, rules(t, "api.example.com")...)
			command, _, err := x.Plan(t.Context(), demo(t, test.fields), nil)
			if test.err == "" && err != nil || test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)) {
				t.Errorf("error %v, want %q", err, test.err)
			}
			var names []string
			for _, variable := range command.Env {
				name, _, _ := strings.Cut(variable, "=")
				names = append(names, name)
			}
			if got := strings.Join(command.Argv, " "); got != test.argv {
				t.Errorf("argv %q, want %q", got, test.argv)
			}
			if got := strings.Join(names, " "); got != test.env {
				t.Errorf("environment %q, want %q", got, test.env)
			}
			if diff := cmp.Diff(test.grant, command.Grant); diff != "" {
				t.Error(diff)
			}
			if command.Role != test.role || command.Limits.Timeout != test.after {
				t.Errorf("role %q, timeout %s", command.Role, command.Limits.Timeout)
			}
			if len(driver.commands) > 0 {
				t.Error("it was run")
			}
		})
	}
}

func TestPlanOfWhatCannotRun(t *testing.T) {
	x := newExecutor(t, &recorder{}, nil)
	var e *run.Error
	if command, _, err := x.Plan(t.Context(), demo(t, ""), nil); command != nil || !errors.As(err, &e) || e.Code != run.InvalidParam {
		t.Errorf("instructions: %v, %v", command, err)
	}
	if command, _, err := x.Plan(t.Context(), demo(t, "script: gone.sh"), nil); command == nil || !errors.As(err, &e) || e.Code != run.Unavailable {
		t.Errorf("without its script: %v, %v", command, err)
	}
}

// The plan of a call is what the call runs, but for its values.
func TestPlanIsWhatRuns(t *testing.T) {
	driver := &recorder{}
	x := newExecutor(t, driver, &run.Options{Workspaces: []string{"/work"}})
	skill := demo(t, "script: run.sh\nclass: mutating\nparams: {text: string}")
	plan, _, err := x.Plan(t.Context(), skill, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Run(t.Context(), run.Request{Skill: skill, Call: person(), Args: map[string]any{"text": "<text>"}}); err != nil {
		t.Fatal(err)
	}
	ran := driver.commands[0]
	if diff := cmp.Diff(plan.Argv, ran.Argv); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(plan.Grant, ran.Grant); diff != "" {
		t.Error(diff)
	}
	for i, variable := range ran.Env {
		if want := strings.Replace(plan.Env[i], "<run>", ran.RunID, 1); variable != want {
			t.Errorf("%s, want %s", variable, want)
		}
	}
}
