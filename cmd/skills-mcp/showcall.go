package main

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/termtext"
)

// limits renders the limits of a call.
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

// printPlan writes the plan of a call.
func printPlan(w io.Writer, p *describe.Plan) error {
	return table(w, func(w io.Writer) {
		row := func(key, value string) { fmt.Fprintf(w, "  %s\t%s\n", key, flat(value)) }
		if p.Refused != nil {
			row("refused", fmt.Sprintf("%s: %s", p.Refused.Code, p.Refused.Message))
		}
		// Its spaces are part of its words.
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

// access renders a call's access to a folder.
func access(m describe.Mount) string {
	if m.Note != "" {
		return m.Path + ", " + m.Access + ", but " + m.Note
	}
	if m.From == m.Path {
		return m.Path + ", " + m.Access
	}
	return m.Path + ", " + m.Access + ": " + m.From
}

// sandboxOf renders the driver and image that run a call.
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
