package infer

import (
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/skills"
)

// A tool without a description has the words of its name, or what its parser says.
func TestDescriptions(t *testing.T) {
	owner := &skills.Skill{Name: "pdf", Description: "Fills forms. Use it for PDF."}
	for _, test := range []struct{ script, source, want string }{
		{"fill_in.py", "print(1)\n", "Fill in. Fills forms."},
		{"fill_in.py", "import argparse\np = argparse.ArgumentParser(description='Fill a form.')\np.parse_args()\n", "Fill a form."},
		{"fill_in.sh", "echo \"$@\"\n", "Fill in. Fills forms."},
	} {
		tool := &skills.Skill{Name: "pdf__fill_in", Of: owner, Files: fstest.MapFS{test.script: {Data: []byte(test.source)}}}
		tool.Entry = &skills.Entry{Script: test.script, Interpreter: Interpreter(test.script, nil)}
		tool.Entry.SetUndeclared()
		tool.Description = BorrowedDescription(tool)
		Arguments(tool, nil)
		if got := Purpose(tool); got != test.want {
			t.Errorf("%s: %q, want %q", test.source, got, test.want)
		}
	}
}

// The description of a tool with a schema of its own does not repeat the arguments.
func TestPurpose(t *testing.T) {
	const doc = "Convert a file.\n\nUsage:\n    x.py IN OUT\n\n    More usage.\n\nIt keeps the layout.\n\nArguments:\n  IN  the file\n"
	tool := &skills.Skill{Description: doc, Entry: &skills.Entry{Script: "x.py"}}
	tool.Entry.SetUndeclared()
	if got := Purpose(tool); got != doc {
		t.Errorf("generic: %q", got)
	}
	tool.Entry.Args = skills.ParsedCLI{}
	if got, want := Purpose(tool), "Convert a file.\n\nIt keeps the layout."; got != want {
		t.Errorf("typed: %q, want %q", got, want)
	}
	if tool.Description = "Usage: x.py IN"; Purpose(tool) != tool.Description {
		t.Error("nothing is left")
	}
}

// A tool that says nothing of itself is described as the instructions describe its
// script, wherever they name it.
func TestMention(t *testing.T) {
	for _, test := range []struct{ instructions, want string }{
		{"| File | Use |\n|---|---|\n| `scripts/x.py` | Checks the fields of a form |", "Checks the fields of a form"},
		{"- **`scripts/x.py`** - Fills the form with values.", "Fills the form with values."},
		{"First look. Run [x.py](scripts/x.py) to check every field. Then go.", "Run x.py to check every field."},
		{"## Usage\n```bash\n# Check all fields\npython scripts/x.py form.pdf\n```", "Check all fields. Forms."},
		{"```bash\npython scripts/x.py form.pdf # check all the fields\n```", "check all the fields. Forms."},
		{"### Checking of large forms\n\n```\nx.py form.pdf\n```", "Checking of large forms. Forms."},
		{"### `x.py`\n\nChecks a form, field by field.", "Checks a form, field by field."},
		{"## Form fields\n```bash\n# Install it all first\nnpm i\nx.py form.pdf\n```", "Form fields. Forms."},
		{"## Usage\n```\npython scripts/x.py\n```", ""},
		{"Run max.py to have the largest value.", ""},
		{"**Script:** `x.py`", ""},
	} {
		tool := &skills.Skill{Of: &skills.Skill{Description: "Forms. And more.", Instructions: test.instructions}, Entry: &skills.Entry{Script: "scripts/x.py"}}
		if got := Mention(tool); got != test.want {
			t.Errorf("%q: %q, want %q", test.instructions, got, test.want)
		}
	}
}
