package run_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// kinds are skills of every way to be called.
func kinds(t *testing.T) *skills.Catalog {
	t.Helper()
	fsys := fstest.MapFS{}
	add := func(name, content string) { fsys[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o755} }
	add("rules/SKILL.md", "---\nname: rules\ndescription: d\nclass: mutating\n---\nKeep them.")
	add("disk/skill.json", `{"name": "disk", "description": "d", "entry": "run", "env_allow": ["TOKEN", "OTHER"], "schema": {"properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false}}`)
	add("disk/run", "#!/usr/bin/env python3\n")
	add("bin/skill.json", `{"name": "bin", "description": "d", "entry": "run"}`)
	add("bin/run", "\x7fELF\x00")
	add("linx/SKILL.md", "---\nname: linx\ndescription: d\nskill_type: langchain_tool\nexecution_timeout: 7\nentry_points: {one: run.sh}\n---\nRead.\n")
	add("linx/run.sh", "exec cat \"$@\"")
	add("linx/calc.py", "def add(a, b): return a + b\n")
	add("linx/tools.yaml", "tools: [{name: add, script: calc.py, function: add, params: {a: integer, b: integer}}]")
	catalog, err := scan.Scan(t.Context(), []scan.Root{{FS: fsys, Label: "root"}}, nil)
	if err != nil || len(catalog.Problems) > 0 {
		t.Fatalf("scan: %v, %v", catalog.Problems, err)
	}
	return catalog
}

func lookup(t *testing.T, catalog *skills.Catalog, name string) *skills.Skill {
	t.Helper()
	skill, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return skill
}

// printing is a driver whose commands print text and end well.
func printing(text string, stdin *string) *recorder {
	return &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		if cmd.Stdin != nil {
			data, err := io.ReadAll(cmd.Stdin)
			if err != nil {
				return nil, err
			}
			*stdin = string(data)
		}
		_, err := io.WriteString(cmd.Stdout, text)
		return &sandbox.Exit{Sandbox: "recorder"}, err
	}}
}

func TestKinds(t *testing.T) {
	catalog := kinds(t)
	options := &run.Options{Workspaces: []string{"/work"}, Variables: run.Environ{"TOKEN=secret", "UNASKED=x"}}
	for _, test := range []struct {
		skill, args       string
		argv, stdin, want string // want are the variables
		timeout           time.Duration
	}{
		{"disk", `{"path": "/x"}`, "python3 run", `{"path":"/x"}`, "TOKEN=secret", 30 * time.Second},
		{"bin", `{}`, "./run", `{}`, "", 30 * time.Second},
		{"linx__one", `{"args": ["a b", "-c"], "stdin": "in"}`, "bash run.sh a b -c", "in",
			"SKILL_NAME=linx__one SKILL_RUN_ID=ID SKILL_WORKSPACE=/work SKILL_PARAMS={\"args\":[\"a b\",\"-c\"],\"stdin\":\"in\"} LINX_AGENT_ID= LINX_USER_ID=bob LINX_SESSION_ID=dfe05bcb-0110-8e38-936f-a9c1efe6dafa LINX_PERMISSIONS=[\"workspace:read\"]", 7 * time.Second},
		{"linx__add", `{"b": 2, "a": 3.0}`, "python3 -c … calc.py add", `{"a":3,"b":2}`,
			"SKILL_NAME=linx__add SKILL_RUN_ID=ID SKILL_WORKSPACE=/work SKILL_PARAMS={\"a\":3.0,\"b\":2} LINX_AGENT_ID= LINX_USER_ID=bob LINX_SESSION_ID=dfe05bcb-0110-8e38-936f-a9c1efe6dafa LINX_PERMISSIONS=[\"workspace:read\"]", 7 * time.Second},
	} {
		t.Run(test.skill, func(t *testing.T) {
			var stdin string
			driver := printing("{}", &stdin)
			outcome, err := newExecutor(t, driver, options).Run(t.Context(), run.Request{Skill: lookup(t, catalog, test.skill), Args: decode(t, test.args), Call: by("bob")})
			if err != nil {
				t.Fatal(err)
			}
			c := driver.commands[0]
			argv := strings.Join(c.Argv, " ")
			if len(c.Argv) > 2 && c.Argv[1] == "-c" {
				argv = strings.Replace(argv, c.Argv[2], "…", 1)
			}
			env := strings.Replace(strings.Join(c.Env, " "), outcome.RunID, "ID", 1)
			if diff := cmp.Diff([]any{test.argv, test.stdin, test.want, test.timeout}, []any{argv, stdin, env, c.Limits.Timeout}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKindsRefused(t *testing.T) {
	catalog := kinds(t)
	for _, test := range []struct{ skill, args, want string }{
		{"disk", `{}`, `missing required parameter "path"`},
		{"disk", `{"path": 1}`, `"path" must be a string, not a number`},
		{"disk", `{"path": "/", "x": 1}`, `there is no parameter "x"`},
		{"linx", `{}`, `skill linx has nothing to run: it gives instructions; its tools are linx__one, linx__add`},
		{"rules", `{}`, `skill rules has nothing to run: it gives instructions`},
		{"linx__one", `{"x": 1}`, `there is no parameter "x"`},
		{"linx__one", `{"args": ["\u0000"]}`, `"args[0]" contains a NUL character, which no program can be passed; leave it out`},
		{"linx__add", `{"a": "1"}`, `"a" must be an integer, not a string`},
	} {
		driver := &recorder{}
		_, err := newExecutor(t, driver, nil).Run(t.Context(), run.Request{Skill: lookup(t, catalog, test.skill), Args: decode(t, test.args)})
		var e *run.Error
		if !errors.As(err, &e) || e.Code != run.InvalidParam || e.Message != test.want || len(driver.commands) > 0 {
			t.Errorf("%s %s: %v", test.skill, test.args, err)
		}
	}
}

// A sandbox that is kept for a skill is there for its tools, and the other way
// round.
func TestKeptForTools(t *testing.T) {
	catalog := kinds(t)
	for _, opened := range []string{"linx", "linx__one"} {
		x := newExecutor(t, &keeper{}, nil)
		kept, err := x.OpenSession(t.Context(), run.OpenRequest{Skill: lookup(t, catalog, opened), Call: by("ann")})
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range []string{"linx__one", "linx__add"} {
			if _, err := x.Run(t.Context(), run.Request{Skill: lookup(t, catalog, tool), Call: in("ann", kept.ID)}); err != nil {
				t.Errorf("opened for %s, run %s: %v", opened, tool, err)
			}
		}
		_, err = x.Run(t.Context(), run.Request{Skill: lookup(t, catalog, "bin"), Call: in("ann", kept.ID)})
		wantError(t, err, run.InvalidParam, "sandbox "+kept.ID+" was not opened for skill bin, so its folder is not in it; open one with open_sandbox and this skill, or leave out container_id")
	}
}
