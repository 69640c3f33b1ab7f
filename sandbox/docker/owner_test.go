package docker

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// A container that ends by itself is left to end before it is removed; one whose
// command runs is not waited for.
func TestRemoveWaitsForTheEnd(t *testing.T) {
	const wait, remove = "POST /containers/{id}/wait", "DELETE /containers/{id}"
	tests := map[string]struct {
		hang  bool
		waits int
	}{
		"answered": {waits: 1},
		"given up": {hang: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.hang = test.hang
			before := make(chan int, 1)
			f.fault(remove, func(w http.ResponseWriter, r *http.Request) {
				// On a busy machine it is killed first, and waited for once more.
				before <- f.count(wait) - f.count("POST /containers/{id}/kill")
				f.fault(remove, nil)
				f.remove(w, r)
			})
			ctx, cancel := canceled(t)
			cmd := command()
			cmd.Warm = -1
			if test.hang {
				cmd.Started = func() { cancel(nil) }
			}
			d := f.driver(t, Options{})
			if _, err := d.Run(ctx, cmd); (err != nil) != test.hang {
				t.Fatal(err)
			}
			if waits := <-before; waits != test.waits {
				t.Errorf("%d waits before the removal, want %d", waits, test.waits)
			}
		})
	}
}

// A command that says by itself that it has ended, and goes on, is ended.
func TestRemoveForgedEnd(t *testing.T) {
	f := newFake(t)
	f.lingers = true
	d := f.driver(t, Options{})
	cmd := command()
	cmd.Warm = -1
	if _, err := d.Run(t.Context(), cmd); err != nil {
		t.Fatal(err)
	}
	settled(d)
	if kills := f.count("POST /containers/{id}/kill"); kills != 1 {
		t.Errorf("it was killed %d times, want once", kills)
	}
}

// hang is an engine that takes a request and does nothing, until its client has
// enough.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// Nobody waits for an engine that hangs longer than it takes to be sure.
func TestCloseWithoutAnswer(t *testing.T) {
	t.Parallel() // it waits
	f := newFake(t)
	d := New(&Options{Host: f.socket, Images: map[string]string{"default": "base"}})
	if _, err := d.Run(t.Context(), command()); err != nil { // and one waits for the next
		t.Fatal(err)
	}
	for _, route := range []string{"HEAD /_ping", "DELETE /containers/{id}", "POST /containers/{id}/wait", "GET /containers/json"} {
		f.fault(route, hang)
	}
	began := time.Now()
	err := d.Close()
	if err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("error %v", err)
	}
	if took := time.Since(began); took >= closeTimeout {
		t.Errorf("it took %v", took)
	}
	settled(d)
}

// An image is not blamed for an engine that hangs.
func TestLateAnswer(t *testing.T) {
	t.Parallel() // it waits
	f := newFake(t)
	d := f.driver(t, Options{})
	e, err := d.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b := &instance{engine: e}
	base := &image{ref: "base", role: "default"}
	if err := b.late(t.Context(), base); err == nil || !strings.Contains(err.Error(), "/bin/sh") {
		t.Errorf("the engine answers: error %v", err)
	}
	f.fault("HEAD /_ping", hang)
	if err := b.late(t.Context(), base); err == nil || strings.Contains(err.Error(), "base") || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("the engine hangs: error %v", err)
	}
	f.fault("HEAD /_ping", nil)
}

// Docker can list for ever what it has removed.
func TestGhosts(t *testing.T) {
	f := newFake(t)
	f.leave("there", map[string]string{labelInstance: "x", labelExpires: at24h(-1)})
	f.set(func() {
		f.ghosts = []map[string]any{{"Id": "ghost", "State": "removing", "Labels": map[string]string{labelInstance: "x", labelExpires: at24h(-1)}}}
	})
	f.fault("DELETE /containers/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "ghost" {
			t.Error("what is not there was removed")
		}
		f.remove(w, r)
	})
	d := connected(t, f, t.TempDir())
	list, err := d.engine.Load().list(t.Context(), labelInstance)
	if err != nil || len(list) > 0 || len(f.left()) > 0 {
		t.Errorf("left are %v, %v; on the engine %q", list, err, f.left())
	}
}
