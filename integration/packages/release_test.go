package packages

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// configure is what a client makes of a manifest, with the code that the format's
// own library has for clients: answers take the place of variables.
const configure = `
const [library, folder, answers] = process.argv.slice(1);
const { getMcpConfigForManifest } = await import(library);
const { readFileSync } = await import("fs");
const manifest = JSON.parse(readFileSync(folder + "/manifest.json", "utf8"));
console.log(JSON.stringify(await getMcpConfigForManifest({
  manifest, extensionPath: folder, systemDirs: {}, userConfig: JSON.parse(answers), pathSeparator: "/",
})));
`

// release makes the files of a release for this platform.
func release(t *testing.T) releaseFiles {
	t.Helper()
	out := t.TempDir()
	cmd := exec.Command("go", "run", "./integration/release", "--version", "0.1.0", "--platforms", runtime.GOOS+"/"+runtime.GOARCH, "--out", out)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return releaseFiles{out}
}

// A release is the same each time, and all that it has for this platform can be installed.
func TestRelease(t *testing.T) {
	t.Parallel()
	r, again := release(t), release(t)
	if diff := cmp.Diff(string(readFile(t, r.file("SHA256SUMS"))), string(readFile(t, again.file("SHA256SUMS")))); diff != "" {
		t.Errorf("the second release is another (-first +second):\n%s", diff)
	}
	t.Run("bundle", func(t *testing.T) {
		t.Parallel()
		testBundle(t, r.file("skills-mcp-0.1.0-"+runtime.GOOS+"-"+runtime.GOARCH+".mcpb"))
	})
	r.testInstalls(t)
}

// testBundle starts a bundle as clients start it, with answers to its questions and without.
func testBundle(t *testing.T, bundle string) {
	tools := lab.NodeTools(t)
	folder := filepath.Join(t.TempDir(), "bundle")
	for _, args := range [][]string{{"info", bundle}, {"unpack", bundle, folder}, {"validate", folder}} {
		if out, err := exec.Command(filepath.Join(tools, "mcpb"), args...).CombinedOutput(); err != nil {
			t.Fatalf("mcpb %s: %v\n%s", args[0], err, out)
		}
	}
	for _, linked := range []string{"go", "github.com/mark3labs/mcp-go"} {
		if len(readFile(t, filepath.Join(folder, "licenses", linked, "LICENSE"))) == 0 {
			t.Errorf("the licence of %s is empty", linked)
		}
	}
	home := t.TempDir()
	lab.WriteFile(t, filepath.Join(home, "more", "greet", "SKILL.md"), "---\nname: greet\ndescription: Greets.\n---\nSay hello.\n")
	answers, err := json.Marshal(map[string]string{"skills": filepath.Join(home, "more"), "workspace": home, "sandbox": "native", "expose": "all"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		answers string
		greets  bool
	}{"no answers": {"{}", false}, "answers": {string(answers), true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			names := toolsOf(t, mcpConfig(t, tools, folder, c.answers), home)
			for _, tool := range manifestTools(t, folder) {
				if !strings.Contains(names, " "+tool+" ") {
					t.Errorf("there is no tool %s: %s", tool, names)
				}
			}
			if strings.Contains(names, " greet ") != c.greets {
				t.Errorf("the tools are %s", names)
			}
		})
	}
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// started is how a client starts a server.
type started struct {
	Command string
	Args    []string
	Env     map[string]string
}

func mcpConfig(t *testing.T, tools, folder, answers string) (s started) {
	t.Helper()
	library := filepath.Join(tools, "..", "mcpb", "node_modules", "@anthropic-ai", "mcpb", "dist", "node.js")
	out, err := exec.Command(filepath.Join(tools, "node"), "--input-type=module", "-e", configure, "--", library, folder, answers).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return s
}

// manifestTools are those that the manifest promises.
func manifestTools(t *testing.T, folder string) (names []string) {
	t.Helper()
	var manifest struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(readFile(t, filepath.Join(folder, "manifest.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	for _, tool := range manifest.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// toolsOf starts a server and returns the names of its tools, with blanks around
// each.
func toolsOf(t *testing.T, s started, home string) string {
	t.Helper()
	env := []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "XDG_CACHE_HOME=" + t.TempDir(), "XDG_STATE_HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	for name, value := range s.Env {
		env = append(env, name+"="+value)
	}
	cmd := exec.Command(s.Command, s.Args...)
	cmd.Env, cmd.Dir = env, "/" // as desktop clients do
	c, _ := lab.Initialize(t, cmd, func(mcp.JSONRPCNotification) {})
	list, err := c.ListTools(t.Context(), mcp.ListToolsRequest{})
	if err != nil {
		t.Fatal(err)
	}
	names := " "
	for _, tool := range list.Tools {
		names += tool.Name + " "
	}
	return names
}
