package approval

import (
	"context"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

const (
	maxSkills = 64 // of a plugin that a question is about
	maxDepth  = 4  // of their folders
)

// offerPlugin adds the answer for all skills of the call's plugin, with their files as they
// are. It reads them, so a form, which does not offer it, does without.
func (c *call) offerPlugin(ctx context.Context) {
	skill, q := c.Skill.Owner(), c.question
	if skill.Plugin == "" || slices.Index(q.Scopes, Always) <= 0 || q.Plugin != nil {
		return
	}
	found, root := map[string]string{}, skillfs.DirFS(skill.PluginDir)
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.Count(name, "/") >= maxDepth:
			return fs.SkipDir
		case d.IsDir() || d.Name() != "SKILL.md":
			return nil
		case len(found) == maxSkills:
			return fs.ErrInvalid
		}
		dir := filepath.Join(skill.PluginDir, filepath.FromSlash(name), "..")
		found[c.inPlugin(dir)], err = snapshot.Digest(ctx, skillfs.DirFS(dir))
		return err
	})
	if err == nil && len(found) > 1 && found[c.inPlugin(skill.Dir)] == c.Digest {
		q.Plugin = &PluginVersion{skill.Plugin, found}
		q.Kinds = append(q.Kinds, WholePlugin)
	}
}

// inPlugin returns the path of a folder below the plugin of the call's skill.
func (c *call) inPlugin(dir string) string {
	name, _ := filepath.Rel(c.Skill.Owner().PluginDir, dir)
	return name
}

// pluginSubject names the plugin of a skill in the store; "" is none.
func pluginSubject(skill *skills.Skill) string {
	owner := skill.Owner()
	if owner.Plugin == "" {
		return ""
	}
	return "plugin " + owner.Plugin + "\n" + string(skill.Origin().Kind) + ":" + owner.PluginDir
}

// ofPlugin reports whether an approval for all skills of a plugin covers a call: its files
// are those of then, and it gets no more than the call that was shown.
func (c *call) ofPlugin(r *Record) bool {
	now, then := c.question, &r.Question
	return c.Action == run.ActionSkill && then.Plugin != nil && r.Binding == c.plugin() && then.Plugin.Skills[c.inPlugin(c.Skill.Owner().Dir)] == c.Digest &&
		!c.Decision.Session && (now.Class == then.Class || now.Class == skills.Safe) &&
		within(now.Writes, then.Writes) && within(slices.Concat(now.Reads, now.Writes), slices.Concat(then.Reads, then.Writes)) &&
		within(now.Protected, then.Protected) && within(now.Hosts, then.Hosts) && within(now.Variables, then.Variables) && within(now.Secrets, then.Secrets) && within(now.Calls, then.Calls)
}

func within(all, in []string) bool {
	return !slices.ContainsFunc(all, func(one string) bool { return !slices.Contains(in, one) })
}

// plugin returns the binding of an approval for all skills of the call's plugin.
func (c *call) plugin() Binding {
	return Binding{Skill: pluginSubject(c.Skill), Args: anyArgs, Preview: digest(slices.Concat(c.Stack, c.Callers)...)}
}

// binding returns the binding that a call has for the approvals of a record's kind.
func (c *call) binding(r *Record) Binding {
	b := c.every
	switch below := r.Question.Below; {
	case r.Scope == Same:
		b.Args = c.exact.Args
	case r.Scope == BelowFolder && below != nil:
		b.Args = c.below(below.Folder)
	}
	return b
}

// below identifies the arguments of a call for an approval of the paths below a folder.
func (c *call) below(folder string) string { return below(c.Proposal, c.Paths(), folder).Args }

// Kind returns the calls that an approval covers, in a few words.
func (r *Record) Kind() string {
	switch q := &r.Question; {
	case r.Scope == Same:
		return "always for these arguments"
	case r.Scope == BelowFolder && q.Below != nil:
		return "always for paths below " + said(q.Below.Folder, math.MaxInt)
	case r.Scope == WholePlugin && q.Plugin != nil:
		return "always for all skills of the plugin " + said(q.Plugin.Name, math.MaxInt)
	}
	return string(r.Scope)
}
