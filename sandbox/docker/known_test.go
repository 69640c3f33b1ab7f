package docker

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"
)

// A gallery is a fake engine's images: one, by the name "base", that changes.
type gallery struct {
	*fakeEngine
	mu     sync.Mutex
	id     string
	ran    []string      // the images that containers were made of
	change chan struct{} // tells whoever listens to events
	hangUp chan struct{} // closed to end the events
}

func newGallery(t *testing.T) *gallery {
	g := &gallery{fakeEngine: newFake(t), id: "sha256:one", change: make(chan struct{}), hangUp: make(chan struct{})}
	g.fault("GET /images/{ref}/json", func(w http.ResponseWriter, _ *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		respond(w, 200, map[string]any{"Id": g.id})
	})
	g.fault("POST /containers/create", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var request container.CreateRequest
		_ = json.Unmarshal(body, &request)
		g.mu.Lock()
		g.ran = append(g.ran, request.Image)
		g.mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		g.create(w, r)
	})
	g.fault("GET /events", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		for {
			select {
			case <-g.change:
				_ = json.NewEncoder(w).Encode(map[string]string{"Type": "image", "Action": "tag"})
				w.(http.Flusher).Flush()
			case <-g.hangUp:
				return
			case <-r.Context().Done():
				return
			}
		}
	})
	return g
}

func (g *gallery) tag(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.id = id
}

func (g *gallery) asked() int { return g.count("GET /images/{ref}/json") }

// run runs a command, and returns the image that it ran in.
func (g *gallery) run(t *testing.T, d *Driver) string {
	t.Helper()
	cmd := command()
	cmd.Warm = -1
	if _, err := d.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ran[len(g.ran)-1]
}

// state returns how many changes d knows of, and whether it trusts an engine.
func (i *images) state() (changes int, trusts bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.changes, i.engine != nil
}

// trusting returns a driver that has run once, and is told of changes.
func (g *gallery) trusting(t *testing.T) *Driver {
	t.Helper()
	d := g.driver(t, Options{Images: map[string]string{"default": "base", "other": "base"}})
	if ran := g.run(t, d); ran != "sha256:one" {
		t.Fatalf("ran in %s", ran)
	}
	eventually(t, "the driver listens to the engine", func() bool { _, trusts := d.known.state(); return trusts })
	g.run(t, d) // the first may have come before that
	return d
}

func TestImageAskedForOnce(t *testing.T) {
	g := newGallery(t)
	d := g.trusting(t)
	before := g.asked()
	for range 3 {
		g.run(t, d)
	}
	cmd := command()
	cmd.Role = "other"
	found, err := d.image(t.Context(), d.engine.Load(), cmd)
	if err != nil || found.role != "other" || found.id != "sha256:one" {
		t.Errorf("image %+v, error %v", found, err)
	}
	if after := g.asked(); after != before {
		t.Errorf("asked %d times more", after-before)
	}
}

// The call after a change runs in what the name means then.
func TestImageChanges(t *testing.T) {
	g := newGallery(t)
	d := g.trusting(t)
	for _, id := range []string{"sha256:two", "sha256:three"} {
		before, _ := d.known.state()
		g.tag(id)
		g.change <- struct{}{}
		eventually(t, "the driver was told", func() bool { now, _ := d.known.state(); return now > before })
		if ran := g.run(t, d); ran != id {
			t.Errorf("ran in %s, want %s", ran, id)
		}
	}
}

// Containers of the image as it was before do not wait any longer, and are not
// used.
func TestImageChangesWarm(t *testing.T) {
	g := newGallery(t)
	d := g.trusting(t)
	run := func() {
		t.Helper()
		if _, err := d.Run(t.Context(), command()); err != nil {
			t.Fatal(err)
		}
		settled(d)
	}
	run()
	before, _ := d.known.state()
	g.tag("sha256:two")
	g.change <- struct{}{}
	eventually(t, "the driver was told", func() bool { now, _ := d.known.state(); return now > before })
	run()
	g.fakeEngine.mu.Lock()
	defer g.fakeEngine.mu.Unlock()
	for id, c := range g.containers {
		if c.request.Image != "sha256:two" {
			t.Errorf("%s waits, of %s", id, c.request.Image)
		}
	}
	if len(g.containers) != 1 {
		t.Errorf("%d containers wait", len(g.containers))
	}
}

// An engine that tells nothing any more is asked each time.
func TestImageEngineGone(t *testing.T) {
	g := newGallery(t)
	d := g.trusting(t)
	close(g.hangUp)
	eventually(t, "the driver knows that it is told nothing", func() bool { _, trusts := d.known.state(); return !trusts })
	for _, id := range []string{"sha256:two", "sha256:three"} {
		g.tag(id)
		if ran := g.run(t, d); ran != id {
			t.Errorf("ran in %s, want %s", ran, id)
		}
	}
}

func TestImageEventsRefused(t *testing.T) {
	g := newGallery(t)
	g.fault("GET /events", says(403, "forbidden by policy"))
	d := g.driver(t, Options{})
	for _, id := range []string{"sha256:one", "sha256:two", "sha256:three"} {
		g.tag(id)
		eventually(t, "the driver knows that it is told nothing", func() bool { _, trusts := d.known.state(); return !trusts })
		if ran := g.run(t, d); ran != id {
			t.Errorf("ran in %s, want %s", ran, id)
		}
	}
}

// Events are no reason to wait.
func TestImageEventsNotAnswered(t *testing.T) {
	g := newGallery(t)
	g.fault("GET /events", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	d := g.driver(t, Options{})
	for _, id := range []string{"sha256:one", "sha256:two"} {
		g.tag(id)
		if ran := g.run(t, d); ran != id {
			t.Errorf("ran in %s, want %s", ran, id)
		}
	}
}

// What is asked while it changes is not kept.
func TestImageChangesMeanwhile(t *testing.T) {
	var i images
	e := &engine{}
	i.trust(e)
	asked := 0
	get := func(during func()) *image {
		t.Helper()
		found, err := i.get(e, "default", "base", func() (*image, error) {
			asked++
			during()
			return &image{id: "sha256:one"}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	for _, during := range []func(){
		func() { i.trust(e) },                    // it changed
		func() { i.distrust(e); i.trust(e) },     // the engine was away
		func() { i.trust(&engine{}) },            // it is another one
		func() { i.distrust(i.engine) },          // it is gone
		func() { i.trust(e); i.trust(i.engine) }, // it changed twice
	} {
		i.trust(e)
		before := asked
		get(during)
		i.mu.Lock()
		kept := len(i.known)
		i.mu.Unlock()
		if kept > 0 || asked != before+1 {
			t.Errorf("%d are kept, asked %d times", kept, asked-before)
		}
	}
}

// That an image could not be looked up is not kept either.
func TestImageFailureNotKept(t *testing.T) {
	var i images
	e := &engine{}
	i.trust(e)
	failure := errors.New("busy")
	if _, err := i.get(e, "default", "base", func() (*image, error) { return nil, failure }); !errors.Is(err, failure) {
		t.Errorf("error %v", err)
	}
	found, err := i.get(e, "default", "base", func() (*image, error) { return &image{id: "sha256:one"}, nil })
	if err != nil || found.id != "sha256:one" {
		t.Errorf("image %+v, error %v", found, err)
	}
}
