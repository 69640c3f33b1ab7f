package identity

import (
	"context"
	"slices"
	"testing"
)

// The same principal has one key, and no two principals share one, whatever an issuer
// puts into a name.
func TestKey(t *testing.T) {
	distinct := []Principal{
		{},
		{Kind: Model},
		{Kind: Person},
		{Kind: Token, ID: "ci"},
		{Kind: Subject, ID: "ci"},
		{Kind: Token, ID: "ci", Profile: "work"},
		{Kind: Token, ID: "ci", Profile: "work", ReadOnly: true},
		{Kind: Token, ID: "ci", Profile: "work;readonly"},
		{Kind: Token, ID: "ci", ReadOnly: true},
		{Kind: Token, ID: "ci/work"},
		{Kind: Token, ID: "ci%2Fwork"},
		{Kind: Token, Profile: "ci"},
		{Kind: Token, ID: "ci", Session: "work"},
		{Session: "work"},
		{ID: "work"},
		{Kind: "/work"},
		{Kind: Token, ID: "ci\x00work"},
	}
	found := map[Key]Principal{}
	for _, p := range distinct {
		if other, taken := found[p.Key()]; taken {
			t.Errorf("%+v and %+v are both %q", p, other, p.Key())
		}
		found[p.Key()] = p
	}
	if key := (Principal{}).Key(); key != "" {
		t.Errorf("the anonymous principal is %q", key)
	}
	renewed := Principal{Kind: Token, ID: "ci", Scopes: []Scope{ScopeRun}}
	if renewed.Key() != distinct[3].Key() {
		t.Errorf("with other scopes: %q", renewed.Key())
	}
	if p := renewed.In("1"); p.Session != "1" || p.Key() == renewed.Key() || renewed.Session != "" {
		t.Errorf("in a session: %+v", p)
	}
}

func TestContext(t *testing.T) {
	if p := FromContext(context.Background()); p.Key() != "" {
		t.Errorf("of no context: %+v", p)
	}
	if p := FromContext(NewContext(context.Background(), Principal{Kind: Person})); p.Kind != Person {
		t.Errorf("got %+v", p)
	}
}

// A wider scope includes the narrower ones, but for the approval of calls.
func TestScopes(t *testing.T) {
	all := []Scope{ScopeRead, ScopeRun, ScopeAdmin, ScopeApprove}
	for _, test := range []struct {
		has  []Scope
		want []Scope
	}{
		{nil, all},
		{[]Scope{}, nil},
		{[]Scope{ScopeRead}, []Scope{ScopeRead}},
		{[]Scope{ScopeRun}, []Scope{ScopeRead, ScopeRun}},
		{[]Scope{ScopeAdmin}, []Scope{ScopeRead, ScopeRun, ScopeAdmin}},
		{[]Scope{ScopeApprove}, []Scope{ScopeApprove}},
		{[]Scope{"other"}, nil},
	} {
		var may []Scope
		for _, s := range all {
			if (Principal{Scopes: test.has}).May(s) {
				may = append(may, s)
			}
		}
		if !slices.Equal(may, test.want) {
			t.Errorf("%q may %q, want %q", test.has, may, test.want)
		}
	}
}

// Nobody leaves the profile of the server but by a credential that names others, and a
// subject of an issuer chooses none of the operator's.
func TestWithin(t *testing.T) {
	own := []string{"dev", "ops"}
	for _, test := range []struct {
		p       Principal
		server  string
		profile string
		choices []string
	}{
		{Principal{Kind: Token, ID: "ann", Profile: "dev", Profiles: own}, "", "dev", own},
		{Principal{Kind: Token, ID: "ann", Profile: "dev", Profiles: own}, "ci", "dev", own},
		{Principal{Kind: Token, ID: "ann"}, "", "", nil},
		{Principal{Kind: Token, ID: "ann"}, "ci", "ci", []string{"ci"}},
		{Principal{Kind: Subject, ID: "i ann", Profile: "dev", Profiles: own}, "ci", "dev", own},
		{Principal{Kind: Subject, ID: "i ann"}, "", "", []string{""}},
		{Principal{Kind: Subject, ID: "i ann"}, "ci", "ci", []string{"ci"}},
		{Principal{}, "ci", "ci", []string{"ci"}},
	} {
		if got := test.p.Within(test.server); got.Profile != test.profile || !slices.Equal(got.Profiles, test.choices) || (got.Profiles == nil) != (test.choices == nil) {
			t.Errorf("%+v within %q: %q, choices %q", test.p, test.server, got.Profile, got.Profiles)
		}
	}
}
