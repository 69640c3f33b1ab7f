package main

import (
	"errors"
	"log/slog"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills/watch"
)

// maxWatched bounds the watched folders of one root. Each takes about 1 KB of the
// kernel's memory.
const maxWatched = 50_000

// watcher watches the roots.
func (s *settings) watcher(logger *slog.Logger) (*watch.Watcher, error) {
	return watch.New(s.watched(), &watch.Options{Depth: s.Scan.Depth, Folders: min(s.Scan.Folders, maxWatched), Logger: logger})
}

// checkWatches tries whether changes of skills are noticed, and how soon.
func (s *settings) checkWatches() sandbox.Finding {
	const subject = "changes"
	watcher, err := s.watcher(slog.New(slog.DiscardHandler))
	if err != nil {
		return sandbox.Finding{Subject: subject, Level: sandbox.LevelWarning, Detail: "they are not noticed: " + err.Error(), Remedy: "call reload_skills after one"}
	}
	defer watcher.Close()
	return watchFinding(subject, watcher.Gaps())
}

// watchFinding says what the gaps of a watcher mean.
func watchFinding(subject string, gaps []watch.Gap) sandbox.Finding {
	var polled, unseen []watch.Gap
	for _, gap := range gaps {
		if errors.Is(gap.Err, watch.ErrLimit) {
			polled = append(polled, gap)
		} else {
			unseen = append(unseen, gap)
		}
	}
	f := sandbox.Finding{Subject: subject, Level: sandbox.LevelWarning}
	switch {
	case len(unseen) > 0:
		f.Detail = "they are not noticed in " + unseen[0].Path + ": " + unseen[0].Err.Error()
		f.Remedy = "call reload_skills after one, or fix that"
		if errors.Is(unseen[0].Err, watch.ErrFolders) {
			f.Remedy = "raise scan.folders in the configuration, or name the folders that have skills with --skills"
		}
	case len(polled) > 0:
		f.Detail = "they are noticed late in " + count(len(polled), "folder") + ", which are polled: " + polled[0].Err.Error()
		f.Remedy = "as root, run: sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024; to keep it, write that into /etc/sysctl.d/"
	default:
		return ok(subject, "noticed at once")
	}
	return f
}
