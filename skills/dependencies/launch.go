package dependencies

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// A Launch is a command line that installs packages and starts a program of them, such as
// "npx -y PACKAGE".
type Launch struct {
	Declared // File is the launcher, such as "npx"
	// Package is the name of the package whose program is started; "" where Program says it.
	Package string
	// Program is the name of the program; "" is the one of Package, by its metadata.
	Program string
	Args    []string // of the program
}

// A launcher is a program that starts programs of packages, with the options that are read.
type launcher struct {
	command  string // with its subcommand
	kind     string
	packages []string // options with the package of the program; for Node, with any package
	with     []string // options with another package
	python   []string // options with a version of Python
	mixed    bool     // options may follow the program, until --
}

// Sources: the manuals of npm-exec(1), pnpm, Yarn, Bun, uv and pipx.
var launchers = []launcher{
	{command: "npx", kind: Node, packages: []string{"-p", "--package"}},
	{command: "npm exec", kind: Node, packages: []string{"--package"}, mixed: true},
	{command: "npm x", kind: Node, packages: []string{"--package"}, mixed: true},
	{command: "pnpx", kind: Node, packages: []string{"--package"}},
	{command: "pnpm dlx", kind: Node, packages: []string{"--package"}},
	{command: "yarn dlx", kind: Node, packages: []string{"-p", "--package"}},
	{command: "bunx", kind: Node, packages: []string{"-p", "--package"}},
	{command: "bun x", kind: Node, packages: []string{"-p", "--package"}},
	{command: "uvx", kind: Python, packages: []string{"--from"}, with: []string{"--with"}, python: []string{"-p", "--python"}},
	{command: "uv tool run", kind: Python, packages: []string{"--from"}, with: []string{"--with"}, python: []string{"-p", "--python"}},
	{command: "pipx run", kind: Python, packages: []string{"--spec"}, python: []string{"--python"}},
}

// without are the options without a value. They change nothing here: nobody is asked by the
// installer, and it prints where it is read.
var without = map[string][]string{
	Node:   {"-y", "--yes", "-q", "--quiet", "-s", "--silent"},
	Python: {"-q", "--quiet", "-n", "--no-cache", "--isolated"},
}

// ParseLaunch returns the packages and the program of a command line. It is nil where its
// program is none of npx, npm exec, pnpx, pnpm dlx, yarn dlx, bunx, bun x, uvx, uv tool run
// and pipx run. The error is an [*Error].
func ParseLaunch(argv []string) (*Launch, error) {
	l, rest := launcherOf(argv)
	if l == nil {
		return nil, nil
	}
	launch, err := l.parse(rest)
	if err == nil {
		return launch, nil
	}
	wrong, ok := errors.AsType[*Error](err)
	if !ok {
		wrong = &Error{Message: err.Error(), Remedy: "start the server with a package of the registry, as in " + l.example()}
	}
	wrong.File, wrong.Line = l.command, 0
	return nil, wrong
}

func (l *launcher) example() string {
	if l.kind == Python {
		return "uvx PACKAGE"
	}
	return "npx -y PACKAGE"
}

// launcherOf returns the launcher of a command line, and the words after it. A command line
// for Windows begins with "cmd /c".
func launcherOf(argv []string) (*launcher, []string) {
	if len(argv) > 2 && strings.TrimSuffix(strings.ToLower(argv[0]), ".exe") == "cmd" && strings.EqualFold(argv[1], "/c") {
		argv = argv[2:]
	}
	if len(argv) == 0 {
		return nil, nil
	}
	words := append([]string{path.Base(argv[0])}, argv[1:]...)
	for i := range launchers {
		if begin := strings.Fields(launchers[i].command); len(words) >= len(begin) && slices.Equal(words[:len(begin)], begin) {
			return &launchers[i], words[len(begin):]
		}
	}
	return nil, nil
}

// options are the values of a launcher's options.
type options struct {
	packages, with, python []string
	rest                   []string // the program and its arguments
}

// read reads the words after a launcher.
func (l *launcher) read(words []string) (o options, err error) {
	for i := 0; i < len(words); i++ {
		name, value, given := strings.Cut(words[i], "=")
		var values *[]string
		switch {
		case words[i] == "--":
			o.rest = append(o.rest, words[i+1:]...)
			return o, nil
		case !strings.HasPrefix(name, "-") && l.mixed:
			o.rest = append(o.rest, words[i])
			continue
		case !strings.HasPrefix(name, "-"):
			o.rest = words[i:]
			return o, nil
		case !given && slices.Contains(without[l.kind], name):
			continue
		case slices.Contains(l.packages, name):
			values = &o.packages
		case slices.Contains(l.with, name):
			values = &o.with
		case slices.Contains(l.python, name):
			values = &o.python
		default:
			return o, fmt.Errorf("the option %.100q is not taken", words[i])
		}
		if i++; given {
			i--
		} else if i < len(words) {
			value = words[i]
		}
		if value == "" {
			return o, fmt.Errorf("the option %s has no value", name)
		}
		*values = append(*values, value)
	}
	return o, nil
}

// parse reads the words after a launcher.
func (l *launcher) parse(words []string) (*Launch, error) {
	o, err := l.read(words)
	switch {
	case err != nil:
		return nil, err
	case len(o.rest) == 0:
		return nil, errors.New("it names nothing to start")
	case len(o.packages) > 0 && (strings.ContainsAny(o.rest[0], "/$") || o.rest[0] == ""):
		return nil, fmt.Errorf("%.100q is no program of a package", o.rest[0])
	}
	launch := &Launch{Program: o.rest[0], Args: o.rest[1:]}
	specs := o.packages
	if len(specs) == 0 {
		launch.Program, specs = "", o.rest[:1]
	}
	if l.kind == Node {
		err = launch.node(specs)
	} else {
		err = launch.pythonic(specs, &o)
	}
	launch.File, launch.Digest = l.command, digest(&launch.Declared)
	return launch, err
}

// node declares packages such as "@scope/name@1.2".
func (l *Launch) node(specs []string) error {
	m := manifest{Dependencies: map[string]string{}}
	for _, spec := range specs {
		name, version := spec, "latest"
		if at := strings.LastIndexByte(spec, '@'); at > 0 {
			name, version = spec[:at], spec[at+1:]
		}
		if !packageName().MatchString(name) || !packageVersion().MatchString(version) || strings.Contains(version, ":") || version == "" || m.Dependencies[name] != "" {
			return notFromRegistry(spec)
		}
		m.Dependencies[name] = version
		if l.Program == "" {
			l.Package = name
		}
	}
	d, err := m.declare(nil)
	if err == nil {
		l.Declared = *d
	}
	return err
}

// pythonic declares packages such as "name[extra]==1.2", "name@1.2" and "name@latest".
func (l *Launch) pythonic(specs []string, o *options) error {
	if len(specs) > 1 || len(o.python) > 1 {
		return errors.New("it names two packages, or two versions of Python")
	}
	var requirements []requirement
	for _, spec := range append(slices.Clone(specs), o.with...) {
		if name, version, found := strings.Cut(spec, "@"); found && !strings.ContainsAny(spec, ":/ ") { // no address
			if spec = name; version != "latest" {
				spec += "==" + version
			}
		}
		requirements = append(requirements, requirement{text: spec})
	}
	d, err := declarePython("", requirements)
	if err != nil {
		return err
	}
	l.Declared = *d
	if l.Program == "" { // it has the name of its package
		l.Program = strings.TrimSpace(specs[0][:strings.IndexAny(specs[0]+"@", "[<>=!~;@( ")])
	}
	for _, version := range o.python {
		wanted := strings.TrimPrefix(version, "python")
		if !strings.ContainsAny(wanted, "<>=!~") {
			wanted = "==" + wanted + ".*"
		}
		if !specifiers().MatchString(wanted) || !strings.ContainsAny(wanted, "0123456789") {
			return fmt.Errorf("--python %.100q is no version", version)
		}
		l.Lock = append(l.Lock, File{"requires-python", []byte(wanted + "\n")})
	}
	return nil
}
