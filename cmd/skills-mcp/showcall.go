package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// view describes the skills of a catalog as a server would.
func (s *settings) view(ctx context.Context, catalog *skills.Catalog) *describe.View {
	names := server.ToolNames(catalog.Skills)
	return &describe.View{
		Catalog: catalog, Exposed: s.exposed(ctx, catalog), Library: skillsext.New(catalog, &skillsext.Digests{}),
		Name: func(skill *skills.Skill) string { return names[skill] }, Shadowed: catalog.Shadowed,
		Plan: func(ctx context.Context, skill *skills.Skill) *describe.Plan {
			command, err := s.executor(nil, nil, nil, nil).Plan(ctx, skill, nil)
			return s.sandbox().Plan(skill, command, err)
		},
	}
}

// sandbox returns how the configuration has commands run.
func (s *settings) sandbox() describe.Sandbox {
	return describe.Sandbox{
		Driver: s.Sandbox.Driver, Images: s.Images, Limits: s.Limits(),
		Unwritable: func(workspace string) string { return unwritable(workspace, os.Getuid()) },
	}
}

// unwritable says that skills cannot write to a workspace which they are granted:
// those of a server that root runs are nobody. It is "" where they can, and for
// any other user's server.
func unwritable(workspace string, uid int) string {
	info, err := os.Stat(workspace)
	if uid != 0 || err != nil || info.Mode().Perm()&0o002 != 0 || ownedBy(info, sandbox.Nobody) {
		return ""
	}
	return "skills of a server that root runs are nobody, who may not write there; start it as the owner of the folder"
}

// limits words the limits of a call.
func limits(l describe.Limits) string {
	return fmt.Sprintf("%ss, %s of memory, %s, %d processes, %s of output, %s in %s and in /tmp, %d open files, %s for a file",
		strconv.FormatFloat(l.Timeout, 'f', -1, 64), sandbox.Bytes(l.Memory), processors(l.CPUs), l.PIDs,
		sandbox.Bytes(l.Output), sandbox.Bytes(l.Tmp), sandbox.OutDir, l.Files, sandbox.Bytes(l.File))
}

func processors(n float64) string {
	text := strconv.FormatFloat(n, 'f', -1, 64) + " processor"
	if n != 1 {
		text += "s"
	}
	return text
}

// printPlan writes what a call would execute.
func printPlan(w io.Writer, p *describe.Plan) error {
	return table(w, func(w io.Writer) {
		row := func(key, value string) { fmt.Fprintf(w, "  %s\t%s\n", key, flat(value)) }
		if p.Refused != nil {
			row("refused", fmt.Sprintf("%s: %s", p.Refused.Code, p.Refused.Message))
		}
		// Its blanks are part of its words.
		fmt.Fprintf(w, "  command\t%s\n", strings.ReplaceAll(termtext.Text(quoteWords(p.Argv)), "\n", " "))
		if p.Stdin != "" {
			row("stdin", p.Stdin)
		}
		row("in", p.Folder)
		row("sandbox", sandboxOf(p))
		row("environment", strings.Join(p.Environment, " "))
		row("network", cmp.Or(strings.Join(p.Network, ", "), "none"))
		row("limits", limits(p.Limits))
		label := "sees"
		for _, m := range p.Mounts {
			row(label, access(m))
			label = ""
		}
	})
}

// access words what a call may do with a folder.
func access(m describe.Mount) string {
	if m.Note != "" {
		return m.Path + ", " + m.Access + ", but " + m.Note
	}
	if m.From == m.Path {
		return m.Path + ", " + m.Access
	}
	return m.Path + ", " + m.Access + ": " + m.From
}

// sandboxOf says which driver runs a call, and in what.
func sandboxOf(p *describe.Plan) string {
	image := fmt.Sprintf("docker, in the image %s of the role %s", p.Image, p.Role)
	if p.Image == "" {
		image = fmt.Sprintf("docker, in the image of the role %s, which has none", p.Role)
	}
	switch p.Driver {
	case "docker":
		return image
	case "native":
		return "native, with the programs of this machine"
	}
	return image + "; native where there is no docker"
}

// quoteWords joins words so that one sees where each ends. One of several lines is
// left out.
func quoteWords(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		switch {
		case strings.Contains(word, "\n"):
			quoted[i] = "…" // a program, which --json has in full
		case word == "" || strings.ContainsAny(word, " \t'\"\\$`"):
			quoted[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		default:
			quoted[i] = word
		}
	}
	return strings.Join(quoted, " ")
}
