package clients

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A model and a person are told the same of a skill, field by field.
func TestShownAlike(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "config.yaml")
	lab.WriteFile(t, config, lab.Configuration())
	c := lab.Connect(t, "native")
	for _, name := range []string{"code-complexity", "scientific-debugging", "systemic-vulnerability-scan"} {
		t.Run(name, func(t *testing.T) {
			text, _ := c.Call("get_skill", map[string]any{"name": name})
			cmd := exec.Command(lab.Binary, "show", name, "--json", "--config", config, "--sandbox", "native")
			home := t.TempDir()
			cmd.Dir, cmd.Env = home, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
			shown, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var model, person map[string]any
			if err := json.Unmarshal([]byte(text), &model); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(shown, &person); err != nil {
				t.Fatal(err)
			}
			delete(person, "capabilities") // they are of all files, which a model's question does not wait for
			if diff := cmp.Diff(person, model); diff != "" {
				t.Errorf("show (-), get_skill (+):\n%s", diff)
			}
			if body, _ := model["body"].(string); body == "" {
				t.Error("there is no body")
			}
		})
	}
}
