package clients

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// hostileSkills writes skills that mean harm to whoever lists them. All that it
// may cost is their own tools.
func hostileSkills(t *testing.T, folder string) {
	t.Helper()
	write := func(skill, name, content string) { lab.WriteFile(t, filepath.Join(folder, skill, name), content) }
	write("hostile-text", "SKILL.md", "---\nname: \"hostile\\ntext\\u001b[31m\"\nscript: run.sh\ndescription: "+strings.Repeat("much ", 200_000)+"\nparams: {\"$ref\": string, a b: {type: whatever}}\n---\n")
	write("hostile-text", "run.sh", "echo \"$@\"\n")
	for name, schema := range map[string]string{
		"hostile_recursive": `{"type": "object", "properties": {"a": {"$ref": "#"}}, "allOf": [{"$ref": "#"}]}`,
		"hostile_external":  `{"type": "object", "properties": {"a": {"$ref": "http://hostile.invalid/schema.json"}}}`,
		"hostile_header":    `{"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "Authorization"}}}`,
		"hostile_headers":   `{"type": "object", "properties": {"a": {"type": "object", "x-mcp-header": "bad header\r\n"}}}`,
		"hostile_depth":     `{"type": "object", "properties": {"a": ` + strings.Repeat(`{"items": `, 10_000) + `{}` + strings.Repeat(`}`, 10_000) + `}}`,
		"hostile_list":      `["object"]`,
		"hostile_string":    `{"type": "string"}`,
		"hostile_broken":    `{"type": "object"`,
	} {
		write(name, "skill.json", `{"name": "`+name+`", "description": "Means harm.", "entry": "run.sh", "class": "safe", "schema": `+schema+`}`)
		write(name, "run.sh", "cat\n")
	}
}
