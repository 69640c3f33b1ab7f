package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
	"github.com/skillsmcp/skills-mcp/integration/modelserver"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
)

// calls is a role that makes calls, and replies with their results.
func calls(all ...chat.Call) modelserver.Script {
	return func(_ context.Context, r *modelserver.Request) modelserver.Reply {
		if !begun(r) {
			return modelserver.Reply{Calls: all}
		}
		var texts []string
		for _, m := range r.Messages {
			if m.Role == chat.Tool {
				texts = append(texts, m.Text)
			}
		}
		return modelserver.Reply{Text: "got: " + strings.Join(texts, " | ")}
	}
}

func call(tool, format string, args ...any) chat.Call {
	return chat.Call{Name: tool, Args: json.RawMessage(fmt.Sprintf(format, args...))}
}

// TestPipeline: what a subagent calls goes through policy and record as its client's own calls
// do: nobody is asked, and a model cannot say yes.
func TestPipeline(t *testing.T) {
	t.Parallel()
	if err := lab.CheckNative(t.Context()); err != nil {
		t.Skip(err)
	}
	eachAPI(t, func(t *testing.T, api chat.API) {
		s := newStage(t, api, "")
		s.Configure(strings.Replace(s.config, `{"*": {class: safe}}`, `{probe: {class: safe}, danger: {class: dangerous}}`, 1))
		for skill, text := range map[string]string{"probe": "probed", "danger": "deleted"} {
			s.Skill(skill+"/SKILL.md", "---\nname: "+skill+"\ndescription: Does "+skill+".\nscript: run.sh\n---\n")
			s.Skill(skill+"/run.sh", "echo "+text+"\n")
		}
		s.role("uses", calls(call("probe", "{}"), call("danger", "{}"), call("danger", `{"confirm":true}`)))
		c := stdio(s.Account)
		run := c.spawn(t, map[string]any{"agent_id": "worker", "task": "uses", "label": "user"})
		got := c.await(t, "user")
		if got.status != "done" || !strings.Contains(got.result, "probed") || !strings.Contains(got.result, "APPROVAL_REQUIRED") || strings.Contains(got.result, "deleted") {
			t.Errorf("%+v", got)
		}
		record, code := s.Run("runs", "--json")
		if code != 0 || !strings.Contains(record, run) || !strings.Contains(record, "probe") {
			t.Errorf("the record has no run of session %s:\n%s", run, record)
		}
	})
}

// TestSiblings: an agent sees the sessions below it alone.
func TestSiblings(t *testing.T) {
	t.Parallel()
	eachAPI(t, func(t *testing.T, api chat.API) {
		s := newStage(t, api, "  depth: 3")
		release := s.holding("held")
		defer release()
		peek := calls(call("sessions_list", "{}"), call("sessions_history", `{"run_id":"sibling"}`), call("sessions_kill", `{"run_id":"sibling"}`), call("sessions_kill", `{"run_id":"top"}`),
			call("sessions_send", `{"run_id_or_label":"sibling","message":"hello","timeout":0}`))
		s.role("peeks", func(ctx context.Context, r *modelserver.Request) modelserver.Reply {
			if !begun(r) { // the other one is there
				soon(t, s.held, "the sibling does not ask its model")
			}
			return peek(ctx, r)
		})
		s.role("top", func(_ context.Context, r *modelserver.Request) modelserver.Reply {
			switch told := announcements(r); {
			case !begun(r):
				return modelserver.Reply{Calls: []chat.Call{spawn("worker", "held", "sibling"), spawn("worker", "peeks", "peeking")}}
			case len(told) == 1:
				release()
				return modelserver.Reply{Text: told[0]}
			case len(told) < 2:
				return modelserver.Reply{Text: "I wait"}
			default:
				return modelserver.Reply{Text: strings.Join(told, "; ")}
			}
		})
		c := stdio(s.Account)
		c.spawn(t, map[string]any{"agent_id": "worker", "task": "top", "label": "top"})
		got := c.await(t, "top")
		if strings.Count(got.result, "there is no session") != 4 || !strings.Contains(got.result, `"sessions":[]`) || !strings.Contains(got.result, "held no longer") || strings.Contains(got.result, "hello") {
			t.Errorf("%+v", got)
		}
	})
}
