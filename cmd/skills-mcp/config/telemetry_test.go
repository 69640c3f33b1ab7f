package config

import (
	"strings"
	"testing"
)

// Wrong addresses, endpoints with credentials and shares that are none are said.
func TestTelemetry(t *testing.T) {
	for text, want := range map[string]string{
		"metrics: {listen: 9464}":                                `telemetry.metrics.listen is "9464"`,
		"traces: {endpoint: localhost:4318}":                     "telemetry.traces.endpoint must be a URL",
		"traces: {endpoint: \"http://key:secret@collector\"}":    "a URL without credentials",
		"traces: {sample: 1.5}":                                  "telemetry.traces.sample is 1.5",
		"traces: {endpoint: \"https://collector/x\", sample: 0}": "",
	} {
		_, err := Parse([]byte("telemetry: {"+text+"}"), "config.yaml", "")
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
