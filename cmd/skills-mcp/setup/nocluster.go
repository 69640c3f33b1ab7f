//go:build !cluster

package setup

import (
	"database/sql"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/sandbox"
)

// hasCluster says whether this build has the drivers for Kubernetes and PostgreSQL, whose
// libraries make it larger.
const hasCluster = false

// newPostgres is not called, either.
func newPostgres(string) (name string, open func() (*sql.DB, error), err error) { return }

// cluster is not called: the configuration of such a driver is refused.
func (s *Sandboxes) cluster() sandbox.CheckedDriver { return nil }

// fetchCopies is not called either.
func fetchCopies(*config.Config) error { return nil }
