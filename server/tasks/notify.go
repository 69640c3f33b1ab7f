package tasks

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A watcher is a subscription to tasks.
type watcher struct {
	send func(method string, params map[string]any)
}

// Listen has send get notifications/tasks of those tasks that params, of
// subscriptions/listen, name and that are the owner's: at each change of their
// status, and at once where one does not work. agreed is what the acknowledgement
// says of them, and nil is nothing. stop ends it. The error is an [*rpc.Error].
func (s *Store) Listen(ctx context.Context, owner identity.Key, params json.RawMessage, send func(method string, params map[string]any)) (agreed map[string]any, stop func(), err error) {
	var asked struct {
		Notifications struct {
			TaskIDs []string `json:"taskIds"`
		} `json:"notifications"`
	}
	if json.Unmarshal(params, &asked) != nil || len(asked.Notifications.TaskIDs) == 0 {
		return nil, func() {}, nil // params that are not well-formed are reported by mcp-go
	}
	if !Declared(ctx) {
		return nil, nil, Undeclared()
	}
	w := &watcher{send}
	var ids []string
	var watched []*Task
	for _, id := range asked.Notifications.TaskIDs {
		if t := s.find(owner, id); t != nil && !slices.Contains(ids, id) {
			t.watch(w)
			ids, watched = append(ids, id), append(watched, t)
		}
	}
	if len(ids) > 0 {
		agreed = map[string]any{"taskIds": ids}
	}
	return agreed, func() {
		for _, t := range watched {
			t.unwatch(w)
		}
	}, nil
}

// watch tells a watcher of the task from now on, and what it may have missed.
func (t *Task) watch(w *watcher) {
	t.telling.Lock()
	defer t.telling.Unlock()
	t.watchers = append(t.watchers, w)
	if t.detailed().Status != Working {
		t.send(w)
	}
}

func (t *Task) unwatch(w *watcher) {
	t.telling.Lock()
	defer t.telling.Unlock()
	t.watchers = slices.DeleteFunc(t.watchers, func(other *watcher) bool { return other == w })
}

// tell tells the watchers that the status is another. Where it changes again
// meanwhile, the last they hear of is the last there is.
func (t *Task) tell() {
	t.telling.Lock()
	defer t.telling.Unlock()
	t.send(t.watchers...)
}

// send sends the task as it is. The caller holds telling.
func (t *Task) send(to ...*watcher) {
	if len(to) == 0 {
		return
	}
	encoded, err := json.Marshal(t.detailed())
	var fields map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(encoded, &fields)
	}
	if err != nil {
		return // tasks/get says why
	}
	params := map[string]any{}
	for name, value := range fields {
		params[name] = value
	}
	for _, w := range to {
		w.send("notifications/tasks", params)
	}
}
