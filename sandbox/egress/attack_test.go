package egress

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// What refuses one secret does not tell another, which was in the request already.
func TestRefusalsHaveNoSecret(t *testing.T) {
	w := newWorld()
	b := openBank(t, w)
	inPath := token(func(s *sandbox.Secret) { s.In = []string{"path"} })
	key := sandbox.Secret{Name: "KEY", Value: keyValue, Sentinel: keySentinel, Hosts: inPath.Hosts, Methods: []string{"POST"}}
	v := visit(t, w, b, inPath, key)
	request, err := http.NewRequest("GET", "https://api.example.com/"+url.PathEscape(tokenSentinel), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", keySentinel)
	response, err := v.client(false).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if seen := v.all(response) + fmt.Sprint(v.Connections()); strings.Contains(seen, tokenValue) || !strings.Contains(seen, "KEY was not granted for GET /"+tokenSentinel) {
		t.Error(seen)
	}
}

// A host is asked for no protocol but a WebSocket's: in HTTP/2, say, nothing is read as text.
func TestUpgrades(t *testing.T) {
	w := newWorld()
	b := openBank(t, w)
	v := visit(t, w, b, token(nil))
	conn, err := v.raw("api.example.com:443", "api.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: api.example.com\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nUpgrade: websocket\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 4096)
	n, err := io.ReadAtLeast(conn, answer, 100)
	if text := string(answer[:n]); err != nil || !strings.HasPrefix(text, "HTTP/1.1 200") || strings.Contains(text, "h2c") {
		t.Errorf("%v\n%s", err, text)
	}
}

// However many hosts a * stands for, few certificates are kept.
func TestLeavesAreBounded(t *testing.T) {
	authority, err := newAuthority([]string{"*.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	l := &leaves{authority: authority}
	for i := range maxLeaves + 10 {
		if _, err := l.of(Rule{name: fmt.Sprintf("h%d.example.org", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.made) > maxLeaves {
		t.Errorf("%d are kept", len(l.made))
	}
}

// Requests in one connection are as few at once as connections, and responses that nobody
// reads stay with the host.
func TestStreamsAreBounded(t *testing.T) {
	w := newWorld()
	b := openBank(t, w)
	var sent sync.Map // by path: bytes
	flood := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		buf, all := make([]byte, 64<<10), 0
		for all < 64<<20 {
			n, err := w.Write(buf)
			if err != nil {
				return
			}
			all += n
			sent.Store(r.URL.Path, all)
		}
	}))
	flood.EnableHTTP2 = true
	authority, err := newAuthority([]string{"api.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := (&leaves{authority: authority}).of(Rule{name: "api.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	flood.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}}
	flood.StartTLS()
	t.Cleanup(flood.Close)
	b.roots = x509.NewCertPool()
	b.roots.AddCert(authority.Leaf)
	w.servers[apiAddress+":443"] = flood.Listener.Addr().String()
	v := visit(t, w, b, token(nil))
	const most = 64 // MaxConnections
	refused := 0
	for range 2 { // connections
		client := v.client(true)
		for i := range most {
			response, err := client.Get(fmt.Sprintf("https://api.example.com/%d", i))
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			if response.StatusCode == http.StatusServiceUnavailable {
				refused++
			}
		}
	}
	if refused != most {
		t.Errorf("%d of %d requests at once are refused", refused, 2*most)
	}
	sent.Range(func(path, n any) bool {
		// The windows of both connections, and the buffers between.
		if n.(int) > 8<<20 {
			t.Errorf("%s: %d bytes", path, n)
		}
		return true
	})
}
