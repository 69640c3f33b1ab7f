package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
)

// Telemetry configures where measures and traces go. Both are off by default.
type Telemetry struct {
	Metrics Metrics `yaml:"metrics"`
	Traces  Traces  `yaml:"traces"`
}

// Metrics configures the endpoint for Prometheus.
type Metrics struct {
	Listen string `yaml:"listen"` // its address and port; "" is none
}

// Traces configures the export of traces.
type Traces struct {
	Endpoint string  `yaml:"endpoint"` // URL of an OTLP collector over HTTP; "" is none
	Sample   float64 `yaml:"sample"`   // share of the traces that begin here, from 0 to 1
}

func (t Telemetry) validate() error {
	if t.Metrics.Listen != "" {
		if _, _, err := net.SplitHostPort(t.Metrics.Listen); err != nil {
			return fmt.Errorf("telemetry.metrics.listen is %q; write an address and a port, such as 127.0.0.1:9464", t.Metrics.Listen)
		}
	}
	u, err := url.Parse(t.Traces.Endpoint)
	if t.Traces.Endpoint != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil) {
		return errors.New("telemetry.traces.endpoint must be a URL without credentials, such as http://127.0.0.1:4318")
	}
	if t.Traces.Sample < 0 || t.Traces.Sample > 1 {
		return fmt.Errorf("telemetry.traces.sample is %v; write a number from 0 to 1", t.Traces.Sample)
	}
	return nil
}
