package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Two of each kind are effective as they are written, without the password of a repository.
func TestKubernetes(t *testing.T) {
	c, err := Parse([]byte(`
sandbox:
  driver: kubernetes
  kubernetes:
    kubeconfig: team.kubeconfig
    namespace: skills
    node_selector: {pool: sandboxes}
    tolerations: [{key: sandboxes, effect: NoSchedule}, {key: team, operator: Equal, value: a, effect: NoExecute}]
    egress: {listen: ":3128"}
    claims: [{path: /workspaces, claim: workspaces}, {path: /data, claim: shared, sub_path: team/a}]
    workspaces: [{path: /src/one, git: "https://ann:secret@example.com/one.git", ref: main}, {path: /src/two}]
`), "/etc/skills/config.yaml", "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, v := range c.Values() {
		if v.Origin != "" {
			got[v.Key] = v.Text
		}
	}
	want := map[string]string{
		"sandbox.driver":                        "kubernetes",
		"sandbox.kubernetes.kubeconfig":         "/etc/skills/team.kubeconfig",
		"sandbox.kubernetes.namespace":          "skills",
		"sandbox.kubernetes.node_selector.pool": "sandboxes",
		"sandbox.kubernetes.tolerations":        "sandboxes:NoSchedule, team=a:NoExecute",
		"sandbox.kubernetes.egress.listen":      ":3128",
		"sandbox.kubernetes.claims":             "/workspaces from workspaces, /data from shared/team/a",
		"sandbox.kubernetes.workspaces":         "/src/one from https://ann:xxxxx@example.com/one.git@main, /src/two",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestKubernetesRefuses(t *testing.T) {
	checkRefusals(t, map[string]string{
		"sandbox: {kubernetes: {namespaces: a}}":                                  `line 1: unknown key "namespaces"; did you mean "namespace"?`,
		"sandbox: {kubernetes: {claims: [{path: /w, claims: a}]}}":                `line 1: unknown key "claims"; did you mean "claim"?`,
		"sandbox: {kubernetes: {claims: [{path: /w}]}}":                           `sandbox.kubernetes.claims is "/w from "; write the name of the claim, too: {path: /workspaces, claim: workspaces}`,
		"sandbox: {kubernetes: {claims: [{path: w, claim: a}]}}":                  `sandbox.kubernetes.claims.path is "w"; write the absolute path of a folder at which the server has the claim mounted, such as /workspaces`,
		"sandbox: {kubernetes: {claims: [{path: /, claim: a}]}}":                  `sandbox.kubernetes.claims.path is "/"; write the absolute path of a folder at which the server has the claim mounted, such as /workspaces`,
		"sandbox: {kubernetes: {claims: [{path: /w, claim: a, sub_path: ../b}]}}": `sandbox.kubernetes.claims.sub_path is "../b"; write a path below the claim's root, such as team/a`,
		"sandbox: {kubernetes: {workspaces: [{path: /w, git: --upload-pack=x}]}}": `sandbox.kubernetes.workspaces is "/w from --upload-pack=x"; write a repository, and perhaps a branch, tag or commit: {path: /workspaces/app, git: https://example.com/app.git, ref: main}`,
		"sandbox: {kubernetes: {workspaces: [{path: w}]}}":                        `sandbox.kubernetes.workspaces.path is "w"; write the absolute path of a folder, such as /workspaces/app`,
		"sandbox: {kubernetes: {user_namespaces: yes}}":                           `sandbox.kubernetes.user_namespaces is "yes"; write one of auto, always, never`,
		"sandbox: {kubernetes: {network: none}}":                                  `sandbox.kubernetes.network is "none"; write closed or open`,
		"sandbox: {kubernetes: {start_rate: 0}}":                                  `sandbox.kubernetes.start_rate is "0"; write a number of Pods a second, such as 5`,
		"sandbox: {kubernetes: {egress: {listen: '3128'}}}":                       `sandbox.kubernetes.egress.listen is "3128"; write an address and a port, such as :3128`,
		"sandbox: {kubernetes: {egress: {address: ':3128'}}}":                     `sandbox.kubernetes.egress.address is ":3128"; write a host and a port, such as 10.0.0.5:3128`,
	})
}
