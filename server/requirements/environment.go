package requirements

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
)

// An environment is the one in which a skill runs, or in which a client follows its
// instructions.
type environment struct {
	// os is its operating system, as of GOOS.
	os string
	// name names it for people: "the sandbox", "this machine".
	name string
	// programs names the location of its programs, such as `image "default"`.
	programs string
	// has reports whether it has a program; nil if that is unknown.
	has func(program string) bool
	// env reports whether an environment variable is set.
	env func(name string) bool
	// envRemedy returns the remedy for variables that are not set; nil has none.
	envRemedy func(names []string) string
	// config and capabilities are the names that are provided.
	config, capabilities []string
	// remedy is the remedy for a missing program.
	remedy string
}

// lacks returns the requirements that an environment does not meet, such as
// `needs jq in image "default"`, and the remedy. It returns "" if none is known to be
// missing.
func lacks(r skills.Requires, at environment) (reason, remedy string) {
	var reasons, remedies []string
	add := func(remedy, format string, args ...any) {
		reasons = append(reasons, fmt.Sprintf(format, args...))
		if remedy != "" && !slices.Contains(remedies, remedy) {
			remedies = append(remedies, remedy)
		}
	}
	if len(r.OS) > 0 && !slices.Contains(r.OS, at.os) {
		add("", "needs %s, and %s is %s", skills.Enumerate(r.OS, "or"), at.name, at.os)
	}
	if at.has != nil {
		if gone := missing(r.Bins, at.has); len(gone) > 0 {
			add(at.remedy, "needs %s in %s", skills.Enumerate(gone, "and"), at.programs)
		}
		if len(r.AnyBins) > 0 && len(missing(r.AnyBins, at.has)) == len(r.AnyBins) {
			add(at.remedy, "needs %s in %s", skills.Enumerate(r.AnyBins, "or"), at.programs)
		}
	}
	if gone := missing(r.Env, at.env); len(gone) > 0 {
		remedy := ""
		if at.envRemedy != nil {
			remedy = at.envRemedy(gone)
		}
		add(remedy, "needs %s in the environment of %s", skills.Enumerate(gone, "and"), at.name)
	}
	if gone := missing(r.Config, in(at.config)); len(gone) > 0 {
		add("name it in provides.config, if it is so", "needs %s in its agent's configuration", skills.Enumerate(gone, "and"))
	}
	if gone := missing(r.Capabilities, in(at.capabilities)); len(gone) > 0 {
		add("name it in provides.capabilities, if it is so", "needs the capability %s", skills.Enumerate(gone, "and"))
	}
	return strings.Join(reasons, "; "), strings.Join(remedies, "; ")
}

// missing returns the names that has does not report; nil reports none.
func missing(names []string, has func(string) bool) (gone []string) {
	for _, name := range names {
		if has == nil || !has(name) {
			gone = append(gone, name)
		}
	}
	return gone
}

// in returns a function that reports whether a name is among names.
func in(names []string) func(name string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}
