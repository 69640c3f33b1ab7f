package egress

import (
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

func TestHomeFile(t *testing.T) {
	for path, want := range map[string]string{
		"~/.netrc": "~/.netrc", ".netrc": "~/.netrc", "/tmp/.netrc": "~/.netrc", "/tmp/.config/gh/hosts.yml": "~/.config/gh/hosts.yml", "~/a@b+c": "~/a@b+c", "~/.skills-mcp.yaml": "~/.skills-mcp.yaml",
		"": "", "~": "", "~/": "", "/tmp": "", "/tmp/": "", ".": "", "/etc/passwd": "", "/out/a": "", "/skill/a": "", "/home/me/.netrc": "", "//tmp/a": "",
		"../out/a": "", "~/../a": "", "~/a/../b": "", "~/a/": "", "~/a//b": "", "~/./a": "", "/tmp/../etc/a": "", "~me/.netrc": "",
		"~/.skills-mcp-authorities.pem": "", "/tmp/.skills-mcp-authorities.jks": "",
		"a b": "", "a'b": "", "$(id)": "", "a;b": "", "a\nb": "", "ä": "", strings.Repeat("a", 201): "",
	} {
		got, err := HomeFile(path)
		if got != want || (err == nil) != (want != "") || err != nil && !strings.Contains(err.Error(), "write a path in it without ..") {
			t.Errorf("%q is %q, %v", path, got, err)
		}
	}
}

// A file is never in a workspace, and its text is in no argument.
func TestEquipFiles(t *testing.T) {
	cmd := &sandbox.Command{Argv: []string{"true"}, Env: []string{"A=b"}, Grant: sandbox.Grant{Workspaces: []string{"/tmp/project"}}}
	if same, err := Equip(cmd); same != cmd || err != nil {
		t.Error("a command without secrets is another")
	}
	for want, files := range map[string][]File{
		"would be in the workspace /tmp/project": {{"~/project/.netrc", "text"}},
		"is no file of the run's home folder":    {{"/etc/passwd", "text"}},
	} {
		if _, err := Equip(cmd, files...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", files, err)
		}
	}
	equipped, err := Equip(cmd, File{"~/.netrc", "first\nsecond"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(strings.Join(equipped.Argv, " "), "first") || strings.Join(equipped.Env, " ") != "SKILLS_MCP_FILE_0=first\nsecond\n A=b" || equipped.Grant.Secrets != nil {
		t.Errorf("%q %q", equipped.Argv, equipped.Env)
	}
}
