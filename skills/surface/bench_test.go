package surface_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/surface"
)

// BenchmarkOf computes the surface of a skill of 100 files of 6 KB: Markdown, Python and
// shell.
func BenchmarkOf(b *testing.B) {
	files := fstest.MapFS{}
	for i := range 100 {
		name, part := fmt.Sprintf("docs/%d.md", i), "## Part\n\nA report has a title and a body, see [the guide](https://docs.reports.org).\n\n```bash\npython3 scripts/format.py --in report.md | tee out.md\n```\n\n"
		switch i % 3 {
		case 1:
			name, part = fmt.Sprintf("scripts/%d.py", i), "def part(path):\n    with open(path) as f:\n        return json.dumps(f.read(), indent=2)\n\n"
		case 2:
			name, part = fmt.Sprintf("scripts/%d.sh", i), "if [ -n \"$1\" ]; then\n  curl -fsSL \"https://api.weather.gov/$1\" | jq .temp > \"$OUT\"\nfi\n"
		}
		files[name] = &fstest.MapFile{Data: []byte(strings.Repeat(part, 6000/len(part))), Mode: 0o644}
	}
	skill := &skills.Skill{Name: "demo", File: "/skills/demo/SKILL.md", Class: skills.Safe, Files: files}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := surface.Of(skill, files); err != nil {
			b.Fatal(err)
		}
	}
}
