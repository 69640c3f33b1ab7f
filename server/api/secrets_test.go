package api_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// A person lists, grants, revokes and removes secrets, by the rules of secret grant. Nobody
// else does, and nobody sets one.
func TestSecrets(t *testing.T) {
	b := newBench(t)
	digest := decode[describe.Skill](t, b.call("person", "GET", "/v1/skills/demo%2Frun", "")).Digest
	terms := func(name string, more string) string {
		return `{"name":"` + name + `","digest":"` + digest + `"` + more + `}`
	}
	const grants = "/v1/skills/demo%2Frun/secrets"
	for _, who := range []string{"anonymous", "token", "ci", "subject"} {
		for _, test := range [][3]string{{"GET", "/v1/secrets", ""}, {"DELETE", "/v1/secrets/TOKEN", ""}, {"POST", grants, terms("TOKEN", `,"hosts":["a.example.com"]`)}, {"DELETE", grants + "/TOKEN", ""}} {
			if p := b.call(who, test[0], test[1], test[2]).problem(t); p.Code != run.PermissionDenied || p.Status != http.StatusForbidden {
				t.Errorf("%s %s as %s: %+v", test[0], test[1], who, p)
			}
		}
	}
	for _, method := range []string{"POST", "PUT", "PATCH"} {
		if a := b.call("person", method, "/v1/secrets/TOKEN", `{"value":"`+secretValue+`"}`); a.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s sets a value: %d", method, a.StatusCode)
		}
	}
	for name, test := range map[string]struct{ path, body, want string }{
		"a private host":    {grants, terms("TOKEN", `,"hosts":["10.1.2.3"]`), "is not public"},
		"no host":           {grants, terms("TOKEN", ""), "say which hosts"},
		"plain with hosts":  {grants, terms("TOKEN", `,"plain":true,"hosts":["a.example.com"]`), "plain goes without hosts"},
		"a command":         {grants, terms("TOKEN", `,"hosts":["a.example.com"],"command":"id"`), "command"},
		"another digest":    {grants, strings.Replace(terms("TOKEN", `,"hosts":["a.example.com"]`), digest, "sha256:00", 1), "another digest"},
		"no digest":         {grants, `{"name":"TOKEN","hosts":["a.example.com"]}`, "digest"},
		"the configuration": {"/v1/skills/demo%2Fdenied/secrets", terms("TOKEN", `,"hosts":["a.example.com"]`), "the test's configuration already"},
	} {
		if p := b.call("person", "POST", test.path, test.body).problem(t); p.Code != run.InvalidParam || !strings.Contains(p.Detail, test.want) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, more := range []string{`,"hosts":["a.example.com"],"methods":["get"],"paths":["/repos/**"]`, `,"hosts":["b.example.com"],"header":"X-Api-Key"`} {
		if a := b.call("person", "POST", grants, terms("TOKEN", more)); a.StatusCode != http.StatusNoContent {
			t.Fatalf("%d %s", a.StatusCode, a.body)
		}
	}
	if a := b.call("person", "POST", grants, terms("LATER", `,"plain":true,"as":"L"`)); a.StatusCode != http.StatusNoContent {
		t.Fatalf("%d %s", a.StatusCode, a.body)
	}
	list := func() []string {
		var all []string
		for _, s := range decode[api.List[manage.Secret]](t, b.call("person", "GET", "/v1/secrets", "")).Items {
			text, _ := json.Marshal(s.Grants)
			all = append(all, s.Name+" "+s.Kind+" "+string(text))
		}
		return all
	}
	if got, want := list(), []string{
		`BY_COMMAND command: printf not-run []`,
		`LATER no value [{"skill":"demo/run","terms":"plain: the skill sees it, in the variable L","plain":true,"configured":false}]`,
		`TOKEN value [{"skill":"demo/run","terms":"masked: to a.example.com:443, GET, /repos/**, in header and query, for what the skill has in the variable TOKEN","plain":false,"configured":false},{"skill":"demo/run","terms":"masked: to b.example.com:443, any method, any path, added as X-Api-Key …","plain":false,"configured":false}]`,
	}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for _, path := range []string{grants + "/TOKEN", grants + "/LATER", "/v1/secrets/TOKEN", "/v1/secrets/BY_COMMAND"} {
		if a := b.call("person", "DELETE", path, ""); a.StatusCode != http.StatusNoContent {
			t.Errorf("%s: %d %s", path, a.StatusCode, a.body)
		}
		if p := b.call("person", "DELETE", path, "").problem(t); p.Code != run.NotFound {
			t.Errorf("%s again: %+v", path, p)
		}
	}
	if got := list(); len(got) > 0 {
		t.Errorf("%q", got)
	}
}
