//go:build !cluster

package setup

import (
	"database/sql"
	"errors"
)

// newPostgres refuses a database, whose library makes the program larger.
func newPostgres(string) (name string, open func() (*sql.DB, error), err error) {
	return "", nil, errors.New("this build knows no PostgreSQL; use the image of a release, or a program built with: go build -tags cluster ./cmd/skills-mcp")
}
