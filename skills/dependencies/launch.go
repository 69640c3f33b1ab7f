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

// launchers have the kind of packages by the program, with its subcommand, that starts
// programs of them.
var launchers = map[string]string{
	"npx": Node, "npm exec": Node, "npm x": Node, "pnpx": Node, "pnpm dlx": Node, "yarn dlx": Node, "bunx": Node, "bun x": Node,
	"uvx": Python, "uv tool run": Python, "pipx run": Python,
}

// Kinds of options. One of none has no value, and changes nothing here: the installer asks
// nobody, and has no cache.
const (
	none   = "none"
	main   = "main"   // the package of the program; for Node, any package
	with   = "with"   // another package
	python = "python" // a version of Python
)

// launchOptions have the kind of an option of launchers, by their kind. Sources: the manuals
// of npm-exec(1), pnpm, Yarn, Bun, uv and pipx.
var launchOptions = map[string]map[string]string{
	Node:   {"-p": main, "--package": main, "-y": none, "--yes": none, "-f": none, "--force": none, "-q": none, "--quiet": none, "-s": none, "--silent": none},
	Python: {"--from": main, "--spec": main, "--with": with, "-p": python, "--python": python, "-q": none, "--quiet": none, "-n": none, "--no-cache": none, "--isolated": none},
}

// ParseLaunch returns the packages and the program of a command line. It is nil where its
// program is none of npx, npm exec, pnpx, pnpm dlx, yarn dlx, bunx, bun x, uvx, uv tool run
// and pipx run, and with an error, which is an [*Error].
func ParseLaunch(argv []string) (*Launch, error) {
	launcher, rest := launcherOf(argv)
	if launcher == "" {
		return nil, nil
	}
	l, err := parseLaunch(launcher, rest)
	if err == nil {
		return l, nil
	}
	wrong, ok := errors.AsType[*Error](err)
	if !ok {
		wrong = &Error{Message: err.Error(), Remedy: "start a package of the registry, as in npx -y PACKAGE or uvx PACKAGE"}
	}
	wrong.File, wrong.Line = launcher, 0
	return nil, wrong
}

// launcherOf returns the launcher of a command line, "" for none, and the words after it. A
// command line for Windows begins with "cmd /c".
func launcherOf(argv []string) (string, []string) {
	if len(argv) > 2 && strings.TrimSuffix(strings.ToLower(argv[0]), ".exe") == "cmd" && strings.EqualFold(argv[1], "/c") {
		argv = argv[2:]
	}
	for n := min(len(argv), 3); n > 0; n-- {
		launcher := strings.Join(append([]string{path.Base(argv[0])}, argv[1:n]...), " ")
		if launchers[launcher] != "" {
			return launcher, argv[n:]
		}
	}
	return "", nil
}

// readOptions reads the words after a launcher: the values of its options by kind, and the
// program with its arguments. npm reads options after the program, too.
func readOptions(launcher string, words []string) (values map[string][]string, rest []string, err error) {
	values = map[string][]string{}
	for i := 0; i < len(words); i++ {
		name, value, given := strings.Cut(words[i], "=")
		switch kind := launchOptions[launchers[launcher]][name]; {
		case words[i] == "--":
			return values, append(rest, words[i+1:]...), nil
		case !strings.HasPrefix(name, "-") && strings.HasPrefix(launcher, "npm "):
			rest = append(rest, words[i])
		case !strings.HasPrefix(name, "-"):
			return values, words[i:], nil
		case kind == none && !given:
		case kind == "" || kind == none:
			return nil, nil, fmt.Errorf("the option %.100q is not taken", words[i])
		default:
			if !given && i+1 < len(words) {
				i++
				value = words[i]
			}
			if value == "" {
				return nil, nil, fmt.Errorf("the option %s has no value", name)
			}
			values[kind] = append(values[kind], value)
		}
	}
	return values, rest, nil
}

// parseLaunch reads the words after a launcher.
func parseLaunch(launcher string, words []string) (*Launch, error) {
	values, rest, err := readOptions(launcher, words)
	specs := values[main]
	switch {
	case err != nil:
		return nil, err
	case len(rest) == 0:
		return nil, errors.New("it names nothing to start")
	case len(specs) > 0 && (strings.ContainsAny(rest[0], "/$") || rest[0] == ""):
		return nil, fmt.Errorf("%.100q is no program of a package", rest[0])
	}
	l := &Launch{Program: rest[0], Args: rest[1:]}
	if len(specs) == 0 {
		l.Program, specs = "", rest[:1]
	}
	if launchers[launcher] == Node {
		err = l.node(specs)
	} else {
		err = l.pythonic(specs, values[with], values[python])
	}
	l.File, l.Digest = launcher, digest(&l.Declared)
	return l, err
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
func (l *Launch) pythonic(specs, with, versions []string) error {
	if len(specs) > 1 || len(versions) > 1 {
		return errors.New("it names two packages, or two versions of Python")
	}
	var requirements []requirement
	for _, spec := range slices.Concat(specs, with) {
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
	for _, version := range versions {
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
