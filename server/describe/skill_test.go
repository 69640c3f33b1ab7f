package describe

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/server/feedback"
	"github.com/skillsmcp/skills-mcp/skills"
)

// office is a plugin with a skill that declares what it can, a command, an agent, hooks and
// servers, beside a skill of instructions.
func office() map[string]string {
	return map[string]string{
		"office/.claude-plugin/plugin.json": `{"name": "office", "version": "1.2.0", "description": "For the office", "author": {"name": "Ann"},
			"mcpServers": {"docs": {"url": "https://docs.example/mcp"}}, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}`,
		"office/skills/report/SKILL.md": `---
name: report
description: Formats reports.
when_to_use: When a report is asked for.
script: run.py
params: {text: {type: string, required: true, description: The text.}}
class: mutating
sandbox: {network: ["api.example.com:443"], env: [TOKEN], warm: 2}
timeout_seconds: 30
asks: person
metadata: {requires: {bins: [jq]}}
resources: [{uri: "notes://today", file: notes.txt}]
---
# Reports
`,
		"office/skills/report/run.py":           "import argparse\np = argparse.ArgumentParser()\np.add_argument('--title')\np.parse_args()\n",
		"office/skills/report/requirements.txt": "requests>=2\n",
		"office/skills/report/notes.txt":        "today\n",
		"office/skills/report/.git/config":      "x\n",
		"office/commands/tidy.md":               "---\ndescription: Tidies up.\n---\nTidy $ARGUMENTS\n",
		"office/agents/clerk.md":                "---\nname: clerk\ndescription: Files papers.\ntools: Read, Grep\nmodel: small\n---\nYou file papers.\n",
		"style/SKILL.md":                        "---\nname: style\ndescription: How to write.\ndisable-model-invocation: true\n---\n# Style\n",
	}
}

// A skill in full, as JSON: what it declares, its files, its problems.
func TestSkill(t *testing.T) {
	v := viewOf(t, office())
	v.Plan = func(context.Context, *skills.Skill) *Plan { return &Plan{Driver: "auto"} }
	v.Installed = func(context.Context, *skills.Skill) *Installed { return &Installed{Source: "a/b"} }
	v.Feedback = func(context.Context, *skills.Skill) *feedback.Summary { return &feedback.Summary{} }
	got, err := v.Skill(t.Context(), lookup(t, v, "office/report"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Digest == "" || !strings.HasPrefix(got.Digest, "sha256:") {
		t.Errorf("digest %q", got.Digest)
	}
	var problems []string
	for _, p := range got.Problems {
		problems = append(problems, p.Message)
	}
	for _, want := range []string{"the script run.py does not take --text, which params declare"} {
		if !slices.Contains(problems, want) {
			t.Errorf("no %q in %q", want, problems)
		}
	}
	encoded, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(encoded, &fields); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"name": "office/report", "source": "user", "class": "mutating", "kind": "executable", "state": "needs approval", "description": "Formats reports.",
		"when_to_use": "When a report is asked for.", "plugin": "office", "uri": "skill://office/report/SKILL.md", "body": "# Reports",
		"script": "run.py", "interpreter": []any{"python3"}, "network": []any{"api.example.com:443"}, "env": []any{"TOKEN"}, "warm": 2.0, "timeout_seconds": 30.0,
		"asks": []any{"person"}, "requires": map[string]any{"bins": []any{"jq"}}, "files": []any{"SKILL.md", "notes.txt", "requirements.txt", "run.py"},
		"resources": []any{map[string]any{"uri": "notes://today", "file": "notes.txt"}}, "prompt": "office__report",
		"unlisted": `skill office/report does not conform to the Skills extension: "requires" in metadata is not text`,
		"tool":     nil, "of": nil, "blocked": nil, "workspace": nil,
	} {
		if diff := cmp.Diff(want, fields[key]); key != "tool" && diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	if got.Call.Driver != "auto" || got.Installed.Source != "a/b" || got.Feedback == nil || len(got.Dependencies) != 1 || got.Dependencies[0].Packages[0] != "requests>=2" {
		t.Errorf("%+v", got)
	}
}

// A model gets no instructions that only a person may follow, and texts within bounds.
func TestSkillForModel(t *testing.T) {
	contents := office()
	contents["long/SKILL.md"] = "---\nname: long\ndescription: d\n---\n" + strings.Repeat("word ", 20_000)
	for n := range maxFiles + 10 {
		contents["long/data/"+strings.Repeat("x", n%50)+string(rune('a'+n%26))+strings.Repeat("y", n/50)] = "x"
	}
	v := viewOf(t, contents)
	style, long := lookup(t, v, "style"), lookup(t, v, "long")
	for _, forModel := range []bool{false, true} {
		v.ForModel = forModel
		hidden, err := v.Skill(t.Context(), style)
		if err != nil || (hidden.Body == "") != forModel {
			t.Errorf("for a model %v: body %q, %v", forModel, hidden.Body, err)
		}
		cut, err := v.Skill(t.Context(), long)
		if err != nil || (len(cut.Body) <= maxBody) != forModel || (len(cut.Files) <= maxFiles) != forModel {
			t.Errorf("for a model %v: %d bytes, %d files, %v", forModel, len(cut.Body), len(cut.Files), err)
		}
	}
}

// A reader on another machine is not told where files are on this one.
func TestSkillElsewhere(t *testing.T) {
	v := viewOf(t, office())
	v.Remote, v.Plan = true, func(context.Context, *skills.Skill) *Plan {
		return &Plan{Mounts: []Mount{{Path: "/skill", From: "a snapshot of /home/ann/report", Access: "read-only"}}}
	}
	skill := lookup(t, v, "office/report")
	skill.File, skill.Problems = "/home/ann/"+skill.File, []skills.Problem{{Path: "/home/ann/report/run.py", Message: "odd"}}
	got, err := v.Skill(t.Context(), skill)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(got)
	if text := string(encoded); err != nil || strings.Contains(text, "ann") || !strings.Contains(text, `"file":"report/SKILL.md"`) || !strings.Contains(text, `"path":"report/run.py"`) {
		t.Errorf("%s, %v", encoded, err)
	}
}

// A skill whose texts may not be passed on has no description in full, and one that is
// blocked or shadowed says so.
func TestSkillWithheld(t *testing.T) {
	v := viewOf(t, office())
	skill := lookup(t, v, "style")
	refusal := errors.New("it has changed")
	v.Texts = func(context.Context, *skills.Skill) error { return refusal }
	if got, err := v.Skill(t.Context(), skill); got != nil || !errors.Is(err, refusal) {
		t.Errorf("%v, %v", got, err)
	}
	v.Texts = nil
	v.Shadowed = []skills.Shadow{{Skill: skill, By: &skills.Skill{File: "/other/SKILL.md"}}}
	if got, err := v.Skill(t.Context(), skill); err != nil || got.State != "shadowed by /other/SKILL.md" {
		t.Errorf("%+v, %v", got, err)
	}
	v.Shadowed = nil
	v.State = func(*skills.Skill) string { return "refused" }
	if got := v.Listed(skill); got.State != "refused" {
		t.Errorf("%+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := v.Skill(ctx, skill); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A plugin has its parts, counted.
func TestPlugins(t *testing.T) {
	v := viewOf(t, office())
	want := []Plugin{{
		Name: "office", Version: "1.2.0", Description: "For the office", Author: "Ann", Source: skills.SourceUser, Skills: []string{"office/report", "office/tidy"},
		Counts:  Counts{Skills: 1, Commands: 1, Agents: 1, Servers: 1, Hooks: 1},
		Agents:  []Agent{{"clerk", "Files papers.", "small", []string{"Read", "Grep"}}},
		Servers: []skills.MCPServer{{Name: "docs", Transport: "http", URL: "https://docs.example/mcp", Address: "https://docs.example/mcp"}},
		Hooks:   []skills.Hook{{ID: "stop-00d71c", Event: "Stop", Type: "command", Runs: "beep"}},
	}}
	got := Plugins(v.Catalog)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if agents := Agents(v.Catalog); len(agents) != 1 || agents[0].Name != "office/clerk" {
		t.Errorf("%+v", agents)
	}
	long := got[0]
	long.Skills, long.Description = make([]string, 500), strings.Repeat("d", 1000)
	if short := long.Short(); len(short.Skills) != maxNames || len(short.Description) > maxText {
		t.Errorf("%d skills, %d bytes", len(short.Skills), len(short.Description))
	}
}

// Packages that cannot be installed are a problem of the file that names them.
func TestDependencies(t *testing.T) {
	contents := office()
	contents["office/skills/report/requirements.txt"] = "requests\nhttps://example.com/x.whl\n"
	v := viewOf(t, contents)
	found, problem := Dependencies(lookup(t, v, "office/report"))
	if found != nil || problem == nil || problem.Line != 2 || !strings.HasSuffix(problem.Path, "report/requirements.txt") {
		t.Errorf("%v, %v", found, problem)
	}
	if found, problem := Dependencies(lookup(t, v, "style")); found != nil || problem != nil {
		t.Errorf("%v, %v", found, problem)
	}
}

// TestFolder tells where a skill lies, and when its manifest changed.
func TestFolder(t *testing.T) {
	changed := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for _, dir := range []string{"/home/me/skills/a", ""} {
		skill := &skills.Skill{Name: "a", File: "/home/me/skills/a/Skill.md", Dir: dir, Files: fstest.MapFS{"Skill.md": {ModTime: changed}, "z": {}}}
		got := &Skill{}
		if err := (&View{}).content(t.Context(), skill, got); err != nil || got.Path != dir || !got.Modified.Equal(changed) {
			t.Errorf("path %q, mtime %v, %v", got.Path, got.Modified, err)
		}
	}
}
