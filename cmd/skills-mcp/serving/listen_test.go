package serving

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
)

// A request names its session and run, and few others, however many cookies it has.
func TestNamedIDs(t *testing.T) {
	for path, want := range map[string][]string{
		"/v1/runs/run-2/events": {"0", "1", "2", "run-2"},
		"/ui/":                  {"0", "1", "2"},
		"/mcp":                  nil,
	} {
		r := httptest.NewRequest("GET", path, nil)
		for i := range 1000 {
			r.Header.Add("Cookie", fmt.Sprintf("skills-mcp-%d=%d; other=x", i, i))
		}
		if got := namedIDs(r); !slices.Equal(got, want) {
			t.Errorf("%s: %q", path, got)
		}
	}
}
