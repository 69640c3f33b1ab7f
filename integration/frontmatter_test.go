package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// frontmatters are fields that readers of YAML could read differently.
func frontmatters() map[string]string {
	return map[string]string{
		"clip":      "license: >\n  one\n  two\n",
		"strip":     "license: |-\n  one\n  two\n",
		"keep":      "license: |+\n  one\n\n",
		"windows":   "extra:\r\n  text: >\r\n    one\r\n    two\r\n",
		"numbers":   "extra: {a: 0755, b: 0o17, c: 0x1F, d: 1e3, e: 1.10, f: 18446744073709551615, g: 12:30}\n",
		"words":     "extra: {a: yes, b: no, c: on, d: off, e: y, f: True, g: null, h: ~, i: , j: 2026-01-02, k: 2026-01-02T03:04:05Z}\n",
		"anchors":   "extra:\n  a: &x {one: 1}\n  b: *x\n  <<: *x\n",
		"tabs":      "license:\tone\t\nextra: {a:\tb}\n",
		"quotes":    "extra: {a: 'it''s', b: \"q\\u00e9\\n\\t\", c: \"one\n    two\"}\n",
		"comments":  "# one\nlicense: a#b # two\n\nextra: # three\n  a: |\n    # text\n",
		"nested":    "extra:\n  a:\n  - b: [c, {d: e}]\n    f: >-\n      g\n\n        h\n  i: ''\n",
		"fold":      "license: >+\n\n  one\n    two\n\n\n  three\n\n",
		"indented":  "license: |2\n    one\n  two\n",
		"blank":     "license: |\n  one\n   \n\n",
		"fence":     "license: |\n  ---\n  one\n",
		"long-text": "license: one\n  two\n\n  three\n",
	}
}

// unreadable are fields that JSON does not have, or that readers of YAML do not agree on.
func unreadable() map[string]string {
	return map[string]string{
		"infinite": "extra: {a: .inf}\n", "huge": "extra: {a: 12e4567}\n", "twice": "license: a\nlicense: b\n",
		"versions": "metadata: {version: 1.0}\n", "no-text": "extra: {[a]: b}\n", "separator": "license: a\u2028b\n", "unquoted": "license: a: b\n",
	}
}

// Each skill that is listed has the frontmatter that others read in its SKILL.md, and one
// whose frontmatter they could read differently is not listed. SKILLS_MCP_TEST_SKILLS names
// a folder of more skills.
func TestListedFrontmatter(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	scripts, home, skills := lab.SdkScripts(t, tools), t.TempDir(), t.TempDir()
	write := func(all map[string]string) {
		for name, fields := range all {
			text := fmt.Sprintf("---\nname: %s\ndescription: A skill.\n%s---\nText.\n", name, fields)
			if strings.Contains(fields, "\r\n") {
				text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
			}
			lab.WriteFile(t, filepath.Join(skills, name, "SKILL.md"), text)
		}
	}
	write(frontmatters())
	write(unreadable())
	args := []string{"serve", "--sandbox", "native", "--skills", skills}
	if others := os.Getenv("SKILLS_MCP_TEST_SKILLS"); others != "" {
		args = append(args, "--skills", others)
	}
	argument, err := json.Marshal(map[string]any{
		"inspector": filepath.Join(tools, "..", "mcp-inspector-cli", "node_modules", "x"),
		"process": map[string]any{
			"command": lab.Binary, "cwd": home, "args": args,
			"env": map[string]string{"HOME": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": filepath.Join(home, "cache"), "PATH": os.Getenv("PATH")},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	host := exec.CommandContext(t.Context(), filepath.Join(tools, "node"), filepath.Join(scripts, "skillhost.mjs"), string(argument))
	var failed bytes.Buffer
	host.Stderr = &failed
	out, err := host.Output()
	var listed []string
	if err != nil || json.Unmarshal(out, &listed) != nil {
		t.Fatalf("%v\n%s%s", err, out, failed.Bytes())
	}
	t.Logf("%d skills", len(listed))
	for name := range frontmatters() {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is not listed", name)
		}
	}
	for name := range unreadable() {
		if slices.Contains(listed, name) {
			t.Errorf("%s is listed", name)
		}
	}
}
