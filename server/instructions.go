package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// A loader loads the instructions of skills.
type loader struct {
	fetch     func(r *request, skill *skills.Skill) (_ *skills.Skill, asked *mcp.CallToolResult, err error)
	snapshots *snapshot.Store // of bundled skills
	used      func(skill *skills.Skill)
	texts     func(ctx context.Context, skill *skills.Skill) error // of the options
	code      func(ctx context.Context, who identity.Principal, skill *skills.Skill) (hosts []string, granted bool)
}

// load returns the instructions of a skill for a model, or questions for the client.
func (l *loader) load(r *request, skill *skills.Skill, args string) (*mcp.CallToolResult, error) {
	skill = skill.Owner()
	if !skill.ModelInvocable {
		return nil, &run.Error{Code: run.PermissionDenied, Message: "skill " + skill.QualifiedName() + " may be called by a person only"}
	}
	skill, asked, err := l.fetch(r, skill)
	if asked != nil || err != nil {
		return asked, err
	}
	loaded, err := l.instruct(r.ctx, skill, args)
	if err != nil {
		return nil, err
	}
	result := &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(loaded.header() + loaded.text())}}
	result.Meta = loaded.meta()
	return result, nil
}

// instruct returns the instructions of a skill for one use, and counts it.
func (l *loader) instruct(ctx context.Context, skill *skills.Skill, args string) (*loaded, error) {
	loaded, err := l.read(ctx, skill, args)
	if err == nil {
		l.used(skill)
	}
	return loaded, err
}

// read returns the instructions of a skill.
func (l *loader) read(ctx context.Context, skill *skills.Skill, args string) (*loaded, error) {
	if err := l.texts(ctx, skill); err != nil {
		return nil, err
	}
	dir, err := l.baseDir(ctx, skill)
	if err != nil {
		return nil, err
	}
	content, err := skill.Instantiate(args, dir)
	if errors.Is(err, skills.ErrTooLong) {
		return nil, &run.Error{Code: run.InvalidParam, Message: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	loaded := &loaded{Name: skill.QualifiedName(), BaseDir: dir, URI: skillsext.URI(skill), Content: content, Tools: callable(skill.Tools)}
	loaded.Hosts, loaded.Code = l.code(ctx, principal(ctx), skill)
	return loaded, nil
}

// callable returns the names of the tools that a model can call. The instructions speak
// of files, and may be all that it knows of the skill.
func callable(tools []*skills.Skill) []string {
	var names []string
	for _, tool := range tools {
		if tool.ModelInvocable && tool.Unavailable == "" {
			names = append(names, tool.QualifiedName())
		}
	}
	return names
}

// loaded holds the instructions of a skill for one use.
type loaded struct {
	Name    string
	BaseDir string
	URI     string // "" where there is no SKILL.md
	Content string
	// Tools are the names of the skill's tools that a model can call.
	Tools []string
	// Code reports that run_code may run its commands, which then may connect to Hosts.
	Code  bool
	Hosts []string
}

// meta returns the metadata of a result, for programs. Models read the text: a
// structure would be shown to them in its place.
func (l *loaded) meta() *mcp.Meta {
	fields := map[string]any{"name": l.Name}
	for key, value := range map[string]string{"base_dir": l.BaseDir, "uri": l.URI} {
		if value != "" {
			fields[key] = value
		}
	}
	return mcp.NewMetaFromMap(fields)
}

// header returns the line that names the folder of the instructions' files.
func (l *loaded) header() string {
	if l.BaseDir == "" {
		return ""
	}
	return "Base directory for this skill: " + l.BaseDir + "\n\n"
}

// text returns the instructions, with the names of the tools, and how commands are run.
func (l *loaded) text() string {
	text := l.Content
	if len(l.Tools) > 0 {
		text += "\n\nTools of this skill, which run_skill runs by these names: " + strings.Join(l.Tools, ", ")
	}
	if l.Code {
		text += fmt.Sprintf("\n\nRun commands and code of these instructions with the tool run_code, and skill %q.", l.Name)
		if len(l.Hosts) > 0 {
			text += " There they may connect to " + strings.Join(l.Hosts, ", ") + "."
		}
	}
	return text
}

// baseDirLease is the lifetime of the copy of a skill's folder whose path a client has
// received.
const baseDirLease = 24 * time.Hour

// baseDir returns the folder of the files that the instructions speak of: the skill's
// own folder, or for a bundled or packed skill a copy of it; for a client on another machine
// its URI, or "".
func (l *loader) baseDir(ctx context.Context, skill *skills.Skill) (string, error) {
	if principal(ctx).Remote {
		return strings.TrimSuffix(skillsext.URI(skill), "/SKILL.md"), nil
	}
	if skill.Dir != "" {
		return skill.Dir, nil
	}
	snap, err := l.snapshots.Take(ctx, skill.Files, snapshot.Use{Skill: skill.QualifiedName(), Lease: baseDirLease})
	if err != nil {
		return "", err
	}
	return snap.Dir, nil
}
