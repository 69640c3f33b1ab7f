package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// A modelInstaller installs the skills that models ask for into the person's data folder.
type modelInstaller struct{ open func() (*installer, error) }

// Prepare implements [server.Installer]. A model names no folder of this machine and no
// private address: the person has not written them.
func (m modelInstaller) Prepare(ctx context.Context, name, from string, progress func(message string)) (server.Installation, error) {
	i, err := m.open()
	if err != nil {
		return nil, &run.Error{Code: run.Unavailable, Message: err.Error(), Err: err}
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	parsed, err := source.Parse(from, folder)
	if err == nil && (parsed.Kind == source.Folder || parsed.Kind == source.Archive) {
		err = errors.New("a path of this machine is for the person to install, with skills-mcp install")
	}
	if err != nil {
		return nil, &run.Error{Code: run.InvalidParam, Message: visible(err.Error()), Err: err}
	}
	request := source.Request{Source: parsed, Progress: distinct(progress)}
	if name != "" {
		request.Names = []string{name}
	}
	plan, err := i.Prepare(ctx, request)
	if err != nil {
		return nil, refusedFetch(ctx, err)
	}
	if i.has(ctx, plan) {
		return nil, errors.Join(&run.Error{Code: run.InvalidParam, Message: "it is installed already, as the source has it now; use it"}, plan.Close())
	}
	return &modelInstallation{plan, i, installation.Describe(plan, i.target)}, nil
}

// refusedFetch returns the error of a fetch for a model. Its text may be a stranger's.
func refusedFetch(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	code := run.ExecutionError
	if choice, ok := errors.AsType[*source.ChoiceError](err); ok {
		code, err = run.InvalidParam, fmt.Errorf(`%w; give one as "name"`, choice)
	}
	return &run.Error{Code: code, Message: "it cannot be installed: " + visible(err.Error()), Err: err}
}

// A modelInstallation is a fetched skill that a model asked for.
type modelInstallation struct {
	*install.Plan
	installer *installer
	change    *installation.Change
}

// Review implements [run.Installation].
func (m *modelInstallation) Review() run.Review {
	return run.Review{Digest: m.change.Digest, Lines: m.change.Lines(), Summary: m.change.Summary()}
}

// Commit implements [run.Installation]: just what was reviewed is in the plan.
func (m *modelInstallation) Commit(ctx context.Context) error {
	return m.installer.commit(ctx, m.Plan, true)
}

// Installed implements [server.Installation].
func (m *modelInstallation) Installed() any {
	type item struct {
		Name   string   `json:"name"`
		Kind   string   `json:"kind"`
		Skills []string `json:"skills"`
		Digest string   `json:"digest"`
	}
	items := []item{}
	for _, i := range m.change.Items {
		items = append(items, item{i.Name, i.Kind, i.Skills, i.Digest})
	}
	return map[string]any{"installed": items, "source": m.change.Source}
}
