package kubernetes

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/sandboxtest"
)

// A realCluster is a namespace of a real cluster.
type realCluster struct {
	config    *rest.Config
	namespace string
	image     string
}

// newRealCluster returns a namespace that is removed with the test. Without a cluster the
// test is skipped.
func newRealCluster(t testing.TB) *realCluster {
	t.Helper()
	kubeconfig := os.Getenv("SKILLS_MCP_TEST_CLUSTER")
	if kubeconfig == "" {
		if os.Getenv("SKILLS_MCP_REQUIRE_CLUSTER") == "1" {
			t.Fatal("SKILLS_MCP_TEST_CLUSTER names no cluster, and one is required")
		}
		t.Skip("NO CLUSTER: set SKILLS_MCP_TEST_CLUSTER to the kubeconfig of one")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	r := &realCluster{config: config, namespace: "test-driver-" + strings.ToLower(rand.Text()[:8]), image: "skills-mcp-test:base"}
	c := r.cluster(t)
	_, err = c.core.Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: r.namespace, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx := context.Background()
		left, err := c.api().List(ctx, metav1.ListOptions{})
		if err != nil {
			t.Error(err)
		}
		for _, pod := range left.Items {
			t.Errorf("the Pod %s is left: %s", pod.Name, describe(&pod))
		}
		defer c.close()
		if err := c.core.Namespaces().Delete(ctx, r.namespace, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	return r
}

// cluster returns a client of the test's own.
func (r *realCluster) cluster(t testing.TB) *cluster {
	t.Helper()
	c, err := newCluster(r.options())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (r *realCluster) options() *Options {
	return &Options{
		Config:    r.config,
		Namespace: r.namespace,
		Images:    map[string]string{"default": r.image},
		Open:      true, // its network is probed by a test of its own
	}
}

// Commands with a workspace run as the server's user, which is one of the node's.
func TestSuite(t *testing.T) {
	r := newRealCluster(t)
	c := r.cluster(t)
	defer c.close()
	r.deny(t, c)
	claim := r.claim(t, "suite")
	t.Setenv("TMPDIR", claim.Path) // for the workspaces of all cases
	sandboxtest.RunWith(t, func(t *testing.T) sandbox.Driver {
		o := r.options()
		o.Claims = []Claim{claim}
		return New(o)
	}, sandboxtest.Traits{OwnUser: true, Interface: true, HostUser: true, DefaultFilter: true})
}
