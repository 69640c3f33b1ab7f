package scan_test

import (
	"context"
	"fmt"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// A root is a folder or any other file system. A skill that cannot be read costs a
// problem, and the other skills load.
func ExampleScan() {
	files := fstest.MapFS{
		"greet/SKILL.md": {Data: []byte("---\nname: greet\ndescription: Greets.\nscript: run.sh\nparams: {who: string}\n---\n")},
		"greet/run.sh":   {Data: []byte("echo Hello\n")},
		"torn/SKILL.md":  {Data: []byte("---\nname: torn\n")},
	}
	catalog, err := scan.Scan(context.Background(), []scan.Root{{Source: skills.SourceExtra, FS: files, Label: "demo"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, skill := range catalog.Skills {
		fmt.Println(skill.QualifiedName(), skill.Entry.Script, skill.Entry.Params()[0].Name)
	}
	for _, problem := range catalog.Problems {
		fmt.Println(problem)
	}
	// Output:
	// greet run.sh who
	// demo/torn/SKILL.md:1:1: error: the frontmatter is not closed (add a line "---" below the last field)
}
