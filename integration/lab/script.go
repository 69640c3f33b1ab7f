package lab

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

func Params(dir, driver string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(Binary)+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "home", "config"))
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "home", "cache"))
			env.Setenv("SKILLS_MCP_SANDBOX", driver)
			env.Setenv("DRIVER", driver)
			env.Setenv("DOCKER_HOST", os.Getenv("DOCKER_HOST"))
			config := filepath.Join(env.WorkDir, "config.yaml")
			env.Setenv("SKILLS_MCP_CONFIG", config)
			if err := os.WriteFile(config, []byte(Configuration()), 0o644); err != nil {
				return err
			}
			// Commands may run as nobody, who has to be able to read a workspace.
			return os.Chmod(env.WorkDir, 0o755)
		},
		Condition: func(condition string) (bool, error) {
			name, value, _ := strings.Cut(condition, ":")
			if name == "registry" {
				return hasRegistry(), nil
			}
			return name == "driver" && value == driver, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":     code,
			"mcp":      talk,
			"model":    model,
			"registry": registry,
			"screen":   screen,
			"terminal": terminal,
		},
	}
}

// code runs a program and wants an exit code: code 2 skills-mcp list --wrong.
// What it prints is for stdout and stderr to look at.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}
