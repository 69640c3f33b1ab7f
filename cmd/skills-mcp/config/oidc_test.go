package config

import (
	"strings"
	"testing"
)

// A wrong issuer is said at the start, with the remedy.
func TestOIDC(t *testing.T) {
	const good = "issuer: https://login.example.com"
	for text, want := range map[string]string{
		good:                            "",
		"issuer: http://127.0.0.1:9000": "",
		good + ", audience: skills, skew: 30s, algorithms: [ES256], scopes: {use: 'skills:run'}, profile_claim: groups, profiles: {devs: dev}": "",
		"issuer: http://login.example.com":      "must be a URL of https",
		"issuer: login.example.com":             "must be a URL of https",
		"issuer: https://a:b@login.example.com": "must be a URL of https",
		good + ", algorithms: [HS256]":          `serve.oidc.algorithms has "HS256"`,
		good + ", algorithms: [none]":           `serve.oidc.algorithms has "none"`,
		good + ", skew: 1h":                     "serve.oidc.skew is 1h0m0s",
		good + ", scopes: {use: run}":           `serve.oidc has the scope "run"`,
		good + ", default_scopes: [all]":        `serve.oidc has the scope "all"`,
		good + ", profile_claim: groups":        "profile_claim and profiles need each other",
		good + ", profiles: {a: b}":             "profile_claim and profiles need each other",
	} {
		_, err := Parse([]byte("serve: {url: 'https://skills.example.com', oidc: {"+text+"}}"), "config.yaml", "")
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"{oidc: {" + good + "}}": "serve.oidc needs serve.url",
		"{url: 'https://s.example.com', no_token: true, oidc: {" + good + "}}": "serve.no_token asks for no token",
		"{url: 'https://s.example.com/mcp'}":                                   `serve.url is "https://s.example.com/mcp"`,
		"{url: 's.example.com'}":                                               `serve.url is "s.example.com"`,
	} {
		if _, err := Parse([]byte("serve: "+text), "config.yaml", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
