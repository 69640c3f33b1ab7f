package config

import (
	"fmt"
	"net"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/install/source"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// Kubernetes configures the driver for a cluster.
type Kubernetes struct {
	Kubeconfig       string            `yaml:"kubeconfig"`         // a file; "" is the service account of the server's Pod, or $KUBECONFIG
	Context          string            `yaml:"context"`            // of the file; "" is its current one
	Namespace        string            `yaml:"namespace"`          // of the sandboxes; "" is the namespace of the credentials
	RuntimeClass     string            `yaml:"runtime_class"`      // "" is the cluster's default
	SeccompProfile   string            `yaml:"seccomp_profile"`    // a file below the kubelets' folder seccomp; "" is the runtime's own
	UserNamespaces   string            `yaml:"user_namespaces"`    // auto, always or never
	NodeSelector     map[string]string `yaml:"node_selector"`      // labels of the nodes
	Tolerations      []Toleration      `yaml:"tolerations"`        // of the nodes' taints
	PriorityClass    string            `yaml:"priority_class"`     // "" is the cluster's default
	ImagePullSecrets []string          `yaml:"image_pull_secrets"` // names of Secrets
	StartRate        float64           `yaml:"start_rate"`         // Pods a second that are started ahead of calls
	Egress           ClusterEgress     `yaml:"egress"`             // of sandboxes with hosts
	Claims           []Claim           `yaml:"claims"`             // volumes that the server and the sandboxes share
	Workspaces       []Copy            `yaml:"workspaces"`         // folders of the server that sandboxes get copies of
	Network          string            `yaml:"network"`            // closed: refuse calls while the cluster lets Pods reach others; open
}

// A Toleration lets Pods run on nodes with a taint.
type Toleration struct {
	Key      string `yaml:"key"`
	Operator string `yaml:"operator"`
	Value    string `yaml:"value"`
	Effect   string `yaml:"effect"`
}

// String returns the toleration for people.
func (t Toleration) String() string {
	return strings.TrimSuffix(t.Key+"="+t.Value, "=") + ":" + t.Effect
}

// ClusterEgress configures the listener of the proxy to granted hosts. Listen is an address
// and a port, "" for none; Pods reach it at Address, which is the server's Pod where it is "".
type ClusterEgress struct {
	Listen  string `yaml:"listen"`
	Address string `yaml:"address"`
}

// A Claim is a PersistentVolumeClaim that the server has mounted at a path, or whose
// folder SubPath it has there.
type Claim struct {
	Path    string `yaml:"path"`
	Claim   string `yaml:"claim"`
	SubPath string `yaml:"sub_path"`
}

// String returns the claim for people.
func (c Claim) String() string { return c.Path + " from " + path.Join(c.Claim, c.SubPath) }

// A Copy is a workspace of which sandboxes get a copy, read-only. The server fetches it from a
// Git repository where its folder is empty: Ref names the commit, "" the default branch's.
// Without one something else has put files there.
type Copy struct {
	Path string `yaml:"path"`
	Git  string `yaml:"git"`
	Ref  string `yaml:"ref"`
}

// String returns the copy for people.
func (c Copy) String() string {
	if c.Git == "" {
		return c.Path
	}
	return strings.TrimSuffix(c.Path+" from "+withoutSecret(c.Git)+"@"+c.Ref, "@")
}

// objectName matches the names that most objects of a cluster may have.
var objectName = lazyregexp.New(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

func (k Kubernetes) validate() error {
	bad := func(key, value, format string, args ...any) error {
		return fmt.Errorf("sandbox.kubernetes.%s is %q; write %s", key, value, fmt.Sprintf(format, args...))
	}
	if modes := []string{"auto", "always", "never"}; !slices.Contains(modes, k.UserNamespaces) {
		return bad("user_namespaces", k.UserNamespaces, "one of %s", strings.Join(modes, ", "))
	}
	if k.Network != "closed" && k.Network != "open" {
		return bad("network", k.Network, "closed or open")
	}
	if k.StartRate <= 0 {
		return bad("start_rate", fmt.Sprint(k.StartRate), "a number of Pods a second, such as 5")
	}
	names := map[string][]string{"namespace": {k.Namespace}, "runtime_class": {k.RuntimeClass}, "priority_class": {k.PriorityClass}, "image_pull_secrets": k.ImagePullSecrets}
	for _, c := range k.Claims {
		if c.Claim == "" {
			return bad("claims", c.String(), "the name of the claim, too: {path: /workspaces, claim: workspaces}")
		}
		names["claims"] = append(names["claims"], c.Claim)
		if !filepath.IsAbs(c.Path) || path.Clean(c.Path) != c.Path || c.Path == "/" {
			return bad("claims.path", c.Path, "the absolute path of a folder at which the server has the claim mounted, such as /workspaces")
		}
		if c.SubPath != "" && (!filepath.IsLocal(c.SubPath) || path.Clean(c.SubPath) != c.SubPath) {
			return bad("claims.sub_path", c.SubPath, "a path below the claim's root, such as team/a")
		}
	}
	for key, all := range names {
		for _, name := range all {
			if name != "" && !objectName.MatchString(name) {
				return bad(key, name, "the name of an object: small letters, digits, - and .")
			}
		}
	}
	for _, w := range k.Workspaces {
		if !filepath.IsAbs(w.Path) || path.Clean(w.Path) != w.Path || w.Path == "/" {
			return bad("workspaces.path", w.Path, "the absolute path of a folder, such as /workspaces/app")
		}
		if strings.HasPrefix(w.Git, "-") || !source.IsRef(w.Ref) || w.Git == "" && w.Ref != "" {
			return bad("workspaces", w.String(), "a repository, and perhaps a branch, tag or commit: {path: /workspaces/app, git: https://example.com/app.git, ref: main}")
		}
	}
	if k.Egress.Listen != "" {
		if _, _, err := net.SplitHostPort(k.Egress.Listen); err != nil {
			return bad("egress.listen", k.Egress.Listen, "an address and a port, such as :3128")
		}
	}
	if host, _, err := net.SplitHostPort(k.Egress.Address); k.Egress.Address != "" && (err != nil || host == "") {
		return bad("egress.address", k.Egress.Address, "a host and a port, such as 10.0.0.5:3128")
	}
	return nil
}
