package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A collector takes traces over OTLP/HTTP.
type collector struct {
	*httptest.Server
	batches chan *wire.TracesData
	spans   map[string]*wire.Span // the last of each name
}

func newCollector(t *testing.T) *collector {
	c := &collector{batches: make(chan *wire.TracesData, 100), spans: map[string]*wire.Span{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		batch := &wire.TracesData{}
		if err != nil || proto.Unmarshal(body, batch) != nil || r.URL.Path != "/v1/traces" || r.Header.Get("X-Key") != "a b" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %v: %v", r.URL, r.Header, err)
		}
		c.batches <- batch
	}))
	t.Cleanup(c.Close)
	return c
}

// await waits until there is a span of each name.
func (c *collector) await(t *testing.T, names ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), lab.Patience)
	defer cancel()
	for slices.ContainsFunc(names, func(name string) bool { return c.spans[name] == nil }) {
		select {
		case batch := <-c.batches:
			for _, of := range batch.ResourceSpans {
				for _, scope := range of.ScopeSpans {
					for _, span := range scope.Spans {
						c.spans[span.Name] = span
					}
				}
			}
		case <-ctx.Done():
			t.Fatalf("there are only the spans %v", slices.Collect(maps.Keys(c.spans)))
		}
	}
}

// A person calls tools of a server over HTTP, with a token.
type person struct {
	t            *testing.T
	server, text string
}

func (p person) call(tool, arguments, trace string) (answer string, response *http.Response) {
	p.t.Helper()
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"traceparent":%q,"baggage":"who=me"}}}`, tool, arguments, trace)
	return p.post(body, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: "+tool)
}

func (p person) post(body string, headers ...string) (answer string, response *http.Response) {
	p.t.Helper()
	response = lab.Request(p.t, "POST", p.server+"/mcp", strings.NewReader(body), append(headers, "Content-Type: application/json", "Accept: application/json, text/event-stream", "Authorization: Bearer "+p.text)...)
	text, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text), response
}

var sample = regexp.MustCompile(`(?m)^([a-z_0-9]+)(?:\{(.*)\})? (\S+)$`)

// scrape returns the values of a Prometheus endpoint by name and labels.
func scrape(t *testing.T, url string) map[string]string {
	t.Helper()
	text, err := io.ReadAll(lab.Request(t, "GET", url, nil).Body)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, m := range sample.FindAllStringSubmatch(string(text), -1) {
		all[m[1]+"{"+m[2]+"}"] = m[3]
	}
	return all
}

// What two people did on a server stands in its log, its metrics and its traces, without
// their tokens and arguments; a script knows the trace of its caller.
func TestSeeing(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		traces := newCollector(t)
		a := lab.NewAccount(t, driver, fmt.Sprintf(`
serve: {access_log: true}
telemetry: {metrics: {listen: "127.0.0.1:0"}, traces: {endpoint: %q, sample: 1}}
policy: {skills: {connects: {network: [granted.example]}}, profiles: {one: {max_concurrent_executions: 1}, two: {deny: [broken]}}}
`, traces.URL))
		a.Env = []string{"OTEL_BSP_SCHEDULE_DELAY=50", "OTEL_EXPORTER_OTLP_HEADERS=x-key=a%20b"}
		skill := func(name, more, script string) {
			a.Skill(name+"/SKILL.md", "---\nname: "+name+"\ndescription: Does "+name+".\nscript: run.sh\n"+more+"\n---\n")
			a.Skill(name+"/run.sh", "#!/bin/bash\n"+script+"\n")
		}
		skill("traced", "class: safe", `echo "$TRACEPARENT;$TRACESTATE;$BAGGAGE"`)
		skill("broken", "class: safe", "exit 3")
		skill("asks", "class: mutating", "true")
		skill("waits", "class: safe", "until [ -e /workspace/go ]; do sleep 0.05; done")
		skill("connects", "class: mutating", `exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT denied.example:443 HTTP/1.1\r\nHost: denied.example\r\n\r\n' >&3; head -1 <&3`)
		token := func(name, profile string) string {
			out, code := a.Run("token", "add", name, "--profile", profile)
			if code != 0 {
				t.Fatal(out)
			}
			return regexp.MustCompile(`smcp_\w+`).FindString(out)
		}
		anns, bens := token("ann", "one"), token("ben", "two")
		s := a.Listens("127.0.0.1:0", "--log-format", "json")
		metrics := s.Says(regexp.MustCompile(`serving metrics at (\S+)`))[1]
		ann, ben := person{t, s.Address, anns}, person{t, s.Address, bens}

		const caller = "4bf92f3577b34da6a3ce929d0e0e4736"
		answer, response := ann.call("traced", `{}`, "00-"+caller+"-00f067aa0ba902b7-01")
		traces.await(t, "tools/call traced", "queue", "sandbox", "decide")
		request, run := traces.spans["tools/call traced"], traces.spans["sandbox"]
		if !strings.Contains(answer, fmt.Sprintf("00-%s-%x-01;;", caller, run.SpanId)) {
			t.Errorf("the span of the sandbox is %x: %s", run.SpanId, answer)
		}
		if fmt.Sprintf("%x", request.ParentSpanId) != "00f067aa0ba902b7" || string(run.ParentSpanId) != string(request.SpanId) {
			t.Errorf("the parents are %x and %x, not %x", request.ParentSpanId, run.ParentSpanId, request.SpanId)
		}
		id := response.Header.Get("X-Request-Id")
		s.Says(regexp.MustCompile(`"msg":"call","run":"[^"]+","request":"` + id + `","parent":"","skill":"traced","digest":"[^"]+","principal":\{"kind":"token","id":"ann","name":"ann","profile":"one"\},"way":"tool","outcome":"OK"`))
		s.Says(regexp.MustCompile(`"msg":"request","request":"` + id + `","principal":\{"kind":"token","id":"ann".*"method":"tools/call","tool":"traced","outcome":"ok".*"status":200`))

		ann.call("broken", `{"args":["private argument"]}`, "nonsense")
		ben.call("broken", `{}`, "") // which does not exist for him
		ben.call("guess1", `{}`, "")
		ben.call("guess2", `{}`, "")
		ben.call("asks", `{}`, "")
		answer, _ = ben.call("connects", `{}`, "")
		question := regexp.MustCompile(`"approval":"([^"]+)"`).FindStringSubmatch(answer)
		if question == nil {
			t.Fatal(answer)
		}
		if screen, code := a.Terminal("yes", "approve", question[1]); code != 0 {
			t.Fatal(screen)
		}
		if answer, _ := ben.call("connects", `{}`, ""); !strings.Contains(answer, "denied.example:443 is not among the hosts") {
			t.Error(answer)
		}
		person{t, s.Address, "smcp_guess"}.call("traced", `{}`, "")
		_, opened := ann.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		lab.Request(t, "DELETE", s.Address+"/mcp", nil, "Authorization: Bearer "+anns, "Mcp-Session-Id: "+opened.Header.Get("Mcp-Session-Id"))
		waited := make(chan string, 1)
		go func() {
			answer, _ := ann.call("waits", `{}`, "")
			waited <- answer
		}()
		for scrape(t, metrics)["skills_mcp_slots_used{}"] != "1" {
		}
		ann.call("waits", `{}`, "")
		lab.WriteFile(t, filepath.Join(a.Workspace, "go"), "")
		if text := <-waited; strings.Contains(text, `"isError":true`) {
			t.Error(text)
		}
		for scrape(t, metrics)[`mcp_server_session_duration_seconds_count{mcp_protocol_version="2025-11-25",network_protocol_name="http",network_transport="tcp",skills_mcp_profile="one"}`] != "1" {
		}

		got := scrape(t, metrics)
		operation := func(tool, profile, failure string) string {
			if failure != "" {
				failure = `error_type="` + failure + `",`
			}
			return `mcp_server_operation_duration_seconds_count{` + failure + `gen_ai_operation_name="execute_tool",gen_ai_tool_name="` + tool + `",mcp_method_name="tools/call",mcp_protocol_version="2026-07-28",network_protocol_name="http",network_transport="tcp",skills_mcp_profile="` + profile + `"}`
		}
		calls := func(skill, profile, outcome string) string {
			return fmt.Sprintf(`skills_mcp_calls_total{outcome=%q,skills_mcp_profile=%q,skills_mcp_skill=%q,way="tool"}`, outcome, profile, skill)
		}
		for name, want := range map[string]string{
			operation("traced", "one", ""):           "1",
			operation("broken", "one", "tool_error"): "1",
			operation("asks", "two", "tool_error"):   "1",
			operation("waits", "one", "tool_error"):  "1",
			strings.Replace(operation("_OTHER", "two", "-32602"), `",skills_mcp_profile="two"`, `",rpc_response_status_code="-32602",skills_mcp_profile="two"`, 1): "3",
			calls("traced", "one", "OK"):                                       "1",
			calls("broken", "one", "FAILED"):                                   "1",
			calls("waits", "one", "BUSY"):                                      "1",
			calls("asks", "two", "APPROVAL_REQUIRED"):                          "1",
			`skills_mcp_approvals_total{outcome="APPROVAL_REQUIRED"}`:          "2",
			`skills_mcp_approvals_total{outcome="OK"}`:                         "1",
			`skills_mcp_approvals_waiting{}`:                                   "1",
			`skills_mcp_auth_refusals_total{http_response_status_code="401"}`:  "1",
			`skills_mcp_egress_requests_total{outcome="denied"}`:               "1",
			`skills_mcp_egress_requests_total{outcome="made"}`:                 "0",
			`skills_mcp_engine_up{}`:                                           "1",
			`skills_mcp_slots_used{}`:                                          "0",
			`skills_mcp_run_duration_seconds_count{skills_mcp_skill="broken"}`: "1",
		} {
			if got[name] != want {
				t.Errorf("%s is %q, not %s", name, got[name], want)
			}
		}
		for name := range got {
			if strings.Contains(name, "ann") || strings.Contains(name, "ben\"") {
				t.Errorf("%s names a person", name)
			}
		}
		for _, private := range []string{anns, bens, "smcp_guess", "private argument"} {
			if strings.Contains(s.Said(), private) {
				t.Errorf("the log has %q: %s", private, s.Said())
			}
		}
		checkDashboard(t, got)
	})
}

var (
	grouped = regexp.MustCompile(`by \(([^)]*)\)`)
	matched = regexp.MustCompile(`\{([^}]*)\}`)
	worded  = regexp.MustCompile(`[a-z_]+[a-z]`)
	metric  = regexp.MustCompile(`[a-z]+_[a-z_]+`)
	call    = regexp.MustCompile(`[a-z_]+\(|"[^"]*"|\$[a-z_]+`)
)

// checkDashboard compares the metrics and labels of the dashboard with a server's.
func checkDashboard(t *testing.T, got map[string]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil || len(dashboard.Panels) == 0 {
		t.Fatal(err, len(dashboard.Panels))
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			var labels []string
			expr := target.Expr
			for _, by := range grouped.FindAllStringSubmatch(expr, -1) {
				labels = append(labels, worded.FindAllString(by[1], -1)...)
			}
			for _, by := range matched.FindAllStringSubmatch(target.LegendFormat+expr, -1) {
				labels = append(labels, worded.FindAllString(call.ReplaceAllString(by[1], ""), -1)...)
			}
			names := metric.FindAllString(call.ReplaceAllString(matched.ReplaceAllString(grouped.ReplaceAllString(expr, ""), ""), ""), -1)
			if len(names) == 0 {
				t.Errorf("%s: %s names no metric", panel.Title, target.Expr)
			}
			for _, name := range names {
				for _, label := range append(labels, "") {
					if !slices.ContainsFunc(slices.Collect(maps.Keys(got)), func(line string) bool {
						return strings.HasPrefix(line, name+"{") && (label == "" || strings.Contains(line, "{"+label+`="`) || strings.Contains(line, ","+label+`="`))
					}) {
						t.Errorf("%s: there is no %s with a label %q", panel.Title, name, label)
					}
				}
			}
		}
	}
}
