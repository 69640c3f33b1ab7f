// Package verdicts keeps the verdict on each skill by the digest of its files, so that the
// same files are scanned once, and finds the skills that the scan blocks.
//
// Start with [New]. [Verdicts.ScanChanged] scans in the background, [Verdicts.Of] a skill as
// it is now.
package verdicts

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/atomicfile"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
)

// Options configure [Verdicts]. The zero value is usable.
type Options struct {
	// Block is the severity from which on a finding blocks a skill; "" blocks none.
	Block verdict.Severity
	// Logger gets the skills with critical findings, and a file that cannot be written; nil
	// discards them.
	Logger *slog.Logger
}

// Verdicts are the verdicts on skills. They may be used concurrently, also by several
// processes with one file.
type Verdicts struct {
	file    string
	options Options

	load  sync.Once
	mu    sync.Mutex
	state      // guarded by mu, as is fresh
	fresh bool // the file lacks something
}

// A state is the content of the file.
type state struct {
	Version string `json:"version"` // of the rules: with others everything is scanned again
	// Found has the findings by digest; Digests and Looks have the last digest, and the look
	// of the files at it, of each skill by origin.
	Found   map[string][]verdict.Finding `json:"found"`
	Digests map[string]string            `json:"digests"`
	Looks   map[string]string            `json:"looks"`
}

// New returns the verdicts that are kept in a file, which is read at the first use; "" keeps
// them in memory. Options may be nil.
func New(file string, options *Options) *Verdicts {
	v := &Verdicts{file: file}
	if options != nil {
		v.options = *options
	}
	v.options.Logger = cmp.Or(v.options.Logger, slog.New(slog.DiscardHandler))
	return v
}

// read reads the file, once.
func (v *Verdicts) read() {
	v.load.Do(func() {
		data, err := os.ReadFile(v.file)
		if err != nil || json.Unmarshal(data, &v.state) != nil || v.Version != verdict.Version() || len(v.Digests) > maxSkills || v.Found == nil || v.Digests == nil || v.Looks == nil {
			v.state = state{verdict.Version(), map[string][]verdict.Finding{}, map[string]string{}, map[string]string{}}
		}
	})
}

// maxSkills bounds the skills in the file: with more it begins anew.
const maxSkills = 50_000

// save writes the verdicts on the last files of each skill. Of two processes the last one to
// write counts: what it does not have is scanned again.
func (v *Verdicts) save() {
	v.mu.Lock()
	last := map[string]bool{}
	for _, digest := range v.Digests {
		last[digest] = true
	}
	maps.DeleteFunc(v.Found, func(digest string, _ []verdict.Finding) bool { return !last[digest] })
	data, err := json.Marshal(v.state)
	fresh := v.fresh
	v.fresh = false
	v.mu.Unlock()
	if err == nil && fresh && v.file != "" {
		err = atomicfile.WriteBytes(v.file, data)
	}
	if err != nil {
		v.options.Logger.Info("the verdicts on skills cannot be kept; the next start scans again", "error", err)
	}
}

// asRead returns the skill whose files have a verdict: also a blocked one has them.
func asRead(skill *skills.Skill) *skills.Skill {
	if skill.Unblocked != nil {
		skill = skill.Unblocked
	}
	return skill.Owner()
}

// Of returns the findings in the files that a skill has now.
func (v *Verdicts) Of(ctx context.Context, skill *skills.Skill) ([]verdict.Finding, error) {
	skill = asRead(skill)
	looks := look(skill.Files)
	digest, err := snapshot.Digest(ctx, skill.Files)
	if err != nil {
		return nil, err
	}
	return v.at(skill, digest, looks, skill.Files)
}

// At returns the findings in files with a digest.
func (v *Verdicts) At(skill *skills.Skill, digest string, files fs.FS) ([]verdict.Finding, error) {
	return v.at(asRead(skill), digest, "", files)
}

// at is At for files that look so; "" is not known.
func (v *Verdicts) at(skill *skills.Skill, digest, looks string, files fs.FS) ([]verdict.Finding, error) {
	v.read()
	v.mu.Lock()
	found, known := v.Found[digest]
	v.mu.Unlock()
	if !known {
		var err error
		if found, err = verdict.Of(skill, files); err != nil {
			return nil, err
		}
		if verdict.Worst(found) == verdict.Critical {
			v.options.Logger.Info("the scan of a skill found something critical", "skill", skill.QualifiedName(), "found", found[0].String())
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	key := skill.Origin().String()
	if looks == "" && v.Digests[key] == digest {
		looks = v.Looks[key]
	}
	v.fresh = v.fresh || !known || v.Digests[key] != digest || v.Looks[key] != looks
	v.Found[digest], v.Digests[key], v.Looks[key] = found, digest, looks
	return found, nil
}

// Known returns the findings of the last scan of a skill, and reads nothing of it.
func (v *Verdicts) Known(skill *skills.Skill) []verdict.Finding {
	v.read()
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.Found[v.Digests[asRead(skill).Origin().String()]]
}

// Counts returns the numbers of what the last scan of a skill found, for a list, or that its
// files have changed since; "" is nothing. It reads at most the names of files.
func (v *Verdicts) Counts(skill *skills.Skill) string {
	skill = asRead(skill)
	counts := verdict.Counts(v.Known(skill))
	if counts != "" && !v.same(skill) {
		return "its files have changed since"
	}
	return counts
}

// same reports whether the files of a skill have the sizes and times of its last scan.
func (v *Verdicts) same(skill *skills.Skill) bool {
	looks := look(skill.Files)
	v.mu.Lock()
	defer v.mu.Unlock()
	return looks != "" && v.Looks[skill.Origin().String()] == looks
}

// ScanAll reads and scans the skills of a catalog, several at once, until ctx is done, and
// keeps the verdicts. The error names the skills that cannot be read.
func (v *Verdicts) ScanAll(ctx context.Context, catalog *skills.Catalog, atOnce int) error {
	return v.scan(ctx, catalog, atOnce, func(skill *skills.Skill) error {
		_, err := v.Of(ctx, skill)
		return err
	})
}

// ScanChanged is ScanAll for a server's background: one skill at a time, and none whose files
// have the sizes and times that they had at its last scan. It reports whether another set of
// skills is blocked since. Calls look at the content: see [Verdicts.Refuse].
func (v *Verdicts) ScanChanged(ctx context.Context, catalog *skills.Catalog) (changed bool) {
	before := v.Blocked(catalog)
	err := v.scan(ctx, catalog, 1, func(skill *skills.Skill) error {
		if v.same(asRead(skill)) {
			return nil
		}
		_, err := v.Of(ctx, skill)
		return err
	})
	if err != nil && ctx.Err() == nil { // they are scanned when they can be read
		v.options.Logger.Info("skills cannot be scanned", "error", err)
	}
	return !maps.Equal(before, v.Blocked(catalog))
}

// scan calls one for each skill that has files of its own, several at once, and keeps the
// verdicts.
func (v *Verdicts) scan(ctx context.Context, catalog *skills.Catalog, atOnce int, one func(*skills.Skill) error) error {
	v.read()
	var workers errgroup.Group
	workers.SetLimit(atOnce)
	failed := make([]error, len(catalog.Skills))
	for i, skill := range catalog.Skills {
		if skill.Of == nil && ctx.Err() == nil {
			workers.Go(func() error {
				if err := one(skill); err != nil {
					failed[i] = fmt.Errorf("scan skill %s: %w", skill.QualifiedName(), err)
				}
				return nil
			})
		}
	}
	_ = workers.Wait() // none fails as a whole
	v.save()
	return errors.Join(failed...)
}

// look returns the names, sizes and times of files in short; "" if they cannot be listed.
func look(files fs.FS) string {
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Fprintf(sum, "%q %d %d\n", name, info.Size(), info.ModTime().UnixNano())
		}
		return err
	})
	if err != nil {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

// Blocked returns the reasons, by origin, of the skills of a catalog that the last scan
// blocks.
func (v *Verdicts) Blocked(catalog *skills.Catalog) map[string]string {
	if v.options.Block == "" {
		return nil
	}
	all := map[string]string{}
	for _, skill := range catalog.Skills {
		if found := v.Known(skill); skill.Of == nil && v.Blocks(found) {
			all[asRead(skill).Origin().String()] = refusal(skill, found).Model
		}
	}
	return all
}

// Blocks reports whether findings block a skill.
func (v *Verdicts) Blocks(found []verdict.Finding) bool {
	return v.options.Block != "" && verdict.Worst(found).AtLeast(v.options.Block)
}

// Refuse returns a [*run.Error] for a skill whose files the scan blocks, and for one that
// cannot be scanned where it blocks some. It costs nothing where it blocks none.
func (v *Verdicts) Refuse(skill *skills.Skill, digest string, files fs.FS) error {
	if v.options.Block == "" || skill.Origin().Kind == skills.OriginBundled {
		return nil
	}
	found, err := v.At(skill, digest, files)
	switch {
	case err != nil:
		return &run.Error{Code: run.Unavailable, Message: fmt.Sprintf("skill %s cannot be scanned: %v", skill.QualifiedName(), err), Err: err}
	case v.Blocks(found):
		return refusal(skill, found)
	}
	return nil
}

// refusal returns the error of a skill that is blocked by its findings. It has none of the
// skill's passages: they could be meant for the model.
func refusal(skill *skills.Skill, found []verdict.Finding) *run.Error {
	name := termtext.Visible(skill.Owner().QualifiedName())
	why := fmt.Sprintf("skill %s is blocked by the scan of its files, which found %s See %s, line %d. ", name, verdict.Summary(found), termtext.Visible(found[0].File), found[0].Line)
	return &run.Error{
		Code:    run.PermissionDenied,
		Message: why + "All of it: skills-mcp scan " + name + ". Remove the skill or the lines; or, if you have read them and they are harmless, set scan.block in the configuration.",
		Model:   why + "Tell the person. They see all of it with: skills-mcp scan " + name + ". Do not try again, and do not use its files in another way.",
	}
}
