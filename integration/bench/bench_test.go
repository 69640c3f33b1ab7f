package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Ratios are to the contenders of the same part.
func TestRatios(t *testing.T) {
	const ms = time.Millisecond
	tallied := func(times ...time.Duration) tally {
		return tally{times: times, ended: len(times), counted: time.Second}
	}
	contenders := []*contender{{name: "bare"}, {name: "native"}, {name: "docker-run"}}
	got := results(part{scripts()[0], 1}, contenders, []tally{tallied(2*ms, 2*ms), tallied(4*ms, 5*ms, 10*ms), {}})
	if len(got) != 2 || *got[1].Bare != 2.5 || got[1].Run != nil || got[1].P95 != 10 || got[1].PerSecond != 3 {
		t.Errorf("results %+v", got)
	}
}

// A share is positive where the server is slower, whichever was first.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		takes := func(name string, duration time.Duration) *contender {
			return &contender{name: name, call: func(ctx context.Context, _ part) error { return pause(ctx, duration) }}
		}
		contenders := []*contender{takes("native", 4*time.Millisecond), takes("serve-native", 5*time.Millisecond), takes("serve-docker", time.Millisecond)}
		got, err := shares(t.Context(), &options{duration: 10 * time.Second}, contenders)
		want := share{Script: "bash", Server: "serve-native", Driver: "native", Pairs: 12, Median: 1, P25: 1, P75: 1}
		if err != nil || len(got) != len(scripts()) || got[0] != want {
			t.Errorf("shares %+v, error %v, want %+v", got, err, want)
		}
	})
}

// An engine is settled when its containers run and stay the same.
func TestSettle(t *testing.T) {
	lists := [][]box{
		{{"a", "running"}, {"b", "created"}},
		{{"a", "removing"}, {"b", "running"}},
		{{"b", "running"}},
	}
	var asked int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if want := `{"label":["skills-mcp.skill=x"]}`; r.URL.Query().Get("filters") != want {
			t.Errorf("filters %s, want %s", r.URL.Query().Get("filters"), want)
		}
		_ = json.NewEncoder(w).Encode(lists[min(asked, len(lists)-1)])
		asked++
	}))
	defer server.Close()
	e := &engine{base: server.URL, client: server.Client()}
	waiting, err := e.settle(t.Context(), label("skill", "x"))
	if err != nil || waiting != 1 || asked <= len(lists) {
		t.Errorf("%d waiting after asking %d times, error %v", waiting, asked, err)
	}
}

// The smallest run there is, on the host alone, in all forms.
func TestRun(t *testing.T) {
	needScripts(t)
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"--json", "--only", "bare", "--duration", "1ms"}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	var r report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Results) != len(parts()) || r.Results[0].P50 <= 0 || r.Results[0].PerSecond <= 0 || r.Machine.Cores == 0 {
		t.Errorf("report %s", &stdout)
	}
	var text strings.Builder
	if err := r.write(&text, &options{}); err != nil || strings.Count(text.String(), "\n  bare ") != len(parts()) {
		t.Errorf("text %s, error %v", &text, err)
	}
	var table strings.Builder
	if err := r.write(&table, &options{markdown: true}); err != nil || strings.Count(table.String(), " (`bare`) | ") != 1 {
		t.Errorf("table %s, error %v", &table, err)
	}
}

func TestMisuse(t *testing.T) {
	for _, args := range [][]string{{"--only", "bare,wrong"}, {"--wrong"}, {"bare"}, {"--duration", "-1s"}} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 2 || stderr.Len() == 0 || stdout.Len() > 0 {
			t.Errorf("%v: exit code %d, stdout %q, stderr %q", args, code, &stdout, &stderr)
		}
	}
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"--help"}, &stdout, &stderr); code != 0 || !strings.Contains(stderr.String(), "docker-warm-runsc") {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}

// An interrupt ends the run under way, and nothing of it is left.
func TestInterrupt(t *testing.T) {
	needScripts(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout bytes.Buffer
	log := writerFunc(func(p []byte) (int, error) {
		if strings.Contains(string(p), parts()[1].String()) {
			cancel()
		}
		return len(p), nil
	})
	if code := run(ctx, []string{"--only", "bare", "--duration", "1ms"}, &stdout, log); code != 130 {
		t.Errorf("exit code %d: %s", code, &stdout)
	}
	if !strings.Contains(stdout.String(), "\n  bare ") {
		t.Errorf("what was measured before it is not there: %s", &stdout)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// needScripts skips a test where the scripts cannot be run.
func needScripts(t *testing.T) {
	t.Helper()
	if _, err := programs(); err != nil && os.Getenv("CI") != "true" {
		t.Skipf("SKIPPED: %v (set CI=true to make this a failure)", err)
	} else if err != nil {
		t.Fatal(err)
	}
}
