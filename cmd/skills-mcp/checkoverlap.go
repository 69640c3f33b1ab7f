package main

import (
	"context"
	"fmt"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/check/overlap"
)

// An overlapReport prints the skills that a model will confuse.
type overlapReport struct {
	*app
	json, strict bool // strict lets the check fail if there are any
}

// run compares the skills of the catalogs, and returns the exit code.
func (r overlapReport) run(ctx context.Context, catalogs []*skills.Catalog) error {
	all := distinctSkills(catalogs)
	groups, more, err := overlap.Find(ctx, all, nil)
	if err != nil {
		return err
	}
	found := []skills.Problem{}
	for _, group := range groups {
		found = append(found, group.Problem())
	}
	if err := r.print(found, len(all), more); err != nil {
		return err
	}
	if r.strict && len(found) > 0 {
		return &exitError{exitFailed, nil}
	}
	return nil
}

func (r overlapReport) print(found []skills.Problem, compared, more int) error {
	if r.json {
		return r.printJSON(found)
	}
	for _, p := range found {
		if _, err := fmt.Fprintln(r.stdout, p); err != nil {
			return err
		}
	}
	rest := ""
	if more > 0 {
		rest = fmt.Sprintf("; %d more that are less similar are not printed", more)
	}
	_, err := fmt.Fprintf(r.stderr, "%s: %s%s\n", count(compared, "skill"), count(len(found), "group"), rest)
	return err
}

// distinctSkills returns the skills of the catalogs without tools of skills, and each
// file once: paths may overlap.
func distinctSkills(catalogs []*skills.Catalog) []*skills.Skill {
	var all []*skills.Skill
	files := map[string]bool{}
	for _, catalog := range catalogs {
		for _, s := range catalog.Skills {
			if s.Of == nil && !files[s.File] {
				files[s.File] = true
				all = append(all, s)
			}
		}
	}
	return all
}
