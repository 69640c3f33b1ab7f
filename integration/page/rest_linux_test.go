package page

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A TypeScript client whose types are generated from the server's OpenAPI document is right
// by its compiler, and calls every operation as a person and as a program.
func TestREST(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	const token = "0123456789abcdef0123456789abcdef"
	link, err := url.Parse(restAccount(t, token))
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + link.Host
	client := t.TempDir()
	if err := os.CopyFS(client, os.DirFS(filepath.Join("testdata", "rest"))); err != nil {
		t.Fatal(err)
	}
	libraries := filepath.Join(tools, "..", "libraries", "node_modules")
	if err := os.Symlink(libraries, filepath.Join(client, "node_modules")); err != nil {
		t.Fatal(err)
	}
	document := lab.Request(t, "GET", base+"/v1/openapi.json", nil, "Authorization: Bearer "+token)
	text, err := os.Create(filepath.Join(client, "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := text.ReadFrom(document.Body); err != nil {
		t.Fatal(err)
	}
	text.Close()
	target, err := json.Marshal(map[string]string{"base": base, "link": link.String(), "token": token})
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"node_modules/openapi-typescript/bin/cli.js", "openapi.json", "--output", "api.ts"},
		{"node_modules/typescript/bin/tsc", "--project", "."},
		{"every.ts", string(target)},
	} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(tools, "node"), args...)
		cmd.Dir = client
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, out)
		}
		t.Logf("%s", out)
	}
}

// restAccount serves an account with the skills that the client calls, and returns a link
// that signs a person in.
func restAccount(t *testing.T, token string) (link string) {
	t.Helper()
	a := lab.NewAccount(t, "native", "")
	skill := func(name, fields, script string) {
		a.Skill(name+"/SKILL.md", "---\nname: "+name+"\ndescription: "+fields+"\nscript: run.sh\n---\nIt runs run.sh.\n")
		a.Skill(name+"/run.sh", script)
	}
	skill("greet", "Greets somebody by name.\nparams: {name: {type: string, required: true}}", "echo \"hello $2\"\n")
	skill("fail", "Fails.", "echo broken >&2\nexit 3\n")
	skill("wait", "Waits for a long time.", "echo begun\nsleep 600\n")
	skill("make", "Makes a page.", "mkdir -p /out/sub\necho '<script>alert(1)</script>' >/out/sub/page.html\n")
	skill("change", "Changes things.\nclass: mutating", "echo changed\n")
	plugins := filepath.Join(a.Home, "plugins")
	lab.WriteFile(t, filepath.Join(plugins, "tools", "plugin.json"), `{"name": "tools", "version": "1.0", "description": "Tools."}`)
	lab.WriteFile(t, filepath.Join(plugins, "tools", "skills", "count", "SKILL.md"), "---\nname: count\ndescription: Counts to three.\nscript: run.sh\n---\nIt counts.\n")
	lab.WriteFile(t, filepath.Join(plugins, "tools", "skills", "count", "run.sh"), "for i in 1 2 3; do echo $i; echo $i/3 step $i >&2; done\n")
	file := filepath.Join(a.Home, "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	return a.Linked("serve", "--transport", "http", "--listen", "127.0.0.1:0", "--ui", "--token-file", file, "--plugins", plugins)
}
