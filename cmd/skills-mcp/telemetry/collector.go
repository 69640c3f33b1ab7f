package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A collector takes traces over OTLP/HTTP. It implements [otlptrace.Client]: OpenTelemetry's
// own client brings gRPC along, which makes the program 9.7 MB larger, of 47.3 MB.
type collector struct {
	url    string
	header http.Header
	client *http.Client
}

// newCollector returns the client of a collector. It sends the headers of the variables that
// OpenTelemetry's clients read; no file has to hold a credential then.
func newCollector(endpoint string) (*collector, error) {
	c := &collector{url: strings.TrimSuffix(endpoint, "/") + "/v1/traces", header: http.Header{"Content-Type": {"application/x-protobuf"}}}
	c.client = &http.Client{
		Transport: http.DefaultTransport.(*http.Transport).Clone(), Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	const variable = "OTEL_EXPORTER_OTLP_HEADERS"
	for pair := range strings.SplitSeq(cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS"), os.Getenv(variable)), ",") {
		name, encoded, _ := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if err != nil {
			return nil, fmt.Errorf("%s has a value that is not percent-encoded", variable)
		}
		if name = strings.TrimSpace(name); name != "" {
			c.header.Set(name, value)
		}
	}
	return c, nil
}

// UploadTraces sends a batch. One that the collector does not take is lost.
func (c *collector) UploadTraces(ctx context.Context, spans []*wire.ResourceSpans) error {
	body, err := proto.Marshal(&wire.TracesData{ResourceSpans: spans}) // the bytes of an ExportTraceServiceRequest
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = c.header.Clone()
	answer, err := c.client.Do(r)
	if err != nil {
		return fmt.Errorf("export traces: %w", err)
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, 64<<10) // so that the connection can be used again
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("export traces: the collector answers %s", answer.Status)
	}
	return nil
}

// Start implements [otlptrace.Client].
func (c *collector) Start(context.Context) error { return nil }

// Stop implements [otlptrace.Client].
func (c *collector) Stop(context.Context) error {
	c.client.CloseIdleConnections()
	return nil
}
