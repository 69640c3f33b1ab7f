package serving

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/transport"
)

// cardPath is the location that SEP-2127 reserves, below the URL of Streamable HTTP.
const cardPath = transport.Path + "/server-card"

// A card is a Server Card (SEP-2127, final; schema v1 of the extension). It has the fields that
// are required, and how to connect; no skill and no profile is in it.
type card struct {
	Schema      string   `json:"$schema"`
	Name        string   `json:"name"` // of reverse DNS
	Version     string   `json:"version"`
	Description string   `json:"description"`
	Title       string   `json:"title"`
	Remotes     []remote `json:"remotes"`
}

type remote struct {
	Type     string   `json:"type"`
	URL      string   `json:"url"`
	Versions []string `json:"supportedProtocolVersions"`
}

// serverCard returns a handler of the card: its URL is serve.url, or else what the client asked.
func serverCard(s config.Serve) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		base := cmp.Or(s.URL, r.URL.Scheme+"://"+r.Host)
		host := "localhost"
		if u, err := url.Parse(base); err == nil && u.Hostname() != "" {
			host = u.Hostname()
		}
		labels := strings.Split(strings.ToLower(host), ".")
		if _, err := netip.ParseAddr(host); err == nil {
			labels = []string{"localhost"} // an address has no domain
		}
		slices.Reverse(labels)
		w.Header().Set("Content-Type", "application/mcp-server-card+json")
		w.Header().Set("Cache-Control", "public, max-age=3600")
		_ = json.NewEncoder(w).Encode(card{
			Schema: "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json",
			Name:   strings.Join(labels, ".") + "/" + s.Name, Version: build.Read().Version, Title: s.Title,
			Description: "Skills as tools, which run in sandboxes",
			Remotes:     []remote{{"streamable-http", base + transport.Path, server.ProtocolVersions()}},
		})
	})
}
