package scan

import (
	"fmt"
	"path"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
)

const (
	// maxCounted bounds the skipped folders that are counted.
	maxCounted = 20_000
	// maxTooDeep bounds the folders reported by name as too deep.
	maxTooDeep = 20
)

// reportBounds reports the skipped folders that have skills, and their number. A
// folder without a skill is no loss.
func reportBounds(w *walker) {
	b, t := &w.bounds, &tally{walker: w, seen: map[string]bool{}, most: maxCounted}
	named, unnamed := 0, 0
	for _, left := range b.tooDeep {
		_, found := t.add(left)
		switch {
		case found == 0:
		case named == maxTooDeep:
			unnamed += found
		default:
			named++
			t.tooDeep(left, counted(found, left.what())+" in it")
		}
	}
	if unnamed > 0 {
		t.tooDeep(leftOut{dir: "."}, counted(unnamed, "skill")+" in further folders")
	}
	t.reportFolders(b.tooMany, skills.Error, fmt.Sprintf("the root has more than %d folders", w.options.Folders),
		"name the folders that have skills with --skills, or raise scan.folders in the configuration")
	t.reportFolders(b.tooNested, skills.Note, fmt.Sprintf("skills have more than %d folders inside, or one has more than %d", w.options.Folders, maxOwnFolders),
		"name the folders that have skills with --skills")
	if b.skillsLeft > 0 {
		w.problem(skills.Problem{Severity: skills.Error, Path: w.display(b.tooManySkills.dir), Message: fmt.Sprintf("the root has more than %d skills; left out are this one and %d more", w.options.Manifests, b.skillsLeft-1),
			Remedy: "name the folders that you use with --skills, or raise scan.manifests in the configuration"})
	}
}

func (t *tally) tooDeep(left leftOut, what string) {
	t.problem(skills.Problem{Severity: skills.Error, Path: t.display(left.dir), Message: fmt.Sprintf("it lies more than %d folders below its root; left out: %s", t.options.Depth, what),
		Remedy: "name it with --skills, or raise scan.depth in the configuration"})
}

// reportFolders reports folders beyond a bound: as an error where they have
// skills, or may have, and with the severity otherwise where they have none.
func (t *tally) reportFolders(left []leftOut, otherwise skills.Severity, reason, remedy string) {
	if len(left) == 0 {
		return
	}
	folders, manifests := 0, 0
	for _, l := range left {
		f, m := t.add(l)
		folders, manifests = folders+f, manifests+m
	}
	if folders == 0 && !t.full {
		return
	}
	least, severity := "", otherwise
	if t.full {
		least = "at least "
	}
	if manifests > 0 {
		severity = skills.Error
	} else if !t.full {
		severity = skills.Note
	}
	t.problem(skills.Problem{Severity: severity, Path: t.display(left[0].dir), Message: fmt.Sprintf("%s; left out from this one on: %s%s with %s", reason, least, counted(folders, "folder"), counted(manifests, left[0].what())), Remedy: remedy})
}

func (l leftOut) what() string {
	if l.plugins {
		return "plugin"
	}
	return "skill"
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// A tally counts the folders that were left out, each once.
type tally struct {
	*walker
	seen map[string]bool
	most int  // folders that are counted
	full bool // there are more
}

// add counts a folder and those below it, unless the scan came to them in
// another way.
func (t *tally) add(left leftOut) (folders, manifests int) {
	if t.walker.seen[left.key] {
		return 0, 0
	}
	for todo := []string{left.dir}; len(todo) > 0; {
		dir := todo[0]
		todo = todo[1:]
		if t.seen[dir] || t.ctx.Err() != nil {
			continue
		}
		if len(t.seen) == t.most {
			t.full = true
			return folders, manifests
		}
		t.seen[dir] = true
		entries, err := t.list(dir)
		if err != nil {
			continue
		}
		folders++
		switch {
		case left.plugins && findManifest(t.files, dir, entries) != "":
			manifests++
		case !left.plugins && (skillFile(entries) != "" || has(entries, manifest.OngridFile)):
			manifests++
		}
		for _, entry := range entries {
			if entry.IsDir() && !Skip(entry.Name()) {
				todo = append(todo, path.Join(dir, entry.Name()))
			}
		}
	}
	return folders, manifests
}
