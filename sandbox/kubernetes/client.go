package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes/scheme"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	core "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// The containers of a Pod.
const (
	loader = "loader"
	runner = "runner"
)

// requestTimeout bounds one request to the API server, other than a watch or a stream.
const requestTimeout = 15 * time.Second

// A cluster is a namespace of a cluster, by its API server.
type cluster struct {
	config    *rest.Config
	namespace string
	http      *http.Client
	core      core.CoreV1Interface
	leases    coordination.LeaseInterface

	rooms      sync.Map // of snapshots, by their folder: the price of a call does not grow with the skill
	users      sync.Once
	userspaces bool // set by users
}

// newCluster returns the cluster that the options name. It sends no request.
func newCluster(o *Options) (*cluster, error) {
	rules := &clientcmd.ClientConfigLoadingRules{ExplicitPath: o.Kubeconfig}
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.Context})
	config, namespace := o.Config, o.Namespace
	var err error
	if config == nil {
		config, err = loader.ClientConfig()
	}
	if err == nil && namespace == "" {
		namespace, _, err = loader.Namespace()
	}
	if err != nil {
		return nil, &sandbox.UnavailableError{
			Reason: "there are no credentials for a Kubernetes cluster: " + err.Error(),
			Remedy: "set sandbox.kubernetes.kubeconfig to a kubeconfig file, or run the server in the cluster with a service account",
			Err:    err,
		}
	}
	config = rest.CopyConfig(config)
	config.QPS = -1 // the driver's own rate bounds the starts of Pods; calls do not wait for a second one
	c := &cluster{config: config, namespace: namespace}
	if c.http, err = rest.HTTPClientFor(config); err != nil {
		return nil, fmt.Errorf("use the credentials of the cluster: %w", err)
	}
	pods, podsErr := core.NewForConfigAndClient(config, c.http)
	leases, leasesErr := coordination.NewForConfigAndClient(config, c.http)
	if err := errors.Join(podsErr, leasesErr); err != nil {
		return nil, fmt.Errorf("use the credentials of the cluster: %w", err)
	}
	c.core, c.leases = pods, leases.Leases(namespace)
	return c, nil
}

// close closes idle connections.
func (c *cluster) close() { utilnet.CloseIdleConnectionsFor(c.http.Transport) }

func (c *cluster) api() core.PodInterface { return c.core.Pods(c.namespace) }

// attach connects to the standard streams of a container.
func (c *cluster) attach(ctx context.Context, pod, container string) (*conn, error) {
	return c.stream(ctx, pod, "attach", &corev1.PodAttachOptions{Container: container, Stdin: true, Stdout: true, Stderr: true})
}

// exec starts a script in the runner of a Pod and connects to its standard streams.
func (c *cluster) exec(ctx context.Context, pod, script string) (*conn, error) {
	return c.stream(ctx, pod, "exec", &corev1.PodExecOptions{Container: runner, Command: []string{"/bin/sh", "-c", script}, Stdin: true, Stdout: true, Stderr: true})
}

func (c *cluster) stream(ctx context.Context, pod, kind string, options runtime.Object) (*conn, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	request := c.core.RESTClient().Get().Namespace(c.namespace).Resource("pods").Name(pod).SubResource(kind).VersionedParams(options, scheme.ParameterCodec)
	return dial(ctx, c.config, request.URL().String())
}

// killTimeout bounds the end of a Pod's processes from inside.
const killTimeout = 5 * time.Second

// killAll ends every process in the runner of a Pod, except for its first, and reports
// whether it could.
func (c *cluster) killAll(pod string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	conn, err := c.exec(ctx, pod, "kill -9 -1")
	if err != nil {
		return false
	}
	defer context.AfterFunc(ctx, conn.close)()
	err = conn.Copy(io.Discard, io.Discard)
	exit, _ := errors.AsType[*exitError](err)
	const none, killed = 1, 128 + 9 // there was no process, or the signal ended the shell; after any other end it had not started
	return ctx.Err() == nil && (err == nil || exit != nil && (exit.code == none || exit.code == killed))
}

// bounded returns ctx with the bound of one request.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, requestTimeout)
}

// ownUsers reports whether the Pods of the options have users of their own. Nodes are asked
// once.
func (c *cluster) ownUsers(ctx context.Context, o *Options) bool {
	c.users.Do(func() {
		c.userspaces = o.UserNamespaces == UserNamespacesAlways || o.UserNamespaces == UserNamespacesAuto && c.userNamespaces(ctx, o)
	})
	return c.userspaces
}

// addresses returns those of the API server, for [reachScript]: from here, and from Pods
// where this server may know.
func (c *cluster) addresses(ctx context.Context) (targets []string) {
	if u, err := url.Parse(c.config.Host); err == nil {
		targets = append(targets, "the API server="+u.Hostname()+" "+cmp.Or(u.Port(), "443"))
	}
	if in, err := c.core.Services("default").Get(ctx, "kubernetes", metav1.GetOptions{}); err == nil {
		targets = append(targets, "the API server="+in.Spec.ClusterIP+" 443")
	}
	return targets
}

// userNamespaces reports whether every node that can get a Pod of the options gives it
// users of its own. Where nodes cannot be listed, none does.
func (c *cluster) userNamespaces(ctx context.Context, o *Options) bool {
	ctx, cancel := bounded(ctx)
	defer cancel()
	nodes, err := c.core.Nodes().List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(o.NodeSelector).String()})
	if err != nil || len(nodes.Items) == 0 {
		return false
	}
	return !slices.ContainsFunc(nodes.Items, func(n corev1.Node) bool {
		able := slices.ContainsFunc(n.Status.RuntimeHandlers, func(h corev1.NodeRuntimeHandler) bool {
			named := o.RuntimeClass == "" && h.Name == "" || o.RuntimeClass != "" && h.Name != ""
			return named && h.Features != nil && h.Features.UserNamespaces != nil && *h.Features.UserNamespaces
		})
		return !n.Spec.Unschedulable && !able
	})
}

// away reports whether err means that the API server could not be asked, or had no
// answer, so that the same request may work later.
func away(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err != nil
	}
	code := status.Status().Code
	return code >= 500 || code == http.StatusTooManyRequests
}

// unavailable is the failure of an action for want of the API server.
func (c *cluster) unavailable(action string, err error) error {
	return &sandbox.UnavailableError{
		Reason: fmt.Sprintf("the cluster could not %s: %v", action, err),
		Remedy: "see whether the API server at " + c.config.Host + " answers, and try again",
		Err:    err,
	}
}

// retry calls request until it succeeds or fails for another reason than that the API server is
// away, at most for a time.
func retry(ctx context.Context, most time.Duration, request func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		one, done := bounded(ctx)
		err := request(one)
		done()
		if !away(err) || !sleep(ctx, pause) {
			return err
		}
	}
}

// sleep waits for a time, and reports whether ctx lasted.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
