package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// step matches a block of commands of docs/tutorial.md, with the output if the page
// has it.
var step = regexp.MustCompile("(?s)```sh\n(.*?)```(?:\n\n```text\n(.*?)```)?")

// TestTutorial compares the output of the tutorial's commands with the page. MCP
// Inspector is the one that integration/node-tools installs; without it, its commands
// are left out.
func TestTutorial(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	checkout, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	// The commands share a shell's folder, which begins in the checkout.
	place := filepath.Join(home, ".place")
	lab.WriteFile(t, place, checkout)
	lab.WriteFile(t, filepath.Join(home, ".config", "skills-mcp", "config.yaml"), "sandbox: {driver: native}\n")
	lab.WriteFile(t, filepath.Join(home, "tmp", "empty"), "")
	tools := os.Getenv("SKILLS_MCP_TEST_TOOLS")
	lab.WriteFile(t, filepath.Join(home, "bin", "npx"), "#!/bin/sh\nshift 2\nexec "+filepath.Join(tools, "mcp-inspector-cli")+" \"$@\"\n")
	if err := os.Chmod(filepath.Join(home, "bin", "npx"), 0o755); err != nil {
		t.Fatal(err)
	}
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	builds, modules, _ := strings.Cut(strings.TrimSpace(string(caches)), "\n")
	for _, found := range step.FindAllStringSubmatch(read(t, "../docs/tutorial.md"), -1) {
		if tools == "" && strings.HasPrefix(found[1], "npx ") {
			t.Log("SKIPPED: MCP Inspector is not called: SKILLS_MCP_TEST_TOOLS is not set")
			continue
		}
		commands := found[1]
		if found[2] == "" { // else the output shows whether they succeeded
			commands = "set -e\n" + commands
		}
		shell := exec.CommandContext(t.Context(), "sh", "-c", `cd "$(cat "$PLACE")" || exit; `+commands+"\npwd > \"$PLACE\"\n")
		shell.Env = append(os.Environ(), "HOME="+home, "PLACE="+place, "CGO_ENABLED=0", "GOFLAGS=-trimpath", // compiled already, by TestMain
			"GOBIN="+filepath.Join(home, "bin"), "GOCACHE="+builds, "GOMODCACHE="+modules,
			"TMPDIR="+filepath.Join(home, "tmp"), // files in a temporary folder are warned of
			"XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "SKILLS_MCP_CONFIG=", "PATH="+filepath.Join(home, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
		out, err := shell.CombinedOutput()
		if err != nil {
			t.Fatalf("%s%v\n%s", found[1], err, out)
		}
		if !prints(found[2]).Match(out) {
			t.Errorf("%sprints\n%s\nand the page says\n%s", found[1], out, found[2])
		}
	}
}

// prints returns an expression for the output on a page: "…" is anything in a line,
// and a line of it any lines. The page leaves out warnings of the program's log.
func prints(page string) *regexp.Regexp {
	var pattern strings.Builder
	for line := range strings.Lines(page) {
		switch {
		case line == "…\n":
			pattern.WriteString(`(?:.*\n)*?`)
		default:
			pattern.WriteString(`(?:time=.*\n)*` + strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
		}
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`)
}
