package page

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/lab"
)

// A person keeps two secrets and grants them to two skills, which print what they get, by
// keyboard. The values are in no screen, event, output, record, log or file.
func TestPageSecrets(t *testing.T) {
	t.Parallel()
	a := lab.NativeAccount(t, "")
	a.Keeps()
	for name := range lab.SecretValues {
		if out, code := a.Run("secret", "rm", name); code != 0 {
			t.Fatal(out)
		}
	}
	v := a.Visit()
	everything := map[string][]byte{}
	seen := func(path string) {
		t.Helper()
		v.Show(path)
		everything["the screen "+path] = []byte(lab.Value[string](v.Browser, `document.documentElement.outerHTML + [...document.querySelectorAll("input")].map(e => e.value)`))
	}
	v.Click(`nav a[href="/ui/secrets"]`)
	v.Says("issues asks for GITHUB_TOKEN")
	v.Fits("the secrets before one is kept")
	for name, value := range lab.SecretValues {
		v.Show("/ui/secrets")
		v.Focus("#name")
		v.Press(name + "\t" + value)
		if got := lab.Value[string](v.Browser, `(e => e.type + " " + e.autocomplete + " " + e.value.length)(document.querySelector("#value"))`); got != fmt.Sprintf("password off %d", len(value)) {
			t.Errorf("the field is %s", got)
		}
		v.Press("\r")
		v.Await(fmt.Sprintf(`document.querySelector('#secrets a[href="/ui/secrets/remove?name=%s"]') !== null`, name))
	}
	seen("/ui/secrets")

	v.Enter(`#secrets a[href*="grant?name=GITHUB_TOKEN&skill=issues"]`)
	v.Focus("#hosts")
	v.Press("10.1.2.3\r")
	v.Says("one of the hosts is not public")
	v.Fits("the form of a grant")
	v.Show("/ui/secrets/grant?name=GITHUB_TOKEN&skill=issues")
	v.Focus("#hosts")
	v.Press("api.github.com\tGET\t/repos/**\r")
	v.Says("uses your secret GITHUB_TOKEN, masked: to api.github.com:443, GET, /repos/**, in header and query")
	v.Fits("the confirmation of a grant")
	v.Enter("main form button.button-danger")
	v.At("/ui/secrets")
	v.Show("/ui/secrets/grant?name=WEATHER_KEY&skill=weather")
	v.Focus(`[name="plain"]`)
	v.Press(" \r")
	v.Says("Plain is the weaker way")
	v.Enter("main form button.button-danger")
	v.Says("plain, the weaker way")
	v.Fits("the secrets")
	seen("/ui/secrets")

	for skill, want := range map[string]string{"issues": "out ghp_", "weather": "out [secret WEATHER_KEY]"} {
		seen("/ui/skills/" + skill)
		v.Show("/ui/skills/" + skill + "/try")
		v.Click("form.card button.button-primary")
		v.Await(`location.pathname.startsWith("/ui/jobs/")`)
		v.Click(`#questions button[value="once"]`)
		v.Says(want)
		job := lab.Value[string](v.Browser, "location.pathname")
		seen(job)
		id := strings.TrimPrefix(job, "/ui/jobs/")
		seen("/ui/runs/" + id)
		for _, path := range []string{"/v1/runs/" + id, "/v1/runs/" + id + "/outputs/stdout", "/v1/runs/" + id + "/outputs/stderr", "/v1/runs/" + id + "/outputs/out/env", "/v1/secrets", "/v1/approvals?ended=true"} {
			for _, accept := range []string{"application/json", "text/event-stream"} {
				everything[path+" as "+accept] = []byte(lab.Value[string](v.Browser, fmt.Sprintf(`fetch(%q, {headers: {Accept: %q}}).then(r => r.text())`, path, accept)))
			}
		}
		if events := everything["/v1/runs/"+id+" as text/event-stream"]; !bytes.Contains(events, []byte("event: stdout")) {
			t.Errorf("there are no events: %s", events)
		}
	}
	seen("/ui/approvals")
	seen("/ui/runs")
	for _, command := range []string{"runs --json", "approvals --all --json", "secret list --json"} {
		out, _ := a.Run(strings.Fields(command)...)
		everything[command] = []byte(out)
	}
	_ = filepath.WalkDir(a.Home, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			everything[name], _ = os.ReadFile(name)
		}
		return nil
	})
	for place, text := range everything {
		for name, value := range lab.SecretValues {
			if bytes.Contains(text, []byte(value)) || bytes.Contains(text, []byte(base64.StdEncoding.EncodeToString([]byte(value))[:24])) {
				t.Errorf("%s has the value of %s", place, name)
			}
		}
	}
	if record := everything["runs --json"]; !bytes.Contains(record, []byte("WEATHER_KEY, plain")) {
		t.Errorf("the record lacks the grant: %s", record)
	}

	v.Show("/ui/secrets")
	v.Enter(`button[aria-label="Revoke WEATHER_KEY of weather"]`)
	v.Await(`document.readyState === "complete" && document.querySelector('[aria-label="Revoke WEATHER_KEY of weather"]') === null`)
	v.Says("weather asks for WEATHER_KEY")
	v.Enter(`a[href="/ui/secrets/remove?name=WEATHER_KEY"]`)
	v.Says("removed for good")
	v.Fits("the question before a value is removed")
	v.Enter("main form button.button-danger")
	v.At("/ui/secrets")
	if out, _ := a.Run("secret", "list"); strings.Contains(out, "WEATHER_KEY") || !strings.Contains(out, "issues (masked: to api.github.com:443") {
		t.Errorf("the secrets are %s", out)
	}
}

// A grant on the page is signed by the person who knows the passphrase, so that other
// programs of theirs heed it.
func TestPageSignsGrants(t *testing.T) {
	t.Parallel()
	a := lab.NewAccount(t, "native", "")
	a.Configure(fmt.Sprintf("policy: {passphrase: %q}\n", a.Hash("mine is long enough")))
	a.Keeps()
	b := lab.NewBrowser(t)
	link := a.Page()
	v := &lab.Visit{Browser: b, Origin: strings.SplitN(link, "/ui/", 2)[0]}
	v.Open(link)
	v.Await(`document.activeElement.id === "passphrase"`)
	v.Press("mine is long enough\r")
	v.At("/ui/")
	v.Show("/ui/secrets/grant?name=GITHUB_TOKEN&skill=issues&hosts=api.github.com")
	v.Click("main form button.button-danger")
	v.At("/ui/secrets")
	v.Says("masked: to api.github.com:443")
	if out, _ := a.Run("why", "issues"); !strings.Contains(out, "GITHUB_TOKEN, masked: to api.github.com:443") {
		t.Errorf("another program: %s", out)
	}
}
