package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	nometrics "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	notraces "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A lab is telemetry whose spans, measures and log can be read.
type lab struct {
	*Telemetry
	spans  *tracetest.SpanRecorder
	reader *sdkmetric.ManualReader
	log    bytes.Buffer
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{spans: tracetest.NewSpanRecorder(), reader: sdkmetric.NewManualReader()}
	var err error
	l.Telemetry, err = New(sdkmetric.NewMeterProvider(sdkmetric.WithReader(l.reader)), sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(l.spans)), slog.New(slog.NewJSONHandler(&l.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// span returns the attributes of the span of a name.
func (l *lab) span(t *testing.T, name string) (sdktrace.ReadOnlySpan, map[string]string) {
	t.Helper()
	for _, s := range l.spans.Ended() {
		if s.Name() == name {
			all := map[string]string{}
			for _, a := range s.Attributes() {
				all[string(a.Key)] = a.Value.String()
			}
			return s, all
		}
	}
	t.Fatalf("there is no span %q", name)
	return nil, nil
}

// points returns the attributes of a metric's points, with their count or sum.
func (l *lab) points(t *testing.T, name string) map[attribute.Set]float64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := l.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[attribute.Set]float64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			if m.Name != name {
				continue
			}
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					found[p.Attributes] = float64(p.Count)
				}
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					found[p.Attributes] = float64(p.Value)
				}
			case metricdata.Gauge[int64]:
				for _, p := range data.DataPoints {
					found[p.Attributes] = float64(p.Value)
				}
			}
		}
	}
	return found
}

const (
	parent  = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	ambient = "00-11111111111111111111111111111111-2222222222222222-01"
)

func call(params string) transport.Observed {
	return transport.Observed{
		Client: transport.Client{Principal: identity.Principal{Kind: identity.Token, ID: "ci", Profile: "robots"}, Version: "2025-11-25"},
		Method: "tools/call", ID: json.RawMessage(`"seven"`), Params: json.RawMessage(params), HasTool: func(name string) bool { return name == "greet" },
	}
}

// A request has a span and a measure by the names of the conventions. Names that the server
// does not know count as one, and no measure has a principal.
func TestRequests(t *testing.T) {
	l := newLab(t)
	unknown := call(`{}`)
	unknown.Method, unknown.Pipe = "wild/thing", true
	for _, c := range []struct {
		r transport.Observed
		e transport.Ended
	}{
		{call(`{"name":"greet"}`), transport.Ended{}},
		{call(`{"name":"greet"}`), transport.Ended{ToolFailed: true}},
		{call(`{"name":"guess1"}`), transport.Ended{Code: -32602}},
		{call(`{"name":"guess2"}`), transport.Ended{Code: -32602}},
		{unknown, transport.Ended{Code: -32601}},
	} {
		_, ended := l.Observer().Begin(t.Context(), c.r)
		ended(c.e)
	}
	tool := func(name string, more ...attribute.KeyValue) attribute.Set {
		return attribute.NewSet(append(more,
			attribute.String("mcp.method.name", "tools/call"), attribute.String("gen_ai.tool.name", name), attribute.String("gen_ai.operation.name", "execute_tool"),
			attribute.String("mcp.protocol.version", "2025-11-25"), attribute.String("network.transport", "tcp"), attribute.String("network.protocol.name", "http"), attribute.String("skills_mcp.profile", "robots"))...)
	}
	want := map[attribute.Set]float64{
		tool("greet"): 1,
		tool("greet", attribute.String("error.type", "tool_error")):                                                      1,
		tool("_OTHER", attribute.String("error.type", "-32602"), attribute.String("rpc.response.status_code", "-32602")): 2,
		attribute.NewSet(attribute.String("mcp.method.name", "_OTHER"), attribute.String("mcp.protocol.version", "2025-11-25"), attribute.String("network.transport", "pipe"),
			attribute.String("skills_mcp.profile", "robots"), attribute.String("error.type", "-32601"), attribute.String("rpc.response.status_code", "-32601")): 1,
	}
	got := l.points(t, "mcp.server.operation.duration")
	for set, count := range want {
		if got[set] != count {
			t.Errorf("%v: %v, not %v", set.Encoded(attribute.DefaultEncoder()), got[set], count)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d points, not %d", len(got), len(want))
	}
	if s, all := l.span(t, "tools/call greet"); s.SpanKind() != trace.SpanKindServer || all["jsonrpc.request.id"] != "seven" || all["mcp.method.name"] != "tools/call" {
		t.Errorf("%v %v", s.SpanKind(), all)
	}
	l.span(t, "tools/call")
	l.span(t, "_OTHER")
	if text := l.log.String(); strings.Count(text, `"msg":"request"`) != 5 || !strings.Contains(text, `"outcome":"tool_error"`) || strings.Contains(text, "guess") {
		t.Error(text)
	}
}

// The trace of _meta precedes that of the HTTP request, which is a link then; a malformed
// one counts as none.
func TestParents(t *testing.T) {
	for name, test := range map[string]struct {
		params, header string
		trace          string // of the span; "" is its own
		links          int
	}{
		"meta":           {`{"_meta":{"traceparent":"` + parent + `","tracestate":"a=b"}}`, "", "4bf92f3577b34da6a3ce929d0e0e4736", 0},
		"header":         {`{}`, ambient, "11111111111111111111111111111111", 0},
		"both":           {`{"_meta":{"traceparent":"` + parent + `"}}`, ambient, "4bf92f3577b34da6a3ce929d0e0e4736", 1},
		"malformed meta": {`{"_meta":{"traceparent":"00-nonsense"}}`, ambient, "11111111111111111111111111111111", 0},
		"no text":        {`{"_meta":{"traceparent":7}}`, "", "", 0},
		"malformed both": {`{"_meta":{"traceparent":"x"}}`, "00-0-0-0", "", 0},
		"none":           {`{}`, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			handler := l.Around(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, ended := l.Observer().Begin(r.Context(), call(test.params))
				ended(transport.Ended{})
			}))
			r := httptest.NewRequest("POST", "/mcp?link=secret", nil)
			r.Header.Set("traceparent", test.header)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			s, _ := l.span(t, "tools/call")
			if got := s.SpanContext().TraceID().String(); test.trace != "" && got != test.trace || len(s.Links()) != test.links || s.Parent().IsValid() != (test.trace != "") {
				t.Errorf("trace %s with %d links, parent %v", got, len(s.Links()), s.Parent().IsValid())
			}
			id := w.Header().Get(RequestHeader)
			if text := l.log.String(); id == "" || strings.Count(text, id) != 1 || !strings.Contains(text, `"id":"ci"`) || strings.Contains(text, "secret") {
				t.Errorf("request %q: %s", id, text)
			}
		})
	}
}

// A trusted proxy's id is kept if no log can be confused by it.
func TestRequestID(t *testing.T) {
	l := newLab(t)
	for sent, kept := range map[string]bool{"7f3a-11.b_c": true, "": false, "a b": false, "x\nlevel=ERROR": false, strings.Repeat("a", 65): false} {
		r, w := httptest.NewRequest("GET", "/", nil), httptest.NewRecorder()
		r.Header.Set(RequestHeader, sent)
		l.Around(http.NotFoundHandler()).ServeHTTP(w, r)
		if got := w.Header().Get(RequestHeader); got == "" || (got == sent) != kept {
			t.Errorf("%q became %q", sent, got)
		}
	}
}

// The access log has who sent a request, how it ended and how long its answer is; a refused
// one is counted, and its credential is nowhere.
func TestAccessLog(t *testing.T) {
	l := newLab(t)
	authenticate := l.Authenticator(bearer("right"))
	handler := l.Around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := authenticate.Authenticate(r); err != nil {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		_, _ = w.Write([]byte("hello"))
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	}))
	for _, token := range []string{"right", "wrong-credential"} {
		r := httptest.NewRequest("GET", "/v1/skills", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	text := l.log.String()
	for _, want := range []string{`"kind":"token"`, `"status":200,"bytes":5,"client":"192.0.2.1:1234"`, `"kind":"anonymous"`, `"status":401,"bytes":3`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing: %s", want, text)
		}
	}
	if strings.Contains(text, "credential") || strings.Contains(text, "right") {
		t.Error(text)
	}
	if got := l.points(t, "skills_mcp.auth.refusals")[attribute.NewSet(attribute.Int("http.response.status_code", 401))]; got != 1 {
		t.Errorf("%v refusals", got)
	}
}

// A command gets the trace of its own span, on top of whatever the skill wanted, and no
// other command does.
func TestCommands(t *testing.T) {
	l := newLab(t)
	ctx, root := l.tracer.Start(t.Context(), "root")
	shared := append(make([]string, 0, 4), "A=1")
	cmd := &sandbox.Command{RunID: "r1", Env: shared}
	ctx, ended := l.Command()(ctx, cmd, time.Minute)
	span := trace.SpanContextFromContext(ctx)
	if want := "TRACEPARENT=00-" + root.SpanContext().TraceID().String() + "-" + span.SpanID().String() + "-01"; !slices.Equal(cmd.Env, []string{"A=1", want}) {
		t.Errorf("%q, not %q", cmd.Env, want)
	}
	if shared[:2][1] != "" {
		t.Error("the environment of the skill has changed")
	}
	ended(&sandbox.Result{Exited: true, Exit: sandbox.Exit{Code: 3, Sandbox: "native", Connections: []sandbox.Connection{{Sent: 7, Got: 9}, {Refused: "no"}}}}, nil)
	_, ended = l.Command()(t.Context(), &sandbox.Command{}, 0)
	ended(nil, &sandbox.UnavailableError{Reason: "no engine"})

	if s, all := l.span(t, "sandbox"); s.SpanContext().SpanID() != span.SpanID() || all["process.exit.code"] != "3" || all["skills_mcp.sandbox.driver"] != "native" {
		t.Errorf("%v", all)
	}
	if s, _ := l.span(t, "queue"); s.EndTime().Sub(s.StartTime()) != time.Minute || s.Parent().SpanID() != root.SpanContext().SpanID() {
		t.Errorf("queued from %v to %v", s.StartTime(), s.EndTime())
	}
	for name, want := range map[string]map[attribute.Set]float64{
		"skills_mcp.egress.requests": {attribute.NewSet(attribute.String("outcome", "made")): 1, attribute.NewSet(attribute.String("outcome", "denied")): 1},
		"skills_mcp.egress.io":       {attribute.NewSet(attribute.String("network.io.direction", "transmit")): 7, attribute.NewSet(attribute.String("network.io.direction", "receive")): 9},
		"skills_mcp.engine.errors":   {attribute.NewSet(): 1},
		"skills_mcp.engine.up":       {attribute.NewSet(): 0},
		"skills_mcp.queue.duration":  {attribute.NewSet(): 2},
	} {
		for set, value := range want {
			if got, ok := l.points(t, name)[set]; !ok || got != value {
				t.Errorf("%s %s: %v, not %v", name, set.Encoded(attribute.DefaultEncoder()), got, value)
			}
		}
	}
}

type fakeDecider struct{ run.Decider }

func (fakeDecider) Approve(_ context.Context, p *run.Proposal) error {
	if p.Approval == "" {
		return &run.Error{Code: run.ApprovalRequired, Message: "the person's words"}
	}
	return nil
}

type fakeRecorder struct{ run.Recorder }

func (fakeRecorder) Record(context.Context, run.Record) {}

// Approvals are counted where one is needed. The log of calls has no argument and no
// message.
func TestCalls(t *testing.T) {
	l := newLab(t)
	d := l.Decider(fakeDecider{})
	for _, p := range []run.Proposal{{Decision: &run.Decision{}, Approval: "x"}, {Decision: &run.Decision{Signatures: 1}}, {Decision: &run.Decision{Signatures: 1}, Approval: "x"}} {
		_ = d.Approve(t.Context(), &p)
	}
	got := l.points(t, "skills_mcp.approvals")
	if len(got) != 2 || got[attribute.NewSet(attribute.String("outcome", "OK"))] != 1 || got[attribute.NewSet(attribute.String("outcome", "APPROVAL_REQUIRED"))] != 1 {
		t.Errorf("%v", got)
	}
	r := l.Recorder(fakeRecorder{})
	p := &run.Proposal{RunID: "r7", Way: run.WayTool, Principal: identity.Principal{Kind: identity.Token, ID: "ci", Profile: "robots"}, Args: map[string]any{"q": "private"}}
	r.Record(t.Context(), run.Record{Proposal: p, Err: &run.Error{Code: run.Busy, Message: "private"}})
	r.Record(t.Context(), run.Record{Proposal: p, Outcome: &run.Outcome{Result: &sandbox.Result{Exited: true, Exit: sandbox.Exit{Code: 1}, WallTime: time.Second, Queued: 2 * time.Second}}})
	r.Record(t.Context(), run.Record{Proposal: p, Err: errors.New("private")})
	text := l.log.String()
	for _, want := range []string{`"run":"r7"`, `"outcome":"BUSY"`, `"outcome":"FAILED","duration":1000000000,"queued":2000000000`, `"outcome":"_OTHER"`, `"profile":"robots"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing: %s", want, text)
		}
	}
	if strings.Contains(text, "private") {
		t.Error(text)
	}
	if got := l.points(t, "skills_mcp.calls"); len(got) != 3 {
		t.Errorf("%v", got)
	}
}

type fakeHooks struct{ run.Hooks }

func (fakeHooks) Around(ctx context.Context, c *run.HookedCall) (*run.Outcome, error) {
	return c.Hook(ctx, run.Request{Skill: &skills.Skill{Name: "lint"}})
}

// Each hook that runs has a span, below that of its call.
func TestHooks(t *testing.T) {
	l := newLab(t)
	ctx, root := l.tracer.Start(t.Context(), "root")
	c := &run.HookedCall{Hook: func(ctx context.Context, _ run.Request) (*run.Outcome, error) {
		_, span := l.tracer.Start(ctx, "sandbox")
		span.End()
		return nil, &run.Error{Code: run.Timeout}
	}}
	_, _ = l.Hooks(fakeHooks{}).Around(ctx, c)
	hook, all := l.span(t, "hook lint")
	inner, _ := l.span(t, "sandbox")
	if hook.Parent().SpanID() != root.SpanContext().SpanID() || inner.Parent().SpanID() != hook.SpanContext().SpanID() || all["error.type"] != "TIMEOUT" {
		t.Errorf("%v %v %v", hook.Parent(), inner.Parent(), all)
	}
}

// Without telemetry nothing is wrapped, and nothing allocated.
func TestOff(t *testing.T) {
	var off *Telemetry
	next := http.NotFoundHandler()
	off.Queue(nil)
	allocated := testing.AllocsPerRun(100, func() {
		if off.Command() != nil || off.Observer() != nil || off.PoolTaken() != nil || off.Authenticator(nil) != nil {
			t.Error("something is observed")
		}
		off.Around(next)
		off.Span("x", next)
		if off.Decider(fakeDecider{}) != (fakeDecider{}) || off.Recorder(fakeRecorder{}) != (fakeRecorder{}) || off.Hooks(nil) != nil {
			t.Error("something is wrapped")
		}
	})
	if allocated > 0 {
		t.Errorf("%v allocations", allocated)
	}
}

// Without a place for traces, a script still gets the trace of its caller.
func TestPassThrough(t *testing.T) {
	only, err := New(nometrics.NewMeterProvider(), notraces.NewTracerProvider(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, ended := only.Observer().Begin(t.Context(), call(`{"_meta":{"traceparent":"`+parent+`","tracestate":"a=b","baggage":"who=me"}}`))
	cmd := &sandbox.Command{}
	only.Command()(ctx, cmd, 0)
	ended(transport.Ended{})
	slices.Sort(cmd.Env)
	if !slices.Equal(cmd.Env, []string{"TRACEPARENT=" + parent, "TRACESTATE=a=b"}) {
		t.Errorf("%q", cmd.Env)
	}
}

// bearer is an authenticator of one token.
type bearer string

func (b bearer) Authenticate(r *http.Request) (identity.Principal, error) {
	sent, err := identity.BearerToken(r)
	if err == nil && sent != string(b) {
		err = identity.Unauthorized(identity.WrongToken)
	}
	if err != nil {
		return identity.Principal{}, err
	}
	return identity.Principal{Kind: identity.Token}, nil
}
