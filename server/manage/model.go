package manage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/installation"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/install"
	"github.com/skillsmcp/skills-mcp/skills/install/source"
)

// ForModel fetches the skill that a model asks for, to be installed into the person's data
// folder; name "" is the only one of the source. A model names no folder of this machine and
// no private address: the person has not written them. The error is for the model.
func (m *Machine) ForModel(ctx context.Context, name, from string, progress func(message string)) (*ModelInstallation, error) {
	t, err := m.Target("", false)
	if err != nil {
		return nil, &run.Error{Code: run.Unavailable, Message: err.Error(), Err: err}
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	name, from = inRegistry(name, from)
	parsed, err := source.Parse(from, folder)
	if err == nil && (parsed.Kind == source.Folder || parsed.Kind == source.Archive) {
		err = errors.New("a path of this machine is for the person to install, with skills-mcp install")
	}
	if err != nil {
		return nil, &run.Error{Code: run.InvalidParam, Message: termtext.Visible(err.Error()), Err: err}
	}
	request := source.Request{Source: parsed, Progress: Distinct(progress)}
	if name != "" {
		request.Names = []string{name}
	}
	plan, err := t.Prepare(ctx, request)
	if err != nil {
		return nil, refusedFetch(ctx, err)
	}
	if t.Has(ctx, plan) {
		return nil, errors.Join(&run.Error{Code: run.InvalidParam, Message: "it is installed already, as the source has it now; use it"}, plan.Close())
	}
	return &ModelInstallation{plan, t, Describe(t, plan)}, nil
}

// inRegistry returns the source that is meant by the name of a skill and that of a registry
// as its source; others are returned as they are.
func inRegistry(name, from string) (skill, place string) {
	const registry = string(source.ClawHub)
	if name != "" && strings.EqualFold(from, registry) {
		return "", registry + ":" + name
	}
	return name, from
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
	return &run.Error{Code: code, Message: "it cannot be installed: " + termtext.Visible(err.Error()), Err: err}
}

// A ModelInstallation is a fetched skill that a model asked for.
type ModelInstallation struct {
	*install.Plan
	target *Target
	change *installation.Change
}

// Review implements [run.Installation].
func (i *ModelInstallation) Review() run.Review {
	return run.Review{Digest: i.change.Digest, Lines: i.change.Lines(), Summary: i.change.Summary()}
}

// Commit implements [run.Installation]: just what was reviewed is in the plan.
func (i *ModelInstallation) Commit(ctx context.Context) error {
	return i.target.Commit(ctx, i.Plan, true)
}

// Installed returns the result for the model, as a JSON object.
func (i *ModelInstallation) Installed() any {
	type item struct {
		Name   string   `json:"name"`
		Kind   string   `json:"kind"`
		Skills []string `json:"skills"`
		Digest string   `json:"digest"`
	}
	items := []item{}
	for _, one := range i.change.Items {
		items = append(items, item{one.Name, one.Kind, one.Skills, one.Digest})
	}
	return map[string]any{"installed": items, "source": i.change.Source}
}
