package httpd

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// The id of a request is a trusted proxy's, or nobody's.
func TestForwardedID(t *testing.T) {
	s := New(&Options{Access: Access{Hosts: []string{"server.lan"}, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/29")}}})
	var got string
	s.Handle("/", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Get(headerRequest) }))
	for from, want := range map[string]string{"10.0.0.1:70": "seven", "192.0.2.1:70": ""} {
		r := httptest.NewRequest("GET", "http://server.lan/", nil)
		r.RemoteAddr = from
		r.Header.Set(headerRequest, "seven")
		got = "none"
		if s.ServeHTTP(httptest.NewRecorder(), r); got != want {
			t.Errorf("%s: %q, not %q", from, got, want)
		}
	}
}

// Headers of forwarding count from a trusted proxy alone: the client is the last address that
// is none of a trusted proxy.
func TestForwarded(t *testing.T) {
	const xff, fwd, proto, host = headerFor, headerForwarded, headerProto, headerHost
	for name, test := range map[string]struct {
		from    string
		headers []string
		want    string // address, scheme, host, remote; or the status
	}{
		"no proxy":                   {"10.0.0.9:70", nil, "10.0.0.9:70 http server.lan remote"},
		"a stranger's header":        {"192.0.2.1:70", []string{xff, "10.9.9.9", proto, "https", host, "evil.lan"}, "192.0.2.1:70 http server.lan remote"},
		"a client":                   {"10.0.0.1:70", []string{xff, "203.0.113.7"}, "203.0.113.7:70 http server.lan remote"},
		"what the client invented":   {"10.0.0.1:70", []string{xff, "127.0.0.1, 203.0.113.7"}, "203.0.113.7:70 http server.lan remote"},
		"two proxies":                {"10.0.0.1:70", []string{xff, "6.6.6.6, 203.0.113.7, 10.0.0.2"}, "203.0.113.7:70 http server.lan remote"},
		"two headers":                {"10.0.0.1:70", []string{xff, "6.6.6.6", xff, "203.0.113.7"}, "203.0.113.7:70 http server.lan remote"},
		"proxies alone":              {"10.0.0.1:70", []string{xff, "10.0.0.3, 10.0.0.2"}, "10.0.0.3:70 http server.lan remote"},
		"IPv6":                       {"[fd00::1]:70", []string{xff, "2001:db8::7"}, "[2001:db8::7]:70 http server.lan remote"},
		"mapped":                     {"[::ffff:10.0.0.1]:70", []string{xff, "::ffff:203.0.113.7"}, "203.0.113.7:70 http server.lan remote"},
		"with a port":                {"10.0.0.1:70", []string{xff, "[2001:db8::7]:4711"}, "[2001:db8::7]:70 http server.lan remote"},
		"of the proxy's machine":     {"10.0.0.1:70", []string{xff, "127.0.0.1", host, "localhost"}, "127.0.0.1:70 http localhost local"},
		"nobody named":               {"10.0.0.1:70", []string{xff, "unknown"}, "10.0.0.1:70 http server.lan remote"},
		"nobody named behind one":    {"10.0.0.1:70", []string{xff, "127.0.0.1, unknown"}, "10.0.0.1:70 http server.lan remote"},
		"a name":                     {"10.0.0.1:70", []string{xff, "localhost"}, "10.0.0.1:70 http server.lan remote"},
		"Forwarded":                  {"10.0.0.1:70", []string{fwd, `for="[2001:db8::7]:4711";proto=https;host=server.example, for=10.0.0.2`}, "[2001:db8::7]:70 https server.example remote"},
		"Forwarded, spelled oddly":   {"10.0.0.1:70", []string{fwd, `For="203.0.113.7" ; PROTO=HTTPS`}, "203.0.113.7:70 https server.lan remote"},
		"Forwarded, hidden":          {"10.0.0.1:70", []string{fwd, `for=_hidden, for="_x"`}, "10.0.0.1:70 http server.lan remote"},
		"both, alike":                {"10.0.0.1:70", []string{fwd, "for=203.0.113.7", xff, "203.0.113.7"}, "203.0.113.7:70 http server.lan remote"},
		"both, one of the client's":  {"10.0.0.1:70", []string{fwd, "for=127.0.0.1", xff, "203.0.113.7"}, "400"},
		"HTTPS in front":             {"10.0.0.1:70", []string{xff, "203.0.113.7", proto, "https"}, "203.0.113.7:70 https server.lan remote"},
		"a scheme that is none":      {"10.0.0.1:70", []string{xff, "203.0.113.7", proto, "javascript"}, "203.0.113.7:70 http server.lan remote"},
		"a name in front":            {"10.0.0.1:70", []string{xff, "203.0.113.7", host, "server.example"}, "203.0.113.7:70 http server.example remote"},
		"a strange name in front":    {"10.0.0.1:70", []string{xff, "203.0.113.7", host, "evil.example"}, "403"},
		"nothing but a name":         {"10.0.0.1:70", []string{host, "server.example"}, "10.0.0.1:70 http server.lan remote"},
		"a proxy behind the trusted": {"10.0.0.1:70", []string{xff, "127.0.0.1", "Via", "1.1 x", host, "localhost"}, "127.0.0.1:70 http localhost remote"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(&Options{Access: Access{
				Hosts:   []string{"server.lan", "server.example", "localhost"},
				Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/29"), netip.MustParsePrefix("fd00::/64")},
			}})
			s.Handle("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				where := "local"
				if identity.FromContext(r.Context()).Remote {
					where = "remote"
				}
				_, _ = io.WriteString(w, strings.Join([]string{r.RemoteAddr, r.URL.Scheme, r.Host, where}, " "))
			}))
			r := httptest.NewRequest("GET", "http://server.lan/", nil)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 5), Port: 1})))
			r.RemoteAddr = test.from
			for i := 0; i < len(test.headers); i += 2 {
				r.Header.Add(test.headers[i], test.headers[i+1])
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			got := w.Body.String()
			if len(test.want) == 3 {
				got = http.StatusText(w.Code)
				test.want = map[string]string{"400": "Bad Request", "403": "Forbidden"}[test.want]
			}
			if got != test.want {
				t.Errorf("%d %s, want %s", w.Code, got, test.want)
			}
		})
	}
}

// A page that has rebound its name cannot send the server's own name in a header, where the
// proxy does not set it. The log has the client's address.
func TestForwardedHost(t *testing.T) {
	var log bytes.Buffer
	s := New(&Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Access: Access{Hosts: []string{"server.example"}, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}}})
	s.Handle("/who", who)
	ask := func() int {
		r := httptest.NewRequest("GET", "http://evil.example/who", nil)
		r.RemoteAddr = "10.0.0.1:70"
		r.Header.Set(headerFor, "203.0.113.7")
		r.Header.Set(headerHost, "server.example")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	if code := ask(); code != 400 || !strings.Contains(log.String(), "from=203.0.113.7:70") {
		t.Errorf("%d, log %s", code, &log)
	}
	s.Admit(Access{Hosts: []string{"evil.example", "server.example"}})
	if code := ask(); code != 200 {
		t.Error(code)
	}
}
