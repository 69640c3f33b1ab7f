//go:build amd64 || arm64

package native

import (
	"strings"
	"testing"
)

// All roles have the programs of the machine.
func TestIdentify(t *testing.T) {
	d := New(nil)
	defer d.Close()
	first, err := d.Identify(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	second, err := d.Identify(t.Context(), "node")
	if err != nil || first != second || !strings.HasPrefix(first.ID, "folders ") || first.Name == "" || first.Remedy == "" {
		t.Errorf("%+v, then %+v, %v", first, second, err)
	}
}
