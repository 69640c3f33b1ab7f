package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// folders is a run of the suite folders.
type folders struct {
	lineup
	rounds uint
	most   uint // MB of the largest skill
	edit   int  // number of the last change
}

// heavyScripts returns skills that weigh up to most MB, the lightest first. Each
// has a SKILL.md, a script and files of one size.
func heavyScripts(most uint) (all []script) {
	for _, weight := range []struct {
		files, bytes int
		name         string
	}{{2, 0, ""}, {62, 1_200_000, ", 1.2 MB"}, {502, 2_000_000, ", 2 MB"}, {22, 20_000_000, ", 20 MB"}, {102, 200_000_000, ", 200 MB"}} {
		if weight.bytes > int(most)*1_000_000 {
			continue
		}
		s := scripts()[0]
		s.name = fmt.Sprintf("f%d", weight.files) // a tool name has at most 47 bytes
		s.about = fmt.Sprintf("%d files%s", weight.files, weight.name)
		s.data = slices.Repeat([]int{weight.bytes / max(weight.files-2, 1)}, weight.files-2)
		all = append(all, s)
	}
	return all
}

// folderEntries returns the contenders of the suite.
func folderEntries() []entry {
	return []entry{
		{"serve-native", "the server on the native driver", (*host).serveNative, true},
		{"serve-unwatched", "the same without file watches", (*host).serveUnwatched, true},
		{"serve-docker", "the server on the docker driver", (*host).serveDocker, true},
	}
}

func (h *host) serveUnwatched(ctx context.Context, name string, b binary) (*contender, error) {
	return h.serve(ctx, &contender{name: name, unwatched: true}, "native", b)
}

func folderSuite() suite {
	f := &folders{lineup: lineup{entries: folderEntries()}}
	return suite{
		name: "folders", quick: []string{"rounds=1", "most=2"},
		about: fmt.Sprintf(`folders calls skills whose folders weigh from 2 files to 200 MB through the server,
each after a rest of %v. In each round each contender calls each skill once as it
is, and once when its script was changed before the rest. The client blocks in a
read until the answer.

  × 2 files    the time of a call as a multiple of that of the skill with 2 files
  × unchanged  the time of a call after the change as a multiple of the one before
  copy ms      the time to copy the changed file beside it, in the last round

An older server may write %d times 200 MB for each contender to the folder of
temporary files. Contenders:
%s`, folderRest, folderRounds, f.list()),
		flags: func(flags *flag.FlagSet) {
			f.flags(flags)
			flags.UintVar(&f.rounds, "rounds", folderRounds, "how many turns each contender has")
			flags.UintVar(&f.most, "most", 200, "the largest skill in `MB`")
		},
		measure: func(ctx context.Context, b *bench) error {
			f.blocking, f.scripts = true, heavyScripts(f.most)
			return f.with(ctx, b, func(contenders []*contender) error { return f.measure(ctx, contenders) })
		},
	}
}

const (
	folderRest   = 300 * time.Millisecond
	folderRounds = 12
)

func (f *folders) measure(ctx context.Context, contenders []*contender) error {
	for _, one := range contenders {
		for _, s := range f.scripts { // the first call makes the snapshot
			if err := one.call(ctx, s, 1); err != nil {
				return fmt.Errorf("%s: %s: %w", one.name, s.about, err)
			}
		}
	}
	err := takeTurns(contenders, rounds(f.rounds), func(one *contender) error { return f.turn(ctx, one) })
	for _, one := range contenders {
		lightest := f.result(one, f.scripts[0], "").figure("p50 ms").rounds
		for _, s := range f.scripts {
			same, changed := f.result(one, s, ""), f.result(one, s, changedSuffix)
			own := same.figure("p50 ms").rounds
			same.relate("× 2 files", own, lightest, quotient)
			changed.relate("× unchanged", changed.figure("p50 ms").rounds, own, quotient)
		}
	}
	return err
}

// changedSuffix ends the case of calls after a change.
const changedSuffix = ", one file changed"

// result returns the figures of a contender's calls of a skill.
func (f *folders) result(one *contender, s script, suffix string) *result {
	return f.report.result(fmt.Sprintf("a call after a rest of %v%s", folderRest, suffix), s.about+": "+one.name)
}

// turn is one contender's part of a round.
func (f *folders) turn(ctx context.Context, one *contender) error {
	for _, s := range f.scripts {
		if err := f.result(one, s, "").record(ctx, one, one.once(s, folderRest)); err != nil {
			return err
		}
		changed := f.result(one, s, changedSuffix)
		copied, err := f.change(f.skillFolder(one.name, s), s)
		if err != nil {
			return err
		}
		if err := changed.record(ctx, one, one.once(s, folderRest)); err != nil {
			return err
		}
		changed.set("copy ms", milliseconds(copied)) // of the last change
	}
	return nil
}

// change changes a skill's script, and returns the time to copy it.
func (f *folders) change(folder string, s script) (time.Duration, error) {
	f.edit++
	file := filepath.Join(folder, s.file)
	if err := writeFile(file, s.content+fmt.Sprintf("# edit %d\n", f.edit)); err != nil {
		return 0, err
	}
	began := time.Now()
	text, err := os.ReadFile(file)
	if err == nil {
		err = writeFile(filepath.Join(f.bench.dir, "copy"), string(text))
	}
	return time.Since(began), err
}
