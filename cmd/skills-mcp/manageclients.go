package main

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/web"
)

// Clients implements [web.Clients].
func (m *manage) Clients(ctx context.Context) ([]web.Client, error) { panic("TODO") }

// Connect implements [web.Clients].
func (m *manage) Connect(ctx context.Context, client string, remove, force bool) ([]string, error) {
	panic("TODO")
}
