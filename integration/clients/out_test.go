package clients

import (
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// leaver is a skill that leaves files in /out.
const leaver = `echo ` + lab.OnePixel + ` | base64 -d > /out/chart.png
mkdir /out/deep
head -c 20000 /dev/zero | tr '\0' x > /out/deep/large.txt
ln -s /etc/passwd /out/link
echo done
`

// What a script leaves in /out reaches the client, and the person who asks for
// it on the command line.
func TestFilesLeft(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		dir := t.TempDir()
		lab.WriteFile(t, filepath.Join(dir, "skills", "leaver", "SKILL.md"), "---\nname: leaver\ndescription: Leaves files.\nscript: run.sh\n---\n")
		lab.WriteFile(t, filepath.Join(dir, "skills", "leaver", "run.sh"), leaver)
		c := lab.Connect(t, driver, "--skills", filepath.Join(dir, "skills"))
		text, result := c.Call("leaver", nil)
		if text == "done\n" {
			variable := map[string]string{"native": "SKILLS_MCP_REQUIRE_SANDBOX", "docker": "SKILLS_MCP_REQUIRE_ENGINE"}[driver]
			lab.Requires(t, variable, errors.New("the driver "+driver+" takes nothing from /out"))
		}
		var picture, large string
		for _, content := range result.Content {
			switch content := content.(type) {
			case mcp.ImageContent:
				picture = content.Data
			case mcp.ResourceLink:
				large = content.URI
			}
		}
		if picture != lab.OnePixel || !strings.Contains(text, `Not taken from /out:`+"\n"+`- "link": `) {
			t.Errorf("picture %q, text %s", picture, text)
		}
		var request mcp.ReadResourceRequest
		request.Params.URI = large
		read, err := c.ReadResource(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		if content, ok := read.Contents[0].(mcp.TextResourceContents); !ok || content.Text != strings.Repeat("x", 20000) {
			t.Errorf("read %+v", read.Contents[0])
		}

		config := filepath.Join(dir, "config.yaml")
		lab.WriteFile(t, config, lab.Configuration())
		out := filepath.Join(dir, "out")
		cmd := exec.Command(lab.Binary, "--config", config, "--skills", filepath.Join(dir, "skills"), "--sandbox", driver, "run", "leaver", "--out", out)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		data, err := os.ReadFile(filepath.Join(out, "chart.png"))
		if err != nil || base64.StdEncoding.EncodeToString(data) != lab.OnePixel {
			t.Errorf("chart.png: %d bytes, %v", len(data), err)
		}
		if _, err := os.Lstat(filepath.Join(out, "link")); err == nil {
			t.Error("a link was written")
		}
		env := cmd.Env
		cmd = exec.Command(lab.Binary, cmd.Args[1:]...)
		cmd.Env = env
		if said, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(said), "chart.png exists; add --force to overwrite it") {
			t.Errorf("again: %v, %s", err, said)
		}
	})
}
