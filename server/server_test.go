package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestToolsList(t *testing.T) {
	b := newBenchWith(t, ends(0, "", ""), Options{Feedback: newBook(t)})
	golden(t, "tools.json", indent(t, b.ask("tools/list", "{}")))
}

func TestInitialize(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	golden(t, "initialize.json", indent(t, b.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)))
	if len(instructions) >= 2<<10 {
		t.Errorf("the instructions are %d bytes long; clients cut them at 2 KB", len(instructions))
	}
}

// TestIdentity has a client learn title and icons once, as far as its revision knows them,
// and 2026-07-28 name and version in all other results.
func TestIdentity(t *testing.T) {
	const modern = `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`
	b := newBench(t, ends(0, "", ""))
	for _, test := range []struct {
		method, params string
		title, icons   bool
	}{
		{"initialize", `{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`, false, false},
		{"initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`, true, false},
		{"initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`, true, true},
		{"server/discover", modern, true, true},
		{"tools/list", modern, false, false},
		{"prompts/list", modern, false, false},
	} {
		answer := b.ask(test.method, test.params)
		title, icons := strings.Contains(answer, `"title":"Skills"`), strings.Contains(answer, `"icons":[`)
		if title != test.title || icons != test.icons || !strings.Contains(answer, `"name":"skills-mcp"`) {
			t.Errorf("%s %s: title %t, icons %t: %s", test.method, test.params, title, icons, answer)
		}
	}
}

// TestTitles wants a title for people beside each name.
func TestTitles(t *testing.T) {
	b := newBenchWith(t, ends(0, "", ""), Options{Feedback: newBook(t), RunCode: true, KeptSandboxes: true, MatchSkills: true})
	for _, list := range []string{"tools", "prompts", "resources", "resourceTemplates"} {
		var answer map[string]json.RawMessage
		var items []struct{ Name, Title string }
		method := strings.Replace(list, "resourceTemplates", "resources/templates", 1) + "/list"
		if err := json.Unmarshal([]byte(b.ask(method, "{}")), &answer); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(answer[list], &items); err != nil || len(items) == 0 {
			t.Fatalf("%s: %v", method, err)
		}
		for _, item := range items {
			if item.Title == "" || item.Title == item.Name {
				t.Errorf("%s: %s has the title %q", method, item.Name, item.Title)
			}
		}
	}
}

func TestFixedTools(t *testing.T) {
	b := newBenchWith(t, ends(0, "", ""), Options{Feedback: newBook(t)})
	var all strings.Builder
	for _, call := range []struct{ tool, args string }{
		{"list_skills", `{}`},
		{"list_skills", `{"source": "user"}`},
		{"list_skills", `{"source": "elsewhere"}`},
		{"get_skill", `{"name": "run"}`},
		{"get_skill", `{"name": "demo__guide"}`},
		{"get_skill", `{"name": "rum"}`},
		{"search_skills", `{"query": "thing", "limit": 1}`},
		{"search_skills", `{"query": "persons"}`},
		{"search_skills", `{"query": "  "}`},
		{"search_skills", `{"query": "thing", "limit": 1.5}`},
		{"list_plugins", `{}`},
		{"reload_skills", `{}`},
		{"rate_skill", `{"name": "nothing at all", "ok": true}`},
		{"rate_skill", `{"name": "run", "note": "fine"}`},
		{"rate_skill", `{"name": "run", "ok": false, "note": "` + strings.Repeat("x", 501) + `"}`},
		{"rate_skill", `{"name": "run", "ok": true, "by": "person"}`},
		{"rate_skill", `{"name": "run", "ok": true, "note": "fine"}`},
		{"load_skill", `{"name": "private"}`},
		{"load_skill", `{}`},
		{"run_skill", `{"name": "private"}`},
		{"run_skill", `{"name": "guide"}`},
		{"run_skill", `{"name": "write"}`},
		{"run_skill", `{"name": "gone"}`},
		{"run_skill", `{"name": "nothing at all"}`},
		{"run_skill", `{"name": "run", "params": {"target": "x"}, "timeout_seconds": 0}`},
		{"run_skill", `{"name": "run", "params": {"target": "x"}, "timeout_seconds": -1}`},
		{"run_skill", `{"name": "run", "params": {"target": "x"}, "timeout_seconds": "five"}`},
		{"demo__run", `{}`},
		{"demo__run", `{"target": 1, "count": 0}`},
	} {
		a := b.call(call.tool, call.args)
		fmt.Fprintf(&all, "== %s %s\nerror: %t\n%s%s\n", call.tool, call.args, a.IsError, indent(t, string(a.StructuredContent)), a.text())
	}
	golden(t, "fixed_tools.txt", all.String())
}

// Arguments of fixed tools are read as they are spelt, as a gateway reads them.
func TestArgumentsOfAnotherCase(t *testing.T) {
	b := newBench(t, ends(0, "it ran", ""))
	for args, refused := range map[string]bool{`{"name": "guide", "Args": "that"}`: true, `{"name": "guide", "args": "this", "argſ": "that"}`: true} {
		if a := b.call("load_skill", args); a.IsError != refused || strings.Contains(a.text(), "that") {
			t.Errorf("%s: %s", args, a.text())
		}
	}
}

func TestLoadSkill(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	for _, tool := range []string{"load_skill", "demo__guide"} {
		args := map[string]string{"load_skill": `{"name": "$guide", "args": "this"}`, "demo__guide": `{"args": "this"}`}[tool]
		a := b.call(tool, args)
		if a.Meta.Name != "demo/guide" || a.Meta.URI != "skill://demo/guide/SKILL.md" || a.Meta.BaseDir == "" || a.StructuredContent != nil {
			t.Errorf("%s: %+v", tool, a)
		}
		if want := "Base directory for this skill: " + a.Meta.BaseDir + "\n\nFirst this, then rest."; a.text() != want || a.IsError {
			t.Errorf("text %q, want %q", a.text(), want)
		}
	}
}

func TestSkillResult(t *testing.T) {
	long := strings.Repeat("x", 100<<10)
	for _, test := range []struct {
		name       string
		driver     *script
		isError    bool
		text       string // a prefix
		structured string // "" is none, "…" is anything
	}{
		{"text", ends(0, "plain text\n", "progress\n"), false, "plain text\n", ""},
		{"object", ends(0, " {\"a\": 1}\n", ""), false, ` {"a": 1}`, `{"a":1}`},
		{"two objects", ends(0, "{\"a\": 1}\n{\"b\": 1}\n", ""), false, "{\"a\": 1}\n{", ""},
		{"list", ends(0, "[1, 2]\n", ""), false, "[1, 2]\n", ""},
		{"nothing", ends(0, "", ""), false, "skill demo/run has ended well and printed nothing", ""},
		{"no UTF-8", ends(0, "a\xffb", ""), false, "a\ufffdb", ""},
		{"long", ends(0, long, ""), false, strings.Repeat("x", 24<<10) + "\n[… 53248 of 102400 bytes cut …]\n" + strings.Repeat("x", 24<<10), ""},
		{"long object", ends(0, `{"a": "`+long+`"}`, ""), false, `{"a": "x`, ""},
		{"failure", ends(3, "some", "it\nbroke\n"), true, "EXECUTION_ERROR: skill demo/run failed with exit code 3; its error output says why\n--\nstderr:\nit\nbroke\n--\nstdout:\nsome", "…"},
		{"failure without words", ends(1, "", ""), true, "EXECUTION_ERROR: skill demo/run failed with exit code 1 and said nothing", "…"},
		{"failure told on stdout", ends(1, "no such day", ""), true, "EXECUTION_ERROR: skill demo/run failed with exit code 1; it wrote nothing to its error output: what it printed may say why\n--\nstdout:\nno such day", "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newBench(t, test.driver).call("demo__run", `{"target": "x"}`)
			if a.IsError != test.isError || !strings.HasPrefix(a.text(), test.text) {
				t.Errorf("error %t, text %.300q, want %.300q", a.IsError, a.text(), test.text)
			}
			if test.structured != "…" && string(a.StructuredContent) != test.structured {
				t.Errorf("structured %.100s, want %.100s", a.StructuredContent, test.structured)
			}
		})
	}
}

func TestRunSkill(t *testing.T) {
	b := newBench(t, ends(0, `{"a": 1}`, "said"))
	var got result.Run
	a := b.call("run_skill", `{"name": "demo/run", "params": {"target": "x"}}`)
	if err := json.Unmarshal(a.StructuredContent, &got); err != nil || a.IsError {
		t.Fatalf("%v in %+v", err, a)
	}
	if !strings.HasPrefix(got.RunID, "run-") || !strings.HasPrefix(got.Digest, "sha256:") {
		t.Errorf("run %q, digest %q", got.RunID, got.Digest)
	}
	got.RunID, got.Digest, got.WallTime = "", "", 0
	want := result.Run{ExitCode: new(int), Skill: "demo/run", Stdout: `{"a": 1}`, Stderr: "said", Result: json.RawMessage(`{"a":1}`), Sandbox: "script"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A run that was stopped has no exit code: 0 would say that it ended well.
func TestRunSkillStopped(t *testing.T) {
	for name, test := range map[string]struct {
		exit      *sandbox.Exit
		err       error
		code, box any
	}{
		"at its time":   {nil, &sandbox.LimitError{Limit: sandbox.LimitTime, Value: "5s"}, nil, nil},
		"at its memory": {&sandbox.Exit{Code: 137, Sandbox: "script"}, &sandbox.LimitError{Limit: sandbox.LimitMemory, Value: "1 MB"}, 137.0, "script"},
		"by itself":     {&sandbox.Exit{Code: 0, Sandbox: "script"}, nil, 0.0, "script"},
	} {
		b := newBench(t, &script{func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
			cmd.Started()
			return test.exit, test.err
		}})
		var got map[string]any
		if err := json.Unmarshal(b.call("run_skill", `{"name": "demo/run", "params": {"target": "x"}}`).StructuredContent, &got); err != nil {
			t.Fatal(err)
		}
		if got["exit_code"] != test.code || got["sandbox"] != test.box {
			t.Errorf("%s: exit_code %v, sandbox %v", name, got["exit_code"], got["sandbox"])
		}
	}
}

func TestRunSkillFailures(t *testing.T) {
	floods := &script{func(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		_, _ = cmd.Stdout.Write(bytes.Repeat([]byte("x"), 11<<20))
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}}
	missing := &script{func(context.Context, *sandbox.Command) (*sandbox.Exit, error) {
		return nil, &sandbox.UnavailableError{Reason: "no engine", Remedy: "start one"}
	}}
	for _, test := range []struct {
		name   string
		driver *script
		want   *run.Error
	}{
		{"exit code", ends(4, "", "why"), &run.Error{Code: run.ExecutionError, Message: "skill demo/run failed with exit code 4; its error output says why"}},
		{"limit", floods, &run.Error{Code: run.ExecutionError, Message: "the skill was stopped at its output limit of 10 MB; ask for less at once"}},
		{"no sandbox", missing, &run.Error{Code: run.Unavailable, Message: "no engine; start one", Retryable: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newBench(t, test.driver).call("run_skill", `{"name": "demo/run", "params": {"target": "x"}}`)
			var got failed
			if err := json.Unmarshal(a.StructuredContent, &got); err != nil || !a.IsError {
				t.Fatalf("%v in %+v", err, a)
			}
			if diff := cmp.Diff(test.want, got.Error); diff != "" {
				t.Error(diff)
			}
			if !strings.HasPrefix(a.text(), string(test.want.Code)+": "+test.want.Message) {
				t.Errorf("text %.200s", a.text())
			}
		})
	}
}

func TestLargeIntegers(t *testing.T) {
	var argv []string
	b := newBench(t, &script{func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		argv = cmd.Argv
		cmd.Started()
		return &sandbox.Exit{}, nil
	}})
	const args = `{"target": "x", "count": 9007199254740993}`
	for _, call := range []struct{ tool, args string }{{"demo__run", args}, {"run_skill", `{"name": "run", "params": ` + args + `}`}} {
		if a := b.call(call.tool, call.args); a.IsError {
			t.Fatal(a.text())
		}
		if got := strings.Join(argv, " "); got != "bash run.sh --target x --count 9007199254740993" {
			t.Errorf("%s: %s", call.tool, got)
		}
	}
}

func TestPublish(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	c := b.connect()
	expect := func(step string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, c.notices()); diff != "" {
			t.Errorf("%s: notices %s", step, diff)
		}
	}
	if b.publish() {
		t.Error("nothing changed, and yet")
	}
	expect("nothing changed")

	b.files["p/skills/new/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: new\ndescription: New.\n---\n")}
	b.files["p/skills/newer/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: newer\ndescription: Newer.\n---\n")}
	if !b.publish() {
		t.Error("two skills are new, and nothing changed")
	}
	expect("two skills are new", "notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/tools/list_changed")

	b.files["p/skills/new/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: new\ndescription: New.\n---\nOther words.\n")}
	if b.publish() {
		t.Error("only instructions changed, and yet the tools did")
	}
	expect("only instructions changed")
	if got := b.call("demo__new", `{}`).text(); !strings.HasSuffix(got, "Other words.") {
		t.Errorf("the instructions are the old ones: %q", got)
	}

	b.files["p/skills/new/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: new\n")}
	b.publish()
	expect("a skill broke", "notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/tools/list_changed")
	if a := b.call("demo__new", `{}`); !a.IsError || !strings.Contains(a.text(), "the frontmatter is not closed") {
		t.Errorf("calling the tool of a skill that broke: %s", a.text())
	}
	if a := b.call("demo__newer", `{}`); a.IsError {
		t.Errorf("its neighbour: %s", a.text())
	}
}

// A call keeps the catalog that it began with.
func TestCallKeepsItsCatalog(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	began, goOn := make(chan struct{}), make(chan struct{})
	runner := sandbox.New(&script{func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		close(began)
		<-goOn
		cmd.Started()
		_, _ = cmd.Stdout.Write([]byte(cmd.Skill))
		return &sandbox.Exit{}, nil
	}}, nil)
	defer runner.Close()
	b.invoke.executor = run.New(runner, b.options.Snapshots, policy.New(nil), nil)
	answers := make(chan answer)
	go func() { answers <- b.call("demo__run", `{"target": "x"}`) }()
	<-began
	b.Publish(&skills.Catalog{})
	close(goOn)
	if a := <-answers; a.IsError || a.text() != "demo/run" {
		t.Errorf("answer %+v", a)
	}
}

// A schema that cannot be sent costs that skill its tool, and nothing else.
func TestSchemaThatCannotBeEncoded(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	catalog := *b.Catalog()
	bad := &skills.Skill{Name: "bad", ModelInvocable: true, Class: skills.Safe, Entry: &skills.Entry{
		Args: skills.Flags{{Name: "p", Schema: &jsonschema.Schema{Default: func() {}}}},
	}}
	catalog.Skills = append([]*skills.Skill{bad}, catalog.Skills...)
	b.Publish(&catalog)
	tools := b.ask("tools/list", "{}")
	if strings.Contains(tools, `"bad"`) || !strings.Contains(tools, `"demo__run"`) {
		t.Errorf("tools %s", tools)
	}
}

func TestLog(t *testing.T) {
	var log bytes.Buffer
	b := newBench(t, ends(0, "", ""))
	b.options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	skill := func(file string) *skills.Skill { return &skills.Skill{Name: "a", File: file} }
	problem := skills.Problem{Severity: skills.Error, Path: "a.md", Line: 3, Message: "bad"}
	catalog := &skills.Catalog{Problems: []skills.Problem{problem}, Shadowed: []skills.Shadow{{Skill: skill("low"), By: skill("high")}}}
	b.Publish(catalog)
	b.Publish(catalog)
	for _, want := range []string{`level=INFO msg="a skill is shadowed" skill=a file=low by=high`, `level=WARN msg="a skill did not load as written" problem="a.md:3: error: bad"`} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("logged %q not once:\n%s", want, log.String())
		}
	}
}

func TestProgressOfCall(t *testing.T) {
	b := newBench(t, &script{func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Progress("pulling an image")
		cmd.Started()
		_, _ = cmd.Stderr.Write([]byte("half\ndone\n"))
		return &sandbox.Exit{}, nil
	}})
	c := b.connect()
	message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__run","arguments":{"target":"x"},"_meta":{"progressToken":"tok"}}}`
	b.core.HandleMessage(b.core.WithContext(t.Context(), c), json.RawMessage(message))
	var got []string
	for {
		select {
		case n := <-c.in:
			got = append(got, fmt.Sprint(n.Params.AdditionalFields["progressToken"], " ", n.Params.AdditionalFields["message"]))
			continue
		default:
		}
		break
	}
	// Of the lines within 50 ms only the last is sent.
	if diff := cmp.Diff([]string{"tok pulling an image", "tok done"}, got); diff != "" {
		t.Error(diff)
	}
}
