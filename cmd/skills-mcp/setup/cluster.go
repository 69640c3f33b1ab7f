//go:build cluster

package setup

import (
	"cmp"
	"database/sql"
	"net"
	"os"

	"github.com/skillsmcp/skills-mcp/sandbox/kubernetes"
	"github.com/skillsmcp/skills-mcp/server/store/postgres"
)

// hasCluster says whether this build has the drivers for Kubernetes and PostgreSQL.
const hasCluster = true

func newPostgres(address string) (name string, open func() (*sql.DB, error), err error) {
	return postgres.New(address)
}

// podIP is the variable with the address of the server's own Pod, by the downward API.
const podIP = "POD_IP"

func (s *Sandboxes) cluster() CheckedDriver {
	k := s.Sandbox.Kubernetes
	o := &kubernetes.Options{
		Images:     s.Images,
		Kubeconfig: cmp.Or(k.Kubeconfig, os.Getenv("KUBECONFIG")), Context: k.Context, Namespace: k.Namespace,
		Pool: s.pool(), StartRate: k.StartRate,
		RuntimeClass: k.RuntimeClass, UserNamespaces: k.UserNamespaces,
		NodeSelector: k.NodeSelector, PriorityClass: k.PriorityClass, ImagePullSecrets: k.ImagePullSecrets,
		Guard: guard(), Reclaim: !s.Single, Logger: s.logger,
		Egress: kubernetes.Egress{Options: s.Egress(), Listen: k.Egress.Listen, Address: k.Egress.Address},
		Open:   k.Network == "open",
	}
	if _, port, err := net.SplitHostPort(k.Egress.Listen); err == nil && k.Egress.Address == "" && os.Getenv(podIP) != "" {
		o.Egress.Address, o.Egress.Direct = net.JoinHostPort(os.Getenv(podIP), port), true
	}
	for _, t := range k.Tolerations {
		o.Tolerations = append(o.Tolerations, kubernetes.Toleration(t))
	}
	for _, c := range k.Claims {
		o.Claims = append(o.Claims, kubernetes.Claim(c))
	}
	return kubernetes.New(o)
}
