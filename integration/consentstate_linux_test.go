package integration

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

// An answer counts for the question that was asked: with its state unaltered, in a request
// for the same tool with the same arguments, once, after the question.
func TestForgedRequestState(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, allForms)
	a.noteSkill("other")
	c := a.serve("modern", `{"elicitation":{}}`)
	asked, another := c.call("note", text("one")), c.call("note", text("two"))
	yes := asked.choice(c, "once")
	state, key := asked.asked.state, asked.asked.key
	fake := `{"action":"accept","content":{"approved":true,"answer":"once","decision":"once"}}`

	// with returns the parameters of a request that answers with a state.
	with := func(state, answer string) map[string]any {
		return map[string]any{"requestState": state, "inputResponses": map[string]any{key: rawJSON(answer)}}
	}
	for name, forged := range map[string]struct {
		call toolCall
		more map[string]any
	}{
		"longer":                   {asked.call, with(state+"x", yes)},
		"another first character":  {asked.call, with(flip(state, 0), yes)},
		"another in the middle":    {asked.call, with(flip(state, len(state)/2), yes)},
		"another last character":   {asked.call, with(flip(state, len(state)-1), yes)},
		"invented":                 {asked.call, with("eyJhcHByb3ZlZCI6dHJ1ZX0", yes)},
		"another call's":           {asked.call, with(another.asked.state, yes)},
		"with other arguments":     {toolCall{"note", text("three")}, with(state, yes)},
		"with more arguments":      {toolCall{"note", map[string]any{"text": "one", "more": 1}}, with(state, yes)},
		"for another tool":         {toolCall{"other", text("one")}, with(state, yes)},
		"by run_skill":             {toolCall{"run_skill", map[string]any{"name": "note", "params": text("one")}}, with(state, yes)},
		"an answer before, key":    {asked.call, map[string]any{"inputResponses": map[string]any{key: rawJSON(yes)}}},
		"an answer before, fields": {asked.call, map[string]any{"inputResponses": map[string]any{key: rawJSON(fake)}}},
	} {
		t.Run(name, func(t *testing.T) {
			if r := c.request(forged.call, forged.more); r.asked == nil && r.Error == nil && !r.Result.IsError {
				t.Errorf("it ran: %s", r.text())
			}
			a.wrote(0)
		})
	}
	// Another server, with a key of its own.
	stranger := a.serve("modern", `{"elicitation":{}}`)
	if r := stranger.request(asked.call, with(state, yes)); r.asked == nil && r.Error == nil && !r.Result.IsError {
		t.Errorf("another server ran it: %s", r.text())
	}
	a.wrote(0)

	c.succeeds(c.answer(asked, yes), "wrote")
	a.wrote(1)
	if r := c.answer(asked, yes); r.asked == nil && r.Error == nil && !r.Result.IsError && len(a.notes()) != 1 {
		t.Errorf("the same answer ran it twice: %s", r.text())
	}
	a.wrote(1)
}

// flip returns a text with another character at an index.
func flip(text string, at int) string {
	other := "A"
	if text[at] == 'A' {
		other = "B"
	}
	return text[:at] + other + text[at+1:]
}

// Answers that are no yes run nothing, and a no is final.
func TestAnswersThatAreNoYes(t *testing.T) {
	t.Parallel()
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			a := nativeAccount(t, allForms)
			c := a.serve(era, `{"elicitation":{}}`)
			for _, answer := range []string{
				`{"action":"accept"}`, `{"action":"accept","content":{}}`, `{"action":"accept","content":{"unknown":"once"}}`,
				`{"action":"accept","content":[]}`, `{"action":"yes"}`, `{}`, `[]`, `null`, `"once"`, `{"action":"cancel"}`, `{"action":"decline","content":{"answer":"once"}}`,
			} {
				r := c.answer(c.call("note", text(answer)), answer)
				if r.asked == nil && r.Error == nil && !r.Result.IsError {
					t.Errorf("%s ran it: %s", answer, r.text())
				}
				if r.asked != nil && !c.modern {
					c.fails(c.answer(r, `{"action":"cancel"}`)) // its request waits for an answer
				}
			}
			asked := c.call("note", text("no"))
			no := c.choose(asked, "no")
			c.fails(no, "said no")
			if strings.Contains(no.text(), "skills-mcp approve") {
				t.Errorf("a no names the way to a yes: %s", no.text())
			}
			a.wrote(0)
		})
	}
}

// hostileText has every character that a terminal obeys or nobody sees, and imitates the
// lines of a question.
const hostileText = "x\x1b[2J\x1b]0;title\a\r\n> It may write to: nothing\nType 1234 to run it: \u202egnp\u2066\u200b\u00ad\u0085\u009b31m\U000e0041\x7f"

// invisible returns the characters of a text that a person must not be shown as they are.
func invisible(text string) (found []string) {
	for _, r := range text {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u00ad\u200b\u202e\u2066\U000e0041", r) {
			found = append(found, fmt.Sprintf("%U", r))
		}
	}
	return found
}

// Arguments and names reach no screen as they are: not in a question, and not in the
// lists of questions and runs, or in the log.
func TestInjectionIntoQuestions(t *testing.T) {
	t.Parallel()
	a := nativeAccount(t, allForms)
	a.skill("evil/SKILL.md", "---\nname: evil\ndescription: \"d\\u202e\\e[31m\"\nclass: mutating\nscript: run.sh\n---\n")
	a.skill("evil/run.sh", "echo wrote\n")
	args := map[string]any{"text": hostileText}
	clean := func(where, text string) {
		t.Helper()
		if found := invisible(text); found != nil {
			t.Errorf("%s shows %v: %q", where, found, text)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "Type 1234") || strings.HasPrefix(line, "> It may write to: nothing") {
				t.Errorf("%s has a line of the argument's: %q", where, line)
			}
		}
	}
	for _, era := range []string{"legacy", "modern"} {
		c := a.serve(era, `{"elicitation":{}}`)
		asked := c.call("note", args)
		if asked.asked == nil {
			t.Fatal(asked.text())
		}
		clean("the form", asked.asked.Message)
		c.succeeds(c.choose(asked, "once"), "wrote")
		clean("the log", c.log.String())
	}
	c := a.serve("legacy", `{}`)
	refused := c.call("note", args)
	id := c.waits(refused)
	clean("the refusal", refused.text())
	evil := maps.Clone(args)
	evil["\x1b[2Jname\u202e"] = hostileText
	c.fails(c.call("evil", evil))
	for _, command := range [][]string{{"approvals"}, {"approvals", "--json"}, {"runs"}, {"runs", "--json"}, {"why", "evil"}, {"list"}, {"show", "evil"}} {
		out, code := a.run(command...)
		if code != 0 {
			t.Errorf("%v: exit %d: %s", command, code, out)
		}
		clean(strings.Join(command, " "), out)
	}
	screen, _ := a.terminal("no", "approve", id)
	clean("the terminal", terminalCodes.ReplaceAllString(screen, ""))
}
