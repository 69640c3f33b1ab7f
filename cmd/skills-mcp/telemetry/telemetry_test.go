package telemetry

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Nothing is started that the configuration does not ask for, and nothing stays when it is
// stopped.
func TestStart(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	seen, stop, err := Start(config.Default(), quiet, io.Discard)
	if seen != nil || err != nil || stop() != nil {
		t.Errorf("%v, %v", seen, err)
	}
	c := config.Default()
	c.Telemetry.Metrics.Listen, c.Telemetry.Traces.Endpoint = "127.0.0.1:0", "http://127.0.0.1:9"
	var said bytes.Buffer
	seen, stop, err = Start(c, quiet, &said)
	if seen == nil || err != nil {
		t.Fatal(err)
	}
	taken := regexp.MustCompile(`http://(\S+)/metrics`).FindStringSubmatch(said.String())
	c.Telemetry.Metrics.Listen = taken[1]
	if seen, _, err := Start(c, quiet, io.Discard); seen != nil || err == nil || !strings.Contains(err.Error(), "telemetry.metrics.listen: ") {
		t.Errorf("on a taken address: %v, %v", seen, err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// The access log is written at any level of the log.
func TestAccessLogLevel(t *testing.T) {
	c := config.Default()
	c.Serve.AccessLog = true
	var log bytes.Buffer
	seen, stop, err := Start(c, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError})), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	seen.Around(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if err := stop(); err != nil || !strings.Contains(log.String(), "msg=request") {
		t.Errorf("%v: %s", err, &log)
	}
}

// A credential goes to the collector alone, wherever that redirects. What it refuses is an
// error.
func TestCollector(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%v", r.Header) }))
	defer elsewhere.Close()
	redirects := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer x,y" || r.Header.Get("Tenant") != "7" {
			t.Errorf("%v", r.Header)
		}
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	}))
	defer redirects.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20x%2Cy, tenant=7")
	c, err := newCollector(redirects.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.UploadTraces(t.Context(), []*wire.ResourceSpans{{}}); err == nil || !strings.Contains(err.Error(), "307") {
		t.Error(err)
	}
	_ = c.Stop(context.Background())
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "key=%zz-secret")
	if _, err := newCollector(redirects.URL); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}
