package download

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/skills/install/download/faulttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// content is larger than the buffers on the way.
func content() []byte {
	b := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

func digestOf(b []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(b)) }

// newClient returns a client that notes how long it would wait.
func newClient(t *testing.T, o Options) (c *Client, waits *[]time.Duration) {
	t.Helper()
	waits = &[]time.Duration{}
	o.Sleep = func(_ context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return nil
	}
	c = New(&o)
	t.Cleanup(c.Close)
	return c, waits
}

func TestGet(t *testing.T) {
	body := content()
	size := len(body)
	half := size / 2
	for _, test := range []struct {
		name     string
		faults   []faulttest.Fault
		get      Get
		requests int
		waits    string
		want     string // "" is the body
	}{
		{name: "as it should be", requests: 1},
		{name: "its digest", get: Get{Digest: digestOf(body)}, requests: 1},
		{name: "cut in the middle", faults: bytesOf(5, faulttest.Cut(half)),
			requests: 1, want: "download URL: the server cuts the connection; check the connection, and try again"},
		{name: "cut before the first byte", faults: bytesOf(5, faulttest.Cut(0)),
			requests: 1, want: "download URL: the server cuts the connection; check the connection, and try again"},
		{name: "busy, in seconds", faults: []faulttest.Fault{faulttest.Status(429, "7"), faulttest.Status(503, "0")}, requests: 3, waits: "7s 0s"},
		{name: "busy, until a date that has gone", faults: []faulttest.Fault{faulttest.Status(503, "Sun, 06 Nov 1994 08:49:37 GMT")}, requests: 2, waits: "0s"},
		{name: "busy, without a time", faults: []faulttest.Fault{faulttest.Status(503, ""), faulttest.Status(503, "soon")}, requests: 3, waits: "1s 2s"},
		{name: "busy for too long", faults: []faulttest.Fault{faulttest.Status(429, "3600")}, requests: 1,
			want: "URL answers 429 Too Many Requests, and asks to wait for 1h0m0s; try again then"},
		{name: "always busy", faults: []faulttest.Fault{faulttest.Status(503, "1"), faulttest.Status(503, "1"), faulttest.Status(503, "1"), faulttest.Status(503, "1"), faulttest.Status(503, "1")},
			requests: 4, waits: "1s 1s 1s", want: "URL answers 503 Service Unavailable"},
		{name: "busy, then cut", faults: []faulttest.Fault{faulttest.Status(503, "2"), faulttest.Cut(half)}, requests: 2, waits: "2s",
			want: "download URL: the server cuts the connection; check the connection, and try again"},
		{name: "not there", faults: []faulttest.Fault{faulttest.Status(404, "1")}, requests: 1, want: "URL answers 404 Not Found"},
		{name: "another error", faults: []faulttest.Fault{faulttest.Status(500, "1")}, requests: 1, want: "URL answers 500 Internal Server Error"},
		{name: "a part that nobody asked for", faults: []faulttest.Fault{faulttest.Status(206, "")}, requests: 1, want: "URL answers 206 Partial Content"},
		{name: "another length", faults: bytesOf(5, faulttest.Header("Content-Length", fmt.Sprint(size+1))), requests: 1,
			want: "download URL: the server cuts the connection; check the connection, and try again"},
		{name: "another digest", get: Get{Digest: digestOf(nil)}, requests: 1,
			want: "URL has the digest " + digestOf(body) + ", not " + digestOf(nil) + "; ask its author which one is right"},
		{name: "other content", get: Get{Digest: digestOf(body)}, faults: []faulttest.Fault{faulttest.Body(bytes.Repeat([]byte("x"), size))}, requests: 1,
			want: "URL has the digest " + digestOf(bytes.Repeat([]byte("x"), size)) + ", not " + digestOf(body) + "; ask its author which one is right"},
		{name: "larger than the limit, as it says", get: Get{Limit: 1000}, requests: 1, want: "URL is larger than 1000 bytes; leave out what the skill does not need"},
		{name: "larger than the limit, in secret", get: Get{Limit: 1000}, faults: []faulttest.Fault{faulttest.Header("Content-Length", "")}, requests: 1,
			want: "URL is larger than 1000 bytes; leave out what the skill does not need"},
		{name: "a redirect", faults: []faulttest.Fault{faulttest.Redirect("/file")}, requests: 2},
		{name: "redirects for ever", faults: bytesOf(20, faulttest.Redirect("/file")), requests: 11, want: "URL redirects more than 10 times"},
		{name: "a redirect to another scheme", faults: []faulttest.Fault{faulttest.Redirect("file:///etc/passwd")}, requests: 1, want: `a URL has the scheme "file"; use https`},
		{name: "silence in the middle", faults: []faulttest.Fault{faulttest.Stall(half)}, requests: 1, want: "download URL: the download took longer than 300ms"},
		{name: "silence before the header", faults: []faulttest.Fault{func(_ http.ResponseWriter, r *http.Request, _ http.Handler) { <-r.Context().Done() }},
			requests: 1, want: "download URL: net/http: timeout awaiting response headers; check the connection, and try again"},
		{name: "a body byte by byte", faults: []faulttest.Fault{faulttest.DripBody(10 * time.Millisecond)}, requests: 1, want: "download URL: the download took longer than 300ms"},
		{name: "a header byte by byte", faults: []faulttest.Fault{faulttest.Drip(10 * time.Millisecond)}, requests: 1, want: "download URL: net/http: timeout awaiting response headers; check the connection, and try again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := faulttest.New(t, faulttest.Files(map[string][]byte{"/file": body}))
			server.Fail("/file", test.faults...)
			o := Options{}
			switch {
			case strings.HasSuffix(test.want, "took longer than 300ms"):
				o.Slow = 300 * time.Millisecond
			case strings.Contains(test.want, "timeout awaiting response headers"):
				o.Transport = &http.Transport{ResponseHeaderTimeout: 300 * time.Millisecond}
			}
			c, waits := newClient(t, o)
			test.get.URL, test.get.Named = server.URL+"/file", true
			got, response, err := c.Get(t.Context(), test.get)
			if said := strings.ReplaceAll(fmt.Sprint(err), test.get.URL, "URL"); test.want != "" && said != test.want {
				t.Errorf("%s\nwant %s", said, test.want)
			} else if test.want == "" && (err != nil || !bytes.Equal(got, body) || response.Digest != digestOf(body) || response.Size != int64(size)) {
				t.Errorf("%v, %d bytes, %+v", err, len(got), response)
			}
			if got := len(server.Requests("")); got != test.requests {
				t.Errorf("%d requests, want %d", got, test.requests)
			}
			if got := strings.Trim(fmt.Sprint(*waits), "[]"); test.waits != "" && got != test.waits {
				t.Errorf("waited %s, want %s", got, test.waits)
			}
		})
	}
}

// TestHTTP2 has the error of a download whose stream a server ends.
func TestHTTP2(t *testing.T) {
	body := content()
	server := faulttest.NewTLS(t, faulttest.Files(map[string][]byte{"/file": body}))
	server.Fail("/file", faulttest.Cut(len(body)/2))
	c, _ := newClient(t, Options{Transport: server.Transport()})
	get := Get{URL: server.URL + "/file", Named: true, Digest: digestOf(body)}
	if _, _, err := c.Get(t.Context(), get); err == nil || !strings.Contains(err.Error(), "try again") {
		t.Error(err)
	}
	if got, _, err := c.Get(t.Context(), get); err != nil || !bytes.Equal(got, body) {
		t.Errorf("%v, %d bytes", err, len(got))
	}
	if proto := server.Requests("")[0].Proto; proto != "HTTP/2.0" {
		t.Errorf("it was %s", proto)
	}
}

func bytesOf(n int, fault faulttest.Fault) []faulttest.Fault {
	var all []faulttest.Fault
	for range n {
		all = append(all, fault)
	}
	return all
}

// private rejects every address; all servers here are on loopback.
func private(netip.Addr) bool { return false }

func TestWhereTo(t *testing.T) {
	secure := faulttest.NewTLS(t, faulttest.Files(map[string][]byte{"/file": []byte("content")}))
	plain := faulttest.New(t, faulttest.Files(map[string][]byte{"/file": []byte("content")}))
	elsewhere := strings.Replace(secure.URL, "127.0.0.1", "localhost", 1) + "/file"
	for _, test := range []struct {
		name   string
		get    Get
		fault  faulttest.Fault
		public func(netip.Addr) bool
		want   string
	}{
		{name: "a private host that the person named", get: Get{URL: secure.URL + "/file", Named: true}, want: "content"},
		{name: "one that a server named", get: Get{URL: secure.URL + "/file"},
			want: "a server names the address 127.0.0.1, which is not of the public internet; install from that address itself if you trust it"},
		{name: "a redirect to one", get: Get{URL: secure.URL + "/file", Named: true}, fault: faulttest.Redirect(elsewhere),
			want: "a server names the address 127.0.0.1, which is not of the public internet; install from that address itself if you trust it"},
		{name: "a public host that a server named", get: Get{URL: secure.URL + "/file"}, public: func(netip.Addr) bool { return true }, want: "content"},
		{name: "a redirect from https to http", get: Get{URL: secure.URL + "/file", Named: true}, fault: faulttest.Redirect(plain.URL + "/file"),
			want: secure.URL + "/file redirects from https to http"},
		{name: "plain http to this machine", get: Get{URL: plain.URL + "/file", Named: true}, want: "content"},
		{name: "plain http that a server named", get: Get{URL: plain.URL + "/file"},
			want: "plain http can be read and changed on the way; use https; http is only for a server of this machine"},
		{name: "plain http to another machine", get: Get{URL: "http://192.0.2.1/file", Named: true},
			want: "plain http can be read and changed on the way; use https; http is only for a server of this machine"},
		{name: "a file", get: Get{URL: "file:///etc/passwd", Named: true}, want: "download: file:///etc/passwd is no address of the web"},
		{name: "another scheme", get: Get{URL: "ftp://127.0.0.1/file", Named: true}, want: `a URL has the scheme "ftp"; use https`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.public == nil {
				test.public = private
			}
			if test.fault != nil {
				secure.Fail("/file", test.fault)
			}
			c, _ := newClient(t, Options{Transport: secure.Transport(), Public: test.public})
			got, _, err := c.Get(t.Context(), test.get)
			if err != nil {
				got = []byte(err.Error())
			}
			if string(got) != test.want {
				t.Errorf("%s\nwant %s", got, test.want)
			}
		})
	}
}

// TestHeader sends no Referer along.
func TestHeader(t *testing.T) {
	other := faulttest.NewTLS(t, faulttest.Files(map[string][]byte{"/file": []byte("content")}))
	server := faulttest.NewTLS(t, faulttest.Files(nil))
	server.Fail("/file", faulttest.Redirect("/again"))
	server.Fail("/again", faulttest.Redirect(other.URL+"/file"))
	c, _ := newClient(t, Options{Transport: server.Transport()})
	if _, _, err := c.Get(t.Context(), Get{URL: server.URL + "/file?key=secret", Named: true, JSON: true}); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*http.Request{server.Requests("/file")[0], server.Requests("/again")[0], other.Requests("/file")[0]} {
		if got := r.Header; got.Get("Accept") != "application/json" || got.Get("Referer") != "" {
			t.Errorf("%s got %v", r.URL, got)
		}
	}
}

// TestProxy shows that a proxy gets the request, and that an address in the place of a
// host name is still checked.
func TestProxy(t *testing.T) {
	proxy := faulttest.New(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	transport := &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }}
	c, _ := newClient(t, Options{Transport: transport, Public: private})
	if _, _, err := c.Get(t.Context(), Get{URL: "https://skills.example/file"}); err == nil || !strings.Contains(err.Error(), "teapot") {
		t.Errorf("by name: %v", err)
	}
	if _, _, err := c.Get(t.Context(), Get{URL: "https://10.0.0.1/file"}); err == nil || !strings.Contains(err.Error(), "not of the public internet") {
		t.Errorf("by address: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	server := faulttest.New(t, faulttest.Files(map[string][]byte{"/file": content()}))
	server.Fail("/file", faulttest.Stall(1000))
	c, _ := newClient(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	get := Get{URL: server.URL + "/file", Named: true, Progress: func(done, total int64) {
		if total != 1<<20 {
			t.Errorf("of %d bytes", total)
		}
		if done == 1000 {
			cancel()
		}
	}}
	if _, _, err := c.Get(ctx, get); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Error(err)
	}
}

func TestSlow(t *testing.T) {
	server := faulttest.New(t, faulttest.Files(map[string][]byte{"/file": content()}))
	server.Fail("/file", faulttest.Stall(1000))
	c := New(&Options{Slow: 300 * time.Millisecond})
	defer c.Close()
	if _, _, err := c.Get(t.Context(), Get{URL: server.URL + "/file", Named: true}); err == nil || !strings.Contains(err.Error(), "took longer than 300ms") {
		t.Error(err)
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, seed := range []string{"", "0", "120", "-1", "99999999999999999999", "Fri, 31 Dec 1999 23:59:59 GMT", "1.5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if d, ok := retryAfter(value, time.Now()); ok && d < 0 {
			t.Errorf("%q: %s", value, d)
		}
	})
}
