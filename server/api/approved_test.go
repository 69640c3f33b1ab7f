package api_test

import (
	"strings"
	"testing"
)

// A list, one skill and the filter by state tell each caller of the approvals that cover
// its calls, and a person of those of the anonymous clients, too.
func TestApproved(t *testing.T) {
	b := newBench(t)
	state := func(who, name string) (one, listed string, filtered bool) {
		t.Helper()
		type item struct{ Name, State string }
		one = decode[item](t, b.call(who, "GET", "/v1/skills/demo%2F"+name, "")).State
		for _, i := range decode[struct{ Items []item }](t, b.call(who, "GET", "/v1/skills", "")).Items {
			if i.Name == "demo/"+name {
				listed = i.State
			}
		}
		for _, i := range decode[struct{ Items []item }](t, b.call(who, "GET", "/v1/skills?state=approved", "")).Items {
			filtered = filtered || i.Name == "demo/"+name
		}
		return one, listed, filtered
	}
	check := func(when, who, want string) {
		t.Helper()
		one, listed, filtered := state(who, "write")
		if one != want || listed != want || filtered != strings.HasPrefix(want, "approved") {
			t.Errorf("%s, for %s: %q, %q in the list, filtered %v; want %q", when, who, one, listed, filtered, want)
		}
	}
	const needs, always = "needs approval", "approved, always until it changes"
	check("at first", "token", needs)
	for _, who := range []string{"token", "anonymous"} {
		asked := b.call(who, "POST", execute("write"), `{}`).problem(t)
		if answer := b.call("person", "POST", asked.Approval.Href, `{"scope":"always"}`); answer.StatusCode != 200 {
			t.Fatalf("%d %s", answer.StatusCode, answer.body)
		}
		check("after a yes", who, always)
	}
	check("after another's", "other", needs)
	check("after another profile's", "ci", needs)
	check("after another's", "person", always+", for clients without a token")
	for _, who := range []string{"token", "anonymous"} {
		approvals := decode[struct{ Items []struct{ ID string } }](t, b.call(who, "GET", "/v1/approvals", ""))
		for _, one := range approvals.Items {
			b.call("person", "DELETE", "/v1/approvals/"+one.ID, "")
		}
		check("after it was revoked", who, needs)
	}
}
