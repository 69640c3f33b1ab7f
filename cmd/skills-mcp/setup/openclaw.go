package setup

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/titanous/json5"

	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// maxOpenClaw is the largest openclaw.json that is read, in bytes.
const maxOpenClaw = 256 << 10

// disabledByOpenClaw returns a function that reports the skills that the person has
// switched off in OpenClaw, with skills.entries.NAME.enabled in openclaw.json, which
// is JSON5; nil where there is no such file, or it is malformed, which is logged.
func disabledByOpenClaw(home string, logger *slog.Logger) func(dir string, names ...string) (why string) {
	folder := filepath.Join(home, ".openclaw")
	data, err := skillfs.ReadRegular(skillfs.DirFS(folder), "openclaw.json", maxOpenClaw)
	if home == "" || err != nil {
		return nil
	}
	file := filepath.Join(folder, "openclaw.json")
	var config struct {
		Skills struct {
			Entries map[string]struct {
				Enabled any `json:"enabled"`
			} `json:"entries"`
		} `json:"skills"`
	}
	if err := json5.Unmarshal(data, &config); err != nil {
		logger.Warn("which skills OpenClaw has switched off is not known", "file", file, "error", err)
		return nil
	}
	var disabled []string
	for name, entry := range config.Skills.Entries {
		if entry.Enabled == false {
			disabled = append(disabled, name)
		}
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	return func(dir string, names ...string) string {
		for _, name := range names {
			if slices.Contains(disabled, name) && skillfs.Inside(folder, dir) {
				return fmt.Sprintf("it is switched off by skills.entries.%s.enabled in %s", name, file)
			}
		}
		return ""
	}
}
