package docker

import (
	"archive/tar"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/docker/seccomp"
)

// handleImages answers what is asked for when images are made. Containers that
// are not attached to end at once, after printing the fake's output.
func (f *fakeEngine) handleImages(handle func(route string, do http.HandlerFunc)) {
	handle("POST /build", says(500, "no build"))
	handle("PUT /containers/{id}/archive", func(w http.ResponseWriter, r *http.Request) { f.find(w, r) })
	handle("GET /containers/{id}/logs", f.logs)
	handle("POST /commit", f.commit)
	handle("POST /images/{ref}/tag", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201) })
	handle("DELETE /images/{ref}", func(w http.ResponseWriter, _ *http.Request) { respond(w, 200, []any{}) })
	handle("GET /images/json", func(w http.ResponseWriter, _ *http.Request) { respond(w, 200, []any{}) })
}

func (f *fakeEngine) logs(w http.ResponseWriter, r *http.Request) {
	c := f.find(w, r)
	if c == nil {
		return
	}
	frame := append([]byte{2, 0, 0, 0, 0, 0, 0, 0}, f.output...)
	binary.BigEndian.PutUint32(frame[4:], uint32(len(f.output)))
	_, _ = w.Write(frame)
	if f.hang {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	c.end()
}

func (f *fakeEngine) commit(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	query := r.URL.Query()
	f.images[path.Base(query.Get("repo"))+":"+query.Get("tag")] = true
	respond(w, 201, map[string]string{"Id": "sha256:committed"})
}

// packages are dependencies on Python packages.
func packages(names ...string) []sandbox.Dependencies {
	text := strings.Join(names, "\n")
	return []sandbox.Dependencies{{Kind: sandbox.Python, Lock: []sandbox.File{{Name: "requirements.txt", Data: []byte(text)}}, Digest: "sha256:" + text, Packages: names}}
}

// What the installer's container and image are told.
func TestLayer(t *testing.T) {
	f := newFake(t)
	f.output = "Collecting requests\n"
	d := f.driver(t, Options{DependencyEnv: []string{"PIP_INDEX_URL=https://a:'secret'@mirror"}})
	var request container.CreateRequest
	create := f.create
	f.fault("POST /containers/create", func(w http.ResponseWriter, r *http.Request) {
		create(w, r)
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, c := range f.containers {
			if request.Config == nil {
				request = c.request
			}
		}
	})
	files := map[string]string{}
	f.fault("PUT /containers/{id}/archive", func(w http.ResponseWriter, r *http.Request) {
		for archive := tar.NewReader(r.Body); ; {
			header, err := archive.Next()
			if err != nil {
				return
			}
			if header.Uid != sandbox.Nobody || header.Gid != sandbox.Nobody {
				t.Errorf("%s belongs to %d:%d", header.Name, header.Uid, header.Gid)
			}
			text, _ := io.ReadAll(archive)
			files[header.Name] = string(text)
		}
	})
	var changes []string
	commit := f.commit
	f.fault("POST /commit", func(w http.ResponseWriter, r *http.Request) {
		changes = r.URL.Query()["changes"]
		commit(w, r)
	})
	cmd := command()
	cmd.Dependencies = packages("requests", `a"$b`)
	var told []string
	cmd.Progress = func(m string) { told = append(told, m) }
	if _, err := d.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}

	h := request.HostConfig
	if h.NetworkMode != "default" || len(h.Mounts) > 0 || len(h.Binds) > 0 || h.Privileged || !slices.Equal(h.CapDrop, []string{"ALL"}) ||
		!slices.Equal(h.SecurityOpt, []string{"no-new-privileges:true", "seccomp=" + seccomp.Profile()}) || h.Memory != cmd.Limits.Memory || *h.PidsLimit != cmd.Limits.PIDs+timerProcesses {
		t.Errorf("host configuration %+v", h)
	}
	if request.Config.User != "65534:65534" || !slices.Equal(request.Config.Env, []string{"PATH=/bin"}) || request.Config.Image != "sha256:base" {
		t.Errorf("configuration %+v", request.Config)
	}
	if got, want := files["opt/skill-deps/build/environment"], `export PIP_INDEX_URL='https://a:'\''secret'\''@mirror'`+"\n"; got != want {
		t.Errorf("environment %q, want %q", got, want)
	}
	if got := files["opt/skill-deps/build/requirements.txt"]; got != "requests\na\"$b" {
		t.Errorf("requirements %q", got)
	}
	all := strings.Join(changes, "\n")
	for _, want := range []string{
		`ENV PATH="/bin:/opt/skill-deps/python/bin"`, `ENV PYTHONPATH="/opt/skill-deps/python"`,
		`LABEL skills-mcp.dependencies.packages="requests, a\"\$b"`, `LABEL skills-mcp.instance=""`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("changes\n%s\nlack %s", all, want)
		}
	}
	if strings.Contains(all, "secret") {
		t.Error("the mirror's password is in the image")
	}
	if len(told) == 0 || !strings.HasPrefix(told[0], "installing packages") {
		t.Errorf("told %q", told)
	}
}

// Who wants the same waits for one installation; who wants it later finds it.
func TestLayerShared(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{})
	together := make(chan struct{})
	commit := f.commit
	f.fault("POST /commit", func(w http.ResponseWriter, r *http.Request) {
		<-together
		commit(w, r)
	})
	run := func() {
		cmd := command()
		cmd.Dependencies = packages("requests")
		if _, err := d.Run(t.Context(), cmd); err != nil {
			t.Error(err)
		}
	}
	var callers sync.WaitGroup
	waiting := make(chan struct{}, 3)
	for range 3 {
		callers.Go(func() {
			cmd := command()
			cmd.Dependencies = packages("requests")
			cmd.Progress = func(string) {
				select {
				case waiting <- struct{}{}:
				default:
				}
			}
			if _, err := d.Run(t.Context(), cmd); err != nil {
				t.Error(err)
			}
		})
	}
	for range 3 {
		<-waiting
	}
	close(together)
	callers.Wait()
	run()
	run()
	if n := f.count("POST /commit"); n != 1 {
		t.Errorf("installed %d times", n)
	}
	if n := f.count("POST /images/{ref}/tag"); n != 1 {
		t.Errorf("its use was marked %d times", n)
	}
}

func TestLayerFails(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*fakeEngine)
		want   string
	}{
		"the installer fails": {func(f *fakeEngine) {
			f.code, f.output = 1, strings.Repeat("noise\n", 50)+"ERROR: No matching distribution found for requests\n"
		}, "…\nnoise\n"},
		"and says why": {func(f *fakeEngine) { f.code, f.output = 1, "ERROR: No matching distribution" }, "No matching distribution (exit code 1)"},
		"no commit":    {func(f *fakeEngine) { f.fault("POST /commit", says(500, "no space left on device")) }, "disk is full"},
		"no memory": {func(f *fakeEngine) {
			f.code = 137
			f.fault("GET /containers/{id}/json", func(w http.ResponseWriter, _ *http.Request) {
				respond(w, 200, map[string]any{"State": map[string]any{"OOMKilled": true}})
			})
		}, "memory limit of 512 MB"},
		"too much": {func(f *fakeEngine) {
			f.fault("GET /containers/{id}/json", func(w http.ResponseWriter, _ *http.Request) {
				respond(w, 200, map[string]any{"SizeRw": 3 << 30, "State": map[string]any{}})
			})
		}, "they take 3 GB"},
		"gone": {func(f *fakeEngine) { f.fault("PUT /containers/{id}/archive", drops) }, "went away"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			test.change(f)
			cmd := command()
			cmd.Dependencies = packages("requests")
			cmd.Started = func() { t.Error("the command ran") }
			_, err := f.driver(t, Options{}).Run(t.Context(), cmd)
			var unavailable *sandbox.UnavailableError
			if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), test.want) || unavailable.Remedy == "" {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// An installation that nobody waits for any more ends.
func TestLayerCancelled(t *testing.T) {
	f := newFake(t)
	f.hang, f.output = true, "Collecting\n"
	d := f.driver(t, Options{})
	ctx, cancel := canceled(t)
	left := errors.New("left")
	cmd := command()
	cmd.Dependencies = packages("requests")
	cmd.Progress = func(m string) {
		if strings.Contains(m, "Collecting") {
			cancel(left)
		}
	}
	if _, err := d.Run(ctx, cmd); !errors.Is(err, left) {
		t.Errorf("error %v", err)
	}
}

func TestUnknownKind(t *testing.T) {
	f := newFake(t)
	cmd := command()
	cmd.Dependencies = []sandbox.Dependencies{{Kind: "../Dockerfile"}}
	if _, err := f.driver(t, Options{}).Run(t.Context(), cmd); err == nil {
		t.Error("no error")
	}
}

func TestPrune(t *testing.T) {
	f := newFake(t)
	now := time.Now().UTC()
	days := func(n int) string { return now.AddDate(0, 0, -n).Format(time.RFC3339Nano) }
	layers := map[string]map[string]string{ // when made, and when last named
		"skills-mcp-deps:old": {"made": days(90), "tagged": days(40)}, "skills-mcp-deps:used": {"made": days(80), "tagged": days(3)},
		"skills-mcp-deps:new": {"made": days(2)}, "skills-mcp-deps:busy": {"made": days(70)},
	}
	f.fault("GET /images/json", func(w http.ResponseWriter, r *http.Request) {
		if filter := r.URL.Query().Get("filters"); !strings.Contains(filter, labelLayer) || !strings.Contains(filter, layerName) {
			t.Errorf("images were listed by %s", filter)
		}
		var found []map[string]any
		for ref := range layers {
			found = append(found, map[string]any{"RepoTags": []string{ref}})
		}
		respond(w, 200, found)
	})
	f.fault("GET /images/{ref}/json", func(w http.ResponseWriter, r *http.Request) {
		at := layers[r.PathValue("ref")]
		image := map[string]any{"Id": "sha256:x", "Created": at["made"], "Size": 5,
			"Config": map[string]any{"Labels": map[string]string{labelKind: "python", labelPackages: "a, b", labelBase: "base"}}}
		if at["tagged"] != "" {
			image["Metadata"] = map[string]string{"LastTagTime": at["tagged"]}
		}
		respond(w, 200, image)
	})
	var removed []string
	f.fault("DELETE /images/{ref}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("ref") == "skills-mcp-deps:busy" {
			says(409, "conflict: container c1 is using it")(w, r)
			return
		}
		if r.URL.Query().Get("force") != "" {
			t.Error("a removal is forced")
		}
		removed = append(removed, r.PathValue("ref"))
		respond(w, 200, []any{})
	})
	d := f.driver(t, Options{})
	findings := d.Check(t.Context())
	if last := findings[len(findings)-1]; last.Subject != "dependencies" || last.Level != sandbox.LevelWarning || !strings.HasPrefix(last.Detail, "4 images with packages of skills, 2 of them") {
		t.Errorf("finding %+v", last)
	}
	got, err := d.Prune(t.Context(), LayerUnused)
	if err != nil || len(got) != 1 || got[0].Ref != "skills-mcp-deps:old" || !slices.Equal(removed, []string{"skills-mcp-deps:old"}) {
		t.Errorf("removed %v, %+v, %v", removed, got, err)
	}
	all, err := layersOf(t.Context(), d)
	if err != nil || len(all) != 4 || all[0].Ref != "skills-mcp-deps:old" || all[0].Packages != "a, b" || all[0].Base != "base" {
		t.Errorf("layers %+v, %v", all, err)
	}
}

// A package's program is not run while the next packages are installed.
func TestInstallerPath(t *testing.T) {
	base := &image{id: "a", env: []string{"PATH=/usr/bin:/bin:/opt/skill-deps/python/bin"}}
	l, err := newLayer(&engine{}, base, &sandbox.Dependencies{Kind: sandbox.Node}, sandbox.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if got := l.spec(&engine{}).config.Env; !slices.Equal(got, []string{"PATH=/usr/bin:/bin"}) {
		t.Errorf("environment %q", got)
	}
	if got, want := l.environ()[0], "PATH=/usr/bin:/bin:/opt/skill-deps/python/bin:/opt/skill-deps/node/node_modules/.bin"; got != want {
		t.Errorf("afterwards %q, want %q", got, want)
	}
}

// A layer's name changes with all that it is made of.
func TestLayerName(t *testing.T) {
	e := &engine{}
	of := func(base, digest, kind string) string {
		l, err := newLayer(e, &image{id: base}, &sandbox.Dependencies{Kind: kind, Digest: digest}, sandbox.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return l.ref
	}
	names := []string{of("a", "b", "python"), of("x", "b", "python"), of("a", "x", "python"), of("a", "b", "node")}
	e.info.Architecture = "arm64"
	names = append(names, of("a", "b", "python"))
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("names %q", names)
	}
}

// layersOf returns the layers on the engine of a driver, oldest first.
func layersOf(ctx context.Context, d *Driver) ([]Layer, error) {
	e, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	return e.listLayers(ctx)
}
