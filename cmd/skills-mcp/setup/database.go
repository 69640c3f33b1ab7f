package setup

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// storeVariable has the setting store, such as from a Secret of Kubernetes.
const storeVariable = "SKILLS_MCP_STORE"

// newDatabase returns the database of the setting store; nil without one.
func newDatabase(c *config.Config) (*store.Server, error) {
	address := c.Store
	if address == "" {
		return nil, nil
	}
	if !config.IsDatabase(address) {
		text, err := os.ReadFile(address)
		if err != nil {
			return nil, fmt.Errorf("store: %w; write the address of a database, postgres://…, or the path of a file that has it", err)
		}
		if address = strings.TrimSpace(string(text)); !config.IsDatabase(address) {
			return nil, fmt.Errorf("store: %s does not have the address of a database, postgres://…", c.Store)
		}
	}
	if !hasCluster {
		return nil, errors.New("store: this build knows no PostgreSQL; use one built with: go build -tags cluster ./cmd/skills-mcp")
	}
	name, open, err := newPostgres(address)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return &store.Server{Name: name, Open: open}, nil
}
