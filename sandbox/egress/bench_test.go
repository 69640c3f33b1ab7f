package egress

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// BenchmarkRequest has a program of its own ask a host for a small answer, over a connection
// of its own: through a tunnel, and with a secret.
func BenchmarkRequest(b *testing.B) {
	for name, secrets := range map[string][]sandbox.Secret{"tunnel": nil, "masked": {token(nil)}} {
		b.Run(name, func(b *testing.B) {
			w := newWorld()
			host := openBank(b, w)
			v := visit(b, w, host, secrets...)
			for b.Loop() {
				transport := &http.Transport{
					Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: v.address}),
					TLSClientConfig:   &tls.Config{RootCAs: v.trusted},
					ForceAttemptHTTP2: true,
				}
				request, err := http.NewRequest("GET", "https://api.example.com/", nil)
				if err != nil {
					b.Fatal(err)
				}
				request.Header.Set("Authorization", "Bearer "+tokenSentinel)
				response, err := (&http.Client{Transport: transport}).Do(request)
				if err != nil {
					b.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				transport.CloseIdleConnections()
			}
		})
	}
}
