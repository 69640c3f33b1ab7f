// Package telemetry measures, traces and logs requests, calls, the queue, sandboxes and
// their connections. It uses OpenTelemetry's API alone: package cmd/skills-mcp/telemetry
// chooses where the measures go.
//
// Start with [New]. A nil [*Telemetry] does nothing, and its wrappers return what they wrap,
// so a server that nobody observes pays nothing.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/semconv/v1.41.0/mcpconv"
	"go.opentelemetry.io/otel/trace"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// scope names this program's instruments.
const scope = "github.com/skillsmcp/skills-mcp"

// Telemetry has the instruments. It may be used concurrently.
type Telemetry struct {
	log    *slog.Logger // nil logs nothing
	tracer trace.Tracer
	meter  metric.Meter
	wire   propagation.TraceContext // no baggage: it could hold anything

	operations mcpconv.ServerOperationDuration
	sessions   mcpconv.ServerSessionDuration

	runs, queue                                                        metric.Float64Histogram
	calls, takes, faults, connections, traffic, approvals, authRefused metric.Int64Counter
	engine                                                             metric.Int64Gauge
}

// New returns telemetry that measures by meters and traces by tracers. It logs requests and
// calls to log, if that is not nil.
func New(meters metric.MeterProvider, tracers trace.TracerProvider, log *slog.Logger) (*Telemetry, error) {
	t := &Telemetry{log: log, tracer: tracers.Tracer(scope), meter: meters.Meter(scope)}
	var errs []error
	// The boundaries that the conventions recommend.
	buckets := metric.WithExplicitBucketBoundaries(0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
	histogram := func(name, description string) metric.Float64Histogram {
		h, err := t.meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description), buckets)
		errs = append(errs, err)
		return h
	}
	counter := func(name, description, unit string) metric.Int64Counter {
		c, err := t.meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		errs = append(errs, err)
		return c
	}
	var err error
	t.operations, err = mcpconv.NewServerOperationDuration(t.meter, buckets)
	errs = append(errs, err)
	t.sessions, err = mcpconv.NewServerSessionDuration(t.meter, buckets)
	errs = append(errs, err)
	t.runs = histogram("skills_mcp.run.duration", "How long scripts ran.")
	t.queue = histogram("skills_mcp.queue.duration", "How long commands waited for a slot.")
	t.calls = counter("skills_mcp.calls", "Calls, by how they ended.", "{call}")
	t.takes = counter("skills_mcp.pool.takes", "Sandboxes that commands got: a hit was ready, a miss had to be started.", "{sandbox}")
	t.faults = counter("skills_mcp.engine.errors", "Commands for which no sandbox could be had.", "{command}")
	t.connections = counter("skills_mcp.egress.requests", "Connections that commands made, or were denied.", "{connection}")
	t.traffic = counter("skills_mcp.egress.io", "Bytes that commands sent and got.", "By")
	t.approvals = counter("skills_mcp.approvals", "Calls that needed a yes, by how that ended.", "{call}")
	t.authRefused = counter("skills_mcp.auth.refusals", "Requests whose sender was not proved, or not allowed.", "{request}")
	for _, known := range []struct {
		counter metric.Int64Counter
		key     string
		values  []string
	}{ // which are there from the start: else a first event is no increase
		{t.takes, "result", []string{"hit", "miss"}}, {t.connections, "outcome", []string{"made", "denied"}}, {t.traffic, "network.io.direction", []string{"transmit", "receive"}},
	} {
		for _, value := range known.values {
			known.counter.Add(context.Background(), 0, metric.WithAttributes(attribute.String(known.key, value)))
		}
	}
	t.faults.Add(context.Background(), 0)
	t.engine, err = t.meter.Int64Gauge("skills_mcp.engine.up", metric.WithDescription("Whether the last command got a sandbox: 1, or 0."))
	return t, errors.Join(append(errs, err)...)
}

// Gauge has a value measured, which read returns whenever the measures are collected.
func (t *Telemetry) Gauge(name, description string, read func(ctx context.Context) int) {
	if t == nil {
		return
	}
	_, err := t.meter.Int64ObservableGauge(name, metric.WithDescription(description), metric.WithInt64Callback(func(ctx context.Context, o metric.Int64Observer) error {
		o.Observe(int64(read(ctx)))
		return nil
	}))
	if err != nil { // of a name that is none
		otel.Handle(err)
	}
}

// Queue has the load of a queue measured.
func (t *Telemetry) Queue(load func() (running, waiting, slots int)) {
	t.Gauge("skills_mcp.slots.used", "Commands that run.", func(context.Context) int { running, _, _ := load(); return running })
	t.Gauge("skills_mcp.slots.limit", "Commands that may run at once.", func(context.Context) int { _, _, slots := load(); return slots })
	t.Gauge("skills_mcp.queue.waiting", "Commands that wait for a slot.", func(context.Context) int { _, waiting, _ := load(); return waiting })
}

// PoolTaken returns the function that counts the sandboxes that were ready, or not.
func (t *Telemetry) PoolTaken() func(ready bool) {
	if t == nil {
		return nil
	}
	hit, miss := metric.WithAttributes(attribute.String("result", "hit")), metric.WithAttributes(attribute.String("result", "miss"))
	return func(ready bool) {
		result := miss
		if ready {
			result = hit
		}
		t.takes.Add(context.Background(), 1, result)
	}
}

// seconds returns the time since began, as OpenTelemetry measures it.
func seconds(began time.Time) float64 { return time.Since(began).Seconds() }

// who returns a principal for the log. No attribute of a measure has it: there may be
// thousands.
func who(p identity.Principal) slog.Attr {
	return slog.Group("principal", "kind", cmp.Or(string(p.Kind), "anonymous"), "id", p.ID, "name", p.Label(), "profile", p.Profile)
}
