package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/live"
	"github.com/skillsmcp/skills-mcp/server/usage"
	"github.com/skillsmcp/skills-mcp/skills"
)

// exposeFlag adds --expose to a command that serves, or that tells what serve
// would do.
func (a *app) exposeFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.flags.expose, "expose", "", "make skills tools by `MODE`: auto, all or search (default auto)")
	complete(cmd, "expose", exposure.Modes())
}

// budgetVariable limits the total length of the skills' descriptions, in characters,
// as in the Skill tool. It overrides the configuration.
const budgetVariable = "SKILLS_PROMPT_CHAR_BUDGET"

// chooseExpose applies the flag and the variable.
func (a *app) chooseExpose(s *settings) error {
	if text := os.Getenv(budgetVariable); text != "" {
		chars, err := strconv.Atoi(text)
		if err != nil || chars < 1 {
			return usageError(fmt.Errorf("%s is %q; write a number of characters", budgetVariable, text))
		}
		s.Expose.CatalogChars = chars
	}
	mode := a.flags.expose
	if mode == "" {
		return nil
	}
	if !slices.Contains(exposure.Modes(), mode) {
		return usageError(fmt.Errorf("--expose is %q; write one of auto, all, search", mode))
	}
	s.Expose.Mode = mode
	return nil
}

// stateDir is where is kept what was learned while running; "" where there is no
// place for it.
func (s *settings) stateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "skills-mcp")
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		if dir, err := os.UserConfigDir(); err == nil {
			return filepath.Join(dir, "skills-mcp")
		}
		return ""
	}
	if s.home == "" {
		return ""
	}
	return filepath.Join(s.home, ".local", "state", "skills-mcp")
}

// usageFile is where calls of skills are counted, or "".
func (s *settings) usageFile() string {
	if dir := s.stateDir(); dir != "" {
		return filepath.Join(dir, "usage.json")
	}
	return ""
}

// exposed says of a catalog which skills a server would make tools.
func (s *settings) exposed(ctx context.Context, catalog *skills.Catalog) *exposure.Exposure {
	options := s.Expose.Options()
	if file := s.usageFile(); file != "" {
		options.Uses = usage.Read(file)
	}
	return server.Expose(catalog, live.Active(ctx, catalog, s.workspaces, s.logger), options)
}

// checkExposed is doctor's word on which skills are tools.
func (s *settings) checkExposed(exposed *exposure.Exposure) []sandbox.Finding {
	count := map[exposure.Reach]int{}
	for _, skill := range exposed.Order() {
		count[exposed.Of(skill).Reach]++
	}
	detail := fmt.Sprintf("%d of their own, %d skills by search (expose.mode: %s)", count[exposure.ByTool], count[exposure.BySearch], s.Expose.Mode)
	findings := []sandbox.Finding{ok("tools", "%s", detail)}
	for _, pattern := range s.Expose.Pin {
		if !slices.ContainsFunc(exposed.Order(), func(skill *skills.Skill) bool { return exposure.Matches(pattern, skill) }) {
			findings = append(findings, sandbox.Finding{
				Subject: "pin", Level: sandbox.LevelWarning, Detail: fmt.Sprintf("expose.pin has %q, which no skill is called", pattern),
				Remedy: "list names the skills there are",
			})
		}
	}
	return findings
}
