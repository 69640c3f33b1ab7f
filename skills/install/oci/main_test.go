package oci

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/opencontainers/go-digest"
	specs "github.com/opencontainers/image-spec/specs-go"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
	"go.uber.org/goleak"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/skillsmcp/skills-mcp/skills/install/download"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

func TestMain(m *testing.M) {
	code := m.Run()
	started.stop()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// A server is Debian's docker-registry, started once for all tests.
type server struct {
	once    sync.Once
	address string
	err     error
	command *exec.Cmd
	dir     string
}

var started server

// registry returns "host:port" of a real registry without TLS.
func testRegistry(t testing.TB) string {
	t.Helper()
	program, err := exec.LookPath("docker-registry")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no docker-registry: apt-get install docker-registry")
		}
		t.Skip("SKIPPED: there is no docker-registry (apt-get install docker-registry; set CI=true to make this a failure)")
	}
	started.once.Do(func() { started.err = started.start(program) })
	if started.err != nil {
		t.Fatal(started.err)
	}
	return started.address
}

const registryConfig = `version: 0.1
log: {level: info}
storage: {inmemory: {}}
http: {addr: "127.0.0.1:0", relativeurls: true}
`

func (s *server) start(program string) (err error) {
	if s.dir, err = os.MkdirTemp("", "skills-mcp-registry-"); err != nil {
		return err
	}
	file := filepath.Join(s.dir, "config.yml")
	if err := os.WriteFile(file, []byte(registryConfig), 0o600); err != nil {
		return err
	}
	s.command = exec.Command(program, "serve", file)
	s.command.Env = []string{"OTEL_TRACES_EXPORTER=none"}
	log, err := s.command.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.command.Start(); err != nil {
		return err
	}
	listening := regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			s.address = m[1]
			go func() {
				for lines.Scan() {
				}
			}()
			return nil
		}
	}
	return fmt.Errorf("the registry does not listen: %w", errors.Join(lines.Err(), s.command.Wait()))
}

func (s *server) stop() {
	if s.command != nil && s.command.Process != nil {
		s.command.Process.Kill()
		s.command.Wait()
	}
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

// proxy returns "host:port" of a server before the registry that answers with fault, unless
// that returns false.
func proxy(t testing.TB, fault func(w http.ResponseWriter, r *http.Request) bool) string {
	t.Helper()
	to := &url.URL{Scheme: "http", Host: testRegistry(t)}
	transport := &http.Transport{}
	behind := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
		},
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fault == nil || !fault(w, r) {
			behind.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() { s.Close(); transport.CloseIdleConnections() })
	return s.Listener.Addr().String()
}

// An artifact is pushed as it is.
type artifact struct {
	t          testing.TB
	repository *remote.Repository
}

// in returns an empty repository of the real registry, of the test's own.
func in(t testing.TB) artifact {
	t.Helper()
	name := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(t.Name()), "-"), "-")
	repository, err := remote.NewRepository(testRegistry(t) + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	repository.PlainHTTP = true
	return artifact{t, repository}
}

func (a artifact) location() string {
	return a.repository.Reference.Registry + "/" + a.repository.Reference.Repository
}

// blob pushes bytes and returns their descriptor.
func (a artifact) blob(kind string, data []byte, annotations ...string) v1.Descriptor {
	a.t.Helper()
	d := content.NewDescriptorFromBytes(kind, data)
	if err := a.repository.Blobs().Push(a.t.Context(), d, bytes.NewReader(data)); err != nil && !errors.Is(err, errdef.ErrAlreadyExists) {
		a.t.Fatal(err)
	}
	for i := 0; i < len(annotations); i += 2 {
		if d.Annotations == nil {
			d.Annotations = map[string]string{}
		}
		d.Annotations[annotations[i]] = annotations[i+1]
	}
	return d
}

// manifest pushes a manifest or an index with a tag.
func (a artifact) manifest(kind, tag string, value any) v1.Descriptor {
	a.t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		a.t.Fatal(err)
	}
	d := content.NewDescriptorFromBytes(kind, text)
	if err := a.repository.Manifests().PushReference(a.t.Context(), d, bytes.NewReader(text), tag); err != nil {
		a.t.Fatal(err)
	}
	return d
}

// image pushes an artifact of a kind, or an image.
func (a artifact) image(tag, kind string, layers ...v1.Descriptor) v1.Descriptor {
	a.t.Helper()
	config := a.blob(v1.MediaTypeImageConfig, []byte(`{"architecture":"amd64","os":"linux"}`))
	if kind == typeSkill {
		config = a.blob(typeConfig, []byte(`{}`))
	}
	return a.manifest(v1.MediaTypeImageManifest, tag, v1.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: v1.MediaTypeImageManifest, ArtifactType: kind, Config: config, Layers: layers,
	})
}

// tarball packs entries as tar, zipped unless plain.
func tarball(t testing.TB, zip bool, headers ...tar.Header) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	list := tar.NewWriter(zipped)
	if !zip {
		list = tar.NewWriter(&out)
	}
	for _, h := range headers {
		text := ""
		if h.Typeflag == 0 || h.Typeflag == tar.TypeReg {
			h.Typeflag, text, h.Linkname = tar.TypeReg, h.Linkname, "" // the text of a file
			h.Size = int64(len(text))
		}
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if err := list.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := list.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	err := list.Close()
	if zip {
		err = errors.Join(err, zipped.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func file(name, text string) tar.Header { return tar.Header{Name: name, Linkname: text} }
func script(name, text string) tar.Header {
	return tar.Header{Name: name, Linkname: text, Mode: 0o4755}
}
func symlink(name, target string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeSymlink, Linkname: target}
}
func hardlink(name, target string) tar.Header {
	return tar.Header{Name: name, Typeflag: tar.TypeLink, Linkname: target}
}

// newFetcher returns a fetcher with a client of the test's own.
func newFetcher(t testing.TB, options download.Options, dockerConfig string) *Fetcher {
	if options.Transport == nil {
		options.Transport = &http.Transport{}
	}
	client := download.New(&options)
	t.Cleanup(client.Close)
	return New(client, &Options{DockerConfig: dockerConfig})
}

const skillText = "---\nname: pdf\ndescription: Reads PDF files.\n---\nRead them.\n"

// fetch fetches into a quarantine and returns its files: text, "-> target" or "* text" of
// an executable one, by path.
func fetch(t testing.TB, f *Fetcher, r source.Request) (*source.Fetched, map[string]string, error) {
	t.Helper()
	return fetchContext(t, t.Context(), f, r)
}

func fetchContext(t testing.TB, ctx context.Context, f *Fetcher, r source.Request) (*source.Fetched, map[string]string, error) {
	t.Helper()
	parent := t.TempDir()
	into, err := quarantine.New(parent, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer into.Close()
	fetched, err := f.Fetch(ctx, r, into)
	if left, _ := filepath.Glob(filepath.Join(parent, "*.download")); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
	if err == nil {
		err = into.Seal()
	}
	for _, left := range into.LeftOut() {
		err = left
	}
	if err != nil {
		return nil, nil, err
	}
	return fetched, listing(t, into.Path()), nil
}

func listing(t testing.TB, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		name = filepath.ToSlash(name)
		if entry.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			files[name] = "-> " + target
			return err
		}
		text, err := os.ReadFile(path)
		files[name] = string(text)
		if info, _ := entry.Info(); info.Mode()&0o111 != 0 {
			files[name] = "* " + files[name]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// named is a request for a location that the person wrote.
func named(location, ref string) source.Request {
	return source.Request{Source: source.Source{Kind: source.OCI, Location: location, Ref: ref}, Named: true}
}

// at replaces the registry of a location.
func at(host, location string) string {
	_, repository, _ := strings.Cut(location, "/")
	return host + "/" + repository
}

func digestOf(data []byte) string { return digest.FromBytes(data).String() }

// refusal returns the reason of a refused source, or fails.
func refusal(t testing.TB, err error) string {
	t.Helper()
	var refused *source.RefusedError
	var unsafe *quarantine.Error
	switch {
	case errors.As(err, &refused):
		return err.Error()
	case errors.As(err, &unsafe):
		return err.Error()
	}
	t.Fatalf("the error is %v, not a refusal", err)
	return ""
}
