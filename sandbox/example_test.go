package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// echo is a driver without a sandbox: it prints the arguments.
type echo struct{}

func (echo) Run(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	cmd.Started()
	fmt.Fprintln(cmd.Stdout, strings.Join(cmd.Argv[1:], " "))
	return &sandbox.Exit{}, nil
}

func (echo) Close() error { return nil }

// A runner puts limits around a driver, such as those of sandbox/docker and
// sandbox/native.
func ExampleRunner() {
	runner := sandbox.New(echo{}, nil)
	defer runner.Close()
	result, err := runner.Run(context.Background(), sandbox.Command{
		RunID: "run-1", Skill: "greet", Folder: os.TempDir(),
		Argv: []string{"echo", "Hello"}, Limits: sandbox.DefaultLimits(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("exit code %d: %s", result.Code, result.Stdout.Head)
	// Output:
	// exit code 0: Hello
}
