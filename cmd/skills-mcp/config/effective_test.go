package config

import (
	"slices"
	"strings"
	"testing"
)

// Values says where each setting was set, and no secret.
func TestValues(t *testing.T) {
	hash := "$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g"
	text := `skills: [/team]
sandbox:
  driver: docker
  limits: {memory: 1GB,
    timeout: 90s}
  env: [HOME, "API_KEY=s3cret"]
  dependencies: report
  network: {private: [10.1.0.0/16]}
policy:
  skills:
    docx: &docx {class: mutating, network: [a.example], enabled: true}
    xlsx:
      <<: *docx
      approve: each
record: {keep: 30d}
install: {clawhub: "https://a.example/v1"}
`
	const file = "/etc/c.yaml"
	c, err := Parse([]byte(text), file, "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	c.Policy.Passphrase, c.Policy.Approvers = hash, map[string]string{"bob": hash}
	c.Serve.Listen, c.Skills = "127.0.0.1:1", append(c.Skills, "/more")
	c.Install.ClawHub = "https://ann:s3cret@a.example/v1?key=s3cret"
	got := map[string]Value{}
	for _, v := range c.Values() {
		if strings.Contains(v.Text, "s3cret") || strings.Contains(v.Text, "argon2id") {
			t.Errorf("%+v", v)
		}
		if _, twice := got[v.Key]; twice {
			t.Errorf("%s is there twice", v.Key)
		}
		got[v.Key] = v
	}
	for _, want := range []Value{
		{"skills", "/team, /more", ByCommand},
		{"serve.listen", "127.0.0.1:1", ByCommand},
		{"plugins.dir", "none", ""},
		{"sandbox.dependencies", "report", ""}, // as it is without
		{"sandbox.kept.lifetime", "1h0m0s", ""},
		{"policy.expiry.once", "10m0s", ""},
		{"sandbox.driver", "docker", file},
		{"sandbox.limits.memory", "1 GB", file},
		{"sandbox.limits.timeout", "1m30s", file},
		{"sandbox.limits.pids", "128", ""},
		{"sandbox.env", "HOME, API_KEY=…", file},
		{"sandbox.network.private", "10.1.0.0/16", file},
		{"policy.skills.docx.class", "mutating", file},
		{"policy.skills.docx.network", "a.example", file},
		{"policy.skills.docx.enabled", "true", file},
		{"policy.skills.xlsx.class", "mutating", file},
		{"policy.skills.xlsx.approve", "each", file},
		{"policy.passphrase", "set; only its hash is known", ByCommand},
		{"policy.script_token", "not set", ""},
		{"policy.approvers.bob", "set; only its hash is known", ByCommand},
		{"record.keep", "30d", file},
		{"install.clawhub", "https://ann:xxxxx@a.example/v1?…", ByCommand},
		{"expose.mode", "auto", ""},
		{"images.node", "node:22-slim", ""},
	} {
		if got[want.Key] != want {
			t.Errorf("%+v, want %+v", got[want.Key], want)
		}
	}
	if _, there := got["policy.skills.docx.timeout"]; there {
		t.Error("a rule has a field that is not set")
	}
}

// Without a file everything is a default.
func TestValuesOfDefaults(t *testing.T) {
	all := Default().Values()
	for _, v := range all {
		if v.Origin != "" || v.Text == "" {
			t.Errorf("%+v", v)
		}
	}
	if len(all) < 50 {
		t.Errorf("%d settings", len(all))
	}
}

// Changes are of each key that differs, with no secret, also where only the secret does.
func TestChanges(t *testing.T) {
	parse := func(text string) *Config {
		c, err := Parse([]byte(text), "/etc/c.yaml", "/home/ann")
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	old := parse("sandbox: {env: [\"KEY=s3cret\"]}\npolicy: {mode: confirm, deny: [a]}\n")
	next := parse("sandbox: {env: [\"KEY=an0ther\"]}\npolicy: {mode: read-only, deny: [a], skills: {docx: {class: safe}}}\n")
	want := []Change{{"sandbox.env", "KEY=…", "KEY=…"}, {"policy.mode", "confirm", "read-only"}, {"policy.skills", "none", "none"}, {"policy.skills.docx.class", "none", "safe"}}
	if got := Changes(old, next); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if got := Changes(next, parse("sandbox: {env: [\"KEY=an0ther\"]}\npolicy: {mode: read-only, deny: [a], skills: {docx: {class: safe}}}\n")); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}
