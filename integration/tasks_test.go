package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// taskers are skills whose calls are tasks at once.
var taskers = map[string]string{
	"greet": `
		echo 'about to ask' >&2
		echo '{"mcp":{"ask":{"message":"Who?","schema":{"type":"object","properties":{"name":{"type":"string"}}}}}}'
		read -r answer
		echo "Hello, $answer"`,
	"stay": `
		sleep 600 &
		mkfifo /tmp/never
		read -r line </tmp/never`,
	"fail": `exit 3`,
}

// A call that is a task asks, ends and is cancelled as one.
func TestTasks(t *testing.T) {
	drivers(t, func(t *testing.T, driver string) {
		w := serveScripts(t, driver, "asks: [person]\ntask: always", taskers)

		id := w.begin("greet")
		asking := w.until(id, "input_required")
		if !strings.Contains(string(asking.InputRequests), `"message":"Skill greet asks: Who?"`) {
			t.Errorf("it asks %s", asking.InputRequests)
		}
		w.about(id, "update", `,"inputResponses":{"ask-1":`+alice+`}`)
		if done := w.until(id, "completed"); !strings.Contains(string(done.Result), `Hello, {\"action\":\"accept\",\"content\":{\"name\":\"Alice\"}}`) {
			t.Errorf("it returns %s", done.Result)
		}

		if failed := w.until(w.begin("fail"), "completed"); !strings.Contains(string(failed.Result), `"isError":true`) {
			t.Errorf("it returns %s", failed.Result)
		}

		id = w.begin("stay")
		w.about(id, "cancel", "")
		if over := w.until(id, "cancelled"); over.Result != nil {
			t.Errorf("it returns %s", over.Result)
		}
		w.begin("stay") // and end with it under way
	})
}

// task is what a server says of one.
type task struct {
	TaskID, Status        string
	InputRequests, Result json.RawMessage
}

const knowsTasks = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`

// task makes a request that is about one.
func (w *wire) task(method, params string) (got task) {
	w.t.Helper()
	w.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}}}`, method, params, knowsTasks))
	var m struct {
		Result *task
		Error  json.RawMessage
	}
	line, err := w.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &m)
	}
	if err != nil || m.Result == nil {
		w.t.Fatalf("%s: %v in %s", method, err, line)
	}
	return *m.Result
}

func (w *wire) begin(skill string) (id string) {
	w.t.Helper()
	begun := w.task("tools/call", fmt.Sprintf(`"name":%q,"arguments":{}`, skill))
	if begun.TaskID == "" || begun.Status != "working" {
		w.t.Fatalf("%s is no task: %+v", skill, begun)
	}
	return begun.TaskID
}

func (w *wire) about(id, method, more string) task {
	w.t.Helper()
	return w.task("tasks/"+method, fmt.Sprintf(`"taskId":%q%s`, id, more))
}

// until asks until a task has a status.
func (w *wire) until(id, status string) task {
	w.t.Helper()
	for {
		switch now := w.about(id, "get", ""); now.Status {
		case status:
			return now
		case "working", "input_required":
		default:
			w.t.Fatalf("the task is %s, and will not be %s: %s", now.Status, status, now.Result)
		}
	}
}
