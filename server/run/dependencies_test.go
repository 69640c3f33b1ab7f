package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// declaring returns a skill with a script and a file beside it.
func declaring(t *testing.T, fields string, files ...string) *skills.Skill {
	t.Helper()
	fsys := fstest.MapFS{"demo/SKILL.md": {Data: []byte("---\nname: demo\ndescription: d\n" + fields + "\n---\n")}}
	for i := 0; i < len(files); i += 2 {
		fsys["demo/"+files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	catalog, err := scan.Scan(t.Context(), []scan.Root{{FS: fsys, Label: "root"}}, nil)
	if err != nil || len(catalog.Skills) != 1 {
		t.Fatalf("scan: %v, %v", catalog, err)
	}
	return catalog.Skills[0]
}

const inline = "# /// script\n# dependencies = ['requests']\n# ///\n"

func TestDependenciesInstalled(t *testing.T) {
	pattern := "script: scripts/{name}.py\nparams: {name: {type: string, required: true}}"
	for name, test := range map[string]struct {
		skill *skills.Skill
		args  map[string]any
		want  []string // kind, packages and files
	}{
		"none":         {declaring(t, "script: run.py", "run.py", "print()"), nil, nil},
		"inline":       {declaring(t, "script: run.py", "run.py", inline), nil, []string{"python requests requirements.txt"}},
		"placeholder":  {declaring(t, pattern, "scripts/a.py", inline, "scripts/b.py", ""), map[string]any{"name": "a"}, []string{"python requests requirements.txt"}},
		"of another":   {declaring(t, pattern, "scripts/a.py", inline, "scripts/b.py", ""), map[string]any{"name": "b"}, nil},
		"Windows ends": {declaring(t, "script: run.sh", "run.sh", "echo\r\necho\r\n", "package.json", `{"dependencies": {"a": "1"}}`, "package-lock.json", `{"lockfileVersion": 3, "packages": {}}`), nil, []string{"node a@1 package.json package-lock.json"}},
		"a shell": {declaring(t, "script: run.sh", "run.sh", "echo", "requirements.txt", "flask", "package.json", `{"dependencies": {"a": "1"}}`), nil,
			[]string{"python flask requirements.txt", "node a@1 package.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			driver := &recorder{}
			if _, err := newExecutor(t, driver, &run.Options{InstallDependencies: true}).Run(t.Context(), run.Request{Skill: test.skill, Args: test.args}); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range driver.commands[0].Dependencies {
				words := append([]string{d.Kind}, d.Packages...)
				for _, file := range d.Lock {
					words = append(words, file.Name)
				}
				got = append(got, strings.Join(words, " "))
				if d.Digest == "" {
					t.Error("no digest")
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDependenciesRefused(t *testing.T) {
	driver := &recorder{}
	skill := declaring(t, "script: run.py", "run.py", "", "requirements.txt", "-r other.txt")
	_, err := newExecutor(t, driver, &run.Options{InstallDependencies: true}).Run(t.Context(), run.Request{Skill: skill})
	var e *run.Error
	if !errors.As(err, &e) || e.Code != run.Unavailable || !strings.Contains(e.Message, `requirements.txt:1: "-r other.txt" is not taken`) || len(driver.commands) > 0 {
		t.Errorf("error %v, commands %v", err, driver.commands)
	}
}

// What is not installed is told when a script fails, and only then.
func TestHint(t *testing.T) {
	declares := declaring(t, "script: run.py", "run.py", inline)
	for name, test := range map[string]struct {
		skill   *skills.Skill
		code    int
		install bool
		want    string
	}{
		"failed":            {declares, 1, false, "it declares 1 Python package (requests): nothing of it is installed here"},
		"ended well":        {declares, 0, false, ""},
		"installed":         {declares, 1, true, ""},
		"declares none":     {declaring(t, "script: run.py", "run.py", ""), 1, false, ""},
		"cannot be read":    {declaring(t, "script: run.py", "run.py", "", "requirements.txt", "-e ."), 1, false, "it declares packages in requirements.txt: nothing of it"},
		"nothing to run it": {declaring(t, "script: run.sh", "run.sh", "exit 1", "requirements.txt", "a\nb"), 3, false, "it declares 2 Python packages (a, b)"},
	} {
		t.Run(name, func(t *testing.T) {
			driver := &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
				cmd.Started()
				return &sandbox.Exit{Code: test.code}, nil
			}}
			outcome, err := newExecutor(t, driver, &run.Options{InstallDependencies: test.install}).Run(t.Context(), run.Request{Skill: test.skill})
			if err != nil || !strings.HasPrefix(outcome.Hint, test.want) || (outcome.Hint == "") != (test.want == "") {
				t.Errorf("hint %q, want %q, error %v", outcome.Hint, test.want, err)
			}
			if outcome.Hint != "" && !strings.Contains(outcome.Hint, "sandbox.dependencies: build") {
				t.Errorf("hint %q has no remedy", outcome.Hint)
			}
		})
	}
}

// A script that asks, and ran out of time, may wait for the answer to a question
// that nobody got.
func TestUnheardHint(t *testing.T) {
	for fields, want := range map[string]string{"script: run.sh\nasks: [person]": "where it was about to ask: a question is one line, with a newline at its end, and has to be flushed", "script: run.sh": ""} {
		driver := &recorder{run: func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
			cmd.Started()
			return &sandbox.Exit{}, &sandbox.LimitError{Limit: sandbox.LimitTime, Value: "5s"}
		}}
		outcome, err := newExecutor(t, driver, nil).Run(t.Context(), run.Request{Skill: demo(t, fields)})
		if err == nil || outcome == nil || outcome.Hint != want {
			t.Errorf("%s: %+v, %v; want the hint %q", fields, outcome, err, want)
		}
	}
}
