package integration

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// readTime is the time in which a person reads a question: a yes that comes faster is a
// program's.
const readTime = 1100 * time.Millisecond

// formsAccount returns an account with a skill for each kind of call.
func formsAccount(t *testing.T, driver, forms string) *account {
	t.Helper()
	a := newAccount(t, driver, "sandbox: {env: [TOKEN=T0K]}\npolicy: {"+forms+"skills: {risky: {}, secret: {secrets: [TOKEN]}}}\n")
	a.noteSkill("note")
	a.noteSkill("secret")
	a.noteSkill("risky")
	a.skill("risky/SKILL.md", "---\nname: risky\ndescription: Writes a note.\nclass: dangerous\nscript: run.sh\nparams: {text: string}\n---\n")
	for file, content := range map[string]string{
		"SKILL.md": "---\nname: cloned\ndescription: Writes a note.\nclass: mutating\nscript: run.sh\nparams: {text: string}\n---\n",
		"run.sh":   "echo stolen >> \"$SKILL_WORKSPACE/notes\"\n",
	} {
		writeFile(t, filepath.Join(a.workspace, ".claude", "skills", "cloned", file), content)
	}
	return a
}

// A program that answers a client's forms says yes to nothing, and says no to nothing: the
// call waits for the person.
func TestFormsAnsweredByPrograms(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a := formsAccount(t, driver, "")
				c := a.serve(era, `{"elicitation":{}}`)
				for _, answer := range []string{
					`{"action":"accept","content":{"answer":"once"}}`, `{"action":"accept","content":{"answer":"this session"}}`, `{"action":"accept","content":{"answer":"always"}}`,
					`{"action":"accept","content":{"answer":"no"}}`, `{"action":"accept","content":{}}`, `{"action":"accept"}`, `{"action":"decline"}`, `{"action":"cancel"}`,
				} {
					r := c.answer(c.call("note", text(answer)), answer)
					if r.asked != nil && c.modern { // an answer that does not fit is asked for again
						continue
					}
					c.waits(r)
				}
				a.wrote(0)
				if shown, _ := a.run("approvals", "--all"); strings.Contains(shown, "given") || strings.Contains(shown, "used") {
					t.Errorf("approvals:\n%s", shown)
				}
			})
		}
	})
}

// A person at a form says yes to one call, and no form asks about a call of more risk. The
// record has the way of each yes.
func TestFormsAskAboutLittle(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a := formsAccount(t, driver, "")
				c := a.serve(era, `{"elicitation":{}}`)
				asked := c.call("note", text("one"))
				if asked.asked == nil || strings.Contains(string(asked.asked.RequestedSchema), "always") {
					t.Fatalf("the form is %+v", asked.asked)
				}
				time.Sleep(readTime)
				c.succeeds(c.choose(asked, "once"), "wrote")
				for _, skill := range []string{"risky", "secret", "cloned"} {
					c.waits(c.call(skill, text("two")))
				}
				a.wrote(1)
				a.approve(c.waits(c.call("risky", text("three"))))
				c.succeeds(c.call("risky", text("three")), "wrote")
				a.wrote(2)

				for skill, want := range map[string]string{"note": "once, by the person of this machine by a form of the client", "risky": "once, by the person of this machine on a terminal"} {
					listed, _ := a.run("runs", "--skill", skill, "--outcome", "ok", "--json")
					_, id, _ := strings.Cut(listed, `"id":"`)
					id, _, _ = strings.Cut(id, `"`)
					if shown, code := a.run("runs", id); code != 0 || !strings.Contains(shown, want) {
						t.Errorf("runs %s lacks %q:\n%s", id, want, shown)
					}
				}
				if shown, _ := a.run("approvals", "--all"); !strings.Contains(shown, "by a form of the client") || !strings.Contains(shown, "on a terminal") {
					t.Errorf("approvals:\n%s", shown)
				}
			})
		}
	})
}

// policy.forms: all trusts every answer to every question, and never asks by none.
func TestFormsAllAndNever(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
			a := formsAccount(t, "native", "forms: all, ")
			c := a.serve(era, `{"elicitation":{}}`)
			for _, skill := range []string{"risky", "secret", "cloned"} {
				r := c.choose(c.call(skill, text("one")), "once")
				c.succeeds(r, "")
			}
			c.succeeds(c.choose(c.call("note", text("one")), "always"), "wrote")
			a.wrote(4)
			never := formsAccount(t, "native", "forms: never, ")
			c = never.serve(era, `{"elicitation":{}}`)
			for _, skill := range []string{"note", "risky", "secret", "cloned"} {
				c.waits(c.call(skill, text("one")))
			}
			never.wrote(0)
		})
	}
}

// A client that looks late at the question of a task, and says yes at once, is a program.
func TestFormsOfTasks(t *testing.T) {
	t.Parallel()
	need(t, "SKILLS_MCP_REQUIRE_SANDBOX", checkNative(t.Context()))
	a := nativeAccount(t, "")
	a.skill("note/SKILL.md", "---\nname: note\ndescription: Writes a note.\nclass: mutating\nscript: run.sh\ntask: always\nparams: {text: string}\n---\n")
	const can = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	c := a.serve("modern", can)
	request := func(method, params string) string {
		t.Helper()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}}}`, method, params, can))
		line, err := c.out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	cut := func(s, after string) string {
		t.Helper()
		_, s, found := strings.Cut(s, after)
		s, _, _ = strings.Cut(s, `"`)
		if !found {
			t.Fatalf("no %s", after)
		}
		return s
	}
	for _, program := range []bool{true, false} {
		task := cut(request("tools/call", fmt.Sprintf(`"name":"note","arguments":{"text":"%t"}`, program)), `"taskId":"`)
		get := fmt.Sprintf(`"taskId":%q`, task)
		time.Sleep(readTime)
		state := request("tasks/get", get)
		for strings.Contains(state, `"working"`) {
			state = request("tasks/get", get)
		}
		if !program {
			time.Sleep(readTime)
		}
		key := cut(state, `"inputRequests":{"`)
		request("tasks/update", get+fmt.Sprintf(`,"inputResponses":{%q:{"action":"accept","content":{"answer":"once"}}}`, key))
		for state = request("tasks/get", get); strings.Contains(state, `"working"`) || strings.Contains(state, "input_required"); {
			state = request("tasks/get", get)
		}
		if strings.Contains(state, "APPROVAL_REQUIRED") != program {
			t.Errorf("a program: %t: %s", program, state)
		}
	}
	a.wrote(1)
}

// burst sends equal calls at once, answers the one form, if there is one, with a choice
// after a time, and returns the results.
func (c *toolClient) burst(calls int, tool, args, choice string) (results []message, forms int) {
	c.t.Helper()
	meta := ""
	if c.modern {
		meta = fmt.Sprintf(`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}`, c.capabilities)
	}
	request := func(id int, more string) {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s%s%s}}`, id, tool, args, more, meta))
	}
	for i := range calls {
		request(1000+i, "")
	}
	for len(results) < calls {
		m := c.receive()
		switch {
		case m.Method == "elicitation/create":
			forms++
			time.Sleep(readTime)
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"answer":%q}}}`, m.ID, choice))
		case m.Result.ResultType == "input_required":
			forms++
			time.Sleep(readTime)
			for key := range m.Result.InputRequests {
				request(2000, fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:{"action":"accept","content":{"answer":%q}}}`, m.Result.RequestState, key, choice))
			}
		case m.Method == "":
			results = append(results, m)
		}
	}
	return results, forms
}

// Equal calls at once are one question, and leave room for those of others.
func TestEqualCallsAtOnce(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a := formsAccount(t, driver, "")
				c := a.serve(era, `{"elicitation":{}}`)
				ran := func(results []message) (well int) {
					for _, m := range results {
						if !m.Result.IsError {
							well++
						} else if got := m.Result.Content[0].Text; !strings.Contains(got, "said yes once, and an equal call") {
							t.Errorf("another outcome: %s", got)
						}
					}
					return well
				}
				results, forms := c.burst(20, "note", `{"text":"one"}`, "once")
				if n := ran(results); n != 1 || forms != 1 {
					t.Errorf("once: %d ran, with %d forms", n, forms)
				}
				a.wrote(1)
				results, forms = c.burst(20, "note", `{"text":"two"}`, "this session")
				if n := ran(results); n != 20 || forms != 1 {
					t.Errorf("this session: %d ran, with %d forms", n, forms)
				}
				a.wrote(21)

				// Without forms: one ID, of two clients, and room for others.
				mute, other := a.serve(era, `{}`), a.serve("modern", `{}`)
				ids := map[string]int{}
				count := func(results []message) {
					for _, m := range results {
						if id := approvalID.FindStringSubmatch(m.Result.Content[0].Text); id != nil {
							ids[id[1]]++
						} else {
							t.Errorf("no ID: %s", m.Result.Content[0].Text)
						}
					}
				}
				theirs := make(chan []message)
				go func() {
					results, _ := other.burst(20, "risky", `{"text":"three"}`, "")
					theirs <- results
				}()
				results, _ = mute.burst(20, "risky", `{"text":"three"}`, "")
				count(results)
				count(<-theirs)
				if len(ids) != 1 {
					t.Errorf("the IDs %v", ids)
				}
				busy := 0
				for i := range 10 {
					if r := mute.call("risky", text(fmt.Sprint(i))); strings.Contains(r.text(), "BUSY") {
						busy++
					}
				}
				if busy != 3 {
					t.Errorf("%d of 10 other questions about the skill are refused", busy)
				}
				mute.waits(mute.call("secret", text("four")))
				other.waits(other.call("cloned", text("five")))
			})
		}
	})
}

// A no stands: a client that tries again gets no further form, and is told so. Other calls
// and other clients are asked about.
func TestNoStands(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a := newAccount(t, driver, allForms)
				a.noteSkill("note")
				a.noteSkill("other")
				c := a.serve(era, `{"elicitation":{}}`)
				c.fails(c.choose(c.call("note", text("one")), "no"), "said no")
				for range 6 {
					r := c.call("note", text("one"))
					c.fails(r, "the person said no, and is not asked about the same call again before", "unless the person asks for it")
					if got := string(r.Result.StructuredContent); !strings.Contains(got, `"retryable":false`) {
						t.Errorf("it may be tried again: %s", got)
					}
				}
				if r := c.call("other", text("one")); r.asked == nil {
					t.Errorf("another skill: %s", r.text())
				} else {
					c.succeeds(c.choose(r, "once"), "wrote")
				}
				c.succeeds(c.choose(c.call("note", text("two")), "once"), "wrote")
				again := a.serve("modern", `{"elicitation":{}}`)
				again.succeeds(again.choose(again.call("note", text("one")), "once"), "wrote")
				c.fails(c.call("note", text("one")), "said no")
				a.wrote(3)
			})
		}
	})
}
