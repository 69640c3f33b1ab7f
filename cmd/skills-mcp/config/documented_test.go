package config

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// TestDocumented keeps the block of defaults in docs/configuration.md and [Default] alike.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	block, _, _ := strings.Cut(rest, "```")
	documented, err := Parse([]byte(block), "config.yaml", "")
	if err != nil {
		t.Fatal(err)
	}
	// The page writes these as a person would: allow: ["*"], clawhub: "", total: 0.
	other := []string{"policy.allow", "install.clawhub", "sandbox.slots.total"}
	values := func(c *Config) map[string]string {
		all := map[string]string{}
		for _, v := range c.Values() {
			if !slices.Contains(other, v.Key) {
				all[v.Key] = v.Text
			}
		}
		return all
	}
	if diff := cmp.Diff(values(Default()), values(documented)); diff != "" {
		t.Errorf("docs/configuration.md has other defaults (-program +page): %s", diff)
	}
	var written map[string]any
	if err := yaml.Unmarshal([]byte(block), &written); err != nil {
		t.Fatal(err)
	}
	for i := range reflect.TypeFor[Config]().NumField() {
		if name := reflect.TypeFor[Config]().Field(i).Tag.Get("yaml"); name != "-" && name != "" {
			if _, ok := written[name]; !ok {
				t.Errorf("docs/configuration.md has no default of %s", name)
			}
		}
	}
}
