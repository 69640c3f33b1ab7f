package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// The person and those who oversee others make, change, try and remove profiles. Nobody else
// sees one.
func TestProfiles(t *testing.T) {
	b := newBench(t)
	const red, blue = `{"name":"red","allow":["demo/run","demo/guide"]}`, `{"name":"blue","deny":["demo/run"],"class":"safe","env":{"TEAM":"blue"},"secrets":[]}`
	for _, who := range []string{"anonymous", "token", "ci", "subject", "ann", "laptop"} {
		for _, test := range [][3]string{{"GET", "/v1/profiles", ""}, {"POST", "/v1/profiles", red}, {"PUT", "/v1/profiles/ci", `{}`}, {"DELETE", "/v1/profiles/ci", ""}, {"GET", "/v1/profiles/ci/skills", ""}} {
			if p := b.call(who, test[0], test[1], test[2]).problem(t); p.Code != run.PermissionDenied || p.Status != http.StatusForbidden || strings.Contains(p.Detail, "policy.profiles") {
				t.Errorf("%s %s as %s: %+v", test[0], test[1], who, p)
			}
		}
	}
	for who, body := range map[string]string{"person": red, "boss": blue} {
		if a := b.call(who, "POST", "/v1/profiles", body); a.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", who, a.StatusCode, a.body)
		}
	}
	states := func(name string) map[string]string {
		all := map[string]string{}
		for _, trial := range decode[api.List[manage.Trial]](t, b.call("person", "GET", "/v1/profiles/"+name+"/skills", "")).Items {
			all[trial.Skill], _, _ = strings.Cut(trial.State, ":")
		}
		return all
	}
	for name, want := range map[string][2]string{"red": {"ready", "off"}, "blue": {"off", "off"}} {
		got := states(name)
		if diff := cmp.Diff(want, [2]string{got["demo/run"], got["demo/write"]}); diff != "" || len(got) < 8 {
			t.Errorf("%s: %s %v", name, diff, got)
		}
	}
	for name, test := range map[string]struct{ method, path, body, want string }{
		"twice":             {"POST", "", red, "there is a profile red already"},
		"a wrong name":      {"POST", "", `{"name":"a b"}`, "use letters"},
		"a wrong pattern":   {"POST", "", `{"name":"x","allow":["["]}`, "has the pattern"},
		"a wrong time":      {"PUT", "/red", `{"execution_timeout":"soon"}`, "write a time"},
		"a wrong mode":      {"PUT", "/red", `{"mode":"all"}`, "mode"},
		"an unknown field":  {"PUT", "/red", `{"clas":"safe"}`, "clas"},
		"nobody's":          {"PUT", "/green", `{}`, "there is no profile"},
		"the configuration": {"PUT", "/ci", `{}`, "change it there"},
		"removing that":     {"DELETE", "/ci", "", "change it there"},
	} {
		if p := b.call("person", test.method, "/v1/profiles"+test.path, test.body).problem(t); !strings.Contains(p.Detail, test.want) {
			t.Errorf("%s: %+v", name, p)
		}
	}
	b.call("chief", "PUT", "/v1/profiles/blue", `{"allow":[]}`)
	if a := b.call("person", "DELETE", "/v1/profiles/red", ""); a.StatusCode != http.StatusNoContent {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	all := decode[api.List[policy.NamedProfile]](t, b.call("boss", "GET", "/v1/profiles", "")).Items
	want := []policy.NamedProfile{{Name: "blue", Profile: policy.Profile{Allow: []string{}}}, {Name: "ci", Configured: true, Profile: policy.Profile{Deny: []string{"demo/denied"}}}}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Error(diff)
	}
}
