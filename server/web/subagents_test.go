package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// heldSubagents are sessions without a loop, the newest first. Tests change them between
// requests.
type heldSubagents struct{ all []*agents.Session }

// All implements [api.Subagents].
func (h *heldSubagents) All(_ context.Context, owner *identity.Key, status agents.Status) (list []*agents.Session, _ error) {
	for _, s := range h.all {
		if (owner == nil || s.Owner == *owner) && (status == "" || s.Status == status) {
			one := *s
			one.Messages = nil
			list = append(list, &one)
		}
	}
	return list, nil
}

// Find implements [api.Subagents].
func (h *heldSubagents) Find(_ context.Context, id string) (*agents.Session, error) {
	for _, s := range h.all {
		if s.RunID == id {
			return s, nil
		}
	}
	return nil, nil
}

// Stop implements [api.Subagents].
func (h *heldSubagents) Stop(_ context.Context, id string) error {
	for _, s := range h.all {
		if s.RunID == id || slices.Contains(s.Ancestors, id) {
			s.Status, s.Ended = agents.Killed, time.Now()
		}
	}
	return nil
}

const lead, reader1, reader2, foreign = "aaaaaaaaaaaa", "bbbbbbbbbbbb", "cccccccccccc", "dddddddddddd"

// spawn fills the page with a tree of Ann's, of which one has ended, and a session of Bea's.
func (v *review) spawn() {
	ann, bea, _, _ := team()
	began := time.Now()
	v.subagents.all = []*agents.Session{
		{RunID: foreign, Agent: "lead", Label: "theirs", Status: agents.Done, Created: began, Ended: began.Add(time.Second), Owner: bea.Owner(), Depth: 1},
		{RunID: reader2, Agent: "reader", Label: "second part", ParentAgent: "lead", ParentSession: lead, Status: agents.Running, Created: began, Owner: ann.Owner(), Ancestors: []string{"eeeeeeeeeeee", lead}, Depth: 2},
		{RunID: reader1, Agent: "reader", Label: "first part", ParentAgent: "lead", ParentSession: lead, Status: agents.TimedOut, Created: began, Ended: began.Add(3 * time.Second), Owner: ann.Owner(), Ancestors: []string{"eeeeeeeeeeee", lead}, Depth: 2},
		{RunID: lead, Agent: "team/lead", Label: "whole", Status: agents.Running, Created: began, Timeout: 300, Owner: ann.Owner(), Ancestors: []string{"eeeeeeeeeeee"}, Depth: 1, Task: "Read all.",
			Children: []string{reader1, reader2}, Budget: agents.Budget{Turns: 50, Cost: 1}, Used: agents.Used{Turns: 3, Tokens: 5120, Cost: 0.025},
			Messages: []chat.Message{{Role: chat.User, Text: "Read all."}, {Role: chat.Assistant, Text: ` → list({"of":"it"})`}, {Role: chat.Tool, CallID: "1", Failed: true, Text: "no such thing"}}},
	}
}

// Runs shows the tree of subagents to those who see them, each with its own screen, and a
// button for those who may end it.
func TestSubagents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newReview(t, nil, nil)
		ann, bea, boss, bot := team()
		stamp := func(who identity.Principal) string {
			time.Sleep(stampAge)
			_, after, _ := strings.Cut(v.as(who, Path+"runs").Body.String(), `data-stamp="`)
			stamp, _, _ := strings.Cut(after, `"`)
			return stamp
		}
		if _, err := v.runs.Add(t.Context(), &store.Run{ID: "run-1", Action: "skill", Skill: "list", Outcome: "ok", Parent: lead, Principal: string(ann.Kind), Subject: ann.ID}); err != nil {
			t.Fatal(err)
		}
		none := stamp(bot)
		v.spawn()
		sees := map[string]string{"ann": "whole", "bea": "theirs", "boss": "both", "bot": ""}
		for name, who := range map[string]identity.Principal{"ann": ann, "bea": bea, "boss": boss, "bot": bot} {
			list := v.as(who, Path+"runs").Body.String()
			for id, text := range map[string]string{lead: "whole", foreign: "theirs"} {
				want := sees[name] == text || sees[name] == "both"
				if strings.Contains(list, text) != want {
					t.Errorf("%s is shown %s: %t in %s", name, text, !want, list)
				}
				if w := v.as(who, subagentPath(id)); (w.Code == http.StatusOK) != want || w.Code != http.StatusOK && w.Code != http.StatusNotFound {
					t.Errorf("%s gets %d for %s", name, w.Code, text)
				}
				if stops := strings.Contains(list, subagentPath(id)+"/stop"); stops != (name == "ann" && id == lead) {
					t.Errorf("%s may end %s: %t", name, text, stops)
				}
			}
		}
		if text := v.as(ann, Path+"runs?skill=list").Body.String(); strings.Contains(text, "whole") {
			t.Error("a filter of runs shows subagents")
		}
		v.golden("subagents", v.as(ann, Path+"runs").Body.String())
		v.golden("subagent", v.as(ann, subagentPath(lead)).Body.String())
		if w := v.as(ann, Path+"runs/"+lead); w.Header().Get("Location") != subagentPath(lead) {
			t.Errorf("the parent of a run leads to %d %s", w.Code, w.Header())
		}
		before, other := stamp(ann), stamp(bea)
		for who, want := range map[*identity.Principal]int{&bea: 404, &bot: 404, &boss: 403, &ann: 303} {
			if w := v.as(*who, subagentPath(lead)+"/stop", "x", ""); w.Code != want {
				t.Errorf("%s ends it: %d %s", who.ID, w.Code, w.Body)
			}
		}
		if stamp(ann) == before || stamp(bea) != other || stamp(bot) != none {
			t.Error("the stamps do not follow what each sees")
		}
		if text := v.get(subagentPath(lead)); !strings.Contains(text, ">killed<") || strings.Contains(text, "/stop") {
			t.Error(text)
		}
	})
}

// However many subagents have ended, the runs are below ten of them, the newest.
func TestManySubagents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newReview(t, nil, nil)
		v.spawn()
		ann, _, _, _ := team()
		for i := range 12 {
			one := &agents.Session{RunID: fmt.Sprintf("%012x", i), Label: "old", Status: agents.Done, Created: time.Now(), Ended: time.Now(), Owner: ann.Owner()}
			v.subagents.all = append(v.subagents.all, one)
		}
		text := v.as(ann, Path+"runs").Body.String()
		if old := strings.Count(text, ">old</bdi>"); old != 10 || strings.Contains(text, "00000000000a") || !strings.Contains(text, "whole") {
			t.Errorf("%d that ended are shown: %s", old, text)
		}
	})
}

// Texts of models and agents are texts.
func TestHostileSubagents(t *testing.T) {
	v := newReview(t, nil, nil)
	v.subagents.all = []*agents.Session{{RunID: lead, Agent: evilText, Label: evilText, Task: evilText, Model: evilText, Result: evilText, ParentAgent: evilText, ParentSession: evilText, Owner: evilText, Status: agents.Running,
		Messages: []chat.Message{{Role: chat.Assistant, Text: evilText}, {Role: evilText, Text: evilText}}}}
	for _, path := range []string{Path + "runs", subagentPath(lead)} {
		body := v.get(path)
		if strings.Count(body, "<script") != 1 || strings.Count(body, "</main>") != 1 || strings.Contains(body, `onclick="`) || strings.Contains(body, "href=\"javascript") || strings.ContainsAny(body, "\u202e\u200b\x1b") {
			t.Errorf("%s: %s", path, body)
		}
	}
}
