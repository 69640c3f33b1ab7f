package check

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/infer/python"
	"github.com/skillsmcp/skills-mcp/skills/infer/python/syntax"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Review returns problems for a skill's author that loading does not look for: a name of
// the file that other clients do not know, a tool without a description, a first line
// that names no interpreter, source that Python refuses, and parameters that the script's
// own parser does not know.
func Review(s *skills.Skill) []skills.Problem {
	if s.Entry == nil {
		return misnamed(s)
	}
	return slices.Concat(misnamed(s), undescribed(s), nameless(s), reviewPython(s))
}

// misnamed reports a file skill.md.
func misnamed(s *skills.Skill) []skills.Problem {
	if name := filepath.Base(s.File); s.Of != nil || name == "SKILL.md" || !strings.EqualFold(name, "SKILL.md") {
		return nil
	}
	return []skills.Problem{{Severity: skills.Warning, Path: s.File, Message: "other clients look for SKILL.md, in capitals", Remedy: "rename it"}}
}

// nameless reports a script whose first line "#!" names no program.
func nameless(s *skills.Skill) []skills.Problem {
	script := path.Clean(s.Entry.Script)
	head, err := skillfs.ReadHead(s.Files, script)
	if err != nil || !infer.NamesNothing(head) || !infer.Tells(script, head) { // loading has reported the latter
		return nil
	}
	return []skills.Problem{{
		Severity: skills.Warning, Path: filepath.Join(filepath.Dir(s.File), filepath.FromSlash(script)), Line: 1, Col: 1,
		Message: "the first line names no program, so the script is run with " + strings.Join(s.Entry.Interpreter, " "), Remedy: "name one, as in #!/usr/bin/env python3",
	}}
}

// undescribed reports a tool that has its skill's description for want of its
// own.
func undescribed(s *skills.Skill) []skills.Problem {
	if s.Of == nil || s.Description != infer.BorrowedDescription(s) || infer.Mention(s) != "" {
		return nil
	}
	problem := skills.Problem{
		Severity: skills.Note, Path: filepath.Join(filepath.Dir(s.File), filepath.FromSlash(path.Clean(s.Entry.Script))), Message: fmt.Sprintf("nothing says what the tool %s does, so clients see its skill's description", s.Name),
		Remedy: "begin the script with a docstring or a comment that does",
	}
	if filepath.Base(s.File) == manifest.ToolsFile {
		problem.Path, problem.Remedy = s.File, "give it a description"
	}
	return []skills.Problem{problem}
}

func reviewPython(s *skills.Skill) []skills.Problem {
	if len(s.Entry.Interpreter) == 0 || s.Entry.Interpreter[0] != "python3" {
		return nil
	}
	script := path.Clean(s.Entry.Script)
	source, err := manifest.ReadFile(s.Files, script, manifest.MaxSize)
	if err != nil {
		return nil
	}
	source = python.Code(script, source)
	if line, err := syntax.SyntaxError(source); err != nil {
		file := filepath.Join(filepath.Dir(s.File), filepath.FromSlash(script))
		return []skills.Problem{{Severity: skills.Error, Path: file, Line: line, Message: "Python does not read the script: " + err.Error(), Remedy: "correct it; it is run with python3"}}
	}
	flags, ok := s.Entry.Args.(skills.Flags)
	if !ok || len(flags) == 0 {
		return nil
	}
	taken := python.Read(path.Base(script), source)
	var refused []string
	for _, p := range flags {
		if taken.Refuses("--" + p.Name) {
			refused = append(refused, "--"+p.Name)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return []skills.Problem{{
		Severity: skills.Warning, Path: s.File, Message: "the script " + s.Entry.Script + " does not take " + strings.Join(refused, ", ") + ", which params declare",
		Remedy: "declare the names of the script's own options, or leave params out: they are read from the script",
	}}
}
