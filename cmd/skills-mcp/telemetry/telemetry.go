// Package telemetry takes the measures of package server/telemetry to Prometheus, and its
// traces to a collector, where the configuration names them.
//
// Start with [Start].
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	nometrics "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	notraces "go.opentelemetry.io/otel/trace/noop"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/server/httpd"
	"github.com/skillsmcp/skills-mcp/server/telemetry"
)

// stopTime bounds the export of the last traces.
const stopTime = 3 * time.Second

// Start returns the telemetry that the configuration asks for, or nil, and the function that
// stops it. Access and calls are logged to logger, whatever its level.
func Start(c *config.Config, logger *slog.Logger, stderr io.Writer) (_ *telemetry.Telemetry, stop func() error, err error) {
	var stops []func(context.Context) error
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		var all []error
		for _, one := range stops {
			all = append(all, one(ctx))
		}
		return errors.Join(all...)
	}
	metrics, traces := c.Telemetry.Metrics.Listen, c.Telemetry.Traces
	if !c.Serve.AccessLog && metrics == "" && traces.Endpoint == "" {
		return nil, stop, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { logger.Warn("telemetry", "err", err) }))
	about, err := resource.New(context.Background(), resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "skills-mcp"), attribute.String("service.version", build.Read().Version)), resource.WithFromEnv())
	if err != nil {
		return nil, stop, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	meters, tracers := metric.MeterProvider(nometrics.NewMeterProvider()), trace.TracerProvider(notraces.NewTracerProvider())
	if traces.Endpoint != "" {
		client, err := newCollector(traces.Endpoint)
		if err != nil {
			return nil, stop, err
		}
		provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(otlptrace.NewUnstarted(client)), sdktrace.WithResource(about), sdktrace.WithSampler(sdktrace.ParentBased(sdktrace.TraceIDRatioBased(traces.Sample))))
		tracers, stops = provider, append(stops, provider.Shutdown)
	}
	if metrics != "" {
		provider, end, err := serveMetrics(metrics, about, logger, stderr)
		if err != nil {
			return nil, stop, errors.Join(err, stop())
		}
		meters, stops = provider, append(stops, end, provider.Shutdown)
	}
	var log *slog.Logger
	if c.Serve.AccessLog {
		log = slog.New(always{logger.Handler()})
	}
	t, err := telemetry.New(meters, tracers, log)
	return t, stop, err
}

// serveMetrics serves the measures of the provider that it returns, until end is called. The
// address is one of their own: Prometheus sends no token, and the measures name skills and
// profiles, which clients of the server may not all know.
func serveMetrics(address string, about *resource.Resource, logger *slog.Logger, stderr io.Writer) (_ *sdkmetric.MeterProvider, end func(context.Context) error, err error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := exporter.New(exporter.WithRegisterer(registry), exporter.WithoutScopeInfo())
	if err != nil {
		return nil, nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, fmt.Errorf("telemetry.metrics.listen: %w", err)
	}
	srv := httpd.New(&httpd.Options{Logger: logger})
	srv.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ctx, l) }()
	fmt.Fprintf(stderr, "skills-mcp: serving metrics at http://%s/metrics\n", l.Addr())
	end = func(context.Context) error { cancel(); return <-done }
	return sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader), sdkmetric.WithResource(about)), end, nil
}

// always is a handler that the level of the log does not silence.
type always struct{ slog.Handler }

func (always) Enabled(context.Context, slog.Level) bool { return true }
