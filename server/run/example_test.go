package run_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// A call of a skill: the executor takes the snapshot, the policy decides about its
// digest, and the driver, here a fake, runs the command.
func ExampleExecutor_Run() {
	files := fstest.MapFS{
		"greet/SKILL.md": {Data: []byte("---\nname: greet\ndescription: Greets.\nscript: run.sh\nparams: {who: string}\n---\n")},
		"greet/run.sh":   {Data: []byte("echo \"Hello, $2\"\n")},
	}
	catalog, err := scan.Scan(context.Background(), []scan.Root{{Source: skills.SourceExtra, FS: files, Label: "demo"}}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	cache, err := os.MkdirTemp("", "example-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(cache)
	driver := &recorder{}
	runner := sandbox.New(driver, nil)
	defer runner.Close()

	executor := run.New(runner, snapshot.New(cache), policy.New(nil), nil)
	outcome, err := executor.Run(context.Background(), run.Request{
		Call:  run.Call{Principal: identity.Principal{Kind: identity.Model}},
		Skill: catalog.Skills[0],
		Args:  map[string]any{"who": "Ann"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(driver.commands[0].Argv, outcome.Code)
	fmt.Println(outcome.Digest)
	// Output:
	// [bash run.sh --who Ann] 0
	// sha256:cab952f274a49239c6667473d69936f768dc1369b3576214e1b706780e1fd7b3
}
