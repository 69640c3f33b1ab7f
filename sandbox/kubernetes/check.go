package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// permissions are the requests that the driver makes in its namespace, as "RESOURCE VERB…".
// A WebSocket begins as a GET; servers ask for create, too.
func permissions() []string {
	return []string{"pods create list watch delete", "pods/attach get create", "pods/exec get create", "leases.coordination.k8s.io create list patch delete"}
}

// Check checks the cluster, the namespace, and by Pods of its own the network and the limit
// on processes. It changes nothing else.
func (d *Driver) Check(ctx context.Context) []sandbox.Finding {
	s, err := d.connect()
	if err != nil {
		return []sandbox.Finding{sandbox.FailedBy("cluster", err)}
	}
	c := s.cluster
	var version struct{ GitVersion string }
	text, err := c.get(ctx, "/version")
	if err = cmp.Or(err, json.Unmarshal(text, &version)); err != nil {
		return []sandbox.Finding{sandbox.FailedBy("cluster", c.unavailable("be reached", err))}
	}
	findings := []sandbox.Finding{sandbox.OK("cluster", "Kubernetes %s at %s", version.GitVersion, c.config.Host)}
	allowed := c.checkPermissions(ctx)
	findings = append(findings, allowed, c.checkNamespace(ctx), c.checkQuota(ctx))
	findings = append(findings, c.checkRuntime(ctx, &d.options)...)
	findings = append(findings, c.checkClaims(ctx, d.options.Claims)...)
	switch o := d.options.Egress; {
	case o.Listen == "" || o.Address == "":
		findings = append(findings, sandbox.Warning("egress", "Pods reach no proxy, so skills with hosts do not run", "set sandbox.kubernetes.egress.listen, and egress.address or the variable POD_IP"))
	default:
		findings = append(findings, sandbox.OK("egress", "Pods reach the proxy at %s", o.Address))
	}
	if allowed.Level != sandbox.LevelOK {
		return findings
	}
	network := checkReach(d.network.reached(ctx))
	if network.Level == sandbox.LevelFailed && d.options.Open {
		network.Level = sandbox.LevelWarning // it is accepted
	}
	return append(findings, network, checkProcesses(probeOutput(ctx, d.runUnchecked, processScript, fmt.Sprint(mostProcesses))))
}

// get returns the content of a path of the API.
func (c *cluster) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return c.core.RESTClient().Get().AbsPath(path).DoRaw(ctx)
}

// checkPermissions asks the API server for each of [permissions].
func (c *cluster) checkPermissions(ctx context.Context) sandbox.Finding {
	var missing []string
	asked := 0
	for _, line := range permissions() {
		words := strings.Fields(line)
		resource, group, _ := strings.Cut(words[0], ".")
		resource, sub, _ := strings.Cut(resource, "/")
		for _, verb := range words[1:] {
			asked++
			review := authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: c.namespace, Verb: verb, Group: group, Resource: resource, Subresource: sub,
			}}}
			body, _ := json.Marshal(review) // plain data
			one, cancel := bounded(ctx)
			text, err := c.core.RESTClient().Post().AbsPath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").SetHeader("Content-Type", "application/json").Body(body).DoRaw(one)
			cancel()
			if err = cmp.Or(err, json.Unmarshal(text, &review)); err != nil {
				return sandbox.FailedBy("permissions", c.unavailable("say what the server may do", err))
			}
			if !review.Status.Allowed {
				missing = append(missing, verb+" "+words[0])
			}
		}
	}
	if len(missing) > 0 {
		return sandbox.Failed("permissions", "the server may not "+strings.Join(missing, ", "), "give its account a Role with them in the namespace "+c.namespace)
	}
	return sandbox.OK("permissions", "all %d that the server needs", asked)
}

// checkNamespace checks the Pod Security level, as far as the namespace may be read.
func (c *cluster) checkNamespace(ctx context.Context) sandbox.Finding {
	ctx, cancel := bounded(ctx)
	defer cancel()
	ns, err := c.core.Namespaces().Get(ctx, c.namespace, metav1.GetOptions{})
	level := ""
	if err == nil {
		level = ns.Labels["pod-security.kubernetes.io/enforce"]
	}
	switch {
	case apierrors.IsNotFound(err):
		return sandbox.Failed("namespace", "there is no namespace "+c.namespace, "create it, or correct sandbox.kubernetes.namespace")
	case err != nil:
		return sandbox.OK("namespace", "%s; its Pod Security level is not known, as the server may not read it", c.namespace)
	case level != "restricted":
		return sandbox.Warning("namespace", fmt.Sprintf("%s, with the Pod Security level %q", c.namespace, cmp.Or(level, "none")),
			"enforce it: kubectl label --overwrite namespace "+c.namespace+" pod-security.kubernetes.io/enforce=restricted")
	}
	return sandbox.OK("namespace", "%s, with the Pod Security level restricted", c.namespace)
}

// checkQuota returns how much of the namespace's quotas is used.
func (c *cluster) checkQuota(ctx context.Context) sandbox.Finding {
	ctx, cancel := bounded(ctx)
	defer cancel()
	quotas, err := c.core.ResourceQuotas(c.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return sandbox.OK("quota", "not known, as the server may not read it")
	}
	var used []string
	for _, q := range quotas.Items {
		for name, hard := range q.Status.Hard {
			now := q.Status.Used[name]
			used = append(used, fmt.Sprintf("%s %s of %s", name, now.String(), hard.String()))
		}
	}
	if len(used) == 0 {
		return sandbox.Warning("quota", "none bounds the Pods of "+c.namespace, "add a ResourceQuota for pods and memory")
	}
	slices.Sort(used)
	return sandbox.OK("quota", "%s", strings.Join(used, ", "))
}

// checkRuntime checks the runtime class, and whether Pods have users of their own.
func (c *cluster) checkRuntime(ctx context.Context, o *Options) []sandbox.Finding {
	runtime := sandbox.OK("runtime", "%s", cmp.Or(o.RuntimeClass, "the cluster's default"))
	if o.RuntimeClass != "" {
		if _, err := c.get(ctx, "/apis/node.k8s.io/v1/runtimeclasses/"+o.RuntimeClass); apierrors.IsNotFound(err) {
			runtime = sandbox.Failed("runtime", "the cluster has no RuntimeClass "+o.RuntimeClass, "create it, or correct sandbox.kubernetes.runtime_class")
		} else if err != nil {
			runtime = sandbox.OK("runtime", "%s; the server may not read whether it is there", o.RuntimeClass)
		}
	}
	able := c.userNamespaces(ctx, o)
	users := sandbox.OK("users", "a Pod has users of its own")
	switch {
	case o.UserNamespaces == UserNamespacesAlways && !able:
		users = sandbox.Failed("users", "a node does not say that its Pods may have users of their own, or nodes may not be listed", "set sandbox.kubernetes.user_namespaces to auto")
	case o.UserNamespaces == UserNamespacesNever || !able:
		users = sandbox.OK("users", "those of the node, each Pod another one (user_namespaces: %s)", o.UserNamespaces)
	}
	return []sandbox.Finding{runtime, users}
}

// checkClaims checks each claim, on the cluster and on the server.
func (c *cluster) checkClaims(ctx context.Context, claims []Claim) (findings []sandbox.Finding) {
	for _, claim := range claims {
		one, cancel := bounded(ctx)
		found, err := c.core.PersistentVolumeClaims(c.namespace).Get(one, claim.Claim, metav1.GetOptions{})
		cancel()
		_, here := os.Stat(claim.Path)
		switch subject := "claim " + claim.Claim; {
		case here != nil:
			findings = append(findings, sandbox.Failed(subject, "the server does not have it: "+here.Error(), "mount it in the server's Pod at "+claim.Path))
		case apierrors.IsNotFound(err):
			findings = append(findings, sandbox.Failed(subject, "it is not in the namespace "+c.namespace, "create it there"))
		case err != nil:
			findings = append(findings, sandbox.OK(subject, "at %s; the server may not read whether it is bound", claim.Path))
		case found.Status.Phase != corev1.ClaimBound:
			findings = append(findings, sandbox.Warning(subject, "it is "+string(found.Status.Phase), "see: kubectl describe persistentvolumeclaim "+claim.Claim))
		default:
			findings = append(findings, sandbox.OK(subject, "bound, at %s", claim.Path))
		}
	}
	return findings
}

// checkReach is about a probe of the network.
func checkReach(reached []string, err error) sandbox.Finding {
	switch {
	case err != nil:
		return sandbox.FailedBy("network", err)
	case len(reached) > 0:
		return sandbox.FailedBy("network", openError(reached))
	}
	return sandbox.OK("network", "Pods reach neither the API server nor a metadata service")
}

// mostProcesses is the number of processes that a probe tries to start.
const mostProcesses = 256

// processScript starts as many processes as its argument says, and writes a dot for each.
const processScript = `n=0; while [ $n -lt "$1" ]; do sleep 60 & n=$((n+1)); printf .; done`

// checkProcesses judges the output of [processScript]. The limit is the driver's own where a
// Pod's user is its own, else the podPidsLimit of the node's kubelet.
func checkProcesses(dots string, err error) sandbox.Finding {
	switch n := strings.Count(dots, "."); {
	case n == 0:
		return sandbox.FailedBy("processes", cmp.Or(err, errors.New("the probe started none")))
	case n >= mostProcesses:
		return sandbox.Warning("processes", fmt.Sprintf("a Pod started %d, and no limit stopped it", n), "set podPidsLimit in the configuration of the kubelets")
	default:
		return sandbox.OK("processes", "a limit stopped a Pod at %d", n)
	}
}
