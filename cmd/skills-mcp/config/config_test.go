package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
)

func TestParse(t *testing.T) {
	c, err := Parse([]byte(`
skills: [~/skills, relative, /absolute]
roots: {system: false}
images: {default: mine, gpu: yours}
sandbox:
  runtime: runsc
  limits: {memory: 1GB, timeout: 90s}
  slots: {total: 8, per_skill: 2}
  pool: {max: 0, idle: 30s}
  kept: {total: 1, lifetime: 2h}
  asking: {wait: 1m, per_caller: 2}
  dependencies: build
  dependency_env: [PIP_INDEX_URL, "NPM_CONFIG_REGISTRY=https://npm.example.com"]
  network: {allow: ["API.example.com:443", "*.example.org"], private: [10.1.0.0/16, "fd00::/8"]}
tools: {run_code: true}
expose: {mode: search, as: {host: skills, "*": both}, max_tools: 5, pin: [deploy, "team/*"]}
`), filepath.FromSlash("/etc/x/config.yaml"), filepath.FromSlash("/home/ann"))
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.File = filepath.FromSlash("/etc/x/config.yaml")
	want.Skills = []string{filepath.FromSlash("/home/ann/skills"), filepath.FromSlash("/etc/x/relative"), filepath.FromSlash("/absolute")}
	want.Roots.System = false
	want.Images = map[string]string{"default": "mine", "gpu": "yours", "node": want.Images["node"]}
	want.Sandbox.Runtime = "runsc"
	want.Sandbox.Limits.Memory, want.Sandbox.Limits.Timeout = 1<<30, 90*time.Second
	want.Sandbox.Slots.Total, want.Sandbox.Slots.PerSkill = 8, 2
	want.Sandbox.Pool = Pool{Max: 0, Idle: 30 * time.Second}
	want.Sandbox.Kept.Total, want.Sandbox.Kept.Lifetime = 1, 2*time.Hour
	want.Sandbox.Asking.Wait, want.Sandbox.Asking.PerCaller = time.Minute, 2
	want.Tools.RunCode = true
	want.Expose = Expose{Mode: "search", As: ClientForms{"host": "skills", "*": "both"}, MaxTools: 5, CatalogChars: 12_000, Pin: []string{"deploy", "team/*"}}
	want.Sandbox.Dependencies = DependenciesBuild
	want.Sandbox.DependencyEnv = []string{"PIP_INDEX_URL", "NPM_CONFIG_REGISTRY=https://npm.example.com"}
	if diff := cmp.Diff(want, c, cmpopts.IgnoreFields(Sandbox{}, "Network"), cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
	if got := fmt.Sprint(c.Hosts(), c.Egress().Private); got != "[api.example.com:443 *.example.org] [10.1.0.0/16 fd00::/8]" {
		t.Errorf("network: %s", got)
	}
}

func TestParseRefuses(t *testing.T) {
	checkRefusals(t, map[string]string{
		"skils: []":                                    `line 1: unknown key "skils"; did you mean "skills"?`,
		"search: {embeddings: {model: m}}":             `line 1: unknown key "search"; did you mean "serve"?`,
		"roots:\n  usr: true":                          `line 2: unknown key "usr"; did you mean "user"?`,
		"sandbox: {limits: {zzzzzzzzzz: 1}}":           `line 1: unknown key "zzzzzzzzzz"`,
		"skills: 5":                                    `line 1: "5" cannot stand here; write a list, such as [a, b]`,
		"sandbox: {asking: {wait: 5}}":                 `line 1: "5" cannot stand here; write a time, such as 90s or 5m`,
		"sandbox: {slots: {queue: {a: b}}}":            `line 1: a key with a value cannot stand here; write a whole number`,
		"serve: 5":                                     `line 1: "5" cannot stand here; write keys with values, such as {key: value}`,
		"serve: {no_token: [1]}":                       `line 1: a list cannot stand here; write true or false`,
		"sandbox: {driver: podman}":                    `sandbox.driver is "podman"; write one of auto, docker, native, kubernetes`,
		"sandbox: {limits: {memory: -1}}":              `line 1: "-1" is not a size; write for example 512MB`,
		"scan: {folders: -1}":                          "scan.folders is too small; write at least 1",
		"scan: {poll: 1ms}":                            "scan.poll is too small; write at least 1s, or 0 for none",
		"install: {refresh: 0s}":                       "install.refresh is too small; write at least 1s",
		"install: {sources: [./team/report]}":          `line 1: "./team/report" is a path of this machine; name it in skills`,
		"install: {sources: [oci://a]}":                `line 1: "oci://a" is not read; write oci://registry/name:tag or oci://registry/name@sha256:…, the name in lower case`,
		"sandbox: {limits: {timeout: 1ms}}":            "sandbox.limits.timeout is too small; write at least 1s",
		"sandbox: {slots: {queue: -1}}":                "sandbox.slots.queue is too small; write at least 1",
		"sandbox: {slots: {total: -1}}":                "sandbox.slots.total is too small; write at least 1, or 0 for twice the number of processors",
		"sandbox: {pool: {max: -1}}":                   "sandbox.pool.max is too small; write at least 1, or 0 for no pool",
		"sandbox: {pool: {idle: 0s}}":                  "sandbox.pool.idle is too small; write at least 1s",
		"sandbox: {pool: {maxx: 1}}":                   `line 1: unknown key "maxx"; did you mean "max"?`,
		"sandbox: {kept: {per_caller: 0}}":             "sandbox.kept.per_caller is too small; write at least 1",
		"sandbox: {asking: {wait: 10ms}}":              "sandbox.asking.wait is too small; write at least 1s",
		"record: {keep: soon}":                         `line 1: "soon" is not a time; write for example 90d or 12h`,
		"record: {keep: 1d2h}":                         `line 1: "1d2h" is not a time; write for example 90d or 12h`,
		"tools: {run_cod: true}":                       `line 1: unknown key "run_cod"; did you mean "run_code"?`,
		"expose: {mode: none}":                         `expose.mode is "none"; write one of auto, all, search`,
		"expose: {as: skill}":                          `expose.as has "skill" for "*"; write one of tools, skills, both`,
		"expose: {as: {host: none}}":                   `expose.as has "none" for "host"; write one of tools, skills, both`,
		"expose: {max_tools: 0}":                       "expose.max_tools is too small; write at least 1",
		"expose: {catalog_chars: 999}":                 "expose.catalog_chars is too small; write at least 1000",
		"expose: {pin: ['a[']}":                        `expose.pin has "a["; write the name of a skill, or a pattern such as plugin/*`,
		"expose: {pin: ['']}":                          `expose.pin has ""; write the name of a skill, or a pattern such as plugin/*`,
		"expose: {pins: []}":                           `line 1: unknown key "pins"; did you mean "pin"?`,
		"sandbox: {dependencies: pip}":                 `sandbox.dependencies is "pip"; write one of report, build`,
		"sandbox: {env: ['1A=b']}":                     `sandbox.env has "1A=b"; write NAME or NAME=value`,
		"sandbox: {dependency_env: ['a b']}":           `sandbox.dependency_env has "a b"; write NAME or NAME=value`,
		"images: {default: ''}":                        "images.default is empty; name an image",
		"skills: [\n":                                  "line 1: did not find expected node content",
		"sandbox: {network: {alow: []}}":               `line 1: unknown key "alow"; did you mean "allow"?`,
		"sandbox: {network: {allow: [\na, '*']}}":      `line 2: "*" is not a host: a * stands only for everything before a domain, such as *.example.com:443`,
		"sandbox: {network: {allow: [[a]]}}":           `line 1: "" is not a host: write one such as api.example.com:443`,
		"sandbox: {network: {private: [10.1.2.3/16]}}": `line 1: "10.1.2.3/16" is not a network; write its first address and its length, such as 10.1.0.0/16, or 10.1.2.3/32 for one address`,
		"sandbox: {network: {private: [10.1.2.3]}}":    `line 1: "10.1.2.3" is not a network; write its first address and its length, such as 10.1.0.0/16, or 10.1.2.3/32 for one address`,
	})
}

// checkRefusals parses texts, and compares the errors.
func checkRefusals(t *testing.T, texts map[string]string) {
	t.Helper()
	for text, want := range texts {
		_, err := Parse([]byte(text), "config.yaml", "/home/ann")
		if err == nil || err.Error() != "config.yaml: "+want {
			t.Errorf("%q:\n got %v\nwant config.yaml: %s", text, err, want)
		}
	}
}

func TestLoadTakesTheFirst(t *testing.T) {
	c, err := Load([]string{filepath.Join(t.TempDir(), "none.yaml")}, "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Default(), c, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Error(diff)
	}
}

// FuzzParse: any file is a configuration that can be used, or an error with the
// file's name.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "skills: [a]", "sandbox: {limits: {memory: 1GB}}", "images:", "roots: 5", "a: &a [*a]", "sandbox: {network: {allow: [a], private: [10.0.0.0/8]}}", "images: {1: 2}", "expose: {mode: all, pin: [a, 'b/*']}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse(data, "config.yaml", "/home/ann")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "config.yaml: ") {
				t.Errorf("error %v", err)
			}
			return
		}
		if err := c.validate(); err != nil {
			t.Error(err)
		}
		if len(c.Values()) == 0 {
			t.Error("it has no settings")
		}
	})
}

// A workspace's own file narrows the policy; what would widen it is an error.
func TestProjectPolicy(t *testing.T) {
	for _, test := range []struct {
		text string
		mode policy.Mode // of the person
		err  string      // a part of it
	}{
		{"mode: read-only\n  deny: [a]\n  skills: {b: {enabled: false, class: dangerous, approve: each, timeout: 5s}}", policy.Confirm, ""},
		{"mode: dual-sign", policy.DualSign, ""},
		{"mode: confirm", policy.DualSign, "allows less"},
		{"mode: dual-sign", policy.ReadOnly, "allows less"},
		{"allow: ['*']", policy.Confirm, `"allow" cannot be set by a workspace's own file`},
		{"profiles: {p: {}}", policy.Confirm, `"profiles" cannot be set by a workspace's own file`},
		{"skills: {a: {enabled: true}}", policy.Confirm, "can only narrow"},
		{"skills: {a: {class: safe}}", policy.Confirm, "can only narrow"},
		{"skills: {a: {approve: always}}", policy.Confirm, "can only narrow"},
		{"skills: {a: {network: [x.example]}}", policy.Confirm, `"network" cannot be set by a workspace's own file`},
		{"skills: {a: {workspace: rw}}", policy.Confirm, `"workspace" cannot be set by a workspace's own file`},
		{"skills: {a: {secrets: [KEY]}}", policy.Confirm, `"secrets" cannot be set by a workspace's own file`},
	} {
		p, err := ParseProject([]byte("policy:\n  "+test.text), "/w")
		o := policy.Options{Mode: test.mode}
		if err == nil {
			err = p.Policy.Narrow(&o)
		}
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: error %v, want %q", test.text, err, test.err)
		}
		for _, r := range o.Rules {
			if !r.Narrows {
				t.Errorf("%s: %+v widens", test.text, r)
			}
		}
	}
}

// Rules of the configuration, and the faults in them.
func TestPolicy(t *testing.T) {
	c, err := Parse([]byte(`policy:
  mode: dual-sign
  deny: ["colony-samples/*"]
  skills:
    weather: {network: ["wttr.in:443"], workspace: ro, env: [A], secrets: [B], approve: always, timeout: 90s}
    named:
    issues: {secrets: [C, {name: D, hosts: [api.example.com], methods: [get], in: [header, body]}, {name: E, plain: true, as: F}]}
  profiles: {ci: {allow: [a], capabilities: [], class: safe, max_concurrent_executions: 2, execution_timeout: 1m}}
`), "config.yaml", "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	o := c.Policy.Options()
	if o.Mode != policy.DualSign || len(o.Rules) != 3 || o.Profiles["ci"].MaxConcurrent != 2 || o.Profiles["ci"].Capabilities == nil || o.Profiles[""].Deny == nil {
		t.Errorf("options %+v", o)
	}
	if r := o.Rules[2]; r.Pattern != "weather" || len(r.Hosts) != 1 || *r.Write || len(r.Env) != 2 || r.Approve != policy.Always || r.Timeout != 90*time.Second {
		t.Errorf("rule %+v", r)
	}
	issues := []run.SecretGrant{{Name: "D", Hosts: []string{"api.example.com:443"}, Methods: []string{"GET"}, In: []string{"header", "body"}}, {Name: "E", Plain: true, As: "F"}}
	if r := o.Rules[0]; !slices.Equal(r.Env, []string{"C"}) || !reflect.DeepEqual(r.Secrets, issues) {
		t.Errorf("rule %+v", r)
	}
	for text, want := range map[string]string{
		"skills: {a: {secrets: [{name: B}]}}":                           "policy.skills.a.secrets: say which hosts get B",
		"skills: {a: {secrets: [{name: B, hots: [c.de]}]}}":             "line 1: a secret is a name, or has the keys",
		"skills: {a: {class: safe, secrets: [{name: B, plain: true}]}}": "a safe skill is given no network, no secrets",
		"mode: never":                                `policy.mode is "never"; write one of read-only, confirm, dual-sign`,
		"forms: al":                                  `line 1: policy.forms is "al"; write one of all, once, never; did you mean "all"?`,
		"forms: [once]":                              `line 1: policy.forms is "";`,
		"allow: ['[']":                               "policy has the pattern",
		"skills: {a: {class: nice}}":                 `policy.skills.a.class is "nice"`,
		"skills: {a: {approve: never}}":              `policy.skills.a.approve is "never"`,
		"skills: {a: {workspace: all}}":              "write ro or rw",
		"skills: {a: {secrets: ['B=1']}}":            `names the variable "B=1"`,
		"skills: {a: {class: safe, network: [b.c]}}": "a safe skill is given no network",
		"skills: {a: {netwrok: []}}":                 `did you mean "network"?`,
		"profiles: {a b: {}}":                        "use letters, digits",
		"profiles: {a: {class: x}}":                  `policy.profiles.a.class is "x"`,
		"profiles: {a: {mode: never}}":               `policy.profiles.a.mode is "never"; write one of read-only, confirm, dual-sign`,
		"profiles: {a: {execution_timeout: soon}}":   `execution_timeout is "soon"; write a time, such as 90s or 5m`,
		"profiles: {a: {workspace: here}}":           `policy.profiles.a.workspace is "here"; write an absolute folder`,
		"profiles: {a: {pin: ['[']}}":                "policy.profiles.a has the pattern",
		"profiles: {a: {env: {A B: c}}}":             `policy.profiles.a has the variable or secret "A B"`,
		"profiles: {a: {secrets: ['A=b']}}":          `policy.profiles.a has the variable or secret "A=b"`,
		"profiles: {a: {clas: safe}}":                `unknown key "clas"; did you mean "class"?`,
	} {
		if _, err := Parse([]byte("policy: {"+text+"}"), "config.yaml", "/home/ann"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}
