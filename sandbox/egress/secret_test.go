package egress

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

const (
	tokenValue    = "ghp_R3alT0kenOfTheTests+/=x"
	tokenSentinel = "ghp_A1bcD2efghIjKlmNopq+/=z"
	keyValue      = "R3alK3yThatIsAdded"
	keySentinel   = "A1bcD2efGhijKlMnop"
)

// bank is a host of secrets at api.example.com:443, and the same at other.example.com: it
// keeps what it is asked, and answers with it.
type bank struct {
	mu    sync.Mutex
	heard []string
	roots *x509.CertPool
}

func (b *bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	line := fmt.Sprintf("%s %s %s %q %s", r.Method, r.Host, r.URL.RequestURI(), r.Header["Authorization"], body)
	b.mu.Lock()
	b.heard = append(b.heard, line)
	b.mu.Unlock()
	all := []byte(line + fmt.Sprint(r.Header))
	switch r.URL.Path {
	case "/redirect":
		w.Header().Set("Location", "https://other.example.com/?token="+url.QueryEscape(r.URL.Query().Get("token")))
		w.WriteHeader(http.StatusFound)
	case "/early":
		w.Header().Set("Link", string(all))
		w.WriteHeader(http.StatusEarlyHints)
	case "/gzip":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = z.Write(all)
		_ = z.Close()
		return
	case "/br":
		w.Header().Set("Content-Encoding", "br")
	case "/base64":
		all = []byte(base64.StdEncoding.EncodeToString(all))
	case "/range":
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(all))
		return
	case "/php":
		all = bytes.ReplaceAll(all, []byte("/"), []byte(`\/`))
	case "/quote":
		all = []byte(strings.ReplaceAll(url.PathEscape(string(all)), "%2F", "/"))
		all = []byte(strings.NewReplacer("+", "%2B", "=", "%3D").Replace(string(all)))
	case "/html":
		all = []byte(strings.ReplaceAll(html.EscapeString(string(all)), "+", "&#43;"))
	case "/hex":
		all = []byte(hex.EncodeToString(all))
	case "/header":
		w.Header().Set("X-Heard", string(all))
	case "/trailer":
		w.Header().Set("Trailer", "X-Heard")
		defer w.Header().Set("X-Heard", string(all))
	case "/drop":
		for i := range all {
			_, _ = w.Write(all[i : i+1])
			_ = http.NewResponseController(w).Flush()
		}
		return
	}
	_, _ = w.Write(all)
}

func (b *bank) said() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.heard)
}

// openBank puts the bank into a world.
func openBank(t testing.TB, w *world) *bank {
	t.Helper()
	authority, err := newAuthority([]string{"api.example.com", "other.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	b := &bank{roots: x509.NewCertPool()}
	b.roots.AddCert(authority.Leaf)
	l := &leaves{authority: authority}
	for name, address := range map[string]string{"api.example.com": apiAddress, "other.example.com": otherAddress} {
		rule, err := ParseRule(name)
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := l.of(rule)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewUnstartedServer(b)
		server.EnableHTTP2 = true
		server.TLS = &tls.Config{Certificates: []tls.Certificate{*certificate}}
		server.StartTLS()
		t.Cleanup(server.Close)
		w.names[name] = []string{address}
		w.servers[address+":443"] = server.Listener.Addr().String()
		plain := httptest.NewServer(b)
		t.Cleanup(plain.Close)
		w.servers[address+":80"] = plain.Listener.Addr().String()
	}
	return b
}

// A visitor is a program in a sandbox with secrets.
type visitor struct {
	*running
	trusted *x509.CertPool
}

// visit starts a proxy with secrets to both hosts, and returns a program behind it.
func visit(t testing.TB, w *world, b *bank, secrets ...sandbox.Secret) *visitor {
	t.Helper()
	grant := sandbox.Grant{Hosts: []string{"api.example.com", "other.example.com"}}
	if len(secrets) > 0 {
		grant.Secrets = &sandbox.Secrets{List: secrets}
	}
	cmd, err := Equip(&sandbox.Command{Argv: []string{"true"}, Grant: grant})
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(cmd.Grant, &Options{Resolver: w, Dial: w.dial, Roots: b.roots})
	if err != nil {
		t.Fatal(err)
	}
	listener := listen(t)
	r := &running{p, t, listener.Addr().String()}
	r.serve(listener)
	trusted := b.roots.Clone() // programs trust the image's authorities too
	if len(secrets) > 0 {
		trusted.AddCert(cmd.Grant.Secrets.Authority.Leaf)
	}
	return &visitor{r, trusted}
}

// client returns a client of HTTP that goes on with redirects.
func (v *visitor) client(two bool) *http.Client {
	transport := &http.Transport{
		Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: v.address}),
		TLSClientConfig:   &tls.Config{RootCAs: v.trusted},
		ForceAttemptHTTP2: two,
		// Compression is as the test asks for it.
		DisableCompression: true,
	}
	v.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// all returns everything of a response, for a search in it.
func (v *visitor) all(response *http.Response) string {
	v.t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		body = append(body, err.Error()...)
	}
	_ = response.Body.Close()
	return fmt.Sprint(response.Status, response.Header, string(body), response.Trailer)
}

func token(change func(*sandbox.Secret)) sandbox.Secret {
	s := sandbox.Secret{Name: "TOKEN", Value: tokenValue, Sentinel: tokenSentinel, Hosts: []string{"api.example.com"}}
	if change != nil {
		change(&s)
	}
	return s
}

// Secrets are put where their grants have them, and nowhere else. Whatever a host sends
// back, the program never sees one.
func TestSecrets(t *testing.T) {
	basic := func(password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+password))
	}
	bearer := http.Header{"Authorization": {"Bearer " + tokenSentinel}}
	onlyRepos := func(s *sandbox.Secret) { s.Methods, s.Paths = []string{"GET"}, []string{"/repos/**"} }
	added := sandbox.Secret{Name: "KEY", Value: keyValue, Sentinel: keySentinel, Header: "Authorization", Prefix: "Key ", Hosts: []string{"api.example.com:443"}}
	for name, test := range map[string]struct {
		secret      sandbox.Secret
		method, url string
		header      http.Header
		body        string
		heard       string // by the bank, a part; "" for a request that does not come
		want        string // a part of the answer
	}{
		"bearer":             {url: "https://api.example.com/", header: bearer, heard: `["Bearer ` + tokenValue + `"]`, want: "Bearer " + tokenSentinel},
		"a field of its own": {url: "https://api.example.com/", header: http.Header{"Private-Token": {tokenSentinel}}, heard: "GET api.example.com / []", want: tokenSentinel},
		"basic":              {url: "https://api.example.com/", header: http.Header{"Authorization": {basic(tokenSentinel)}}, heard: basic(tokenValue)},
		"query":              {url: "https://api.example.com/a?x=1&token=" + url.QueryEscape(tokenSentinel), heard: "token=" + url.QueryEscape(tokenValue), want: url.QueryEscape(tokenSentinel)},
		"added":              {secret: added, url: "https://api.example.com/", heard: `["Key ` + keyValue + `"]`, want: "Key " + keySentinel},
		"added for another":  {secret: added, url: "https://other.example.com/", heard: `other.example.com / []`},
		"added in its place": {secret: added, url: "https://api.example.com/", header: http.Header{"Authorization": {"mine"}}, heard: `["Key ` + keyValue + `"]`},

		"another host":           {url: "https://other.example.com/", header: bearer, heard: tokenSentinel},
		"a redirect to another":  {url: "https://api.example.com/redirect?token=" + url.QueryEscape(tokenSentinel), heard: "GET other.example.com /?token=" + url.QueryEscape(tokenSentinel)},
		"plain HTTP":             {url: "http://api.example.com/", header: bearer, want: "the secret TOKEN is sent over TLS alone; ask for https://api.example.com"},
		"a field for anything":   {url: "https://api.example.com/", header: http.Header{"User-Agent": {tokenSentinel}}, want: "header fields for credentials, such as Authorization, and not in User-Agent"},
		"the path":               {url: "https://api.example.com/bot" + url.PathEscape(tokenSentinel) + "/send", want: "was granted for header and query, and not for path"},
		"the path, granted":      {secret: token(func(s *sandbox.Secret) { s.In = []string{"path"} }), url: "https://api.example.com/bot" + url.PathEscape(tokenSentinel) + "/send", heard: "/bot" + url.PathEscape(tokenValue) + "/send"},
		"a body":                 {method: "POST", url: "https://api.example.com/", body: tokenSentinel, heard: "[] " + tokenSentinel},
		"a body, granted":        {secret: token(func(s *sandbox.Secret) { s.In = []string{"body"} }), method: "POST", url: "https://api.example.com/", body: strings.Repeat("x", 1<<20) + tokenSentinel, heard: "x" + tokenValue},
		"a body, compressed":     {secret: token(func(s *sandbox.Secret) { s.In = []string{"body"} }), method: "POST", url: "https://api.example.com/", header: http.Header{"Content-Encoding": {"gzip"}}, body: tokenSentinel, want: `a body that is compressed as "gzip"`},
		"a method and path":      {secret: token(onlyRepos), url: "https://api.example.com/repos/a/b", header: bearer, heard: tokenValue},
		"another method":         {secret: token(onlyRepos), method: "DELETE", url: "https://api.example.com/repos/a/b", header: bearer, want: "the secret TOKEN was not granted for DELETE /repos/a/b"},
		"another path":           {secret: token(onlyRepos), url: "https://api.example.com/user", header: bearer, want: "not granted for GET /user"},
		"a path that leads away": {secret: token(onlyRepos), url: "https://api.example.com/repos/%2e%2e/user", header: bearer, want: "not granted for GET"},
		"an escaped slash":       {secret: token(onlyRepos), url: "https://api.example.com/repos/..%2fuser", header: bearer, want: "not granted for GET"},
		"another method by name": {secret: token(onlyRepos), url: "https://api.example.com/repos/a", header: http.Header{"Authorization": {"Bearer " + tokenSentinel}, "X-Http-Method-Override": {"DELETE"}}, want: "not granted for GET"},
		"by a name with _":       {secret: token(onlyRepos), url: "https://api.example.com/repos/a", header: http.Header{"Authorization": {"Bearer " + tokenSentinel}, "X_http_method_override": {"DELETE"}}, want: "not granted for GET"},
		"a path as of Tomcat":    {secret: token(onlyRepos), url: "https://api.example.com/repos/..;/user", header: bearer, want: "not granted for GET"},
		"a path escaped twice":   {secret: token(onlyRepos), url: "https://api.example.com/repos/%252e%252e/user", header: bearer, want: "not granted for GET"},
		"the body alone":         {secret: token(func(s *sandbox.Secret) { s.In = []string{"body"} }), url: "https://api.example.com/", header: bearer, want: "was granted for body, and not for header"},
		"the path alone":         {secret: token(func(s *sandbox.Secret) { s.In = []string{"path"} }), url: "https://api.example.com/?token=" + url.QueryEscape(tokenSentinel), want: "was granted for path, and not for query"},
		"AWS":                    {url: "https://api.example.com/", header: http.Header{"Authorization": {"AWS4-HMAC-SHA256 Credential=AKIA/20261128/eu/s3/aws4_request"}}, want: "cannot sign requests in the sandbox"},

		"echoed compressed":   {url: "https://api.example.com/gzip", header: bearer, heard: tokenValue, want: tokenSentinel},
		"echoed in brotli":    {url: "https://api.example.com/br", header: bearer, heard: tokenValue, want: "in which a secret could not be seen"},
		"echoed in base64":    {url: "https://api.example.com/base64", header: bearer, heard: tokenValue},
		"echoed in hex":       {url: "https://api.example.com/hex", header: bearer, heard: tokenValue, want: hex.EncodeToString([]byte(tokenSentinel))},
		"echoed in a field":   {url: "https://api.example.com/header", header: bearer, heard: tokenValue, want: "X-Heard"},
		"echoed in a trailer": {url: "https://api.example.com/trailer", header: bearer, heard: tokenValue, want: "X-Heard"},
		"echoed in a part":    {url: "https://api.example.com/range", header: http.Header{"Authorization": {"Bearer " + tokenSentinel}, "Range": {"bytes=40-49"}}, heard: tokenValue, want: "200 OK"},
		"echoed by PHP":       {url: "https://api.example.com/php", header: bearer, heard: tokenValue, want: strings.ReplaceAll(tokenSentinel, "/", `\/`)},
		"echoed by Python":    {url: "https://api.example.com/quote", header: bearer, heard: tokenValue, want: "%2B/%3D"},
		"echoed in HTML":      {url: "https://api.example.com/html", header: bearer, heard: tokenValue, want: "&#43;"},
		"echoed early":        {url: "https://api.example.com/early", header: bearer, heard: tokenValue},
		"echoed byte by byte": {url: "https://api.example.com/drop", header: bearer, heard: tokenValue, want: tokenSentinel},
	} {
		for _, two := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, HTTP/2 %v", name, two), func(t *testing.T) {
				w := newWorld()
				b := openBank(t, w)
				if test.secret.Name == "" {
					test.secret = token(nil)
				}
				v := visit(t, w, b, test.secret)
				request, err := http.NewRequest(test.method, test.url, strings.NewReader(test.body))
				if err != nil {
					t.Fatal(err)
				}
				for name, values := range test.header {
					request.Header[name] = values
				}
				response, err := v.client(two).Do(request)
				if err != nil {
					t.Fatal(err)
				}
				answer := v.all(response)
				for _, value := range []string{tokenValue, keyValue} {
					for _, real := range []string{value, value[8:18], url.QueryEscape(value), hex.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte(value))[:16]} {
						if strings.Contains(answer, real) || strings.Contains(fmt.Sprint(v.Connections()), real) {
							t.Errorf("the program sees %q:\n%s", real, answer)
						}
					}
				}
				if !strings.Contains(answer, test.want) {
					t.Errorf("want %q in the answer\n%.2000s", test.want, answer)
				}
				said := b.said()
				if test.heard == "" && len(said) > 0 || test.heard != "" && (len(said) == 0 || !strings.Contains(said[len(said)-1], test.heard)) {
					t.Errorf("want %q at the host, which heard\n%.2000s", test.heard, said)
				}
				for _, line := range said {
					if strings.Contains(line, "other.example.com") && (strings.Contains(line, tokenValue) || strings.Contains(line, keyValue)) {
						t.Errorf("another host heard the secret: %s", line)
					}
				}
			})
		}
	}
}

// raw begins TLS with a host through a tunnel, for requests that no library makes. It waits
// for the end of a tunnel in which that fails.
func (v *visitor) raw(host, name string) (*tls.Conn, error) {
	_, conn := v.connect(host)
	secure := tls.Client(conn, &tls.Config{RootCAs: v.trusted, ServerName: name})
	err := secure.Handshake()
	if err != nil {
		_, _ = io.Copy(io.Discard, conn)
	}
	return secure, err
}

// Requests that say one thing to the proxy and another to the host, or that hide a second
// one, do not come to the host, or come as one.
func TestSecretsHoldAgainstTricks(t *testing.T) {
	const authorization = "Authorization: Bearer " + tokenSentinel + "\r\n"
	for name, test := range map[string]struct{ request, want string }{
		"another Host":       {"GET / HTTP/1.1\r\nHost: other.example.com\r\n" + authorization + "\r\n", "421"},
		"two Hosts":          {"GET / HTTP/1.1\r\nHost: api.example.com\r\nHost: other.example.com\r\n" + authorization + "\r\n", "400"},
		"another whole URL":  {"GET https://other.example.com/ HTTP/1.1\r\nHost: api.example.com\r\n" + authorization + "\r\n", "421"},
		"a proxy behind":     {"CONNECT other.example.com:443 HTTP/1.1\r\nHost: other.example.com:443\r\n" + authorization + "\r\n", "405"},
		"two lengths":        {"POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 4\r\nContent-Length: 40\r\n" + authorization + "\r\nGET ", "400"},
		"length and chunks":  {"POST / HTTP/1.1\r\nHost: api.example.com\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n" + authorization + "\r\n0\r\n\r\n", "200"},
		"odd chunks":         {"POST / HTTP/1.1\r\nHost: api.example.com\r\nTransfer-Encoding: xchunked\r\n" + authorization + "\r\n0\r\n\r\n", "501"},
		"a field with a CR":  {"GET / HTTP/1.1\r\nHost: api.example.com\r\nX-Key: a\rX: b\r\n\r\n", "400"},
		"a line's end in it": {"GET /?x=%0d%0aX-Injected:%20" + url.QueryEscape(tokenSentinel) + " HTTP/1.1\r\nHost: api.example.com\r\n\r\n", "200"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			b := openBank(t, w)
			v := visit(t, w, b, token(nil))
			conn, err := v.raw("api.example.com:443", "api.example.com")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, strings.Replace(test.request, "\r\n\r\n", "\r\nConnection: close\r\n\r\n", 1)); err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(conn) // which ends as it likes
			if !bytes.HasPrefix(answer, []byte("HTTP/1.1 "+test.want)) || bytes.Contains(answer, []byte(tokenValue)) {
				t.Errorf("want %s:\n%s", test.want, answer)
			}
			if said := b.said(); (test.want == "200") != (len(said) == 1) || strings.Contains(fmt.Sprint(said), "X-Injected: ") {
				t.Errorf("the host heard %q", said)
			}
		})
	}
}

// Names have to agree: of the tunnel, of the TLS in it, and of the request, with secrets
// and without.
func TestNamesAgree(t *testing.T) {
	w := newWorld()
	b := openBank(t, w)
	v := visit(t, w, b, token(nil))
	if _, err := v.raw("api.example.com:443", "other.example.com"); err == nil {
		t.Error("TLS for another name begins with a host of secrets")
	}
	if _, err := v.raw("other.example.com:443", "api.example.com"); err == nil {
		t.Error("TLS for another name begins in a tunnel")
	}
	if _, err := v.raw("other.example.com:443", "OTHER.example.com."); err != nil {
		t.Errorf("the name in another case: %v", err)
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	var refused []string
	for _, c := range v.Connections() {
		refused = append(refused, c.Host+": "+c.Refused)
	}
	want := []string{
		`api.example.com:443: TLS did not begin: its TLS is for "other.example.com"`,
		`other.example.com:443: its TLS is for "api.example.com", and the connection to other.example.com:443`,
		`other.example.com:443: `,
	}
	if diff := cmp.Diff(want, refused); diff != "" {
		t.Error(diff)
	}
}

// A program that knows the host's certificate is told apart.
func TestPinnedCertificates(t *testing.T) {
	w := newWorld()
	b := openBank(t, w)
	v := visit(t, w, b, token(nil))
	v.trusted = b.roots
	if _, err := v.raw("api.example.com:443", "api.example.com"); err == nil {
		t.Fatal("a certificate of nobody is trusted")
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if all := v.Connections(); len(all) != 1 || !strings.Contains(all[0].Refused, "needs the secret as plain") {
		t.Errorf("%+v", all)
	}
}

// A host whose certificate is somebody else's gets no secret.
func TestHostsAreVerified(t *testing.T) {
	w := newWorld()
	b := openBank(t, w)
	b.roots = x509.NewCertPool()
	v := visit(t, w, b, token(nil))
	request, err := http.NewRequest("GET", "https://api.example.com/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", tokenSentinel)
	response, err := v.client(true).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if answer := v.all(response); !strings.Contains(answer, "502") || !strings.Contains(answer, "its certificate does not hold") || len(b.said()) > 0 {
		t.Errorf("%s\n%q", answer, b.said())
	}
}

// The run's authority signs for the hosts of its secrets alone, whoever has its key.
func TestAuthorityIsBound(t *testing.T) {
	authority, err := newAuthority([]string{"api.example.com:443", "*.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(authority.Leaf)
	for name, good := range map[string]bool{"api.example.com": true, "a.example.org": true, "other.example.com": false, "93.184.216.34": false} {
		rule, err := ParseRule(name)
		if err != nil {
			t.Fatal(err)
		}
		certificate, err := (&leaves{authority: authority}).of(rule)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := certificate.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Frames of a WebSocket come back masked.
func TestWebSockets(t *testing.T) {
	w := newWorld()
	b := openBank(t, w)
	upgrade := func(conn net.Conn) {
		secure := conn.(*tls.Conn)
		buf := make([]byte, 4096)
		n, _ := secure.Read(buf)
		_, _ = io.WriteString(secure, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = secure.Write(buf[:n])
		n, _ = secure.Read(buf)
		_, _ = secure.Write(buf[:n])
	}
	l := &leaves{}
	var err error
	if l.authority, err = newAuthority([]string{"api.example.com"}); err != nil {
		t.Fatal(err)
	}
	b.roots.AddCert(l.authority.Leaf)
	rule, _ := ParseRule("api.example.com")
	certificate, err := l.of(rule)
	if err != nil {
		t.Fatal(err)
	}
	w.serve(t, apiAddress+":443", func(conn net.Conn) {
		upgrade(tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{*certificate}}))
	})
	v := visit(t, w, b, token(nil))
	conn, err := v.raw("api.example.com:443", "api.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: api.example.com\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer "+tokenSentinel+"\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	var answer []byte
	for !bytes.Contains(answer, []byte("Bearer "+tokenSentinel+"\r\n")) {
		buf := make([]byte, 4096)
		n, err := conn.Read(buf)
		answer = append(answer, buf[:n]...)
		if err != nil {
			t.Fatalf("%v\n%s", err, answer)
		}
	}
	if bytes.Contains(answer, []byte(tokenValue)) || bytes.Contains(bytes.ToLower(answer), []byte("permessage")) {
		t.Errorf("%s", answer)
	}
	if _, err := io.WriteString(conn, "ping"); err != nil {
		t.Fatal(err)
	}
	if rest, _ := io.ReadAll(conn); !bytes.HasSuffix(rest, []byte("ping")) {
		t.Errorf("%q", rest)
	}
}

// A database's client begins with its own protocol: the connection says why that has no
// secret.
func TestSecretsOfDatabases(t *testing.T) {
	w := newWorld()
	b := openBank(t, w)
	v := visit(t, w, b, token(nil))
	_, conn := v.connect("api.example.com:443")
	if _, err := conn.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47}); err != nil { // PostgreSQL: may I begin TLS?
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, conn) // until it is closed
	if said := fmt.Sprint(v.Connections()); !strings.Contains(said, "a database's protocol needs it as plain") {
		t.Error(said)
	}
}
