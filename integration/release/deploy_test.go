package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
)

// An object is a manifest.
type object = map[string]any

// at returns the value at a path such as "spec.template.spec"; numbers are indexes.
func at(o object, path string) any {
	var v any = o
	for name := range strings.SplitSeq(path, ".") {
		switch in := v.(type) {
		case map[string]any:
			v = in[name]
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// kubectl runs kubectl and returns what it prints.
func kubectl(t *testing.T, input string, args ...string) string {
	t.Helper()
	command := exec.Command("kubectl", args...)
	command.Stdin = strings.NewReader(input)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return string(out)
}

// manifests renders a folder of deploy.
func manifests(t *testing.T, folder string) (all []object) {
	t.Helper()
	if _, err := exec.LookPath("kubectl"); err != nil {
		need(t, "there is no kubectl")
	}
	decoder := yaml.NewDecoder(strings.NewReader(kubectl(t, "", "kustomize", filepath.Join("deploy", folder))))
	for {
		var o object
		if err := decoder.Decode(&o); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
}

// find returns the object of a kind and, if it is not "", a name.
func find(t *testing.T, all []object, kind, name string) object {
	t.Helper()
	i := slices.IndexFunc(all, func(o object) bool {
		return o["kind"] == kind && (name == "" || at(o, "metadata.name") == name)
	})
	if i < 0 {
		t.Fatalf("there is no %s %s", kind, name)
	}
	return all[i]
}

// The configuration of each folder is one that the program reads, and agrees with the other
// manifests about namespaces, ports and the time that a replica has to end.
func TestDeploy(t *testing.T) {
	for _, folder := range []string{"base", "single", "team"} {
		all := manifests(t, folder)
		text, _ := at(find(t, all, "ConfigMap", ""), "data").(object)["config.yaml"].(string)
		c, err := config.Parse([]byte(text), "config.yaml", "/var/lib/skills-mcp")
		if err != nil {
			t.Errorf("%s: %v", folder, err)
			continue
		}
		pod := at(find(t, all, "Deployment", ""), "spec.template.spec").(object)
		grace, pause := at(pod, "terminationGracePeriodSeconds").(int), at(pod, "containers.0.lifecycle.preStop.sleep.seconds").(int)
		if most := time.Duration(pause)*time.Second + c.Serve.Drain; most+10*time.Second > time.Duration(grace)*time.Second {
			t.Errorf("%s: a replica may need %v to end, and has %d s", folder, most, grace)
		}
		for i, want := range []string{c.Serve.Listen, c.Sandbox.Kubernetes.Egress.Listen} {
			if port := fmt.Sprint(at(pod, fmt.Sprintf("containers.0.ports.%d.containerPort", i))); !strings.HasSuffix(want, ":"+port) {
				t.Errorf("%s: it listens at %s, and the port is %s", folder, want, port)
			}
		}
		granted := find(t, all, "NetworkPolicy", "granted-hosts")
		if port := fmt.Sprint(at(granted, "spec.egress.0.ports.0.port")); !strings.HasSuffix(c.Sandbox.Kubernetes.Egress.Listen, ":"+port) {
			t.Errorf("%s: sandboxes reach port %s of the server, which listens at %s", folder, port, c.Sandbox.Kubernetes.Egress.Listen)
		}
		for _, kind := range []string{"Role", "RoleBinding", "ResourceQuota"} {
			if at := at(find(t, all, kind, ""), "metadata.namespace"); at != c.Sandbox.Kubernetes.Namespace {
				t.Errorf("%s: the %s is for %v, and sandboxes are in %s", folder, kind, at, c.Sandbox.Kubernetes.Namespace)
			}
		}
	}
}

// A real API server takes each manifest and lets the Pod of the server start. The service
// account may do what the Role says and nothing else, and a skill runs with it alone.
func TestDeployOnCluster(t *testing.T) {
	admin := os.Getenv("SKILLS_MCP_TEST_CLUSTER")
	if admin == "" {
		t.Skip("NOT TESTED: SKILLS_MCP_TEST_CLUSTER does not name a kubeconfig; integration/cluster/cluster up makes one")
	}
	t.Setenv("KUBECONFIG", admin)
	all := manifests(t, "base")
	server := "skills-mcp-" + strings.ToLower(rand.Text()[:8])
	sandboxes := server + "-sandboxes"
	own := map[string]any{"skills-mcp": server, "skills-mcp-sandboxes": sandboxes}
	for _, o := range all {
		rename(o, own)
		if o["kind"] == "Namespace" {
			at(o, "metadata").(object)["name"] = own[at(o, "metadata.name").(string)]
		}
	}
	deployment := find(t, all, "Deployment", "")
	at(deployment, "spec").(object)["replicas"] = 0
	t.Cleanup(func() { kubectl(t, "", "delete", "namespace", server, sandboxes, "--wait=false") })
	kubectl(t, encode(t, object{"apiVersion": "v1", "kind": "List", "items": all}), "apply", "--server-side", "-f", "-")

	pod := at(deployment, "spec.template").(object)
	pod["apiVersion"], pod["kind"], pod["metadata"] = "v1", "Pod", object{"name": "server", "namespace": server}
	kubectl(t, encode(t, pod), "create", "--dry-run=server", "-f", "-")

	account := at(find(t, all, "ServiceAccount", ""), "metadata.name").(string)

	can := func(account, namespace string) map[string]bool {
		return rights(kubectl(t, "", "auth", "can-i", "--list", "-n", namespace, "--as=system:serviceaccount:"+account))
	}
	anybody := can("default:anybody", "default")
	for _, namespace := range []string{"default", server} {
		if elsewhere := can(server+":"+account, namespace); !maps.Equal(elsewhere, anybody) {
			t.Errorf("in %s the service account may do %v, and anybody %v", namespace, elsewhere, anybody)
		}
	}
	var more []string
	for line := range can(server+":"+account, sandboxes) {
		if !anybody[line] {
			more = append(more, line)
		}
	}
	slices.Sort(more)
	want := []string{"leases.coordination.k8s.io [] [] [create list patch delete]", "pods [] [] [create list watch delete]", "pods/attach [] [] [get create]", "pods/exec [] [] [get create]"}
	if !slices.Equal(more, want) {
		t.Errorf("the service account may do\n%s", strings.Join(more, "\n"))
	}

	// The program with the account's token, as in a Pod.
	dir := t.TempDir()
	token := strings.TrimSpace(kubectl(t, "", "create", "token", account, "-n", server))
	kubeconfig := kubectl(t, "", "config", "view", "--raw", "--minify", "-o", "json")
	var whole object
	if err := json.Unmarshal([]byte(kubeconfig), &whole); err != nil {
		t.Fatal(err)
	}
	whole["users"] = []any{object{"name": at(whole, "users.0.name"), "user": object{"token": token}}}
	program := filepath.Join(dir, "skills-mcp")
	build := exec.Command("go", "build", "-tags", "cluster", "-o", program, "../../cmd/skills-mcp")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{
		"kubeconfig":          encode(t, whole),
		"config.yaml":         fmt.Sprintf("images: {default: %q}\nsandbox: {driver: kubernetes, kubernetes: {kubeconfig: kubeconfig, namespace: %q, network: open}}\nskills: [skills]\n", os.Getenv("SKILLS_MCP_TEST_IMAGE"), sandboxes),
		"skills/one/SKILL.md": "---\nname: one\ndescription: Says where it runs.\nscript: run.sh\n---\n",
		"skills/one/run.sh":   "echo in $HOSTNAME\n",
		"skills/two/SKILL.md": "---\nname: two\ndescription: Says where it runs.\nscript: run.sh\n---\n",
		"skills/two/run.sh":   "echo also in $HOSTNAME\n",
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"one": "in sandbox\n", "two": "also in sandbox\n"} {
		call := exec.Command(program, "--config", "config.yaml", "run", name)
		call.Dir = dir
		call.Env = append(os.Environ(), "HOME="+dir)
		var errs bytes.Buffer
		call.Stderr = &errs
		if out, err := call.Output(); err != nil || string(out) != want {
			t.Errorf("%s: %q, %v\n%s", name, out, err, &errs)
		}
	}
	if left := kubectl(t, "", "get", "pods,leases", "-n", sandboxes, "-o", "name"); left != "" {
		t.Errorf("left on the cluster: %s", left)
	}
}

// rename replaces names of namespaces in a value.
func rename(v any, names map[string]any) {
	switch in := v.(type) {
	case object:
		for key, value := range in {
			name, text := value.(string)
			if text && names[name] != nil && (key == "namespace" || key == "kubernetes.io/metadata.name") {
				in[key] = names[name]
			}
			rename(value, names)
		}
	case []any:
		for _, value := range in {
			rename(value, names)
		}
	}
}

func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// rights returns the lines of "auth can-i --list", without the spaces of its columns.
func rights(list string) map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(list) {
		all[strings.Join(strings.Fields(line), " ")] = true
	}
	return all
}
