package docker

import (
	"net/http"
	"testing"
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
				before <- f.count(wait)
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
