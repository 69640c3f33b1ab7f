package api_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/server/agents"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// subagents are sessions without a loop.
type subagents struct {
	mu  sync.Mutex // guards all
	all map[string]agents.Session
}

// newSubagents returns the sessions of two principals; the first one's has a child.
func newSubagents() *subagents {
	s := &subagents{all: map[string]agents.Session{}}
	for i, one := range []agents.Session{
		{RunID: "aaaaaaaaaaaa", Agent: "lead", Owner: people()["token"].Owner(), Children: []string{"bbbbbbbbbbbb"}, Messages: []chat.Message{
			{Role: chat.User, Text: "Do it."}, {Role: chat.Assistant, Calls: []chat.Call{{ID: "1", Name: "run", Args: json.RawMessage(`{"target":"a"}`)}}}, {Role: chat.Tool, CallID: "1", Text: "first"},
		}},
		{RunID: "bbbbbbbbbbbb", Agent: "reader", Owner: people()["token"].Owner(), Ancestors: []string{"aaaaaaaaaaaa"}, Depth: 2},
		{RunID: "cccccccccccc", Agent: "lead", Owner: people()["other"].Owner(), Status: agents.TimedOut, Ended: time.Unix(1e9, 0)},
	} {
		one.Status, one.Created = cmp.Or(one.Status, agents.Running), time.Unix(int64(i), 0)
		s.all[one.RunID] = one
	}
	return s
}

// All implements [api.Subagents].
func (s *subagents) All(_ context.Context, owner *identity.Key, status agents.Status) (list []*agents.Session, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range slices.SortedFunc(maps.Values(s.all), func(a, b agents.Session) int { return b.Created.Compare(a.Created) }) {
		if one.Messages = nil; (owner == nil || one.Owner == *owner) && (status == "" || one.Status == status) {
			list = append(list, &one)
		}
	}
	return list, nil
}

// Find implements [api.Subagents].
func (s *subagents) Find(_ context.Context, id string) (*agents.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, ok := s.all[id]; ok {
		return &one, nil
	}
	return nil, nil
}

// Stop implements [api.Subagents].
func (s *subagents) Stop(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		if (one.RunID == id || slices.Contains(one.Ancestors, id)) && one.Status == agents.Running {
			one.Status = agents.Killed
			s.all[one.RunID] = one
		}
	}
	return nil
}

// A subagent has one owner, who sees and ends it. A person and who oversees others see all,
// and the person ends all.
func TestSubagents(t *testing.T) {
	b := newBench(t)
	for who, want := range map[string]string{
		"token": "bbbbbbbbbbbb aaaaaaaaaaaa", "ci": "bbbbbbbbbbbb aaaaaaaaaaaa", "other": "cccccccccccc", "anonymous": "", "subject": "",
		"person": "cccccccccccc bbbbbbbbbbbb aaaaaaaaaaaa", "boss": "cccccccccccc bbbbbbbbbbbb aaaaaaaaaaaa",
	} {
		var got []string
		for _, one := range decode[api.List[*agents.Session]](t, b.call(who, "GET", "/v1/subagents", "")).Items {
			if got = append(got, one.RunID); one.Messages != nil {
				t.Errorf("%s lists messages of %s", who, one.RunID)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s sees %v, want %s", who, got, want)
		}
		for _, id := range []string{"aaaaaaaaaaaa", "cccccccccccc"} {
			a := b.call(who, "GET", "/v1/subagents/"+id, "")
			if strings.Contains(want, id) {
				if one := decode[agents.Session](t, a); one.RunID != id || id == "aaaaaaaaaaaa" && (len(one.Messages) != 3 || !slices.Equal(one.Children, []string{"bbbbbbbbbbbb"})) {
					t.Errorf("%s gets %+v", who, one)
				}
				continue
			}
			foreign := a.problem(t)
			none := b.call(who, "GET", "/v1/subagents/dddddddddddd", "").problem(t)
			if foreign.Detail = strings.ReplaceAll(foreign.Detail, id, "dddddddddddd"); foreign.Status != http.StatusNotFound || foreign.Detail != none.Detail {
				t.Errorf("to %s %s is not as one that does not exist: %+v", who, id, foreign)
			}
			if p := b.call(who, "DELETE", "/v1/subagents/"+id, "").problem(t); p.Status != http.StatusNotFound {
				t.Errorf("%s ends %s: %+v", who, id, p)
			}
		}
	}
	if p := b.call("boss", "DELETE", "/v1/subagents/aaaaaaaaaaaa", "").problem(t); p.Code != run.PermissionDenied {
		t.Errorf("who sees all ends the subagent of another: %+v", p)
	}
	running := func() int {
		return len(decode[api.List[*agents.Session]](t, b.call("person", "GET", "/v1/subagents?status=running", "")).Items)
	}
	if n := running(); n != 2 {
		t.Errorf("%d run before they are ended", n)
	}
	if a := b.call("token", "DELETE", "/v1/subagents/aaaaaaaaaaaa", ""); a.StatusCode != http.StatusNoContent || running() != 0 {
		t.Errorf("the tree goes on: %d %s", a.StatusCode, a.body)
	}
}

// The stamp of runs changes with a subagent, for those alone who see it.
func TestSubagentsStamp(t *testing.T) {
	held := newSubagents()
	s := newStage(t, "", func(o *api.Options) { o.Subagents = held })
	stamp := func(kind identity.Kind, id string) string {
		stamps, err := s.Stamps(as(t, kind, id))
		if err != nil {
			t.Fatal(err)
		}
		return stamps.Runs
	}
	ann, bea, all := stamp(identity.Token, "laptop"), stamp(identity.Token, "desktop"), stamp(identity.Person, "")
	used := held.all["bbbbbbbbbbbb"]
	used.Used.Turns = 1
	held.all["bbbbbbbbbbbb"] = used
	if stamp(identity.Token, "laptop") == ann || stamp(identity.Person, "") == all || stamp(identity.Token, "desktop") != bea {
		t.Error("the stamps do not follow the subagents that each sees")
	}
}
