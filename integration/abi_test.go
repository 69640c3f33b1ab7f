package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// example is a block of docs/skill-abi.md that is a script: its first line is
// its name.
var example = regexp.MustCompile("(?s)```(?:bash|python)\n# ([a-z]+)\\.(sh|py)\n(.*?)```")

// The examples of the page do what it says.
func TestSkillABIExamples(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	page, err := os.ReadFile("../docs/skill-abi.md")
	if err != nil {
		t.Fatal(err)
	}
	wants := map[string]string{
		"hello":   "text Hello from a skill\n",
		"sum":     `text {"total": 42, "unit": "EUR"}` + "\n" + `structure {"total":42,"unit":"EUR"}`,
		"report":  "text Sales rose by 3 %.\nimage image/png " + lab.OnePixel + "\ntext Figures are preliminary.",
		"find":    "error\ntext There is no order 17; list_orders names those there are.",
		"steps":   "text done\n",
		"careful": "text done\n",
		"drafts":  `text without drafts: {"error":"nobody can be asked: `,
		"account": "text No account was named: {'error': 'nobody can be asked: ",
		"notes":   "text There is no changelog: skill notes is not granted to call others",
		"fail":    "error\ntext EXECUTION_ERROR: skill fail failed with exit code 1; its error output says why\ntext stderr:\nthere is no file report.csv; name one of: a.csv, b.csv",
	}
	dir := filepath.Join(t.TempDir(), "skills")
	names := map[string]bool{}
	schema := between(string(page), "```yaml\noutput_schema", "```")
	for _, found := range example.FindAllStringSubmatch(string(page), -1) {
		name, file := found[1], found[1]+"."+found[2]
		names[name] = true
		fields := ""
		switch name {
		case "sum":
			fields = "output_schema" + schema
		case "drafts", "account":
			fields = "asks" + between(string(page), "```yaml\nasks", "```")
		case "notes":
			fields = "calls" + between(string(page), "```yaml\ncalls", "```")
		}
		lab.WriteFile(t, filepath.Join(dir, name, "SKILL.md"), "---\nname: "+name+"\ndescription: An example.\nscript: "+file+"\n"+fields+"---\n")
		lab.WriteFile(t, filepath.Join(dir, name, file), found[3])
	}
	c := lab.Connect(t, "native", "--skills", dir)
	for name, want := range wants {
		if !names[name] {
			t.Errorf("the page has no example %s", name)
			continue
		}
		_, result := c.Call(name, nil)
		if got := renderResult(t, result); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
		delete(names, name)
	}
	for name := range names {
		t.Errorf("nothing is known of the example %s", name)
	}
}

// between is what is between two texts.
func between(text, begin, end string) string {
	_, rest, _ := strings.Cut(text, begin)
	found, _, _ := strings.Cut(rest, end)
	return found
}

func renderResult(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	var lines []string
	if result.IsError {
		lines = append(lines, "error")
	}
	for _, content := range result.Content {
		switch c := content.(type) {
		case mcp.TextContent:
			lines = append(lines, "text "+c.Text)
		case mcp.ImageContent:
			lines = append(lines, "image "+c.MIMEType+" "+c.Data)
		}
	}
	rendered := strings.Join(lines, "\n")
	if result.StructuredContent != nil && !result.IsError {
		encoded, err := json.Marshal(result.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		rendered = strings.TrimSuffix(rendered, "\n") + "\nstructure " + string(encoded)
	}
	return rendered
}
