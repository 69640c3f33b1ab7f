package config

import (
	"strings"
	"testing"
)

// Values says which settings are not the default, and no secret.
func TestValues(t *testing.T) {
	hash := "$argon2id$v=19$m=65536,t=3,p=4$c2FsdHNhbHRzYWx0$aGFzaGhhc2hoYXNoaGFzaGhhc2hoYXNoaGFzaGhhc2g"
	text := `skills: [/team]
sandbox:
  driver: docker
  limits: {memory: 1GB,
    timeout: 90s}
  env: [HOME, "API_KEY=s3cret"]
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
	c, err := Parse([]byte(text), "/etc/c.yaml", "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	c.Policy.Passphrase, c.Policy.Approvers = hash, map[string]string{"bob": hash}
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
		{"skills", "/team", false},
		{"plugins", "none", true},
		{"sandbox.driver", "docker", false},
		{"sandbox.limits.memory", "1 GB", false},
		{"sandbox.limits.timeout", "1m30s", false},
		{"sandbox.limits.pids", "128", true},
		{"sandbox.env", "HOME, API_KEY=…", false},
		{"sandbox.network.private", "10.1.0.0/16", false},
		{"policy.skills.docx.class", "mutating", false},
		{"policy.skills.docx.network", "a.example", false},
		{"policy.skills.docx.enabled", "true", false},
		{"policy.skills.xlsx.class", "mutating", false},
		{"policy.skills.xlsx.approve", "each", false},
		{"policy.passphrase", "set; only its hash is known", false},
		{"policy.script_token", "not set", true},
		{"policy.approvers.bob", "set; only its hash is known", false},
		{"record.keep", "720h0m0s", false},
		{"install.clawhub", "https://ann:xxxxx@a.example/v1?…", false},
		{"expose.mode", "auto", true},
		{"images.node", "node:22-slim", true},
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
		if !v.Default || v.Text == "" && v.Key != "sandbox.runtime" && !strings.HasPrefix(v.Key, "search.") && v.Key != "install.clawhub" && v.Key != "serve.token_file" {
			t.Errorf("%+v", v)
		}
	}
	if len(all) < 50 {
		t.Errorf("%d settings", len(all))
	}
}
