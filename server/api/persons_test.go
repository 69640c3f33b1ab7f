package api_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/server/run"
)

// Each operation of the document, for each principal and an object of each: nobody sees or
// changes what another one has, but the person of this machine, and whoever oversees all, who
// only sees it.
func TestObjectsOfOthers(t *testing.T) {
	b := newBench(t)
	owners := []string{"ann", "bea", "laptop", "desktop", "token", "anonymous"}
	readers := append(slices.Clone(owners), "ann elsewhere", "boss", "person")
	objects := map[string]map[string]string{} // by owner: the value of {id} by the first part of the path
	for _, who := range owners {
		asked := b.call(who, "POST", execute("write"), `{"params":{}}`).problem(t)
		if asked.Code != run.ApprovalRequired {
			t.Fatalf("%s: %+v", who, asked)
		}
		held := decode[struct{ ID string }](t, b.call(who, "POST", execute("hang"), `{}`, "Prefer: respond-async"))
		objects[who] = map[string]string{"approvals": asked.Approval.ID, "runs": held.ID}
	}
	answers := map[string]bool{"ann": true, "bea": true, "ann elsewhere": true, "boss": true, "person": true}
	may := func(reader, owner, method, kind string) bool {
		mine := strings.TrimSuffix(reader, " elsewhere") == owner
		switch {
		case reader == "person":
			return true
		case reader == "boss":
			return method == http.MethodGet
		case kind == "approvals" && method != http.MethodGet:
			return mine && answers[reader]
		}
		return mine
	}
	checked := 0
	for _, pattern := range slices.Sorted(maps.Keys(b.contract.doc.Paths.Map())) {
		for method, o := range b.contract.doc.Paths.Map()[pattern].Operations() {
			if only := *o.Security; len(only) == 1 { // a session alone: of the person of this machine
				for _, who := range readers[:len(readers)-1] {
					a := b.call(who, method, strings.NewReplacer("{name}", "run", "{secret}", "TOKEN").Replace(pattern), "")
					if a.StatusCode != http.StatusForbidden {
						t.Errorf("%s %s as %s: %d %s", method, pattern, who, a.StatusCode, a.body)
					}
					checked++
				}
				continue
			}
			kind := strings.SplitN(strings.TrimPrefix(pattern, "/v1/"), "/", 2)[0]
			if kind == "profiles" { // of those who oversee all
				for _, who := range readers {
					a := b.call(who, method, strings.ReplaceAll(pattern, "{name}", "none"), "")
					if oversees := who == "boss" || who == "person"; (a.StatusCode == http.StatusForbidden) == oversees {
						t.Errorf("%s %s as %s: %d %s", method, pattern, who, a.StatusCode, a.body)
					}
					checked++
				}
			}
			if kind != "approvals" && kind != "runs" || method == http.MethodDelete { // those end below
				continue
			}
			for _, reader := range readers {
				for _, owner := range owners {
					id := objects[owner][kind]
					send := func(id string) *answer {
						body := ""
						if o.RequestBody != nil {
							body = `{"scope":"always x"}` // which is wrong, so that nothing changes
						}
						return b.call(reader, method, strings.NewReplacer("{id}", id, "{path}", "stdout").Replace(pattern), body)
					}
					a := send(id)
					allowed := may(reader, owner, method, kind)
					checked++
					switch {
					case !strings.Contains(pattern, "{id}"):
						if got := strings.Contains(string(a.body), id); a.StatusCode != 200 || got != allowed {
							t.Errorf("%s %s as %s has that of %s: %t", method, pattern, reader, owner, got)
						}
					case strings.Contains(pattern, "{path}"): // an output of a run that has not ended is not there for its owner either
					case method == http.MethodPost && allowed:
						if a.StatusCode != http.StatusBadRequest {
							t.Errorf("%s %s of %s as %s: %d %s", method, pattern, owner, reader, a.StatusCode, a.body)
						}
					case allowed != (a.StatusCode == 200):
						t.Errorf("%s %s of %s as %s: %d %s", method, pattern, owner, reader, a.StatusCode, a.body)
					}
					if none := send("nothing"); !allowed && reader != "boss" && (a.StatusCode != none.StatusCode || strings.ReplaceAll(string(a.body), id, "nothing") != string(none.body)) && strings.Contains(pattern, "{id}") {
						t.Errorf("%s %s as %s tells that %s has one: %s; %s", method, pattern, reader, owner, a.body, none.body)
					}
				}
			}
		}
	}
	for _, owner := range owners {
		for kind, id := range objects[owner] {
			for _, reader := range readers {
				if may(reader, owner, http.MethodDelete, kind) {
					continue
				}
				if a := b.call(reader, "DELETE", "/v1/"+kind+"/"+id, ""); a.StatusCode != http.StatusNotFound && a.StatusCode != http.StatusForbidden {
					t.Errorf("%s ends %s of %s: %d", reader, kind, owner, a.StatusCode)
				}
				checked++
			}
			who := owner
			if kind == "approvals" && !answers[owner] {
				who = "person"
			}
			if a := b.call(who, "DELETE", "/v1/"+kind+"/"+id, ""); a.StatusCode != http.StatusNoContent {
				t.Errorf("%s ends its own %s: %d %s", who, kind, a.StatusCode, a.body)
			}
		}
	}
	if checked < 400 {
		t.Errorf("only %d cases", checked)
	}
}

// A question that needs two people has the yes of its owner first, and then of one who
// oversees all; never of one person alone.
func TestTwoPersons(t *testing.T) {
	for name, test := range map[string]struct {
		asker string
		steps []string // who answers, with the status
		runs  bool
	}{
		"two people":                   {"ann", []string{"ann 200", "boss 200"}, true},
		"the same twice":               {"ann", []string{"ann 200", "ann 400", "ann elsewhere 400"}, false},
		"the overseer first":           {"ann", []string{"boss 403", "ann 200"}, false},
		"another one":                  {"ann", []string{"ann 200", "bea 404", "desktop 403"}, false},
		"an overseer's own":            {"boss", []string{"boss 200", "boss 400"}, false},
		"two overseers":                {"boss", []string{"boss 200", "chief 200"}, true},
		"the person of the machine":    {"ann", []string{"ann 200", "person 200"}, true},
		"a token that answers nothing": {"desktop", []string{"desktop 403", "person 200", "boss 200"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBenchOf(t, "dual-sign")
			href := b.call(test.asker, "POST", execute("write"), `{}`).problem(t).Approval.Href
			for _, step := range test.steps {
				who, want := step[:strings.LastIndex(step, " ")], step[strings.LastIndex(step, " ")+1:]
				a := b.call(who, "POST", href, `{"scope":"once"}`, "Authorization: Bearer x")
				if !strings.HasPrefix(a.Status, want) || want == "200" && !strings.Contains(string(a.body), `"way":"token"`) {
					t.Errorf("%s: %s %s", step, a.Status, a.body)
				}
			}
			if a := b.call(test.asker, "POST", execute("write"), `{}`); (a.StatusCode == 200) != test.runs {
				t.Errorf("it runs: %d %s", a.StatusCode, a.body)
			}
		})
	}
}
