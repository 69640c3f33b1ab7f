package kubernetes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	networking "k8s.io/client-go/kubernetes/typed/networking/v1"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// acrossPods prints a line for each thing of the cluster that it reaches: the account of its
// Pod, addresses given as "HOST PORT" in its arguments, files of the node, and the processes
// of others.
const acrossPods = `
import glob, os, socket, sys
def worked(what): print(what, flush=True)
for path in ["/var/run/secrets/kubernetes.io/serviceaccount/token", "/run/secrets/kubernetes.io"]:
    if os.path.exists(path): worked("account " + path)
for name in os.environ:
    if "KUBERNETES" in name or name.endswith("_SERVICE_HOST"): worked("variable " + name)
for target in sys.argv[1:]:
    name, host, port = target.split()
    try:
        socket.create_connection((host, int(port)), 3).close()
        worked("%s at %s:%s" % (name, host, port))
    except OSError:
        pass
for path in ["/var/lib/kubelet", "/etc/kubernetes", "/var/lib/etcd", "/run/containerd/containerd.sock", "/var/run/docker.sock",
             "/var/log/pods", "/host", "/proc/1/root/var/lib/kubelet", "/sys/fs/cgroup/kubepods"]:
    try:
        os.stat(path)
        worked("file of the node " + path)
    except OSError:
        pass
for path in glob.glob("/dev/sd*") + glob.glob("/dev/nvme*") + glob.glob("/dev/vd*"):
    worked("device " + path)
for path in ["/etc/hosts", "/etc/resolv.conf", "/etc/hostname", "/skill/SKILL.md", "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"]:
    try:
        open(path, "a").close()
        worked("write to " + path)
    except OSError:
        pass
for path in glob.glob("/proc/[0-9]*/environ"):
    try:
        if b"VICTIM=" in open(path, "rb").read(): worked("the other's secret in " + path)
    except OSError:
        pass
for path in glob.glob("/proc/[0-9]*/cmdline"):
    try:
        program = os.path.basename(open(path).read().split("\0")[0])
        if program in ("pause", "kubelet", "containerd", "kube-apiserver"): worked("process " + program)
    except OSError:
        pass
print("tried")
`

// A Pod reaches neither the API with an account, nor metadata, nor kubelets, nor nodes, nor,
// where a NetworkPolicy is enforced, another Pod.
func TestAcrossPods(t *testing.T) {
	r := newRealCluster(t)
	c := r.cluster(t)
	defer c.close()
	r.deny(t, c)
	for _, runtime := range []string{"", "gvisor"} {
		t.Run("runtime "+runtime, func(t *testing.T) {
			if !r.hasRuntime(t, c, runtime) {
				t.Skipf("NO GVISOR: the cluster has no RuntimeClass %s", runtime)
			}
			o := r.options()
			o.RuntimeClass = runtime
			d := New(o)
			defer func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			}()
			attackAcross(t, c, d)
		})
	}
}

// deny denies the Pods of the namespace all of the network, where that is enforced.
func (r *realCluster) deny(t *testing.T, c *cluster) {
	t.Helper()
	policies, err := networking.NewForConfigAndClient(c.config, c.http)
	if err != nil {
		t.Fatal(err)
	}
	_, err = policies.NetworkPolicies(r.namespace).Create(t.Context(), &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "closed"},
		Spec:       networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// hasRuntime reports whether the cluster has a RuntimeClass.
func (r *realCluster) hasRuntime(t *testing.T, c *cluster, name string) bool {
	t.Helper()
	if name == "" {
		return true
	}
	err := c.core.RESTClient().Get().AbsPath("/apis/node.k8s.io/v1/runtimeclasses/" + name).Do(t.Context()).Error()
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

// attackAcross runs the attack while another command listens and has a secret.
func attackAcross(t *testing.T, c *cluster, d *Driver) {
	stdin, feed := io.Pipe()
	listening := make(chan struct{})
	victim := fakeCommand(t, "python3", "-c", `
import socket, sys
s = socket.create_server(("0.0.0.0", 8080)); print("listening", flush=True)
sys.stdin.read()`)
	victim.Env, victim.Stdin = []string{"VICTIM=secret"}, stdin
	victim.Stdout = writerFunc(func(p []byte) (int, error) { close(listening); return len(p), nil })
	ended := make(chan error, 1)
	go func() {
		_, err := d.Run(t.Context(), victim)
		ended <- err
	}()
	select {
	case <-listening:
	case err := <-ended:
		t.Fatal(err)
	}
	targets := clusterTargets(t, c)
	if len(targets) < 10 {
		t.Fatalf("targets are %q", targets)
	}
	var output bytes.Buffer
	attack := fakeCommand(t, append([]string{"python3", "-c", acrossPods}, targets...)...)
	attack.Stdout, attack.Stderr = &output, &output
	if _, err := d.Run(t.Context(), attack); err != nil {
		t.Fatal(err)
	}
	_ = feed.Close()
	if err := <-ended; err != nil {
		t.Errorf("the other call: %v", err)
	}
	for line := range strings.Lines(output.String()) {
		switch {
		case strings.HasPrefix(line, "another-Pod"):
			t.Logf("NO NETWORKPOLICY: this cluster enforces none, so it reached %s", line)
		case line != "tried\n":
			t.Errorf("this worked: %s", line)
		}
	}
	if !strings.HasSuffix(output.String(), "tried\n") {
		t.Error("the attack did not run to its end")
	}
}

// clusterTargets returns the addresses that no command may reach.
func clusterTargets(t *testing.T, c *cluster) (targets []string) {
	t.Helper()
	add := func(name, host string, ports ...int) {
		for _, port := range ports {
			targets = append(targets, fmt.Sprintf("%s %s %d", name, host, port))
		}
	}
	add("metadata", "169.254.169.254", 80)
	add("metadata", "fd00:ec2::254", 80)
	add("metadata", "169.254.170.2", 80)
	add("DNS", "10.96.0.10", 53)
	add("API-server", "kubernetes.default.svc", 443)
	api := c.core.RESTClient().Get().URL()
	hosts := []string{api.Hostname(), "127.0.0.1"}
	nodes, err := c.core.Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes.Items {
		for _, a := range n.Status.Addresses {
			hosts = append(hosts, a.Address)
		}
	}
	own, _ := net.InterfaceAddrs()
	for _, a := range own {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.IsGlobalUnicast() {
			hosts = append(hosts, ip.IP.String())
		}
	}
	for _, host := range hosts {
		add("kubelet", host, 10250, 10255, 4194)
		add("API-server", host, 443, 6443)
		if api.Port() != "" {
			targets = append(targets, "API-server "+host+" "+api.Port())
		}
	}
	pods, err := c.api().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pods.Items {
		if p.Status.PodIP != "" && p.Status.Phase == corev1.PodRunning {
			add("another-Pod", p.Status.PodIP, 8080)
		}
	}
	return targets
}

// A command whose Pod is removed, evicted or ended from outside is not run again.
func TestEndedFromOutside(t *testing.T) {
	r := newRealCluster(t)
	c := r.cluster(t)
	defer c.close()
	d := New(r.options())
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	running := make(chan struct{})
	cmd := fakeCommand(t, "sleep", "600")
	started := 0
	cmd.Started = func() { started++; close(running) }
	ended := make(chan error, 1)
	go func() {
		_, err := d.Run(t.Context(), cmd)
		ended <- err
	}()
	select {
	case <-running:
	case err := <-ended:
		t.Fatal(err)
	}
	pods, err := c.api().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) != 1 {
		t.Fatalf("%d Pods, %v", len(pods.Items), err)
	}
	if err := c.api().Delete(t.Context(), pods.Items[0].Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	err = <-ended
	if _, ok := err.(*sandbox.UnavailableError); !ok || started != 1 {
		t.Errorf("started %d times, error %v", started, err)
	}
	t.Logf("after %v: %v", time.Since(began), err)
}

// A profile on the nodes refuses the calls that a runtime's own may allow.
func TestSeccompProfile(t *testing.T) {
	r := newRealCluster(t)
	kubelets, _ := filepath.Glob(filepath.Join(filepath.Dir(os.Getenv("SKILLS_MCP_TEST_CLUSTER")), "kubelet*", "pods"))
	if len(kubelets) == 0 || os.Getuid() != 0 {
		t.Skip("NO KUBELET: the folders of its kubelets are not on this machine")
	}
	profile, err := os.ReadFile(filepath.Join("..", "docker", "seccomp", "profile.json"))
	if err != nil {
		t.Fatal(err)
	}
	name := r.namespace + ".json"
	for _, pods := range kubelets {
		folder := filepath.Join(filepath.Dir(pods), "seccomp")
		if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, name), profile, 0o644)); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(filepath.Join(folder, name)) })
	}
	worked := func(profile string) string {
		t.Helper()
		o := r.options()
		o.SeccompProfile = profile
		d := New(o)
		defer func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}()
		var output bytes.Buffer
		cmd := fakeCommand(t, "python3", "-c", `
import ctypes, socket
libc = ctypes.CDLL(None)
if libc.ptrace(0, 0, 0, 0) == 0: print("ptrace")
try: socket.socket(40, socket.SOCK_STREAM); print("vsock")
except OSError: pass
print("tried")`)
		cmd.Stdout = &output
		if _, err := d.Run(t.Context(), cmd); err != nil {
			t.Fatal(err)
		}
		return output.String()
	}
	if got := worked(name); got != "tried\n" {
		t.Errorf("with the profile %q worked", got)
	}
	t.Logf("with the runtime's own: %q", worked(""))
}
