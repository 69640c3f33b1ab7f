package main

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/web"
)

// Settings implements [web.Manage].
func (m *manage) Settings(ctx context.Context) ([]web.Setting, error) { panic("TODO") }
