package integration

import (
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// onePixel is a PNG.
const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// leaver is a skill that leaves files in /out.
const leaver = `echo ` + onePixel + ` | base64 -d > /out/chart.png
mkdir /out/deep
head -c 20000 /dev/zero | tr '\0' x > /out/deep/large.txt
ln -s /etc/passwd /out/link
echo done
`

// What a script leaves in /out reaches the client, and the person who asks for
// it on the command line.
func TestFilesLeft(t *testing.T) {
	t.Parallel()
	drivers(t, func(t *testing.T, driver string) {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "skills", "leaver", "SKILL.md"), "---\nname: leaver\ndescription: Leaves files.\nscript: run.sh\n---\n")
		writeFile(t, filepath.Join(dir, "skills", "leaver", "run.sh"), leaver)
		c := connect(t, driver, "--skills", filepath.Join(dir, "skills"))
		text, result := c.call("leaver", nil)
		if text == "done\n" {
			variable := map[string]string{"native": "SKILLS_MCP_REQUIRE_SANDBOX", "docker": "SKILLS_MCP_REQUIRE_ENGINE"}[driver]
			need(t, variable, errors.New("the driver "+driver+" takes nothing from /out"))
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
		if picture != onePixel || !strings.Contains(text, `Not taken from /out:`+"\n"+`- "link": `) {
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
		writeFile(t, config, configuration())
		out := filepath.Join(dir, "out")
		cmd := exec.Command(binary, "--config", config, "--skills", filepath.Join(dir, "skills"), "--sandbox", driver, "run", "leaver", "--out", out)
		cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+t.TempDir())
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
		data, err := os.ReadFile(filepath.Join(out, "chart.png"))
		if err != nil || base64.StdEncoding.EncodeToString(data) != onePixel {
			t.Errorf("chart.png: %d bytes, %v", len(data), err)
		}
		if _, err := os.Lstat(filepath.Join(out, "link")); err == nil {
			t.Error("a link was written")
		}
		env := cmd.Env
		cmd = exec.Command(binary, cmd.Args[1:]...)
		cmd.Env = env
		if said, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(said), "chart.png exists; add --force to overwrite it") {
			t.Errorf("again: %v, %s", err, said)
		}
	})
}
