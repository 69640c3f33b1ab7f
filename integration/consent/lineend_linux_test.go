package consent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// Names with line ends are shown with codes: two names that differ in one look different.
func TestNamesWithLineEnds(t *testing.T) {
	a := lab.NewAccount(t, "native", "")
	for _, name := range []string{"re po", "re\npo"} {
		workspace := filepath.Join(t.TempDir(), name)
		dir := filepath.Join(workspace, ".claude", "skills", "deploy")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{
			"SKILL.md": "---\nname: deploy\ndescription: Deploys.\nclass: mutating\nscript: run.sh\n---\nDeploy.\n", "run.sh": "echo hi\n", name + ".md": "x",
		} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		shown := strings.ReplaceAll(name, "\n", `\n`)
		for _, args := range [][]string{{"show", "deploy"}, {"why", "deploy"}, {"doctor"}} {
			out, _ := a.Run(append([]string{"--workspace", workspace}, args...)...)
			if !strings.Contains(out, shown) || shown != name && strings.Contains(out, "re po") {
				t.Errorf("%q: %s prints\n%s", name, args, out)
			}
			if args[0] == "show" && !strings.Contains(out, "  "+shown+".md\n") {
				t.Errorf("%q: the list of files is\n%s", name, out)
			}
		}
	}
}
