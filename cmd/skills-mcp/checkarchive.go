package main

import (
	"context"
	"errors"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/archive"
)

// openArchives are those that a check reads, until it ends.
type openArchives struct{ list []*archive.Archive }

// close ends their use. Nothing was written to them.
func (o *openArchives) close() {
	for _, a := range o.list {
		_ = a.Close()
	}
}

// checkArchive reads the skill that is packed in a file. Its files are named as
// if the archive were a folder.
func (s *settings) checkArchive(ctx context.Context, path string, open *openArchives) (*skills.Catalog, error) {
	packed, err := archive.Open(path)
	var fault *archive.Error
	if errors.As(err, &fault) {
		return &skills.Catalog{Problems: []skills.Problem{archiveProblem(path, fault)}}, nil
	}
	if err != nil {
		return nil, err
	}
	open.list = append(open.list, packed)
	root := skills.Root{Source: skills.SourceExtra, FS: packed, Label: path}
	catalog, err := skills.Scan(ctx, []skills.Root{root}, s.scanOptions())
	if err != nil {
		return nil, err
	}
	for _, note := range packed.Notes() {
		catalog.Problems = append(catalog.Problems, skills.Problem{Severity: skills.Note, Path: path, Message: note})
	}
	return catalog, nil
}

// archiveProblem is why an archive cannot be taken.
func archiveProblem(path string, fault *archive.Error) skills.Problem {
	p := skills.Problem{Severity: skills.Error, Path: path, Message: fault.Message, Remedy: fault.Remedy}
	if fault.Entry != "" {
		p.Path += "/" + fault.Entry
	}
	return p
}
