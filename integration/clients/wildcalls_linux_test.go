package clients

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// wildAccount returns an account with both skills, and the host of one. The person's
// configuration alone gives them what they need.
func wildAccount(t *testing.T, driver string) (*lab.Account, *lab.TlsHost) {
	t.Helper()
	host := lab.NewTLSHost(t)
	a := lab.NewAccount(t, driver, fmt.Sprintf(`
sandbox:
  env: [SSL_CERT_FILE=/workspace/authority.pem]
  network: {private: [127.0.0.0/8]}
policy:
  forms: all
  skills:
    weather: {network: [%q], env: [SSL_CERT_FILE]}
    docx: {class: mutating, workspace: rw, approve: always}
`, host.Address))
	a.WeatherSkill(host.Address)
	a.DocxSkill()
	a.Document("report.docx", "Draft of a Draft")
	lab.WriteFile(t, filepath.Join(a.Workspace, "authority.pem"), host.Authority)
	return a, host
}

// A wildCall is a call of one of the skills, with its result.
type wildCall struct {
	tool string
	args map[string]any
	want string
}

// wildCalls returns the first calls, and more of the same skills: with the same arguments
// where the person confirms each call, with others where they confirm the skill.
func wildCalls() (weather, curl, docx, again wildCall) {
	city := map[string]any{"city": "London"}
	return wildCall{"weather__weather", city, "London: sunny, 21 °C"},
		wildCall{"weather__forecast", map[string]any{"arg1": "Oslo"}, "Oslo: sunny, 21 °C"},
		wildCall{"docx__replace", map[string]any{"document": "report.docx", "find": "Draft", "replace": "Final"}, "replaced 2 in report.docx"},
		wildCall{"docx__replace", map[string]any{"document": "report.docx", "find": "Final of", "replace": "End of"}, "replaced 1 in report.docx"}
}

// Skills as they are published edit a document and fetch over TLS, in the hands of a
// client of either generation: the person confirms once.
func TestWildSkills(t *testing.T) {
	t.Parallel()
	lab.Drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a, host := wildAccount(t, driver)
				c := a.Serve(era, `{"elicitation":{}}`)
				weather, curl, docx, again := wildCalls()

				for n, call := range []wildCall{weather, curl} {
					asked := c.Call(call.tool, call.args)
					if asked.Asked == nil || !strings.Contains(asked.Asked.Message, host.Address) {
						t.Fatalf("the question does not name the host: %+v, %s", asked.Asked, asked.Text())
					}
					if got := host.Requests.Load(); got != int64(n) {
						t.Fatalf("%d requests before the yes, want %d", got, n)
					}
					c.Succeeds(c.Choose(asked, "once"), call.want)
					if got := host.Requests.Load(); got != int64(n+1) {
						t.Fatalf("%d requests, want %d", got, n+1)
					}
				}

				asked := c.Call(docx.tool, docx.args)
				if asked.Asked == nil || !strings.Contains(asked.Asked.Message, a.Workspace) {
					t.Fatalf("the question does not name the folder: %+v, %s", asked.Asked, asked.Text())
				}
				c.Succeeds(c.Choose(asked, "always"), docx.want)
				c.Succeeds(c.Call(again.tool, again.args), again.want)
				if text := a.DocumentText("report.docx"); !strings.Contains(text, "<w:t>End of a Final</w:t>") {
					t.Errorf("the document has %s", text)
				}
			})
		}
	})
}

// A client that cannot be asked, as MCP Inspector on the command line, names the question.
// The person answers it on a terminal, and the same call succeeds, once.
func TestWildSkillsInspector(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	lab.Drivers(t, func(t *testing.T, driver string) {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era, func(t *testing.T) {
				t.Parallel()
				a, host := wildAccount(t, driver)
				inspect := func(call wildCall) (text string, exit int) {
					t.Helper()
					args, err := json.Marshal(call.args)
					if err != nil {
						t.Fatal(err)
					}
					result, exit := inspector(t, tools, a.Inspector(era), "--method", "tools/call", "--tool-name", call.tool, "--tool-args-json", string(args))
					var content []struct{ Text string }
					if err := json.Unmarshal(result["content"], &content); err != nil || len(content) == 0 {
						t.Fatalf("%v in %s", err, result)
					}
					return content[0].Text, exit
				}
				confirmed := func(call wildCall) {
					t.Helper()
					text, exit := inspect(call)
					id := lab.ApprovalID.FindStringSubmatch(text)
					if exit != 5 || id == nil || !strings.Contains(text, "APPROVAL_REQUIRED") {
						t.Fatalf("exit %d: %s", exit, text)
					}
					if screen, code := a.Terminal("yes", "approve", id[1]); code != 0 || !strings.Contains(screen, call.tool) {
						t.Fatalf("approve: exit %d\n%s", code, screen)
					}
					if text, exit := inspect(call); exit != 0 || !strings.Contains(text, call.want) {
						t.Fatalf("after the yes: exit %d, %s", exit, text)
					}
				}
				weather, _, docx, again := wildCalls()
				confirmed(weather)
				if text, exit := inspect(weather); exit != 5 || !strings.Contains(text, "APPROVAL_REQUIRED") {
					t.Errorf("one yes was used twice: exit %d, %s", exit, text)
				}
				if n := host.Requests.Load(); n != 1 {
					t.Errorf("%d requests, want 1", n)
				}
				confirmed(docx)
				if text, exit := inspect(again); exit != 0 || !strings.Contains(text, again.want) {
					t.Errorf("approve: always covers one call only: exit %d, %s", exit, text)
				}
			})
		}
	})
}
