package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/elicit"
)

// hearer is a progressSink that hears everything.
type hearer struct {
	tell func(at mark, message string)
	logs []string
}

func (h *hearer) progress(at mark, message string) { h.tell(at, message) }
func (h *hearer) hears(mcp.LoggingLevel) bool      { return true }
func (h *hearer) log(level mcp.LoggingLevel, message string) {
	h.logs = append(h.logs, string(level)+" "+message)
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []string
		start := time.Now()
		p := newProgress(&hearer{tell: func(at mark, message string) {
			sent = append(sent, fmt.Sprintf("%g %s @%s", at.at, message, time.Since(start)))
		}})
		for i := range 100 { // a hundred lines in 110 ms
			fmt.Fprintf(p, "line %d\n", i)
			time.Sleep(1100 * time.Microsecond)
		}
		time.Sleep(time.Second)
		fmt.Fprint(p, "no line yet")
		time.Sleep(time.Second)
		fmt.Fprint(p, ", now it is\n  \n")
		time.Sleep(time.Second)
		for _, text := range []string{
			strings.Repeat("y", 5000) + "\n", strings.Repeat("y", 1024) + "\n", strings.Repeat("y", 1020) + "\u00fcxyz\n",
			"10%\r20%", "\r30%\n", "\x1b[31mred\x1b[0m \x00\xff\x07\n",
		} {
			fmt.Fprint(p, text)
			time.Sleep(time.Second)
		}
		p.say("pull")
		synctest.Wait() // it is sent, and later ones wait
		p.say("built")
		fmt.Fprint(p, "start\n")
		time.Sleep(60 * time.Millisecond)
		fmt.Fprint(p, "soon after\n")
		time.Sleep(time.Second)
		p.say("said")
		synctest.Wait()
		fmt.Fprint(p, "a line\nlast, without end \xff")
		p.close()
		fmt.Fprint(p, "too late\n")
		p.close()
		want := []string{
			"1 line 0 @0s", "2 line 45 @50ms", "3 line 90 @100ms", "4 line 99 @150ms", "5 no line yet, now it is @2.11s",
			"6 " + strings.Repeat("y", 1021) + "… @3.11s", "7 " + strings.Repeat("y", 1024) + " @4.11s", "8 " + strings.Repeat("y", 1020) + "… @5.11s",
			"9 10% @6.11s", "10 30% @7.11s", "11 red \ufffd @8.11s", "12 pull @9.11s", "13 built @9.16s", "14 start @9.16s", "15 soon after @9.26s",
			"16 said @10.17s", "17 last, without end \ufffd @10.17s",
		}
		if diff := cmp.Diff(want, sent); diff != "" {
			t.Error(diff)
		}
	})
}

// A client that does not read blocks neither the skill nor its call.
func TestProgressDoesNotBlock(t *testing.T) {
	goOn, sent := make(chan struct{}), 0
	p := newProgress(&hearer{tell: func(mark, string) {
		<-goOn
		sent++
	}})
	for i := range 1000 {
		fmt.Fprintf(p, "line %d\n", i)
		p.say("waiting")
	}
	close(goOn)
	p.close()
	if sent == 0 {
		t.Error("nothing was sent")
	}
}

// heard renders the notifications for a script's stderr.
func heard(t *testing.T, act func(p *progress)) (progress, logs []string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &hearer{}
		last := -1.0
		h.tell = func(at mark, message string) {
			if at.at <= last {
				t.Errorf("%g after %g", at.at, last)
			}
			last = at.at
			text := fmt.Sprintf("%.8g", at.at)
			if at.total > 0 {
				text += fmt.Sprintf("/%g", at.total)
			}
			progress = append(progress, strings.TrimSpace(text+" "+message))
		}
		p := newProgress(h)
		act(p)
		p.close()
		logs = h.logs
	})
	return progress, logs
}

// lines writes one line after the other, slowly enough for each to be sent.
func lines(all ...string) func(p *progress) {
	return func(p *progress) {
		for _, line := range all {
			fmt.Fprintln(p, line)
			time.Sleep(time.Second)
		}
	}
}

func TestProgressCounts(t *testing.T) {
	for name, test := range map[string]struct {
		act  func(p *progress)
		want []string
	}{
		"from zero":              {lines("0/100", "50/100 half", "100/100"), []string{"0/100", "50/100 half", "100/100"}},
		"decimals":               {lines("0.5/2 a", "1.25/2"), []string{"0.5/2 a", "1.25/2"}},
		"plain lines count":      {lines("a", "b"), []string{"1 a", "2 b"}},
		"then they do not":       {lines("a", "2/4", "noise", "3/4"), []string{"1 a", "2/4", "3/4"}},
		"not a step further":     {lines("2/4", "2/4 again", "1/4 back"), []string{"2/4", "2.000004/4 again", "2.000008/4 back"}},
		"all, and more to say":   {lines("4/4", "4/4 nearly"), []string{"4/4", "4.000004 nearly"}},
		"what is waited for":     {func(p *progress) { p.say("pull"); lines("0/10", "1/10")(p) }, []string{"1 pull", "1.00001/10", "1.00002/10"}},
		"silence":                {func(p *progress) { time.Sleep(25 * time.Second) }, []string{"1 still running after 10s", "2 still running after 20s"}},
		"silence on the way":     {func(p *progress) { lines("3/9")(p); time.Sleep(10 * time.Second) }, []string{"3/9", "3.000009/9 still running after 10s"}},
		"no silence but lines":   {func(p *progress) { lines("1/2", "x", "x", "x", "x", "x", "x", "x", "x", "x", "x")(p) }, []string{"1/2", "1.000002/2 still running after 10s"}},
		"neither number nor sum": {lines("5/4", "1/0", "-1/2", "a/b", "1/2/3", ".5/1"), []string{"1 5/4", "2 1/0", "3 -1/2", "4 a/b", "5 1/2/3", "6 .5/1"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := heard(t, test.act)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLogLines(t *testing.T) {
	progress, logs := heard(t, func(p *progress) {
		fmt.Fprint(p, "[info] one\n[WARN] two\n[note] no level\n[error]\n")
		time.Sleep(time.Second)
		var lines strings.Builder // written at once, or some would be sent before others come
		for i := range maxLogs + 3 {
			fmt.Fprintf(&lines, "[debug] %d\n", i)
		}
		fmt.Fprint(p, lines.String())
	})
	if len(logs) != 2+maxLogs+1 || logs[0] != "info one" || logs[1] != "warning two" || logs[len(logs)-1] != "warning 3 log lines came too fast and are left out" {
		t.Errorf("%q", logs)
	}
	if want := []string{"1 [error]", fmt.Sprintf("2 [debug] %d", maxLogs+2)}; !cmp.Equal(want, progress) {
		t.Errorf("%q, want %q", progress, want)
	}
}

// Logs go to the clients that want them, of the levels that they want.
func TestLogsOfCall(t *testing.T) {
	b := newBench(t, ends(0, "done", "[debug] d\n[info] i\n[error] e\n"))
	const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}%s},`
	for name, test := range map[string]struct{ level, meta, want string }{
		"legacy, not asked":    {"", "", "error e"},
		"legacy, info":         {"info", "", "info i, error e"},
		"legacy, debug":        {"debug", "", "debug d, info i, error e"},
		"modern, not asked":    {"", fmt.Sprintf(modern, ""), ""},
		"modern, info":         {"", fmt.Sprintf(modern, `,"io.modelcontextprotocol/logLevel":"info"`), "info i, error e"},
		"modern, not by state": {"debug", fmt.Sprintf(modern, ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := &logged{client: client{id: name, in: make(chan mcp.JSONRPCNotification, 20)}, level: mcp.LoggingLevelError}
			if test.level != "" {
				c.level = mcp.LoggingLevel(test.level)
			}
			b.core.HandleMessage(b.core.WithContext(t.Context(), c), json.RawMessage(
				`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+test.meta+`"name":"demo__run","arguments":{"target":"x"}}}`))
			close(c.in)
			var got []string
			for n := range c.in {
				f := n.Params.AdditionalFields
				if n.Method != "notifications/message" || f["logger"] != "demo/run" {
					t.Errorf("%s %v", n.Method, f)
				}
				got = append(got, fmt.Sprint(f["level"], " ", f["data"]))
			}
			if s := strings.Join(got, ", "); s != test.want {
				t.Errorf("%q, want %q", s, test.want)
			}
		})
	}
}

// logged is a client that has a log level.
type logged struct {
	client
	level mcp.LoggingLevel
}

func (l *logged) SetLogLevel(level mcp.LoggingLevel) { l.level = level }
func (l *logged) GetLogLevel() mcp.LoggingLevel      { return l.level }

// While a call waits for an answer, its client is told that, and not that it runs.
func TestProgressOfWaiting(t *testing.T) {
	progress, _ := heard(t, func(p *progress) {
		asker := progressAsker{elicit.AskerFunc(func(context.Context, *elicit.Request) (json.RawMessage, error) {
			time.Sleep(2*heartbeat + time.Second)
			return json.RawMessage(`{}`), nil
		}), p}
		if _, err := asker.Ask(t.Context(), map[string]*elicit.Request{"a": {Method: string(mcp.MethodElicitationCreate)}}); err != nil {
			t.Error(err)
		}
		time.Sleep(heartbeat)
	})
	want := []string{"1 waiting for the person's answer", "2 still waiting for the person's answer", "3 still waiting for the person's answer", "4 still running after 30s"}
	if diff := cmp.Diff(want, progress); diff != "" {
		t.Error(diff)
	}
	if _, err := (progressAsker{elicit.AskerFunc(func(context.Context, *elicit.Request) (json.RawMessage, error) { return nil, nil }), nil}).Ask(t.Context(), nil); err != nil {
		t.Errorf("with nobody to tell: %v", err)
	}
}
