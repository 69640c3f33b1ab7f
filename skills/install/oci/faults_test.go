package oci

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// noise is 1 MB that does not compress, as an archive with a skill and a file of it.
func noise(t testing.TB, a artifact) (v1.Descriptor, []byte) {
	t.Helper()
	bytes := make([]byte, 1<<20)
	from := rand.NewChaCha8([32]byte{1})
	from.Read(bytes)
	data := tarball(t, true, file("pdf/SKILL.md", skillText), file("pdf/noise.bin", string(bytes)))
	return a.blob(typeContent, data), data
}

func isBlob(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/")
}

// TestCut: a connection that is cut at any tenth of a layer is taken up again, where the
// registry knows ranges and where it does not.
func TestCut(t *testing.T) {
	t.Parallel()
	a := in(t)
	layer, data := noise(t, a)
	a.image("1.0", typeSkill, layer)
	for _, ranges := range []bool{true, false} {
		for tenth := range 10 {
			t.Run(fmt.Sprintf("ranges %v, tenth %d", ranges, tenth), func(t *testing.T) {
				t.Parallel()
				var sent atomic.Int64
				var cuts atomic.Int32
				host := proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
					if !isBlob(r) {
						return false
					}
					if cuts.Add(1) > 1 && ranges {
						counted := &counter{ResponseWriter: w, n: &sent}
						http.ServeContent(counted, r, "", time.Time{}, bytes.NewReader(data))
						return true
					}
					w.Header().Set("Content-Length", fmt.Sprint(len(data)))
					if ranges {
						w.Header().Set("Accept-Ranges", "bytes")
					}
					if cuts.Load() > 1 {
						w.Write(data)
						return true
					}
					n, _ := w.Write(data[:len(data)*tenth/10])
					sent.Add(int64(n))
					panic(http.ErrAbortHandler)
				})
				fetched, files, err := fetch(t, New(nil), named(at(host, a.location()), "1.0"))
				if err != nil {
					t.Fatal(err)
				}
				if len(files) != 2 || len(fetched.Trees) != 1 {
					t.Errorf("%d files, trees %v", len(files), fetched.Trees)
				}
				if ranges && sent.Load() > int64(len(data))+1<<16 {
					t.Errorf("%d bytes were sent of a layer with %d", sent.Load(), len(data))
				}
			})
		}
	}
}

type counter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c *counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return c.ResponseWriter.Write(b)
}

// TestFaults: what a broken or hostile registry answers, and what becomes of it.
func TestFaults(t *testing.T) {
	t.Parallel()
	a := in(t)
	data := tarball(t, true, file("pdf/SKILL.md", skillText))
	layer := a.blob(typeContent, data)
	d := a.image("1.0", typeSkill, layer)
	isManifest := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/manifests/") }
	changed := bytes.Clone(data)
	changed[len(changed)-1] ^= 1
	status := func(w http.ResponseWriter, code int, retryAfter string) bool {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(code)
		io.WriteString(w, `{"errors": [{"code": "X", "message": "said \u001b[31m"}]}`)
		return true
	}
	for _, test := range []struct {
		name  string
		fault func(w http.ResponseWriter, r *http.Request, n int) bool // n counts requests from 1
		want  string                                                   // of the error; "" is success
	}{
		{"429, then well", func(w http.ResponseWriter, r *http.Request, n int) bool { return n < 3 && status(w, 429, "") }, ""},
		{"503 with Retry-After, then well", func(w http.ResponseWriter, r *http.Request, n int) bool { return n == 1 && status(w, 503, "1") }, ""},
		{"503 for a layer, then well", func(w http.ResponseWriter, r *http.Request, n int) bool {
			return isBlob(r) && n < 4 && status(w, 503, "")
		}, ""},
		{"503 for ever", func(w http.ResponseWriter, r *http.Request, n int) bool { return status(w, 503, "") }, `is busy ("x: said \x1b[31m"); try again later`},
		{"a long Retry-After", func(w http.ResponseWriter, r *http.Request, n int) bool { return status(w, 429, "3600") }, "asks to wait 1h0m0s"},
		{"401 without a challenge", func(w http.ResponseWriter, r *http.Request, n int) bool { return status(w, 401, "") }, "run docker login"},
		{"Basic, without credentials", func(w http.ResponseWriter, r *http.Request, n int) bool {
			w.Header().Set("WWW-Authenticate", "Basic realm=x")
			return status(w, 401, "")
		}, "wants to know who you are; run docker login"},
		{"403", func(w http.ResponseWriter, r *http.Request, n int) bool { return status(w, 403, "") }, "does not let you do that"},
		{"404", func(w http.ResponseWriter, r *http.Request, n int) bool { return status(w, 404, "") }, `has no testfaults "1.0", or hides it from you`},
		{"418", func(w http.ResponseWriter, r *http.Request, n int) bool { return status(w, 418, "") }, "answers 418"},
		{"no manifest", func(w http.ResponseWriter, r *http.Request, n int) bool {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<html>")
			return true
		}, "the manifest is not JSON"},
		{"a large manifest", func(w http.ResponseWriter, r *http.Request, n int) bool {
			w.Header().Set("Content-Type", v1.MediaTypeImageManifest)
			w.Header().Set("Docker-Content-Digest", d.Digest.String())
			w.Header().Set("Content-Length", "1000000000000")
			return true
		}, "a manifest of more than 4 MiB"},
		{"a manifest of another digest", func(w http.ResponseWriter, r *http.Request, n int) bool {
			w.Header().Set("Content-Type", v1.MediaTypeImageManifest)
			w.Header().Set("Docker-Content-Digest", d.Digest.String())
			io.WriteString(w, "{}")
			return isManifest(r)
		}, "another manifest"},
		{"a layer of another digest", func(w http.ResponseWriter, r *http.Request, n int) bool {
			if isBlob(r) {
				w.Write(changed)
			}
			return isBlob(r)
		}, "sends other bytes than those of layer " + digestOf(data)},
		{"a layer that is too long", func(w http.ResponseWriter, r *http.Request, n int) bool {
			if isBlob(r) {
				w.(http.Flusher).Flush() // so that no length is sent
				w.Write(append(bytes.Clone(data), 0))
			}
			return isBlob(r)
		}, "sends more than"},
		{"a layer of a wrong length", func(w http.ResponseWriter, r *http.Request, n int) bool {
			if isBlob(r) {
				w.Write(data[1:])
			}
			return isBlob(r)
		}, "mismatch Content-Length"},
		{"a layer that is too short", func(w http.ResponseWriter, r *http.Request, n int) bool {
			if isBlob(r) {
				w.(http.Flusher).Flush()
				w.Write(data[1:])
			}
			return isBlob(r)
		}, "unexpected EOF"},
		{"no byte of a layer", func(w http.ResponseWriter, r *http.Request, n int) bool {
			if isBlob(r) {
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}
			return isBlob(r)
		}, "no byte came for too long"},
		{"no answer", func(w http.ResponseWriter, r *http.Request, n int) bool {
			<-r.Context().Done()
			return true
		}, "no byte came for too long"},
		{"redirects in a circle", func(w http.ResponseWriter, r *http.Request, n int) bool {
			http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
			return true
		}, "redirects"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var n atomic.Int32
			host := proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
				return test.fault(w, r, int(n.Add(1)))
			})
			f := New(&Options{Idle: 300 * time.Millisecond})
			_, files, err := fetch(t, f, named(at(host, a.location()), "1.0"))
			if test.want == "" {
				if err != nil || len(files) != 1 {
					t.Errorf("%v, files %v", err, files)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q in it", err, test.want)
			}
			if err != nil && strings.ContainsRune(err.Error(), '\x1b') {
				t.Errorf("the error has the registry's control characters: %q", err)
			}
		})
	}
}

// TestMoves: a registry that answers with another manifest the second time changes
// nothing: all that is fetched belongs to the first.
func TestMoves(t *testing.T) {
	t.Parallel()
	a := in(t)
	first := a.image("1.0", typeSkill, a.blob("text/markdown", []byte("1"), v1.AnnotationTitle, "SKILL.md"))
	var once sync.Once
	host := proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		if isBlob(r) {
			once.Do(func() {
				a.image("1.0", typeSkill, a.blob("text/markdown", []byte("2"), v1.AnnotationTitle, "SKILL.md"))
			})
		}
		return false
	})
	fetched, files, err := fetch(t, New(nil), named(at(host, a.location()), "1.0"))
	if err != nil || fetched.Revision != first.Digest.String() || files["SKILL.md"] != "1" {
		t.Errorf("%+v, %v, %v", fetched, files, err)
	}
}

// TestRedirects: layers may be elsewhere, without the registry's credentials, and not at a
// private address.
func TestRedirects(t *testing.T) {
	t.Parallel()
	a := in(t)
	data := tarball(t, true, file("pdf/SKILL.md", skillText))
	a.image("1.0", typeSkill, a.blob(typeContent, data))
	var asked atomic.Int32
	storage := func(address string) string {
		t.Helper()
		listener, err := net.Listen("tcp", address+":0")
		if err != nil {
			t.Skipf("SKIPPED: this machine has no address %s: %v", address, err)
		}
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			if r.Header.Get("Authorization") != "" {
				t.Error("the storage gets the registry's credentials")
			}
			w.Write(data)
		}))
		s.Listener.Close()
		s.Listener = listener
		s.Start()
		t.Cleanup(s.Close)
		return listener.Addr().String()
	}
	config := credentialsFile(t, map[string]string{})
	var target atomic.Value
	host := proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		if _, password, _ := r.BasicAuth(); password != "secret" {
			w.Header().Set("WWW-Authenticate", "Basic realm=x")
			w.WriteHeader(401)
			return true
		}
		if isBlob(r) {
			http.Redirect(w, r, target.Load().(string), http.StatusTemporaryRedirect)
		}
		return isBlob(r)
	})
	writeAuths(t, config, host)
	public := func(private string) func(netip.Addr) bool {
		return func(a netip.Addr) bool { return a.String() != private }
	}
	near, far := storage("127.0.0.1"), storage("127.0.0.2")
	for _, test := range []struct {
		name, to, private string
		named             bool
		want              string
	}{
		{"public storage", "http://" + far, "10.0.0.1", true, ""},
		{"private storage of a public registry", "http://" + far, "127.0.0.2", true, "127.0.0.2, an address that is not public"},
		{"by a name", "http://localhost:" + far[strings.LastIndex(far, ":")+1:], "127.0.0.1", false, "an address that is not public"},
		{"private storage of a private registry that the person named", "http://" + near, "127.0.0.1", true, ""},
		{"a private registry that a stranger named", "http://" + near, "127.0.0.1", false, "an address that is not public"},
		{"without TLS", "http://192.0.2.1/x", "10.0.0.1", true, "leads to 192.0.2.1 without TLS"},
		{"a file", "file:///etc/passwd", "10.0.0.1", true, "without TLS"},
	} {
		t.Run(test.name, func(t *testing.T) {
			target.Store(test.to)
			before := asked.Load()
			f := New(&Options{DockerConfig: config, Public: public(test.private)})
			r := named(at(host, a.location()), "1.0")
			r.Named = test.named
			_, _, err := fetch(t, f, r)
			if test.want == "" {
				if err != nil || asked.Load() == before {
					t.Errorf("%v, %d requests", err, asked.Load()-before)
				}
				return
			}
			if got := refusal(t, err); !strings.Contains(got, test.want) || asked.Load() != before {
				t.Errorf("%s, want %q in it; %d requests", got, test.want, asked.Load()-before)
			}
		})
	}
}

// credentialsFile writes a Docker configuration with credential helpers by registry.
func credentialsFile(t testing.TB, helpers map[string]string) string {
	t.Helper()
	var list []string
	for host, helper := range helpers {
		list = append(list, fmt.Sprintf("%q: %q", host, helper))
	}
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(`{"credHelpers": {`+strings.Join(list, ",")+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeAuths(t testing.TB, path, host string) {
	t.Helper()
	auth := base64.StdEncoding.EncodeToString([]byte("user:secret"))
	if err := os.WriteFile(path, fmt.Appendf(nil, `{"auths": {%q: {"auth": %q}}}`, host, auth), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestCredentials: they come from Docker's configuration or its helpers, for each registry
// its own.
func TestCredentials(t *testing.T) {
	a := in(t)
	a.image("1.0", typeSkill, a.blob("text/markdown", []byte("1"), v1.AnnotationTitle, "SKILL.md"))
	host := proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user == "user" && password == "secret" {
			return false
		}
		w.Header().Set("WWW-Authenticate", "Basic realm=x")
		w.WriteHeader(401)
		return true
	})
	helpers := t.TempDir()
	t.Setenv("PATH", helpers+string(os.PathListSeparator)+os.Getenv("PATH"))
	helper := "#!/bin/sh\nread host\nprintf '{\"ServerURL\": \"%s\", \"Username\": \"user\", \"Secret\": \"secret\"}' \"$host\"\n"
	if err := os.WriteFile(filepath.Join(helpers, "docker-credential-test"), []byte(helper), 0o700); err != nil {
		t.Fatal(err)
	}
	plain, broken := credentialsFile(t, nil), credentialsFile(t, nil)
	writeAuths(t, plain, host)
	if err := os.WriteFile(broken, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, config, want string }{
		{"in the file", plain, ""},
		{"of a helper", credentialsFile(t, map[string]string{host: "test"}), ""},
		{"of another registry", credentialsFile(t, map[string]string{"example.com": "test"}), "run docker login"},
		{"no file", filepath.Join(helpers, "none.json"), "run docker login"},
		{"a broken file", broken, "read Docker's configuration"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := fetch(t, New(&Options{DockerConfig: test.config}), named(at(host, a.location()), "1.0"))
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

// TestTLS: only registries of this machine that the person named may be without.
func TestTLS(t *testing.T) {
	t.Parallel()
	a := in(t)
	a.image("1.0", typeSkill, a.blob("text/markdown", []byte("1"), v1.AnnotationTitle, "SKILL.md"))
	r := named(a.location(), "1.0")
	r.Named = false
	if _, _, err := fetch(t, New(nil), r); err == nil || !strings.Contains(err.Error(), "has no TLS") {
		t.Errorf("named by a stranger: %v", err)
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	trusting := secure.Client().Transport.(*http.Transport)
	r = named(at(secure.Listener.Addr().String(), a.location()), "1.0")
	if _, _, err := fetch(t, New(&Options{Transport: trusting}), r); err == nil || !strings.Contains(err.Error(), "hides it from you") {
		t.Errorf("with TLS on this machine: %v", err)
	}
	for _, location := range []string{"", "name", "host/UPPER", "host/name:tag", "host/name@sha256:00", "/name", "ho st/name"} {
		if _, _, err := fetch(t, New(nil), named(location, "")); err == nil || !errors.As(err, new(*source.RefusedError)) {
			t.Errorf("%q: %v", location, err)
		}
	}
}

// TestRetryAfter reads both forms of the header.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "x": 0, "-5": 0, "0": 0, "7": 7 * time.Second, "99999999999999": 0,
		"Thu, 01 Jan 2026 00:00:09 GMT": 9 * time.Second, "Wed, 31 Dec 2025 00:00:00 GMT": 0,
	} {
		if got := retryAfter(header, now); got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
	}
}
