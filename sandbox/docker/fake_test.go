package docker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// fakeEngine speaks as much of the Docker Engine API as the driver uses. Its
// containers say what output is set to and end with code, unless hang is set:
// then they run until they are removed.
type fakeEngine struct {
	socket string
	server *http.Server

	mu         sync.Mutex
	faults     map[string]http.HandlerFunc // what to do instead, by route
	images     map[string]bool
	pulls      int
	containers map[string]*fakeContainer
	ghosts     []map[string]any // what it lists besides
	made       int              // containers, ever
	requests   map[string]int   // by route
	output     string
	code       int
	hang       bool
	lingers    bool   // commands that say that they have ended go on
	blind      string // a folder that it does not see
	info       map[string]any
	api        string
}

type fakeContainer struct {
	request container.CreateRequest
	stream  net.Conn      // nil until attached
	ended   chan struct{} // closed when it has ended or was removed
	end     func()
	code    int // of its first process; valid after ended
}

// newFake returns an engine that listens, has the image "base", and is stopped
// when the test ends.
func newFake(t *testing.T) *fakeEngine {
	t.Helper()
	dir, err := os.MkdirTemp("", "fake") // the test's own is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f := &fakeEngine{
		socket:     filepath.Join(dir, "docker.sock"),
		faults:     map[string]http.HandlerFunc{},
		images:     map[string]bool{"base": true},
		containers: map[string]*fakeContainer{},
		requests:   map[string]int{},
		api:        "1.41",
		info: map[string]any{
			"OSType": "linux", "NCPU": 2, "DefaultRuntime": "runc",
			"MemoryLimit": true, "SwapLimit": true, "PidsLimit": true, "CpuCfsQuota": true,
			"Runtimes":        map[string]any{"runc": map[string]any{}},
			"SecurityOptions": []string{"name=seccomp,profile=default"},
		},
	}
	f.listen(t)
	t.Cleanup(f.stop)
	return f
}

func (f *fakeEngine) listen(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	f.server = &http.Server{Handler: f.handler()}
	go func() { _ = f.server.Serve(listener) }()
}

// stop is what a killed engine looks like: every connection is cut.
func (f *fakeEngine) stop() {
	_ = f.server.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.containers {
		if c.stream != nil {
			c.stream.Close()
		}
	}
}

// driver returns a driver on f. It is closed when the test ends, and must have
// removed all its containers by then.
func (f *fakeEngine) driver(t *testing.T, options Options) *Driver {
	t.Helper()
	options.Host = f.socket
	if options.Images == nil {
		options.Images = map[string]string{"default": "base"}
	}
	d := New(&options)
	d.owner.retries = d.owner.retries[:2]
	t.Cleanup(func() {
		_ = d.Close()
		f.mu.Lock()
		defer f.mu.Unlock()
		if len(f.containers) > 0 {
			t.Errorf("%d containers are left", len(f.containers))
		}
	})
	return d
}

// fault replaces what f does at a route, such as "POST /containers/{id}/start".
func (f *fakeEngine) fault(route string, do http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if do == nil {
		delete(f.faults, route)
		return
	}
	f.faults[route] = do
}

// set changes what f does, while it may be asked.
func (f *fakeEngine) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeEngine) count(route string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.requests[route]
}

// says answers with an error, as an engine does.
func says(code int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { respond(w, code, map[string]string{"message": message}) }
}

// drops cuts the connection instead of answering.
func drops(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

func respond(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if body != nil {
		_ = json.NewEncoder(w).Encode(body)
	}
}

func (f *fakeEngine) handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(route string, do http.HandlerFunc) {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			// A client that still sends when it is answered may see no answer.
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			f.mu.Lock()
			f.requests[route]++
			fault := f.faults[route]
			f.mu.Unlock()
			if fault != nil {
				fault(w, r)
				return
			}
			do(w, r)
		})
	}
	handle("HEAD /_ping", f.ping)
	handle("GET /info", func(w http.ResponseWriter, _ *http.Request) { respond(w, 200, f.info) })
	handle("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, map[string]string{"Version": "20.10.24"})
	})
	handle("GET /images/{ref}/json", f.inspectImage)
	handle("POST /images/create", f.pull)
	handle("GET /distribution/{ref}/json", http.NotFound) // of no registry, unless a fault says otherwise
	f.handleImages(handle)
	handle("POST /containers/create", f.create)
	handle("POST /containers/{id}/attach", f.attach)
	handle("POST /containers/{id}/start", f.start)
	handle("POST /containers/{id}/wait", f.wait)
	handle("POST /containers/{id}/kill", func(w http.ResponseWriter, r *http.Request) {
		if c := f.find(w, r); c != nil {
			c.end()
			w.WriteHeader(204)
		}
	})
	handle("GET /containers/{id}/json", f.inspect)
	handle("DELETE /containers/{id}", f.remove)
	handle("GET /containers/json", f.list)
	handle("GET /containers/{id}/stats", func(w http.ResponseWriter, _ *http.Request) {
		respond(w, 200, map[string]any{"memory_stats": map[string]int{"usage": 1 << 20}})
	})
	handle("GET /events", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	version := regexp.MustCompile(`^/v1\.\d+`)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.URL.Path = version.ReplaceAllString(r.URL.Path, "")
		mux.ServeHTTP(w, r)
	})
}

func (f *fakeEngine) ping(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Api-Version", f.api)
	w.Header().Set("Ostype", "linux")
}

func (f *fakeEngine) inspectImage(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.images[r.PathValue("ref")] {
		respond(w, 404, map[string]string{"message": "No such image: " + r.PathValue("ref")})
		return
	}
	respond(w, 200, map[string]any{"Id": "sha256:" + r.PathValue("ref"), "Config": map[string]any{"Env": []string{"PATH=/bin"}}})
}

func (f *fakeEngine) pull(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pulls++
	query := r.URL.Query()
	f.images[path.Base(query.Get("fromImage"))+":"+query.Get("tag")] = true
	w.WriteHeader(200)
}

func (f *fakeEngine) create(w http.ResponseWriter, r *http.Request) {
	c := &fakeContainer{ended: make(chan struct{})}
	c.end = sync.OnceFunc(func() { close(c.ended) })
	if err := json.NewDecoder(r.Body).Decode(&c.request); err != nil {
		respond(w, 400, map[string]string{"message": err.Error()})
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range c.request.HostConfig.Mounts {
		if f.blind != "" && m.Source == f.blind {
			respond(w, 400, map[string]string{"message": `invalid mount config for type "bind": bind source path does not exist: ` + m.Source})
			return
		}
	}
	f.made++
	id := fmt.Sprintf("c%d", f.made)
	f.containers[id] = c
	respond(w, 201, map[string]any{"Id": id})
}

func (f *fakeEngine) find(w http.ResponseWriter, r *http.Request) *fakeContainer {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.containers[r.PathValue("id")]
	if c == nil {
		respond(w, 404, map[string]string{"message": "No such container: " + r.PathValue("id")})
	}
	return c
}

func (f *fakeEngine) attach(w http.ResponseWriter, r *http.Request) {
	c := f.find(w, r)
	if c == nil {
		return
	}
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c.stream = conn // before the answer, which a start follows at once
	_, _ = conn.Write([]byte("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n"))
}

func (f *fakeEngine) start(w http.ResponseWriter, r *http.Request) {
	c := f.find(w, r)
	if c == nil {
		return
	}
	w.WriteHeader(204)
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.code = f.code; c.stream != nil {
		c.code = fakeLost
		go f.shell(c)
	}
}

// shell is the first process of a container.
func (f *fakeEngine) shell(c *fakeContainer) {
	defer c.end()
	defer c.stream.Close()
	line, err := bufio.NewReader(c.stream).ReadString('\n')
	if err != nil {
		return
	}
	nonce := regexp.MustCompile(`skills_mcp_begin ([A-Z0-9]+);`).FindStringSubmatch(line)[1]
	f.mu.Lock()
	output, code, hang, lingers := f.output, f.code, f.hang, f.lingers
	f.mu.Unlock()
	if strings.Contains(line, "command -v 'node'") {
		say(c.stream, 1, nonce+"-")
		return
	}
	say(c.stream, 1, nonce+"+"+output)
	if hang {
		<-c.ended
		return
	}
	if code == fakeLost {
		return
	}
	say(c.stream, 2, nonce+".")
	say(c.stream, 1, fmt.Sprintf("%s.%d 0 0\n", nonce, code))
	_, _ = io.Copy(io.Discard, c.stream)
	if lingers {
		<-c.ended
	}
}

// fakeLost as a fake engine's code is that of a container which ends under its
// command.
const fakeLost = 137

// say writes one frame of a container's stream.
func say(to io.Writer, stream byte, text string) {
	frame := append([]byte{stream, 0, 0, 0, 0, 0, 0, 0}, text...)
	binary.BigEndian.PutUint32(frame[4:], uint32(len(text)))
	_, _ = to.Write(frame)
}

func (f *fakeEngine) wait(w http.ResponseWriter, r *http.Request) {
	c := f.find(w, r)
	if c == nil {
		return
	}
	w.WriteHeader(200)
	w.(http.Flusher).Flush()
	select {
	case <-c.ended:
		_ = json.NewEncoder(w).Encode(map[string]int{"StatusCode": c.code})
	case <-r.Context().Done():
	}
}

func (f *fakeEngine) inspect(w http.ResponseWriter, r *http.Request) {
	if c := f.find(w, r); c != nil {
		respond(w, 200, map[string]any{"State": map[string]any{"ExitCode": c.code}})
	}
}

func (f *fakeEngine) remove(w http.ResponseWriter, r *http.Request) {
	c := f.find(w, r)
	if c == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r.URL.Query().Get("force") != "1" || r.URL.Query().Get("v") != "1" {
		respond(w, 400, map[string]string{"message": "not forced, or not with its volumes"})
		return
	}
	delete(f.containers, r.PathValue("id"))
	if c.stream != nil {
		c.stream.Close()
	}
	c.end()
	w.WriteHeader(204)
}

func (f *fakeEngine) list(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := slices.Clone(f.ghosts)
	for id, c := range f.containers {
		asked := r.URL.Query().Get("filters")
		if strings.Contains(asked, labelInstance+"="+c.request.Labels[labelInstance]) || !strings.Contains(asked, "=") {
			found = append(found, map[string]any{"Id": id, "Labels": c.request.Labels})
		}
	}
	respond(w, 200, found)
}

// command is one that f can run.
func command() *sandbox.Command {
	return &sandbox.Command{
		RunID:  "run-1",
		Skill:  "plugin/skill",
		Argv:   []string{"bash", "run.sh"},
		Folder: "/snapshot",
		Limits: sandbox.DefaultLimits(),
		Warm:   1, // however soon the next one follows
	}
}

// canceled returns a context of t's that is canceled with the returned function.
func canceled(t *testing.T) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	return ctx, cancel
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
