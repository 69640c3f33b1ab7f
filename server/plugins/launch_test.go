package plugins

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/plugins/conduit"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
)

// A program is found by its package's metadata, or by its name, and gets the arguments. What
// else there is is said.
func TestStarter(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		if os.Getenv("SKILLS_MCP_REQUIRE_TOOLS") == "1" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED: this test needs node")
	}
	dir := t.TempDir()
	file := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"node/node_modules/.bin/one", "node/node_modules/.bin/own", "node/node_modules/.bin/second", "python/bin/tool"} {
		file(name, "#!/bin/sh\necho "+filepath.Base(name)+` "$@"`)
	}
	for name, bin := range map[string]string{
		"@a/single": `{"one": "x.js"}`, "own": `"x.js"`, "@a/own": `{"second": "y.js", "own": "x.js"}`, "alias": `{"one": "x.js", "second": "x.js"}`,
		"several": `{"one": "x.js", "second": "y.js"}`, "none": `{}`, "null": `null`, "lost": `{"lost": "x.js"}`,
	} {
		file("node/node_modules/"+name+"/package.json", `{"bin": `+bin+`}`)
	}
	for line, want := range map[string]string{
		"npx @a/single x ${y}":    "one x ${y}",
		"npx own":                 "own",
		"npx @a/own -- b":         "own -- b",
		"npx alias":               "one",
		"npx -p several second":   "second",
		"npx several":             "the package several has no program of its name; it has: one second",
		"npx none":                "the package none has no program of its name; it has:",
		"npx null":                "the package null has no program of its name; it has:",
		"npx lost":                "/lost: not found",
		"npx -p own missing x":    "the installed packages have no program missing; they have: one own second",
		"uvx tool --x":            "tool --x",
		"uvx --from a sh -c true": "",
		"uvx --from a b":          "the installed packages have no program b; they have: tool",
	} {
		l, err := dependencies.ParseLaunch(strings.Fields(line))
		if err != nil {
			t.Fatal(err)
		}
		argv := append(starter(l), l.Args...)
		argv[3] = strings.Replace(argv[3], sandbox.DependenciesDir, dir, 1)
		out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
		if got := strings.TrimSpace(string(out)); got != want && !(strings.HasPrefix(want, "/") && strings.HasSuffix(got, want)) || (err == nil) != !strings.ContainsAny(want, ";:") {
			t.Errorf("%s: %q, %v, want %q", line, got, err, want)
		}
	}
}

// Packages are installed only where a person wants that, and others are not understood.
func TestLaunchRefused(t *testing.T) {
	for line, want := range map[string]string{
		"npx -y a@1":              "npx needs 1 Node package (a@1): a person can have that installed, once and in a sandbox of its own, with the docker driver and the setting sandbox.dependencies: build",
		"uvx --from a --with b c": "uvx needs 2 Python packages (a, b): a person can have that installed, once and in a sandbox of its own, with the docker driver and the setting sandbox.dependencies: build",
		"npx github:a/b":          `npx: "github:a/b" is not taken: only names of packages are, with versions; name the package as the registry does`,
		"cmd /c dir":              "cmd does not work in a sandbox; the plugin has to start the server itself",
		"uv run server.py":        "uv works on projects, which is not supported; the plugin has to start the server with node or python3, or a package of the registry with npx or uvx",
	} {
		server := skills.MCPServer{Name: "s", Transport: "stdio", Argv: strings.Fields(line)}
		if got := newOwner(plugin().Plugins[0], server, &conduit.Settings{}); got.Unavailable != want {
			t.Errorf("%s: %s", line, got.Unavailable)
		}
		got := newOwner(plugin().Plugins[0], server, &conduit.Settings{Install: true})
		if installs := strings.Contains(want, "build"); installs != (got.Unavailable == "") || installs && (got.Entry.Script != "" || got.Entry.ImageRole != map[byte]string{'n': "node"}[line[0]]) {
			t.Errorf("%s: %s, %+v", line, got.Unavailable, got.Entry)
		}
	}
}
