package plugins

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

// newHooks returns the skill of a plugin's hooks. Each hook is a tool of it, PLUGIN/hooks__ID,
// which a person alone may call: it runs the hook with an event on its standard input.
func newHooks(p *skills.Plugin) *skills.Skill {
	owner, seen := newSkill(p, "hooks"), map[string]bool{}
	owner.Description = fmt.Sprintf("The hooks of the plugin %s. They run around calls for which a person has said yes to them.", p.Name)
	for i := range p.Hooks {
		hook := p.Hooks[i]
		if seen[hook.ID] { // the same once more, which Claude Code runs once too
			continue
		}
		seen[hook.ID] = true
		tool := *owner
		tool.Of, tool.Tools, tool.Unavailable = owner, nil, hook.Skipped()
		if _, err := regexp.Compile(hook.Matcher); err != nil && hook.Matcher != "*" {
			tool.Unavailable = fmt.Sprintf("its matcher %.100q is no regular expression", hook.Matcher)
			owner.Problems = append(owner.Problems, skills.Problem{Severity: skills.Warning, Path: owner.File, Message: fmt.Sprintf("the hook %s is not run: %s", hook.ID, tool.Unavailable), Remedy: "its maintainer has to fix it"})
		}
		tool.Name = owner.Name + "__" + manifest.CleanName(hook.ID)
		tool.Description = fmt.Sprintf("A hook of the plugin %s: %s", p.Name, &hook)
		tool.Entry = &skills.Entry{Context: skills.ContextNone, Hook: &hook, Timeout: cmp.Or(time.Duration(hook.Timeout*float64(time.Second)), maxHookTime)}
		owner.Tools = append(owner.Tools, &tool)
	}
	return owner
}

// maxHookTime bounds a hook that declares no time limit.
const maxHookTime = 10 * time.Second

// Hook completes the command of a hook: its placeholders and its variables. It has the data
// folder of the plugin if its command, or the script that it names, speaks of one: a sandbox
// with such a folder cannot be prepared ahead.
func (s *Servers) Hook(who identity.Principal, skill *skills.Skill, cmd *sandbox.Command) (err error) {
	text := strings.Join(cmd.Argv, "\n")
	for _, name := range rootFile.FindAllStringSubmatch(text, 8) {
		if script, err := os.ReadFile(filepath.Join(cmd.Folder, filepath.Clean("/"+name[1]))); err == nil && len(script) < 1<<20 {
			text += string(script)
		}
	}
	if strings.Contains(text, dataVariable) {
		if cmd.Grant.Data, err = s.data(&call{s, who, skill}); err != nil {
			return err
		}
	}
	own := ownVariables(cmd)
	var pairs []string
	for name, value := range own {
		cmd.Env = append(cmd.Env, name+"="+value)
		if name != projectVariable || skill.Entry.Hook.Args != nil { // a shell would run commands in the name of a folder
			pairs = append(pairs, "${"+name+"}", value)
		}
	}
	argv, replacer := []string{}, strings.NewReplacer(pairs...)
	for _, word := range cmd.Argv {
		argv = append(argv, replacer.Replace(word))
	}
	cmd.Argv = argv
	return nil
}

// rootFile matches a file of the plugin in a command.
var rootFile = lazyregexp.New(`\$\{?CLAUDE_PLUGIN_ROOT\}?/([A-Za-z0-9_./-]+)`)
