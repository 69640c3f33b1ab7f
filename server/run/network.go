package run

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Hosts returns the hosts that a skill may connect to: all that it declares, or
// none where it declares none. The error is an [*Error] that names the host that
// is not granted: without it the script would fail, and nobody would know why.
func (x *Executor) Hosts(skill *skills.Skill) ([]string, error) {
	if skill.Entry == nil || len(skill.Entry.Network) == 0 {
		return nil, nil
	}
	name := skill.QualifiedName()
	if skill.Class == skills.Safe {
		return nil, &Error{PermissionDenied, fmt.Sprintf("skill %s declares network, but its class is safe, and a safe skill gets none; whoever maintains it has to declare class: mutating", name), false, nil}
	}
	if skill.Workspace != "" {
		return nil, &Error{PermissionDenied, fmt.Sprintf("skill %s connects to %s, and is of the workspace %s, whose skills are granted no hosts; ask the person whether to name its folder under skills in the configuration", name, strings.Join(skill.Entry.Network, ", "), skill.Workspace), false, nil}
	}
	var hosts []string
	for _, declared := range skill.Entry.Network {
		rule, err := egress.ParseRule(declared)
		if err != nil {
			return nil, &Error{Unavailable, fmt.Sprintf("skill %s cannot run: sandbox.network: %v", name, err), false, err}
		}
		if !slices.ContainsFunc(x.options.Hosts, func(granted egress.Rule) bool { return granted.Covers(rule) }) {
			return nil, &Error{PermissionDenied, fmt.Sprintf("skill %s connects to %s, which is not granted; ask the person whether to add %q to sandbox.network.allow in the configuration", name, rule, rule), false, nil}
		}
		hosts = append(hosts, rule.String())
	}
	return hosts, nil
}

// logConnections tells the operator what a command connected to, and warns once
// where it was refused.
func (x *Executor) logConnections(ctx context.Context, command *sandbox.Command, connections []sandbox.Connection) {
	logger := x.options.Logger.With("skill", command.Skill, "run", command.RunID)
	var refused []sandbox.Connection
	for _, c := range connections {
		if c.Refused != "" {
			refused = append(refused, c)
		}
		logger.LogAttrs(ctx, slog.LevelInfo, "a skill connected",
			slog.String("host", c.Host), slog.String("address", c.Address), slog.String("refused", c.Refused),
			slog.Int64("sent", c.Sent), slog.Int64("got", c.Got), slog.Duration("time", c.Time))
	}
	if len(refused) > 0 {
		logger.Warn("a skill was refused connections", "count", len(refused), "first", refused[0].Refused)
	}
}
