package docker

import (
	"errors"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// A role's sandboxes are made of its image, which is not pulled to find out.
func TestIdentify(t *testing.T) {
	f := newFake(t)
	d := f.driver(t, Options{Images: map[string]string{"default": "base", "node": "later:1"}})
	for _, role := range []string{"", "default"} {
		base, err := d.Identify(t.Context(), role)
		want := sandbox.Base{ID: "image sha256:base", Name: `image "default"`, Remedy: "set images.default to an image that has it"}
		if err != nil || base != want {
			t.Errorf("role %q: %+v, %v", role, base, err)
		}
	}
	var unavailable *sandbox.UnavailableError
	if _, err := d.Identify(t.Context(), "node"); err == nil || errors.As(err, &unavailable) || !strings.Contains(err.Error(), "it is not there yet") {
		t.Errorf("an image that is not there: %v", err)
	}
	if f.pulls != 0 {
		t.Errorf("%d pulls", f.pulls)
	}
	if _, err := d.Identify(t.Context(), "gpu"); !errors.As(err, &unavailable) {
		t.Errorf("a role without an image: %v", err)
	}
	f.stop()
	if _, err := d.Identify(t.Context(), "node"); !errors.As(err, &unavailable) {
		t.Errorf("no engine: %v", err)
	}
}
