package clients

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// Two people sign in with the official SDKs, by a real provider: the whole flow, from the
// refusal to a call. Each has the skills of their own profile alone. MCP Inspector uses the
// token of one.
func TestSignIn(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	scripts := lab.SdkScripts(t, tools)
	issuer := lab.OpenIDProvider(t, tools, scripts)
	home := t.TempDir()
	for _, name := range []string{"apple", "berry"} {
		lab.WriteFile(t, filepath.Join(home, "skills", name, "SKILL.md"), "---\nname: "+name+"\ndescription: Is "+name+".\n---\nText.\n")
	}
	address := lab.FreeAddress(t)
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
				in := lab.SignIn(t, tools, scripts, map[string]any{"url": url + "/mcp", "version": version, "login": person.login})
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

// The token of one person is revoked by a command: the stream that it has open ends, and its
// next request is refused. Another's goes on.
func TestRevokedToken(t *testing.T) {
	t.Parallel()
	lab.Requires(t, "SKILLS_MCP_REQUIRE_SANDBOX", lab.CheckNative(t.Context()))
	home := t.TempDir()
	env := []string{"HOME=" + home, "XDG_STATE_HOME=" + filepath.Join(home, "state")}
	url, stop := lab.ServeHTTP(t, append(env, "SKILLS_MCP_TOKEN="+testToken))
	t.Cleanup(func() { stop() })
	command := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(lab.Binary, append([]string{"token"}, args...)...)
		cmd.Env = append(cmd.Environ(), env...)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	open := func(token string) *http.Response {
		return post(t, url+"/mcp", listenRequest, "Authorization: Bearer "+token, "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: subscriptions/listen")
	}
	tokens, streams := map[string]string{}, map[string]*bufio.Reader{}
	for _, name := range []string{"ann", "bob"} {
		tokens[name] = command("add", name)
		answer := open(tokens[name])
		streams[name] = bufio.NewReader(answer.Body)
		if line, err := streams[name].ReadString('\n'); err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s %q, %v", name, answer.Status, line, err)
		}
	}
	command("revoke", "ann")
	if _, err := io.Copy(io.Discard, streams["ann"]); err != nil { // to its end
		t.Error(err)
	}
	refusedWith(t, url+"/mcp", tokens["ann"], `Bearer error="invalid_token", scope="skills:run"`)
	if answer := open(tokens["bob"]); answer.StatusCode != http.StatusOK {
		t.Errorf("bob: %s", answer.Status)
	}
}
