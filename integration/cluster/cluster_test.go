// Package cluster_test checks that the cluster of ./cluster is a real one in what the
// tests of others rely on.
package cluster_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
)

// A space is a namespace of a test.
type space struct {
	*kubernetes.Clientset
	config *rest.Config
	name   string
}

func newSpace(t *testing.T) *space {
	t.Helper()
	file := os.Getenv("SKILLS_MCP_TEST_CLUSTER")
	if file == "" {
		if os.Getenv("SKILLS_MCP_REQUIRE_CLUSTER") == "1" {
			t.Fatal("SKILLS_MCP_TEST_CLUSTER names no cluster, and one is required")
		}
		t.Skip(`NO CLUSTER: eval "$(integration/cluster/cluster env)"`)
	}
	config, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	s := &space{client, config, "test-cluster-" + strings.ToLower(rand.Text()[:8])}
	if _, err := s.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: s.name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.CoreV1().Namespaces().Delete(context.Background(), s.name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	s.poll(t, "the namespace's account", func(ctx context.Context) (bool, error) {
		_, err := s.CoreV1().ServiceAccounts(s.name).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	return s
}

// poll waits until a condition holds, which other programs bring about.
func (s *space) poll(t *testing.T, what string, done wait.ConditionWithContextFunc) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 2*time.Minute, true, done); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// restricted returns a Pod that Pod Security lets in.
func restricted(name string, command ...string) *corev1.Pod {
	yes, no, user, grace := true, false, int64(65534), int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pod": name}},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, AutomountServiceAccountToken: &no, TerminationGracePeriodSeconds: &grace,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: &yes, RunAsUser: &user, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "main", Image: "skills-mcp-test:base", ImagePullPolicy: corev1.PullNever, Command: command, Stdin: true, StdinOnce: true,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

// start creates a Pod and waits for a phase.
func (s *space) start(t *testing.T, p *corev1.Pod, phase corev1.PodPhase) *corev1.Pod {
	t.Helper()
	if _, err := s.CoreV1().Pods(s.name).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var found *corev1.Pod
	s.poll(t, "Pod "+p.Name+" "+string(phase), func(ctx context.Context) (bool, error) {
		var err error
		if found, err = s.CoreV1().Pods(s.name).Get(ctx, p.Name, metav1.GetOptions{}); err != nil {
			return false, err
		}
		if found.Status.Phase == corev1.PodFailed && phase != corev1.PodFailed {
			return false, errors.New("it failed")
		}
		return found.Status.Phase == phase, nil
	})
	return found
}

// attach writes a Pod's input and returns its output.
func (s *space) attach(t *testing.T, name, in string) string {
	t.Helper()
	url := s.CoreV1().RESTClient().Post().Resource("pods").Namespace(s.name).Name(name).SubResource("attach").
		VersionedParams(&corev1.PodAttachOptions{Container: "main", Stdin: true, Stdout: true}, scheme.ParameterCodec).URL()
	c, err := remotecommand.NewWebSocketExecutor(s.config, "GET", url.String())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := c.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdin: strings.NewReader(in), Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestRuns(t *testing.T) {
	s := newSpace(t)
	for _, name := range []string{"one", "two"} {
		s.start(t, restricted(name, "/bin/true"), corev1.PodSucceeded)
	}
}

func TestAttach(t *testing.T) {
	s := newSpace(t)
	for _, class := range []string{"", "gvisor"} {
		p := restricted("attach"+class, "/bin/sh", "-c", "cat; id -u")
		if class != "" {
			p.Spec.RuntimeClassName = &class
		}
		s.start(t, p, corev1.PodRunning)
		if got := s.attach(t, p.Name, "hello "); got != "hello 65534\n" {
			t.Errorf("class %q answers %q", class, got)
		}
	}
}

func TestGVisor(t *testing.T) {
	s, class := newSpace(t), "gvisor"
	p := restricted("kernel", "/bin/sh", "-c", "dmesg; cat")
	p.Spec.RuntimeClassName = &class
	s.start(t, p, corev1.PodRunning)
	s.poll(t, "the kernel's name", func(ctx context.Context) (bool, error) {
		log, err := s.CoreV1().Pods(s.name).GetLogs(p.Name, &corev1.PodLogOptions{}).DoRaw(ctx)
		return strings.Contains(string(log), "gVisor"), err
	})
}

func TestAdmission(t *testing.T) {
	s := newSpace(t)
	root := restricted("root", "/bin/true")
	root.Spec.SecurityContext = nil
	_, err := s.CoreV1().Pods(s.name).Create(t.Context(), root, metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "PodSecurity") {
		t.Errorf("a Pod that may be root: %v", err)
	}
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: "two"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}},
	}
	if _, err := s.CoreV1().ResourceQuotas(s.name).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.poll(t, "the quota", func(ctx context.Context) (bool, error) {
		q, err := s.CoreV1().ResourceQuotas(s.name).Get(ctx, "two", metav1.GetOptions{})
		return err == nil && len(q.Status.Hard) > 0, err
	})
	for _, name := range []string{"one", "two"} {
		if _, err := s.CoreV1().Pods(s.name).Create(t.Context(), restricted(name, "/bin/cat"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	_, err = s.CoreV1().Pods(s.name).Create(t.Context(), restricted("three", "/bin/cat"), metav1.CreateOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota") {
		t.Errorf("a third Pod: %v", err)
	}
}

func TestRoles(t *testing.T) {
	s := newSpace(t)
	config := rest.CopyConfig(s.config)
	config.Impersonate.UserName = "system:serviceaccount:" + s.name + ":default"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.CoreV1().Pods(s.name).List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("an account without a role lists Pods: %v", err)
	}
}

// ask reads addresses and says which of them answer, in the order of the addresses.
const ask = `n=0
while read -r a; do
  n=$((n + 1))
  { timeout 3 bash -c "exec 3<>/dev/tcp/$a" 2>/dev/null && echo $n open || echo $n closed; } &
done | sort -n`

// TestNetwork has Pods that no policy concerns, that may reach nothing, and that may reach
// one Pod and one port of this machine.
func TestNetwork(t *testing.T) {
	s := newSpace(t)
	machine := os.Getenv("SKILLS_MCP_TEST_CLUSTER_ADDRESS")
	var ports []string // two that Pods reach
	for i := 0; len(ports) < 2 && i < 1000; i++ {
		port := 28000 + i
		l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(machine), Port: port})
		if err != nil {
			continue
		}
		server := &http.Server{Handler: http.NotFoundHandler()}
		go server.Serve(l)
		t.Cleanup(func() { server.Close() })
		ports = append(ports, l.Addr().String())
	}
	outside, err := net.Listen("tcp", machine+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer outside.Close()

	web := s.start(t, restricted("web", "python3", "-m", "http.server", "8080"), corev1.PodRunning)
	other := s.start(t, restricted("other", "python3", "-m", "http.server", "8080"), corev1.PodRunning)
	s.poll(t, "their servers", func(context.Context) (bool, error) {
		for _, p := range []*corev1.Pod{web, other} {
			c, err := net.Dial("tcp", p.Status.PodIP+":8080")
			if err != nil {
				return false, nil
			}
			c.Close()
		}
		return true, nil
	})
	granted := intstr.Parse(strings.TrimPrefix(ports[0], machine+":"))
	for _, p := range []*networkingv1.NetworkPolicy{
		{ObjectMeta: metav1.ObjectMeta{Name: "nothing"}, Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "pod", Operator: metav1.LabelSelectorOpIn, Values: []string{"closed", "granted"}}}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress, networkingv1.PolicyTypeIngress},
		}},
		{ObjectMeta: metav1.ObjectMeta{Name: "granted"}, Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"pod": "granted"}},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
			Egress: []networkingv1.NetworkPolicyEgressRule{
				{To: []networkingv1.NetworkPolicyPeer{{PodSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"pod": "web"}}}}},
				{To: []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: machine + "/32"}}}, Ports: []networkingv1.NetworkPolicyPort{{Port: &granted}}},
			},
		}},
	} {
		if _, err := s.NetworkingV1().NetworkPolicies(s.name).Create(t.Context(), p, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	server := strings.TrimPrefix(s.config.Host, "https://127.0.0.1")
	addresses := []string{web.Status.PodIP + ":8080", other.Status.PodIP + ":8080", ports[0], ports[1], outside.Addr().String(), machine + server, "169.254.169.254:80"}
	for name, want := range map[string]string{
		"free":    "open open open open closed closed closed",
		"closed":  "closed closed closed closed closed closed closed",
		"granted": "open closed open closed closed closed closed",
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			s.start(t, restricted(name, "/bin/bash", "-c", ask), corev1.PodRunning)
			in := strings.ReplaceAll(strings.Join(addresses, "\n"), ":", "/") + "\n"
			for line := range strings.Lines(s.attach(t, name, in)) {
				got = append(got, strings.Fields(line)[1])
			}
			if g := strings.Join(got, " "); g != want {
				t.Errorf("of %v\n got %s\nwant %s", addresses, g, want)
			}
		})
	}
}
