package clients

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// provider starts a real OpenID provider, and returns its issuer.
func provider(t *testing.T, tools, scripts string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(tools, "node"), filepath.Join(scripts, "provider.mjs"))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	issuer, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(issuer)
}

// A signedIn is what the script signin.mjs has got.
type signedIn struct {
	Token, Skills string
	Tools         []string
}

// Two people sign in with the official SDKs, by a real provider: the whole flow, from the
// refusal to a call. Each has the skills of their own profile alone. MCP Inspector uses the
// token of one.
func TestSignIn(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	scripts := lab.SdkScripts(t, tools)
	issuer := provider(t, tools, scripts)
	home := t.TempDir()
	for _, name := range []string{"apple", "berry"} {
		lab.WriteFile(t, filepath.Join(home, "skills", name, "SKILL.md"), "---\nname: "+name+"\ndescription: Is "+name+".\n---\nText.\n")
	}
	address := free(t)
	config := filepath.Join(home, "config.yaml")
	lab.WriteFile(t, config, lab.Configuration()+fmt.Sprintf(`
skills: [%s]
policy:
  profiles: {dev: {allow: [apple]}, ops: {allow: [berry]}}
serve:
  url: http://%s
  oidc: {issuer: %q, profile_claim: groups, profiles: {developers: dev, operators: ops}}
`, filepath.Join(home, "skills"), address, issuer))
	url, stop := lab.ServeHTTP(t, []string{"SKILLS_MCP_TOKEN=" + testToken}, "--config", config, "--listen", address)
	t.Cleanup(func() { stop() })
	for _, person := range []struct{ login, has, hasNot string }{{"ann", "apple", "berry"}, {"bob", "berry", "apple"}} {
		for _, version := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/sdk%d", person.login, version), func(t *testing.T) {
				in := signIn(t, tools, scripts, map[string]any{"url": url + "/mcp", "version": version, "login": person.login})
				all := strings.Join(in.Tools, " ") + in.Skills
				if !strings.Contains(in.Skills, person.has) || strings.Contains(all, person.hasNot) {
					t.Errorf("%s sees %s", person.login, all)
				}
				listed, exit := inspector(t, tools, []string{url + "/mcp", "--header", "Authorization: Bearer " + in.Token}, "--method", "tools/list")
				if exit != 0 || !strings.Contains(string(listed["tools"]), `"search_skills"`) {
					t.Errorf("MCP Inspector: %d, %s", exit, listed)
				}
				body := refusedWith(t, url+"/mcp", in.Token[:len(in.Token)-8]+"AAAAAAAA", `Bearer error="invalid_token", resource_metadata="`+url+`/.well-known/oauth-protected-resource/mcp", scope="skills:run"`)
				if other := refusedWith(t, url+"/mcp", "smcp_GUESS", `Bearer error="invalid_token", resource_metadata="`+url+`/.well-known/oauth-protected-resource/mcp", scope="skills:run"`); other != body {
					t.Errorf("the refusals differ: %s, %s", body, other)
				}
			})
		}
	}
}

// signIn runs the script signin.mjs.
func signIn(t *testing.T, tools, scripts string, target map[string]any) (in signedIn) {
	t.Helper()
	argument, err := json.Marshal(target)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools, "node"), filepath.Join(scripts, "signin.mjs"), string(argument))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &in)
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, stderr.String())
	}
	return in
}

// refusedWith sends a request with a token that does not count, and returns the body of the
// refusal.
func refusedWith(t *testing.T, url, token, challenge string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	if got := answer.Header.Get("WWW-Authenticate"); answer.StatusCode != http.StatusUnauthorized || got != challenge {
		t.Errorf("%s: %s, %s", answer.Status, got, body)
	}
	return string(body)
}

// free returns an address that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
