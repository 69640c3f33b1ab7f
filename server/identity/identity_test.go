package identity

import (
	"context"
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
	renewed := Principal{Kind: Token, ID: "ci", Scopes: []string{"run"}}
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
