package consent

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// formsAccount returns an account with a skill for each kind of call.
func formsAccount(t *testing.T, driver, forms string) *lab.Account {
	t.Helper()
	a := lab.NewAccount(t, driver, "sandbox: {env: [TOKEN=T0K]}\npolicy: {"+forms+"skills: {risky: {}, secret: {secrets: [TOKEN]}}}\n")
	a.NoteSkill("note")
	a.NoteSkill("secret")
	a.NoteSkill("risky")
	a.Skill("risky/SKILL.md", "---\nname: risky\ndescription: Writes a note.\nclass: dangerous\nscript: run.sh\nparams: {text: string}\n---\n")
	for file, content := range map[string]string{
		"SKILL.md": "---\nname: cloned\ndescription: Writes a note.\nclass: mutating\nscript: run.sh\nparams: {text: string}\n---\n",
		"run.sh":   "echo stolen >> \"$SKILL_WORKSPACE/notes\"\n",
	} {
		lab.WriteFile(t, filepath.Join(a.Workspace, ".claude", "skills", "cloned", file), content)
	}
	return a
}

// A program that answers a client's forms says yes to nothing, and says no to nothing: the
// call waits for the person.
func TestFormsAnsweredByPrograms(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a := formsAccount(t, driver, "")
				late := false // a yes took as long as a person's
				for _, answer := range []string{
					`{"action":"accept","content":{"answer":"once"}}`, `{"action":"accept","content":{"answer":"this session"}}`, `{"action":"accept","content":{"answer":"always"}}`,
					`{"action":"accept","content":{"answer":"no"}}`, `{"action":"accept","content":{}}`, `{"action":"accept"}`, `{"action":"decline"}`, `{"action":"cancel"}`,
				} {
					c := a.Serve(era, `{"elicitation":{}}`) // of its own: a late yes may be for the session
					var r lab.Reply
					if !strings.Contains(answer, "accept") {
						_, r = c.DeclineAtOnce("note", answer, answer)
					} else {
						var inTime bool
						if r, inTime = c.AnswerAtOnce(lab.UnreadTime, "note", lab.Text(answer), answer); !inTime {
							t.Logf("not judged: %s took as long as a person's", answer)
							late = true
							continue
						}
					}
					if r.Asked != nil && c.Modern { // an answer that does not fit is asked for again
						continue
					}
					c.Waits(r)
				}
				if late {
					return
				}
				a.Wrote(0)
				if shown, _ := a.Run("approvals", "--all"); strings.Contains(shown, "given") || strings.Contains(shown, "used") {
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
	lab.Drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a := formsAccount(t, driver, "")
				c := a.Serve(era, `{"elicitation":{}}`)
				asked := c.Call("note", lab.Text("one"))
				if asked.Asked == nil || strings.Contains(string(asked.Asked.RequestedSchema), "always") {
					t.Fatalf("the form is %+v", asked.Asked)
				}
				time.Sleep(lab.ReadTime)
				c.Succeeds(c.Choose(asked, "once"), "wrote")
				for _, skill := range []string{"risky", "secret", "cloned"} {
					c.Waits(c.Call(skill, lab.Text("two")))
				}
				a.Wrote(1)
				a.Approve(c.Waits(c.Call("risky", lab.Text("three"))))
				c.Succeeds(c.Call("risky", lab.Text("three")), "wrote")
				a.Wrote(2)

				for skill, want := range map[string]string{"note": "once, by the person of this machine by a form of the client", "risky": "once, by the person of this machine on a terminal"} {
					listed, _ := a.Run("runs", "--skill", skill, "--outcome", "ok", "--json")
					_, id, _ := strings.Cut(listed, `"id":"`)
					id, _, _ = strings.Cut(id, `"`)
					if shown, code := a.Run("runs", id); code != 0 || !strings.Contains(shown, want) {
						t.Errorf("runs %s lacks %q:\n%s", id, want, shown)
					}
				}
				if shown, _ := a.Run("approvals", "--all"); !strings.Contains(shown, "by a form of the client") || !strings.Contains(shown, "on a terminal") {
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
			lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
			a := formsAccount(t, "native", "forms: all, ")
			c := a.Serve(era, `{"elicitation":{}}`)
			for _, skill := range []string{"risky", "secret", "cloned"} {
				r := c.Choose(c.Call(skill, lab.Text("one")), "once")
				c.Succeeds(r, "")
			}
			c.Succeeds(c.Choose(c.Call("note", lab.Text("one")), "always"), "wrote")
			a.Wrote(4)
			never := formsAccount(t, "native", "forms: never, ")
			c = never.Serve(era, `{"elicitation":{}}`)
			for _, skill := range []string{"note", "risky", "secret", "cloned"} {
				c.Waits(c.Call(skill, lab.Text("one")))
			}
			never.Wrote(0)
		})
	}
}

// A client that looks late at the question of a task, and says yes at once, is a program.
func TestFormsOfTasks(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	a := lab.NativeAccount(t, "")
	a.Skill("note/SKILL.md", "---\nname: note\ndescription: Writes a note.\nclass: mutating\nscript: run.sh\ntask: always\nparams: {text: string}\n---\n")
	const can = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	c := a.Serve("modern", can)
	request := func(method, params string) string {
		t.Helper()
		c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}}}`, method, params, can))
		line, err := c.Out.ReadString('\n')
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
	late := false // the program's answer took as long as a person's
	for _, program := range []bool{true, false} {
		task := cut(request("tools/call", fmt.Sprintf(`"name":"note","arguments":{"text":"%t"}`, program)), `"taskId":"`)
		get := fmt.Sprintf(`"taskId":%q`, task)
		time.Sleep(lab.ReadTime)
		began := time.Now() // before the server shows the question
		state := request("tasks/get", get)
		for strings.Contains(state, `"working"`) {
			began = time.Now()
			state = request("tasks/get", get)
		}
		if !program {
			time.Sleep(lab.ReadTime)
		}
		key := cut(state, `"inputRequests":{"`)
		request("tasks/update", get+fmt.Sprintf(`,"inputResponses":{%q:{"action":"accept","content":{"answer":"once"}}}`, key))
		for state = request("tasks/get", get); strings.Contains(state, `"working"`) || strings.Contains(state, "input_required"); {
			state = request("tasks/get", get)
		}
		if program && time.Since(began) >= lab.UnreadTime {
			t.Log("not judged: the program's answer took as long as a person's")
			late = true
		}
		if strings.Contains(state, "APPROVAL_REQUIRED") != program && !(program && late) {
			t.Errorf("a program: %t: %s", program, state)
		}
	}
	if !late {
		a.Wrote(1)
	}
}

// Equal calls at once are one question, and leave room for those of others.
func TestEqualCallsAtOnce(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a := formsAccount(t, driver, "")
				c := a.Serve(era, `{"elicitation":{}}`)
				ran := func(results []lab.Message) (well int) {
					for _, m := range results {
						if !m.Result.IsError {
							well++
						} else if got := m.Result.Content[0].Text; !strings.Contains(got, "said yes once, and an equal call") {
							t.Errorf("another outcome: %s", got)
						}
					}
					return well
				}
				results, forms := c.Burst(20, "note", `{"text":"one"}`, "once")
				if n := ran(results); n != 1 || forms != 1 {
					t.Errorf("once: %d ran, with %d forms", n, forms)
				}
				a.Wrote(1)
				results, forms = c.Burst(20, "note", `{"text":"two"}`, "this session")
				if n := ran(results); n != 20 || forms != 1 {
					t.Errorf("this session: %d ran, with %d forms", n, forms)
				}
				a.Wrote(21)

				// Without forms: one ID, of two clients, and room for others.
				mute, other := a.Serve(era, `{}`), a.Serve("modern", `{}`)
				ids := map[string]int{}
				count := func(results []lab.Message) {
					for _, m := range results {
						if id := lab.ApprovalID.FindStringSubmatch(m.Result.Content[0].Text); id != nil {
							ids[id[1]]++
						} else {
							t.Errorf("no ID: %s", m.Result.Content[0].Text)
						}
					}
				}
				theirs := make(chan []lab.Message)
				go func() {
					results, _ := other.Burst(20, "risky", `{"text":"three"}`, "")
					theirs <- results
				}()
				results, _ = mute.Burst(20, "risky", `{"text":"three"}`, "")
				count(results)
				count(<-theirs)
				if len(ids) != 1 {
					t.Errorf("the IDs %v", ids)
				}
				busy := 0
				for i := range 10 {
					if r := mute.Call("risky", lab.Text(fmt.Sprint(i))); strings.Contains(r.Text(), "BUSY") {
						busy++
					}
				}
				if busy != 2 && busy != 3 { // as the other one asked the first, or it
					t.Errorf("%d of 10 other questions about the skill are refused", busy)
				}
				mute.Waits(mute.Call("secret", lab.Text("four")))
				other.Waits(other.Call("risky", lab.Text("of another client")))
				other.Waits(other.Call("cloned", lab.Text("five")))
			})
		}
	})
}

// A no stands: a client that tries again gets no further form, and is told so. Other calls
// and other clients are asked about.
func TestNoStands(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a := lab.NewAccount(t, driver, lab.AllForms)
				a.NoteSkill("note")
				a.NoteSkill("other")
				c := a.Serve(era, `{"elicitation":{}}`)
				c.Fails(c.Choose(c.Call("note", lab.Text("one")), "no"), "said no")
				for range 6 {
					r := c.Call("note", lab.Text("one"))
					c.Fails(r, "the person said no, and is not asked about the same call again before", "unless the person asks for it")
					if got := string(r.Result.StructuredContent); !strings.Contains(got, `"retryable":false`) {
						t.Errorf("it may be tried again: %s", got)
					}
				}
				if r := c.Call("other", lab.Text("one")); r.Asked == nil {
					t.Errorf("another skill: %s", r.Text())
				} else {
					c.Succeeds(c.Choose(r, "once"), "wrote")
				}
				c.Succeeds(c.Choose(c.Call("note", lab.Text("two")), "once"), "wrote")
				again := a.Serve("modern", `{"elicitation":{}}`)
				again.Succeeds(again.Choose(again.Call("note", lab.Text("one")), "once"), "wrote")
				c.Fails(c.Call("note", lab.Text("one")), "said no")
				a.Wrote(3)
			})
		}
	})
}
