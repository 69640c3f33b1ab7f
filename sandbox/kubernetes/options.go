package kubernetes

import (
	"cmp"
	"log/slog"

	"k8s.io/client-go/rest"

	"github.com/skillsmcp/skills-mcp/sandbox/warmpool"
)

// Options configure a [Driver]. The zero value is usable in a cluster, but has no image.
type Options struct {
	// Images maps a role to the reference of its image. A command whose role is not in it
	// cannot run.
	Images map[string]string
	// Kubeconfig is the path of a file with credentials, and Context the one of its
	// contexts to use; "" is its current one. Without a file the driver uses
	// the service account of the server's Pod.
	Kubeconfig, Context string
	// Namespace has the Pods; "" is the namespace of the credentials.
	Namespace string
	// Config, if not nil, is used instead of Kubeconfig.
	Config *rest.Config
	// Pool bounds the loaded Pods that wait, and the blank ones likewise.
	Pool warmpool.Limits
	// StartRate bounds how many Pods a second are started ahead of commands, to spare the
	// API server; 0 is 5. Pods that a command waits for are started at once.
	StartRate float64
	// RuntimeClass names the cluster's runtime for the Pods; "" is its default.
	RuntimeClass string
	// SeccompProfile is a filter of system calls on the nodes, a path below the folder seccomp
	// of their kubelets. "" is the runtime's own, which lets a command trace its processes
	// and, with some runtimes, use io_uring, sockets of virtual machines and 32-bit calls.
	SeccompProfile string
	// UserNamespaces is one of the constants; "" is [UserNamespacesAuto].
	UserNamespaces string
	// NodeSelector, Tolerations, PriorityClass and ImagePullSecrets are fields of each Pod.
	NodeSelector     map[string]string
	Tolerations      []Toleration
	PriorityClass    string
	ImagePullSecrets []string
	// Egress configures the proxies to granted hosts.
	Egress Egress
	// Claims are the volumes that the server and the Pods share. Commands see granted
	// folders on them, and no others.
	Claims []Claim
	// Copied are folders of the server that Pods get copies of, read-only.
	Copied []string
	// Open accepts a cluster whose network lets Pods reach others. Without it commands are
	// refused there.
	Open bool
	// Reclaim removes the Pods of servers that were killed from the start on, and not only
	// from the first command on.
	Reclaim bool
	// Logger logs what concerns the operator alone. The default discards it.
	Logger *slog.Logger
}

// The values of [Options.UserNamespaces]: whether a Pod has users of its own.
const (
	UserNamespacesAuto   = "auto" // where every node can
	UserNamespacesAlways = "always"
	UserNamespacesNever  = "never"
)

// A Toleration lets Pods run on nodes with a taint; see the Kubernetes API.
type Toleration struct{ Key, Operator, Value, Effect string }

// sandbox returns the name of the sandboxes, for people.
func (o *Options) sandbox() string {
	return "kubernetes (" + cmp.Or(o.RuntimeClass, "default runtime") + ")"
}
