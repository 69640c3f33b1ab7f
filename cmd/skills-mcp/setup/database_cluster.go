//go:build cluster

package setup

import (
	"database/sql"

	"github.com/skillsmcp/skills-mcp/server/store/postgres"
)

// newPostgres returns the name and the connections of a database.
func newPostgres(address string) (name string, open func() (*sql.DB, error), err error) {
	return postgres.New(address)
}
