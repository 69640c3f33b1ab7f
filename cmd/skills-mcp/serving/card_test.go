package serving

import (
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
)

// The card has the name and the address of the server, as clients call it or as serve.url says.
func TestServerCard(t *testing.T) {
	for url, test := range map[string]struct{ public, name, remote string }{
		"https://skills.example.com/mcp/server-card": {"", "com.example.skills/acme", "https://skills.example.com/mcp"},
		"http://127.0.0.1:8765/mcp/server-card":      {"", "localhost/acme", "http://127.0.0.1:8765/mcp"},
		"http://[::1]:8765/mcp/server-card":          {"", "localhost/acme", "http://[::1]:8765/mcp"},
		"http://10.0.0.7/mcp/server-card":            {"https://Tools.example.org", "org.example.tools/acme", "https://Tools.example.org/mcp"},
	} {
		w := httptest.NewRecorder()
		serverCard(config.Serve{Name: "acme", Title: "Skills of Acme", URL: test.public}).ServeHTTP(w, httptest.NewRequest("GET", url, nil))
		var got card
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Name != test.name || got.Remotes[0].URL != test.remote || got.Title != "Skills of Acme" || !strings.Contains(strings.Join(got.Remotes[0].Versions, " "), "2026-07-28") {
			t.Errorf("%s: %+v", url, got)
		}
		if !regexp.MustCompile(`^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$`).MatchString(got.Name) || got.Version == "" || len(got.Description) > 100 || w.Header().Get("Content-Type") != "application/mcp-server-card+json" {
			t.Errorf("%s: %+v, %v", url, got, w.Header())
		}
	}
}
