package scan

import (
	"github.com/skillsmcp/skills-mcp/skills"
	"strings"
	"testing"
)

func TestTask(t *testing.T) {
	for value, want := range map[string]struct {
		task    skills.Task
		problem string
	}{
		"always":   {skills.TaskAlways, ""},
		"required": {skills.TaskRequired, ""},
		"":         {skills.TaskLong, ""},
		"true":     {skills.TaskLong, `"task" is not always or required and is ignored`},
		"[always]": {skills.TaskLong, `"task" is not always or required and is ignored`},
	} {
		skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\ntask: "+value+"\n---\n")
		got := lines(skill.Problems)
		if skill.Task != want.task || !strings.Contains(got, want.problem) || (want.problem == "") != (got == "") {
			t.Errorf("%q: %q, problems %q", value, skill.Task, got)
		}
	}
}

// TestTaskOfTools has the tools of a skill run as it is, unless they say
// otherwise.
func TestTaskOfTools(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		"demo/SKILL.md": "---\nname: demo\ndescription: d\ntask: always\n---\n",
		"demo/tools.yaml": `tools:
- {name: same, script: run.sh}
- {name: other, script: run.sh, task: required}`,
		"demo/run.sh": "echo",
	})
	for name, want := range map[string]skills.Task{"demo__same": skills.TaskAlways, "demo__other": skills.TaskRequired} {
		tool, err := catalog.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		if tool.Task != want {
			t.Errorf("%s is run as %q, want %q", name, tool.Task, want)
		}
	}
}
