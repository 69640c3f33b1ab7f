package page

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A call of ann's program needs two people. Ann follows the link to its question, signs in at a
// real OpenID provider, and says the first yes; a second person signs in with the link of a
// token that oversees all, and says the other. Somebody else at the provider sees neither.
func TestPageOfATeam(t *testing.T) {
	t.Parallel()
	tools := lab.NodeTools(t)
	scripts := lab.SdkScripts(t, tools)
	a := lab.NativeAccount(t, "")
	address, issuer := lab.FreeAddress(t), lab.OpenIDProvider(t, tools, scripts)
	url := "http://" + address
	registered := lab.Request(t, "POST", issuer+"/reg", strings.NewReader(fmt.Sprintf(`{"redirect_uris": [%q], "application_type": "native", "token_endpoint_auth_method": "none", "response_types": ["code"], "grant_types": ["authorization_code"]}`, url+"/ui/signin/callback")), "Content-Type: application/json")
	var client struct {
		ID string `json:"client_id"`
	}
	if err := json.NewDecoder(registered.Body).Decode(&client); err != nil || client.ID == "" {
		t.Fatalf("%s: %v", registered.Status, err)
	}
	a.Configure(fmt.Sprintf("policy: {mode: dual-sign}\nserve: {url: %q, ui: true, oidc: {issuer: %q, page: {client_id: %q}}}\n", url, issuer, client.ID))
	if screen, code := a.Terminal("yes", "token", "add", "boss", "--scope", "admin"); code != 0 {
		t.Fatal(screen)
	}
	a.Listens(address)

	program := "Authorization: Bearer " + lab.SignIn(t, tools, scripts, map[string]any{"url": url + "/mcp", "version": 2, "login": "ann"}).Token
	call := func() (status int, page, id string) {
		t.Helper()
		answer := lab.Request(t, "POST", url+"/v1/skills/note/execute", strings.NewReader(`{"params":{"text":"bought milk"}}`), program, "Content-Type: application/json")
		var problem struct{ Approval struct{ ID, Page string } }
		text, _ := io.ReadAll(answer.Body)
		if err := json.Unmarshal(text, &problem); err != nil {
			t.Fatalf("%s: %s", answer.Status, text)
		}
		return answer.StatusCode, problem.Approval.Page, problem.Approval.ID
	}
	_, page, id := call()
	if page != url+"/ui/approvals/"+id {
		t.Fatalf("the question %s is at %q", id, page)
	}
	if answer := lab.Request(t, "POST", url+"/v1/approvals/"+id, strings.NewReader(`{"scope":"once"}`), program, "Content-Type: application/json"); answer.StatusCode != http.StatusForbidden {
		t.Errorf("the program answers its own question: %s", answer.Status)
	}

	signIn := func(name string) *lab.Visit {
		t.Helper()
		v := &lab.Visit{Browser: lab.NewBrowser(t), Origin: url}
		v.Open(page)
		v.Click(`a[href^="/ui/signin/start"]`)
		v.Await(`document.querySelector("input[name=login]") !== null`)
		v.Do(chromedp.SendKeys(chromedp.CSS("input[name=login]"), name), chromedp.SendKeys(chromedp.CSS("input[name=password]"), "any"))
		v.Click("button[type=submit]")
		v.Await(`document.querySelector("input[name=prompt][value=consent]") !== null`)
		v.Click("button[type=submit]")
		v.At("/ui/approvals/" + id)
		return v
	}
	bea := signIn("bea")
	bea.Says("Not found")
	bea.Show("/ui/approvals")
	bea.Await(`!document.title.startsWith("(") && !document.body.innerText.includes("note")`)
	bea.Show("/ui/settings")
	bea.Says("Only the person who runs this server")
	ann := signIn("ann")
	ann.Says("bought milk")
	ann.Await(`document.querySelector("header .who").innerText.endsWith(" ann") && document.querySelector('nav a[href="/ui/settings"]') === null`)
	ann.Accessible()
	ann.Click(`button[value="once"]`)
	ann.Says("You have confirmed it")
	if status, _, _ := call(); status == http.StatusOK {
		t.Error("it runs after one yes")
	}

	link, code := a.Terminal("yes", "token", "link", "boss")
	found := regexp.MustCompile(regexp.QuoteMeta(url) + `/ui/signin\?key=\w+`).FindString(link)
	if code != 0 || found == "" {
		t.Fatalf("%d %s", code, link)
	}
	boss := &lab.Visit{Browser: lab.NewBrowser(t), Origin: url}
	boss.Open(found)
	boss.Click(`form button`)
	boss.At("/ui/")
	boss.Await(`document.querySelector("header .who").innerText === "boss" && document.title.startsWith("(1) ")`)
	boss.Show("/ui/approvals/" + id)
	boss.Click(`button[value="once"]`)
	boss.Says("Approved.")
	if status, _, _ := call(); status != http.StatusOK {
		t.Error("it does not run after two")
	}
	a.Wrote(1)

	if out, code := a.Run("token", "revoke", "boss"); code != 0 {
		t.Fatal(out)
	}
	boss.Show("/ui/approvals/" + id)
	boss.Says("Sign in at")
	ann.Show("/ui/runs")
	ann.Says("note")
	ann.Click(`form[action="/ui/signout"] button`)
	ann.Says("Sign in at")
}
