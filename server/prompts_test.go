package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// promptLibrary are skills of every kind, as prompts.
func promptLibrary(b *bench) {
	for name, text := range map[string]string{
		"p/commands/db/fix.md":        "---\ndescription: \"Mends \\e[31mthe\\n  database.\"\nargument-hint: \"[table]\"\n---\nMend $ARGUMENTS.\n",
		"p/skills/named/SKILL.md":     "---\nname: named\ndescription: Has named arguments.\narguments: [first, second]\n---\n1: $first, 2: $second.\n",
		"p/skills/filed/SKILL.md":     "---\nname: filed\ndescription: Has files.\n---\nRead notes.md.\n",
		"p/skills/filed/notes.md":     "notes",
		"p/skills/hidden/SKILL.md":    "---\nname: hidden\ndescription: For models.\nuser-invocable: false\n---\nHidden.\n",
		"p/skills/use_skill/SKILL.md": "---\nname: use_skill\ndescription: Has the name of a prompt in its plugin.\n---\nText.\n",
		"p/skills/typed/SKILL.md": "---\nname: typed\ndescription: Has parameters.\nscript: run.sh\nparams:\n" +
			"  mode: {type: string, enum: [fast, slow], required: true}\n  deep: {type: boolean}\n  n: {type: integer}\n  tags: {type: array, items: string}\n---\n",
		"p/skills/typed/run.sh":       "echo",
		"p/skills/loose/SKILL.md":     "---\nname: loose\ndescription: Takes any words.\n---\nText.\n",
		"p/skills/loose/scripts/a.sh": "#!/bin/sh\neval \"$1\"\n",
	} {
		b.files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	b.publish()
}

// argvDriver ends well and prints the command line.
func argvDriver() *script {
	return &script{func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		fmt.Fprint(cmd.Stdout, strings.Join(cmd.Argv, " "))
		return &sandbox.Exit{Sandbox: "script"}, nil
	}}
}

func TestPrompts(t *testing.T) {
	b := newBench(t, argvDriver())
	promptLibrary(b)
	var all strings.Builder
	all.WriteString(indent(t, b.ask("prompts/list", "{}")))
	for _, get := range []string{
		`{"name": "demo__guide", "arguments": {"arguments": "this"}}`,
		`{"name": "demo__guide"}`,
		`{"name": "demo__guide", "arguments": {"other": "x"}}`,
		`{"name": "demo__db_fix", "arguments": {"arguments": "users"}}`,
		`{"name": "demo__named", "arguments": {"second": "it's \"two\" words"}}`,
		`{"name": "demo__named", "arguments": {"first": "a", "second": ""}}`,
		`{"name": "demo__private"}`,
		`{"name": "demo__write"}`,
		`{"name": "demo__hidden"}`,
		`{"name": "demo__gone"}`,
		`{"name": "demo__typed"}`,
		`{"name": "demo__typed", "arguments": {"mode": "fast", "deep": "true", "n": "3", "tags": "one", "unknown": ""}}`,
		`{"name": "demo__typed", "arguments": {"mode": "fast", "deep": "true", "n": "3", "tags": "[\"one\", \"two\"]"}}`,
		`{"name": "demo__typed", "arguments": {"mode": "neither", "deep": "maybe"}}`,
		`{"name": "demo__loose__a", "arguments": {"args": "-n 'a b'"}}`,
		`{"name": "use_skill", "arguments": {"name": "run", "arguments": "x y"}}`,
		`{"name": "use_skill", "arguments": {"name": "demo/typed", "arguments": "{\"mode\": \"slow\", \"n\": 9007199254740993}"}}`,
		`{"name": "use_skill", "arguments": {"name": "demo/typed", "arguments": "slow"}}`,
		`{"name": "use_skill", "arguments": {"name": "demo/typed", "arguments": "{\"mode\": \"slow\"} {\"n\": 1}"}}`,
		`{"name": "use_skill", "arguments": {"name": "demo/guide", "arguments": "that"}}`,
		`{"name": "use_skill", "arguments": {"name": "hidden"}}`,
		`{"name": "use_skill", "arguments": {"name": "gone"}}`,
		`{"name": "use_skill", "arguments": {"name": "guid"}}`,
		`{"name": "use_skill"}`,
	} {
		fmt.Fprintf(&all, "== %s\n%s\n", get, b.ask("prompts/get", get))
	}
	golden(t, "prompts.txt", all.String())
}

// Instructions say where their files are, where there are any.
func TestPromptPlace(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	promptLibrary(b)
	got := b.ask("prompts/get", `{"name": "demo__filed"}`)
	if !strings.Contains(got, `"text":"Base directory for this skill: /`) || !strings.Contains(got, `\n\nRead notes.md."`) {
		t.Error(got)
	}
}

func TestPromptErrors(t *testing.T) {
	for _, test := range []struct {
		name, arguments string
		driver          *script
		code            int
		message         string
	}{
		{"demo__run", `{}`, ends(0, "", ""), mcp.INVALID_PARAMS, `INVALID_PARAM: missing required parameter "target"`},
		{"demo__run", `{"target": "x"}`, ends(3, "some", "it broke"), mcp.INTERNAL_ERROR, "EXECUTION_ERROR: skill demo/run failed with exit code 3; its error output says why\nstderr:\nit broke\nstdout:\nsome"},
		{"demo__write", `{}`, ends(0, "", ""), mcp.INTERNAL_ERROR, "APPROVAL_REQUIRED: skill demo/write is mutating, so only a person can start it, on a terminal of their own; tell them which arguments to give it, and do not try again"},
		{"use_skill", `{"name": "nothing at all"}`, ends(0, "", ""), mcp.INVALID_PARAMS, `NOT_FOUND: there is no skill "nothing at all" (list_skills and search_skills name those there are)`},
	} {
		b := newBench(t, test.driver)
		var in mcp.GetPromptRequest
		in.Params.Name = test.name
		if err := json.Unmarshal([]byte(test.arguments), &in.Params.Arguments); err != nil {
			t.Fatal(err)
		}
		forwardPrompt(t.Context(), nil, &in)
		_, err := b.prompts.get(t.Context(), in)
		var failed *rpc.Error
		if !errors.As(err, &failed) || failed.Code != test.code || failed.Message != test.message {
			t.Errorf("%s %s: %#v", test.name, test.arguments, err)
		}
	}
}

// However many skills there are, a page is one that a client can show, and all can
// be had.
func TestPromptsAreBounded(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	for i := range 1000 {
		b.files[fmt.Sprintf("p/skills/s%03d/SKILL.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: s%03d\ndescription: %s\n---\nText %d.\n", i, strings.Repeat("Long. ", 100), i)}
	}
	b.files["p/commands/mine.md"] = &fstest.MapFile{Data: []byte("Do it.")}
	b.publish()
	seen := map[string]int{}
	cursor, pages := "", 0
	for ; pages == 0 || cursor != ""; pages++ {
		list := b.ask("prompts/list", fmt.Sprintf(`{"cursor": %q}`, cursor))
		var page mcp.ListPromptsResult
		if err := json.Unmarshal([]byte(list), &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Prompts) > maxPage || len(list) > maxPageSize+4<<10 || len(page.Prompts) == 0 {
			t.Errorf("a page of %d prompts and %d bytes", len(page.Prompts), len(list))
		}
		for _, p := range page.Prompts {
			seen[p.Name]++
		}
		cursor = string(page.NextCursor)
		if pages > 0 {
			continue
		}
		for _, name := range []string{"demo__mine", "demo__private", anyPrompt} {
			if seen[name] != 1 {
				t.Errorf("the first page has no %s", name)
			}
		}
	}
	if len(seen) != 1000+6 || seen["demo__s999"] != 1 {
		t.Errorf("%d pages with %d prompts", pages, len(seen))
	}
	for _, cursor := range []string{"no cursor", "MA==", "OTk5OTk=", "eA=="} {
		if got := b.ask("prompts/list", fmt.Sprintf(`{"cursor": %q}`, cursor)); strings.Contains(got, "demo__") {
			t.Errorf("%s: %s", cursor, got)
		}
	}
	if got := b.ask("prompts/get", `{"name": "use_skill", "arguments": {"name": "s999"}}`); !strings.Contains(got, "Text 999.") {
		t.Error(got)
	}
}

func TestPromptNotices(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	c := b.connect()
	guide := "---\nname: guide\ndescription: Tells how to do a thing.\n%s---\nFirst $ARGUMENTS, then rest.\n"
	for _, step := range []struct {
		front string
		want  int
	}{{"", 0}, {"argument-hint: x\n", 1}, {"argument-hint: x\n", 0}, {"argument-hint: y\n", 1}} {
		b.files["p/skills/guide/SKILL.md"] = &fstest.MapFile{Data: fmt.Appendf(nil, guide, step.front)}
		b.publish()
		got := c.notices()
		if len(got) != step.want || step.want == 1 && got[0] != "notifications/prompts/list_changed" {
			t.Errorf("%q: %v", step.front, got)
		}
	}
}

// A prompt that is gone is not found.
func TestPromptGone(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	delete(b.files, "p/skills/guide/SKILL.md")
	b.publish()
	if got := b.ask("prompts/get", `{"name": "demo__guide"}`); !strings.Contains(got, `there is no prompt`) {
		t.Error(got)
	}
	if got := b.ask("prompts/list", "{}"); strings.Contains(got, "demo__guide") {
		t.Error(got)
	}
}

// A person can give arguments to instructions that have no place for them: they are
// appended, as they are where a model loads the skill.
func TestPromptArgumentsAreAppended(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	b.files["p/skills/plain/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: plain\ndescription: d\n---\nDo it.\n")}
	b.files["p/skills/named/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: named\ndescription: d\narguments: [topic]\n---\nDo it.\n")}
	b.publish()
	for name, argument := range map[string]string{"demo__plain": "arguments", "demo__named": "topic"} {
		if list := b.ask("prompts/list", `{}`); !strings.Contains(list, fmt.Sprintf(`"name":%q,"title":%q,"description":"d","arguments":[{"name":%q`, name, map[string]string{"topic": "Named", "arguments": "Plain"}[argument], argument)) {
			t.Errorf("%s is not listed with %s: %s", name, argument, list)
		}
		if got := b.ask("prompts/get", fmt.Sprintf(`{"name": %q, "arguments": {%q: "bees"}}`, name, argument)); !strings.Contains(got, `Do it.\n\nARGUMENTS: bees`) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestCommandTool passes the words of an OpenClaw command on: to the skill's own script, or
// through the model to the tool that it names, its shell commands to run_code.
func TestCommandTool(t *testing.T) {
	for _, runCode := range []bool{false, true} {
		b := newBenchWith(t, argvDriver(), Options{RunCode: runCode})
		for name, text := range map[string]string{
			"p/skills/term/SKILL.md":         "---\nname: term\ndescription: Runs commands.\ncommand-dispatch: tool\ncommand-tool: exec\n---\nNothing else.\n",
			"p/skills/scan/SKILL.md":         "---\nname: scan\ndescription: Scans.\ncommand-dispatch: tool\ncommand-tool: ocr_sync\n---\nText.\n",
			"p/skills/other/SKILL.md":        "---\nname: other\ndescription: Names no tool.\ncommand-dispatch: tool\n---\nText.\n",
			"p/skills/own/SKILL.md":          "---\nname: own\ndescription: Has one.\ncommand-dispatch: tool\ncommand-tool: count\n---\nText.\n",
			"p/skills/own/scripts/count.sh":  "#!/bin/sh\neval \"$1\"\n",
			"p/skills/own/scripts/others.sh": "#!/bin/sh\neval \"$1\"\n",
		} {
			b.files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		b.publish()
		term := `Call the tool "exec" with just these arguments, and answer with its result: {"command":"ls && pwd","commandName":"term","skillName":"term"}`
		if runCode {
			term = `Call the tool "run_code" with just these arguments, and answer with its result: {"code":"ls && pwd","language":"bash","skill":"demo/term"}`
		}
		for name, want := range map[string]string{
			"demo__term":  term + "\n\nNothing else.\n",
			"demo__scan":  `Call the tool "ocr_sync" with just these arguments, and answer with its result: {"command":"ls && pwd","commandName":"scan","skillName":"scan"}`,
			"demo__other": "Text.\n\nARGUMENTS: ls && pwd",
			"demo__own":   "bash scripts/count.sh ls && pwd",
		} {
			answer := b.ask("prompts/get", `{"name": "`+name+`", "arguments": {"arguments": "ls && pwd"}}`)
			var got struct {
				Messages []struct{ Content struct{ Text string } }
			}
			if err := json.Unmarshal([]byte(answer), &got); err != nil || len(got.Messages) == 0 || !strings.HasPrefix(got.Messages[0].Content.Text, want) {
				t.Errorf("%s: %s, want %s", name, answer, want)
			}
		}
	}
}
