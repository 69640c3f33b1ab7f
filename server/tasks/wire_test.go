package tasks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// listen subscribes to tasks as "ann", and notes the statuses that come.
func (b *bench) listen(said *[]string, ids ...string) (agreed []string, stop func()) {
	b.t.Helper()
	params, err := json.Marshal(map[string]any{"notifications": map[string]any{"taskIds": ids}})
	if err != nil {
		b.t.Fatal(err)
	}
	all, stop, err := b.Listen(as(b.t.Context(), "ann", Extension), owner("ann"), params, func(method string, params map[string]any) {
		encoded, err := json.Marshal(params)
		if err != nil || method != "notifications/tasks" {
			b.t.Error(method, err)
		}
		now := b.decode(string(encoded))
		if same := b.get(now.TaskID); different(now, same) != "" {
			b.t.Error("a notice", different(now, same))
		}
		*said = append(*said, now.Status)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	agreed, _ = all["taskIds"].([]string)
	return agreed, stop
}

// Who listens hears of each status, once, and of what was before where the task
// does not work any more.
func TestListen(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		w := &talk{rounds: []*mcp.CallToolResult{asks("one", "a", "b"), says("done")}}
		id, other := b.begin(w.work), b.beginAs("bob", waits)
		long := b.begin(waits)
		synctest.Wait()
		var early, late, ended []string
		agreed, _ := b.listen(&early, id, other, "x", id)
		if !slices.Equal(agreed, []string{id}) {
			t.Errorf("agreed to %q", agreed)
		}
		_, stop := b.listen(&ended, id, long)
		stop()
		b.update(id, `{"a":1}`)
		b.update(id, `{"b":1}`)
		synctest.Wait()
		b.listen(&late, id, long)
		for _, test := range []struct{ got, want []string }{
			{early, []string{"input_required", "working", "completed"}}, {ended, []string{"input_required"}}, {late, []string{"completed"}},
		} {
			if !slices.Equal(test.got, test.want) {
				t.Errorf("heard %q, want %q", test.got, test.want)
			}
		}
	})
}

// Only who declares the extension may listen, and nothing else is asked of it.
func TestListenRefused(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		none := func(string, map[string]any) { t.Error("a notice") }
		id := b.begin(waits)
		params := fmt.Sprintf(`{"notifications":{"taskIds":[%q]}}`, id)
		_, _, err := b.Listen(as(t.Context(), "ann"), owner("ann"), json.RawMessage(params), none)
		if failed, ok := err.(*rpc.Error); !ok || failed.Code != -32021 {
			t.Errorf("without the extension: %v", err)
		}
		for _, params := range []string{``, `{}`, `[]`, `{"notifications":{"toolsListChanged":true}}`, `{"notifications":{"taskIds":"x"}}`, `{"notifications":{"taskIds":["x"]}}`} {
			agreed, stop, err := b.Listen(as(t.Context(), "ann", Extension), owner("ann"), json.RawMessage(params), none)
			if agreed != nil || err != nil {
				t.Errorf("%s: %v, %v", params, agreed, err)
			}
			stop()
		}
	})
}

// A task that goes back and forth says each status in order.
func TestListenInOrder(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		w := &talk{}
		for range 20 {
			w.rounds = append(w.rounds, asks("", "a"))
		}
		w.rounds = append(w.rounds, says("done"))
		id := b.begin(w.work)
		var said []string
		b.listen(&said, id)
		for b.get(id).Status != "completed" {
			if key := b.pending(id); key != "" {
				b.update(id, fmt.Sprintf(`{%q:1}`, key))
			}
		}
		synctest.Wait()
		if got := strings.Join(said, " "); got != strings.Repeat("input_required working ", 20)+"completed" {
			t.Error(got)
		}
	})
}
