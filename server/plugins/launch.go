package plugins

import (
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills/dependencies"
)

const (
	// startProgram starts the program $0, or the image's with its name, as python3 is, or says
	// what else there is.
	startProgram = `[ -x "$0" ] && exec "$0" "$@"
program=$(command -v "${0##*/}") && exec "$program" "$@"
echo "the installed packages have no program ${0##*/}; they have:" $(ls "${0%/*}") >&2
exit 127`
	// startPackage starts the program of the Node package in the folder $1 of node_modules, $0:
	// its only one, or else the one with its name.
	startPackage = `bin=$(node -p '
const [, modules, name] = process.argv, { bin } = require(modules + "/" + name + "/package.json"), own = name.replace(/.*\//, "");
const names = typeof bin === "string" ? [own] : Object.keys(bin ?? {});
names.length === 1 || new Set(Object.values(bin ?? {})).size === 1 ? names[0] : names.includes(own) ? own :
	(console.error("the package " + name + " has no program of its name; it has: " + names.join(" ")), process.exit(127))' "$0" "$1") || exit
shift; exec "$0/.bin/$bin" "$@"`
)

// starter returns the beginning of the command line of a program whose packages are installed.
func starter(l *dependencies.Launch) []string {
	modules := sandbox.DependenciesDir + "/node/node_modules"
	switch {
	case l.Kind == dependencies.Python:
		return []string{"/bin/sh", "-c", startProgram, sandbox.DependenciesDir + "/python/bin/" + l.Program}
	case l.Program == "":
		return []string{"/bin/sh", "-c", startPackage, modules, l.Package}
	}
	return []string{"/bin/sh", "-c", startProgram, modules + "/.bin/" + l.Program}
}
