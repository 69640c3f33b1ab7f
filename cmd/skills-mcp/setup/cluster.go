//go:build cluster

package setup

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/kubernetes"
	"github.com/skillsmcp/skills-mcp/server/store/postgres"
	"github.com/skillsmcp/skills-mcp/skills/install/git"
	"github.com/skillsmcp/skills-mcp/skills/install/quarantine"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// hasCluster says whether this build has the drivers for Kubernetes and PostgreSQL.
const hasCluster = true

func newPostgres(address string) (name string, open func() (*sql.DB, error), err error) {
	return postgres.New(address)
}

// podIP is the variable with the address of the server's own Pod, by the downward API.
const podIP = "POD_IP"

// fetchTimeout bounds the fetch of one repository.
const fetchTimeout = 10 * time.Minute

// fetchCopies makes the workspaces of which sandboxes get copies workspaces of the server. It
// fetches those of repositories whose folder is empty or missing.
func fetchCopies(c *config.Config) error {
	fetcher := git.New(&git.Options{Env: os.Environ()})
	for _, w := range c.Sandbox.Kubernetes.Workspaces {
		c.Workspaces = append(c.Workspaces, w.Path)
		if files, _ := os.ReadDir(w.Path); len(files) > 0 || w.Git == "" {
			continue
		}
		err := func() error {
			limits := c.Install.Limits.Quarantine()
			into, err := quarantine.New(filepath.Dir(w.Path), &limits)
			if err != nil {
				return err
			}
			defer into.Close()
			ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
			defer cancel()
			from := source.Source{Kind: source.Git, Location: w.Git, Ref: w.Ref}
			if _, err := fetcher.Fetch(ctx, source.Request{Source: from, Named: true}, into); err != nil {
				return err
			}
			return errors.Join(into.Seal(), os.Rename(into.Path(), w.Path), os.Chmod(w.Path, 0o755))
		}()
		if err != nil {
			return fmt.Errorf("fetch the workspace %s of sandbox.kubernetes.workspaces: %w", w.Path, err)
		}
	}
	return nil
}

func (s *Sandboxes) cluster() sandbox.CheckedDriver {
	k := s.Sandbox.Kubernetes
	o := &kubernetes.Options{
		Images:     s.Images,
		Kubeconfig: cmp.Or(k.Kubeconfig, os.Getenv("KUBECONFIG")), Context: k.Context, Namespace: k.Namespace,
		Pool: s.pool(), StartRate: k.StartRate,
		RuntimeClass: k.RuntimeClass, SeccompProfile: k.SeccompProfile, UserNamespaces: k.UserNamespaces,
		NodeSelector: k.NodeSelector, PriorityClass: k.PriorityClass, ImagePullSecrets: k.ImagePullSecrets,
		Reclaim: !s.Single, Logger: s.logger,
		Egress: kubernetes.Egress{Options: s.Egress(), Listen: k.Egress.Listen, Address: k.Egress.Address},
		Open:   k.Network == "open",
	}
	if _, port, err := net.SplitHostPort(k.Egress.Listen); err == nil && k.Egress.Address == "" && os.Getenv(podIP) != "" {
		o.Egress.Address, o.Egress.Direct = net.JoinHostPort(os.Getenv(podIP), port), true
	}
	for _, t := range k.Tolerations {
		o.Tolerations = append(o.Tolerations, kubernetes.Toleration(t))
	}
	for _, w := range k.Workspaces {
		o.Copied = append(o.Copied, w.Path)
	}
	for _, c := range k.Claims {
		o.Claims = append(o.Claims, kubernetes.Claim(c))
	}
	return kubernetes.New(o)
}
