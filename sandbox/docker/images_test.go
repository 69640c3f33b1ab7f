package docker

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestPull(t *testing.T) {
	f := newFake(t)
	f.fault("POST /images/create", func(w http.ResponseWriter, r *http.Request) {
		for _, line := range []string{
			`{"status":"Downloading","id":"a","progressDetail":{"current":5000000,"total":9000000}}`,
			`{"status":"Downloading","id":"b","progressDetail":{"current":1,"total":1000000}}`,
			`{"status":"Download complete","id":"a"}`,
		} {
			fmt.Fprintln(w, line)
		}
	})
	d := f.driver(t, Options{Images: map[string]string{"default": "base"}})
	var got []string
	if err := d.Pull(t.Context(), "default", func(message string) { got = append(got, message) }); err != nil {
		t.Fatal(err)
	}
	want := []string{"pulling base", "pulling base: 4 of 9 MB", "pulling base: 8 of 10 MB"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPullFails(t *testing.T) {
	f := newFake(t)
	f.fault("POST /images/create", says(404, "manifest for gone:1 not found"))
	d := f.driver(t, Options{Images: map[string]string{"extra": "gone:1", "default": "base"}})
	for role, want := range map[string]string{"extra": "images.extra", "other": `role "other"`, "default": "is there, but cannot be brought up to date: manifest"} {
		err := d.Pull(t.Context(), role, func(string) {})
		var unavailable *sandbox.UnavailableError
		if !errors.As(err, &unavailable) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", role, err)
		}
	}
}
