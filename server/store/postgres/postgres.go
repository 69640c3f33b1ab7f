// Package postgres connects to the PostgreSQL database that servers share. It is apart from
// the store, which knows the driver by database/sql alone: programs without it are smaller.
//
// Start with [New].
package postgres

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// New returns the name, without a password, and the connections of the database of an address,
// such as postgres://user@host/database?sslmode=verify-full; the variables of PostgreSQL's own
// clients (PGPASSWORD, PGSSLROOTCERT) count, too. It connects to nothing.
func New(address string) (name string, open func() (*sql.DB, error), err error) {
	c, err := pgx.ParseConfig(address)
	if err != nil {
		return "", nil, errors.New("the address of the database cannot be read; write postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full") // the error has the address
	}
	c.ConnectTimeout = cmp.Or(min(c.ConnectTimeout, 5*time.Second), 5*time.Second)
	c.DialFunc = dialer().DialContext
	c.RuntimeParams["application_name"] = cmp.Or(c.RuntimeParams["application_name"], "skills-mcp")
	// A server that is gone in the middle of a transaction does not keep its lock.
	for _, name := range []string{"statement_timeout", "idle_in_transaction_session_timeout", "tcp_user_timeout"} {
		c.RuntimeParams[name] = cmp.Or(c.RuntimeParams[name], "10s")
	}
	name = fmt.Sprintf("postgres://%s@%s/%s", c.User, net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))), c.Database)
	return name, func() (*sql.DB, error) { return stdlib.OpenDB(*c.Copy()), nil }, nil
}

// dialer returns a dialer whose connections end soon after the server's machine has vanished.
func dialer() *net.Dialer {
	return &net.Dialer{
		Timeout:         5 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 5 * time.Second, Count: 2},
		Control:         bound,
	}
}
