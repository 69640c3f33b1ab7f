package oci

import (
	"bytes"
	"crypto/tls"
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

	"github.com/skillsmcp/skills-mcp/skills/install/download"
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

// TestCut: a layer whose connection is cut at any tenth is an error, and is fetched again
// when somebody asks again.
func TestCut(t *testing.T) {
	t.Parallel()
	a := in(t)
	layer, data := noise(t, a)
	a.image("1.0", typeSkill, layer)
	for tenth := range 10 {
		t.Run(fmt.Sprintf("tenth %d", tenth), func(t *testing.T) {
			t.Parallel()
			var cuts atomic.Int32
			host := proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
				if !isBlob(r) || cuts.Add(1) > 1 {
					return false
				}
				w.Header().Set("Content-Length", fmt.Sprint(len(data)))
				w.Write(data[:len(data)*tenth/10])
				panic(http.ErrAbortHandler)
			})
			f, r := newFetcher(t, download.Options{}, ""), named(at(host, a.location()), "1.0")
			// Before the header net/http may ask again by itself.
			if _, _, err := fetch(t, f, r); tenth > 0 && err == nil || err != nil && !strings.Contains(err.Error(), "try again") {
				t.Errorf("the first time: %v", err)
			}
			fetched, files, err := fetch(t, f, r)
			if err != nil || len(files) != 2 || len(fetched.Trees) != 1 {
				t.Errorf("%v, %d files, %+v", err, len(files), fetched)
			}
		})
	}
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
		{"a long Retry-After", func(w http.ResponseWriter, r *http.Request, n int) bool { return status(w, 429, "3600") }, "asks to wait for 1h0m0s"},
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
		}, "not " + digestOf(data)},
		{"a layer that is too long", func(w http.ResponseWriter, r *http.Request, n int) bool {
			if isBlob(r) {
				w.(http.Flusher).Flush() // so that no length is sent
				w.Write(append(bytes.Clone(data), 0))
			}
			return isBlob(r)
		}, "is larger than"},
		{"a layer of a wrong length", func(w http.ResponseWriter, r *http.Request, n int) bool {
			if isBlob(r) {
				w.Write(data[1:])
			}
			return isBlob(r)
		}, "has the digest"},
		{"a layer that is too short", func(w http.ResponseWriter, r *http.Request, n int) bool {
			if isBlob(r) {
				w.(http.Flusher).Flush()
				w.Write(data[1:])
			}
			return isBlob(r)
		}, "has the digest"},
		{"no byte of a layer", func(w http.ResponseWriter, r *http.Request, n int) bool {
			if isBlob(r) {
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			}
			return isBlob(r)
		}, "took longer than 2s"},
		{"no answer", func(w http.ResponseWriter, r *http.Request, n int) bool {
			<-r.Context().Done()
			return true
		}, "timeout awaiting response headers"},
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
			var o download.Options
			switch {
			case strings.HasSuffix(test.want, "2s"):
				o.Slow = 2 * time.Second
			case strings.HasSuffix(test.want, "response headers"):
				o.Transport = &http.Transport{ResponseHeaderTimeout: 2 * time.Second}
			}
			f := newFetcher(t, o, "")
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
	first := a.image("1.0", typeSkill, a.blob(typeContent, tarball(t, true, file("SKILL.md", "1"))))
	var once sync.Once
	host := proxy(t, func(w http.ResponseWriter, r *http.Request) bool {
		if isBlob(r) {
			once.Do(func() {
				a.image("1.0", typeSkill, a.blob(typeContent, tarball(t, true, file("SKILL.md", "2"))))
			})
		}
		return false
	})
	fetched, files, err := fetch(t, newFetcher(t, download.Options{}, ""), named(at(host, a.location()), "1.0"))
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
		s.StartTLS()
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
		{"public storage", "https://" + far, "10.0.0.1", true, ""},
		{"private storage of a public registry", "https://" + far, "127.0.0.2", true, "127.0.0.2, which is not of the public internet"},
		{"by a name", "https://localhost:" + far[strings.LastIndex(far, ":")+1:], "127.0.0.1", false, "not of the public internet"},
		{"private storage of a private registry that the person named", "https://" + near, "127.0.0.1", true, ""},
		{"a private registry that a stranger named", "https://" + near, "127.0.0.1", false, "not of the public internet"},
		{"without TLS", "http://192.0.2.1/x", "10.0.0.1", true, "plain http can be read and changed on the way"},
		{"a file", "file:///etc/passwd", "10.0.0.1", true, `has the scheme "file"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			target.Store(test.to)
			before := asked.Load()
			f := newFetcher(t, download.Options{Transport: insecure(), Public: public(test.private)}, config)
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

// insecure returns a transport that trusts every certificate.
func insecure() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
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
	a.image("1.0", typeSkill, a.blob(typeContent, tarball(t, true, file("SKILL.md", "1"))))
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
			_, _, err := fetch(t, newFetcher(t, download.Options{}, test.config), named(at(host, a.location()), "1.0"))
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
	a.image("1.0", typeSkill, a.blob(typeContent, tarball(t, true, file("SKILL.md", "1"))))
	r := named(a.location(), "1.0")
	r.Named = false
	if _, _, err := fetch(t, newFetcher(t, download.Options{}, ""), r); err == nil || !strings.Contains(err.Error(), "has no TLS") {
		t.Errorf("named by a stranger: %v", err)
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	trusting := secure.Client().Transport.(*http.Transport)
	r = named(at(secure.Listener.Addr().String(), a.location()), "1.0")
	if _, _, err := fetch(t, newFetcher(t, download.Options{Transport: trusting}, ""), r); err == nil || !strings.Contains(err.Error(), "hides it from you") {
		t.Errorf("with TLS on this machine: %v", err)
	}
	for _, location := range []string{"", "name", "host/UPPER", "host/name:tag", "host/name@sha256:00", "/name", "ho st/name"} {
		if _, _, err := fetch(t, newFetcher(t, download.Options{}, ""), named(location, "")); err == nil || !errors.As(err, new(*source.RefusedError)) {
			t.Errorf("%q: %v", location, err)
		}
	}
}
