package api_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// execute is the path that runs a skill.
func execute(skill string) string { return "/v1/skills/demo%2F" + skill + "/execute" }

// The same call is decided alike over REST and MCP, for each kind of principal.
func TestSameAsMCP(t *testing.T) {
	b := newBench(t)
	if a := b.call("person", "PUT", "/v1/skills/demo%2Foff/enabled", `{"enabled":false}`); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	want := map[string]map[string]run.Code{ // by skill and principal; "" principal is all others
		"run":     {"": ""},
		"fail":    {"": run.ExecutionError},
		"write":   {"": run.ApprovalRequired},
		"private": {"person": "", "": run.PermissionDenied},
		"off":     {"": run.NotFound},
		"none":    {"": run.NotFound},
		"denied":  {"ci": run.PermissionDenied, "": ""},
		"guide":   {"": run.InvalidParam},
	}
	for skill, codes := range want {
		for who := range people() {
			t.Run(skill+"/"+who, func(t *testing.T) {
				code, ok := codes[who]
				if !ok {
					code = codes[""]
				}
				overMCP := b.mcp(who, "demo/"+skill)
				var overREST run.Code
				if a := b.call(who, "POST", execute(skill), `{}`); a.StatusCode != http.StatusOK {
					overREST = a.problem(t).Code
				}
				if overMCP != overREST || overREST != code {
					t.Errorf("%q over MCP, %q over REST, want %q", overMCP, overREST, code)
				}
			})
		}
	}
}

// Decisions are a person's alone, whatever a program sends.
func TestWhoMay(t *testing.T) {
	b := newBench(t)
	asked := b.call("token", "POST", execute("write"), `{}`).problem(t)
	if asked.Approval == nil || asked.Approval.Page != "http://localhost/ui/approvals/"+asked.Approval.ID || asked.Error.Code != "APPROVAL_REQUIRED" {
		t.Fatalf("%+v", asked)
	}
	question := asked.Approval.Href
	for _, test := range []struct{ method, path, body string }{
		{"PUT", "/v1/skills/demo%2Frun/enabled", `{"enabled":true}`},
		{"PUT", "/v1/skills/demo%2Frun/pinned", `{"pinned":false}`},
		{"GET", "/v1/doctor", ""},
		{"POST", "", `{"scope":"once"}`},
		{"DELETE", "", ""},
	} {
		test.path = cmp.Or(test.path, question)
		for who := range people() {
			a := b.call(who, test.method, test.path, test.body)
			if who == "person" {
				if a.StatusCode >= 300 {
					t.Errorf("%s %s: %d %s", test.method, test.path, a.StatusCode, a.body)
				}
			} else if p := a.problem(t); p.Code != run.PermissionDenied {
				t.Errorf("%s %s as %s: %s", test.method, test.path, who, a.body)
			}
		}
		if test.method == "POST" { // a person has confirmed it: it runs once
			if a := b.call("token", "POST", execute("write"), `{}`, "Approval-Token: guessed"); a.StatusCode != 200 {
				t.Errorf("%d %s", a.StatusCode, a.body)
			}
			question = b.call("token", "POST", execute("write"), `{}`).problem(t).Approval.Href
		}
	}
}

// A program sees its own runs and questions, and a person all.
func TestOwn(t *testing.T) {
	b := newBench(t)
	ran := decode[api.Run](t, b.call("token", "POST", execute("run"), `{}`))
	asked := b.call("token", "POST", execute("write"), `{}`).problem(t)
	for path, kind := range map[string]string{"/v1/runs/" + ran.ID: "", "/v1/runs/" + ran.ID + "/outputs/out/sub/page.html": "output", asked.Approval.Href: ""} {
		for _, who := range []string{"token", "person"} {
			if a := b.call(who, "GET", path, "", "Accept: */*"); a.StatusCode != 200 {
				t.Errorf("%s as %s: %d %s", path, who, a.StatusCode, a.body)
			} else if kind == "output" && (string(a.body) != "<script>alert(1)</script>" || a.Header.Get("Content-Disposition") != "attachment; filename=page.html" || !strings.Contains(a.Header.Get("Content-Security-Policy"), "sandbox")) {
				t.Errorf("%v %s", a.Header, a.body)
			}
		}
		if p := b.call("other", "GET", path, "", "Accept: */*").problem(t); p.Status != 404 {
			t.Errorf("%s: %+v", path, p)
		}
	}
	for who, want := range map[string]int{"person": 1, "token": 1, "other": 0} {
		runs := decode[api.RunPage](t, b.call(who, "GET", "/v1/runs?skill=demo/run", ""))
		asked := decode[struct{ Items []struct{ ID string } }](t, b.call(who, "GET", "/v1/approvals", ""))
		if len(runs.Items) != want || len(asked.Items) != want || runs.Items == nil {
			t.Errorf("%s sees %d runs and %d approvals", who, len(runs.Items), len(asked.Items))
		}
	}
}

// event is a server-sent event.
type event struct {
	id, name string
	data     api.End
	text     string
	count    *jobs.Count
}

// read reads the next event.
func read(t *testing.T, lines *bufio.Scanner) (e event, ok bool) {
	t.Helper()
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			e.id = value
		case "event":
			e.name = value
		case "data":
			var step jobs.Event
			if json.Unmarshal([]byte(value), &step) != nil || json.Unmarshal([]byte(value), &e.data) != nil {
				t.Fatal(value)
			}
			e.text, e.count = step.Text, step.Count
		}
		if lines.Text() == "" && e.name != "" {
			return e, true
		}
	}
	return event{}, false
}

// The answers of execute have one type, whether it waits for the end or not.
func TestExecuteAnswer(t *testing.T) {
	b := newBench(t)
	waited := decode[api.Run](t, b.call("token", "POST", execute("run"), `{}`))
	if waited.ID == "" || waited.State != jobs.Ended || waited.Result == nil || waited.Result.RunID != waited.ID || waited.Result.Stdout != "first\nsecond\n" {
		t.Errorf("%+v", waited)
	}
	started := decode[api.Run](t, b.call("token", "POST", execute("hang"), `{}`, "Prefer: respond-async"))
	if started.ID == "" || started.State != jobs.Running || started.Result != nil {
		t.Errorf("%+v", started)
	}
	answers := b.contract.doc.Paths.Value("/v1/skills/{name}/execute").Post.Responses
	get := b.contract.doc.Paths.Value("/v1/runs/{id}").Get.Responses.Status(200)
	for status := range answers.Map() {
		if answer := answers.Value(status).Value.Content.Get("application/json"); answer != nil && answer.Schema.Ref != get.Value.Content.Get("application/json").Schema.Ref {
			t.Errorf("the answer with the status %s is a %s", status, answer.Schema.Ref)
		}
	}
}

// A run's output and progress come as events, the last one with its result; from an event
// on, it can be read again.
func TestStream(t *testing.T) {
	b := newBench(t)
	var counted []event
	all := func(lines *bufio.Scanner) (ids, out []string, last event) {
		for {
			e, ok := read(t, lines)
			if !ok {
				return ids, out, last
			}
			ids, last = append(ids, e.id), e
			switch e.name {
			case "stdout":
				out = append(out, e.text)
			case "progress":
				counted = append(counted, e)
			}
		}
	}
	r := b.open(t.Context(), "token", "POST", execute("run"), `{}`, "Accept: text/event-stream")
	defer r.Body.Close()
	ids, out, last := all(bufio.NewScanner(r.Body))
	if r.Header.Get("Content-Type") != "text/event-stream" || strings.Join(out, "") != "first\nsecond\n" || last.name != "end" || last.data.Result == nil || last.data.Error != nil {
		t.Fatalf("%v %v %+v", ids, out, last)
	}
	if len(counted) == 0 || counted[len(counted)-1].text != "whole" || *counted[len(counted)-1].count != (jobs.Count{Done: 2, Total: 2}) {
		t.Errorf("the progress is %+v", counted)
	}
	if unique := slices.Compact(slices.Clone(ids)); len(unique) != len(ids) {
		t.Errorf("ids %v", ids)
	}
	r = b.open(t.Context(), "token", "GET", "/v1/runs/"+last.data.Result.RunID, "", "Accept: text/event-stream", "Last-Event-ID: "+ids[len(ids)-2])
	defer r.Body.Close()
	if again, _, end := all(bufio.NewScanner(r.Body)); !slices.Equal(again, ids[len(ids)-1:]) || end.name != "end" {
		t.Errorf("after %s: %v %+v", ids[len(ids)-2], again, end)
	}
	r = b.open(t.Context(), "token", "POST", execute("fail"), `{}`, "Accept: text/event-stream")
	defer r.Body.Close()
	if _, _, end := all(bufio.NewScanner(r.Body)); end.data.Error == nil || end.data.Error.Code != run.ExecutionError || *end.data.Result.ExitCode != 3 {
		t.Errorf("%+v", end)
	}
}

// The answer to a run that took long is sent, however it ended.
func TestLate(t *testing.T) {
	b := newBench(t)
	for skill, want := range map[string]int{"run": 200, "fail": 422} {
		if a := b.call("token", "POST", execute(skill), `{}`, "X-Late: 1"); a.StatusCode != want {
			t.Errorf("%s: %d %s", skill, a.StatusCode, a.body)
		}
	}
}

// A client that leaves ends its run.
func TestLeave(t *testing.T) {
	b := newBench(t)
	ctx, leave := context.WithCancel(t.Context())
	r := b.open(ctx, "token", "POST", execute("hang"), `{}`, "Accept: text/event-stream")
	lines := bufio.NewScanner(r.Body)
	for e, ok := read(t, lines); e.name != "stderr"; e, ok = read(t, lines) {
		if !ok {
			t.Fatal("the stream has ended")
		}
	}
	running := decode[api.RunPage](t, b.call("token", "GET", "/v1/runs", "")).Running
	if len(running) != 1 {
		t.Fatalf("%+v", running)
	}
	leave()
	r.Body.Close()
	r = b.open(t.Context(), "token", "GET", "/v1/runs/"+running[0].ID, "", "Accept: text/event-stream")
	defer r.Body.Close()
	lines = bufio.NewScanner(r.Body)
	for e, ok := read(t, lines); e.name != "end"; e, ok = read(t, lines) {
		if !ok {
			t.Fatal("there is no end")
		}
	}
}

// A run can be started, polled and ended by three requests.
func TestAsync(t *testing.T) {
	b := newBench(t)
	a := b.call("token", "POST", execute("hang"), `{}`, "Prefer: wait=1, respond-async")
	started := decode[api.Run](t, a)
	path := a.Header.Get("Location")
	if a.StatusCode != http.StatusAccepted || a.Header.Get("Preference-Applied") != "respond-async" || path != "/v1/runs/"+started.ID {
		t.Fatalf("%d %v %s", a.StatusCode, a.Header, a.body)
	}
	if p := b.call("other", "DELETE", path, "").problem(t); p.Status != 404 {
		t.Errorf("%+v", p)
	}
	if a := b.call("token", "DELETE", path, ""); a.StatusCode != http.StatusNoContent || len(a.body) != 0 {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	r := b.open(t.Context(), "token", "GET", path, "", "Accept: text/event-stream")
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	var last event
	for e, ok := read(t, lines); ok; e, ok = read(t, lines) {
		last = e
	}
	if last.name != "end" || last.data.Error == nil {
		t.Errorf("%+v", last)
	}
	if got := decode[api.Run](t, b.call("token", "GET", path, "")); got.Live == nil || got.Live.State != jobs.Ended || got.Live.Err == nil {
		t.Errorf("%+v", got)
	}
}
