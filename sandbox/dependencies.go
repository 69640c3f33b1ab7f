package sandbox

// The kinds of packages that a command may need.
const (
	Python = "python"
	Node   = "node"
)

// DependenciesDir is the folder of a sandbox that has installed packages, in folders named by
// their kind.
const DependenciesDir = "/opt/skill-deps"

// Dependencies are packages that a command needs beside its image. A driver that
// cannot install them refuses the command with an [*UnavailableError].
type Dependencies struct {
	Kind string // [Python] or [Node]
	// Lock holds the installer's input files. For Python: "requirements.txt", and where
	// only some versions of Python will do, "requires-python". For Node:
	// "package.json", and "package-lock.json" where there is one. It holds nothing
	// that an installer would run.
	Lock []File
	// Digest names Kind and Lock: equal digests are equal dependencies.
	Digest string
	// Packages are the names and versions that were asked for, for people.
	Packages []string
}
