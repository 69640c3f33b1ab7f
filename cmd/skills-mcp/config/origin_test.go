package config

import (
	"strings"
	"testing"
)

// Values says where each setting is from, and no secret.
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
	c.Apply("sandbox.driver", "--sandbox")
	c.Apply("expose.mode", "SKILLS_MCP_EXPOSE")
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
		{"skills", "/team", "/etc/c.yaml:1"},
		{"plugins", "none", "default"},
		{"sandbox.driver", "docker", "/etc/c.yaml:3, --sandbox"},
		{"sandbox.limits.memory", "1 GB", "/etc/c.yaml:4"},
		{"sandbox.limits.timeout", "1m30s", "/etc/c.yaml:5"},
		{"sandbox.limits.pids", "128", "default"},
		{"sandbox.env", "HOME, API_KEY=…", "/etc/c.yaml:6"},
		{"sandbox.network.private", "10.1.0.0/16", "/etc/c.yaml:7"},
		{"policy.skills.docx.class", "mutating", "/etc/c.yaml:10"},
		{"policy.skills.docx.network", "a.example", "/etc/c.yaml:10"},
		{"policy.skills.docx.enabled", "true", "/etc/c.yaml:10"},
		{"policy.skills.xlsx.class", "mutating", "/etc/c.yaml:10"},
		{"policy.skills.xlsx.approve", "each", "/etc/c.yaml:13"},
		{"policy.passphrase", "set; only its hash is known", "default"},
		{"policy.script_token", "not set", "default"},
		{"policy.approvers.bob", "set; only its hash is known", "default"},
		{"record.keep", "720h0m0s", "/etc/c.yaml:14"},
		{"install.clawhub", "https://ann:xxxxx@a.example/v1?…", "/etc/c.yaml:15"},
		{"expose.mode", "auto", "SKILLS_MCP_EXPOSE"},
		{"images.node", "node:22-slim", "default"},
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
		if v.Origin != "default" || v.Text == "" && v.Key != "sandbox.runtime" && !strings.HasPrefix(v.Key, "search.") && v.Key != "install.clawhub" && v.Key != "serve.token_file" {
			t.Errorf("%+v", v)
		}
	}
	if len(all) < 50 {
		t.Errorf("%d settings", len(all))
	}
}
