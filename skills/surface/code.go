package surface

import (
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// text adds what a text does.
func (c *collector) text(s *source) {
	c.prose(s)
	c.hosts(s)
	c.signs(s)
	c.downloads(s)
	c.variables(s)
	c.paths(s)
	for _, b := range s.blocks {
		c.shell(s, b)
	}
	c.started(s)
	c.packages(s)
	c.configured(s)
}

// maxCommand bounds the bytes of a command that downloads, and maxProgram those that tell what
// it is passed to: a minified file is one line.
const (
	maxCommand = 16 << 10
	maxProgram = 400
)

// downloads adds the lines of prose, and of scripts that are not read further, that pass a
// download to an interpreter.
func (c *collector) downloads(s *source) {
	for _, fetcher := range []string{"curl", "wget", "iwr", "irm", "invoke-webrequest", "invoke-restmethod"} {
		for at := range occurrences(s.lower, fetcher+" ") {
			line, _, _ := strings.Cut(s.content[at:min(at+maxCommand, len(s.content))], "\n")
			_, rest, piped := strings.Cut(line, "|")
			words := unwrapped(strings.Fields(rest[:min(maxProgram, len(rest))]))
			if !piped || len(words) == 0 || !runs(strings.Trim(words[0], "`*\"')")) || s.script && s.code[at] == ' ' {
				continue
			}
			c.add(Item{Kind: Download, Value: "from " + originOf(line), Text: lineAt(s.content, at), File: s.name, Line: s.line(at)})
		}
	}
}

// The expressions of names in code.
var (
	secretNames = lazyregexp.New(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PAT)\b`)
	reads       = lazyregexp.New(`(?:environ(?:\.get|\.pop|\.setdefault)?\s*[\[(]\s*["']|getenv\(\s*["']|process\.env\.|process\.env\[["']|env\.get\(["']|ENV\[["']|ENV\.fetch\(["']|import\.meta\.env\.)([A-Za-z_][A-Za-z0-9_]{0,100})`)
	// starts matches the program, or the command, that Python or JavaScript starts.
	starts = lazyregexp.New(`(?:\brun|\bPopen|\bcall|\bcheck_call|\bcheck_output|\bgetoutput|\bspawn|\bspawnSync|\bexecFile|\bexecFileSync|\bexec|\bexecSync|\bsystem|\bpopen|\bexeca|\bcreate_subprocess_exec|\bcreate_subprocess_shell)\(\s*\[?\s*[fr]?["'` + "`" + `]([^"'` + "`" + `\n]{1,400})`)
	// roots matches, in lower case, a path of the home folder or of the machine.
	roots = lazyregexp.New(`(?:^|[\s"'=(:,<>|])(~/[^\s"'),;:|]*|\$\{?home\}?/[^\s"'),;:|]*|path\.home\(\)|(?:os\.)?homedir\(\)|expanduser\(|/(?:etc|var|root|home|users|proc|sys|opt|library|private|boot|mnt|media|srv|run)/[^\s"'),;:|]*)`)
)

// variables adds the variables that a text reads, or names if they hold a secret.
func (c *collector) variables(s *source) {
	add := func(name string, at int) {
		if !isUsual(name) {
			c.add(Item{Kind: Variable, Value: name, File: s.name, Line: s.line(at)})
		}
	}
	for _, m := range matches(s.content, secretNames, "_KEY", "_TOKEN", "_SECRET", "_PASSW", "_CREDENTIAL", "_PAT") {
		add(s.content[m[0]:m[1]], m[0])
	}
	for _, m := range matches(s.content, reads, "environ", "getenv", "process.env", "env.get(", "ENV", "import.meta.env") {
		if s.code[m[2]] != ' ' {
			add(s.content[m[2]:m[3]], m[2])
		}
	}
}

// isUsual reports whether a variable says nothing about a skill.
func isUsual(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "PWD", "LANG", "SHELL", "TERM", "TMPDIR", "TEMP", "TMP", "DEBUG", "VERBOSE", "CI", "EDITOR", "VISUAL", "PAGER", "PYTHONPATH", "NODE_ENV",
		"NO_COLOR", "LOG_LEVEL", "HOSTNAME", "PYTHONUNBUFFERED", "DISPLAY", "APPDATA", "USERPROFILE", "LOCALAPPDATA":
		return true
	}
	prefix, _, _ := strings.Cut(name, "_")
	switch prefix {
	case "SKILL", "LINX", "LC", "XDG":
		return true
	}
	return strings.HasPrefix(name, "CLAUDE_PLUGIN") || strings.HasPrefix(name, "CLAUDE_SKILL")
}

// started adds the programs that Python and JavaScript start.
func (c *collector) started(s *source) {
	if !s.script || s.language == shellCode {
		return
	}
	for _, m := range matches(s.content, starts, "run(", "open(", "call(", "output(", "spawn", "exec", "system(", "create_subprocess_shell(") {
		if s.code[m[2]] != ' ' {
			c.shell(s, block{text: s.content[m[2]:m[3]], line: s.line(m[2])})
		}
	}
}

// paths adds the paths outside of the workspace that code names.
func (c *collector) paths(s *source) {
	for _, m := range matches(s.code, roots, "~/", "$home/", "{home}/", "path.home()", "homedir()", "expanduser(", "/etc/", "/var/", "/root/", "/home/", "/users/", "/proc/", "/sys/", "/opt/", "/library/", "/private/", "/boot/", "/mnt/", "/media/", "/srv/", "/run/") {
		c.add(Item{Kind: Path, Value: placeOf(s.code[m[2]:m[3]]), Text: lineAt(s.content, m[2]), File: s.name, Line: s.line(m[2])})
	}
}

// placeOf returns the first two folders of a path outside of the workspace.
func placeOf(path string) string {
	switch {
	case strings.HasSuffix(path, "()"), path == "expanduser(":
		return "~"
	case strings.HasPrefix(path, "$"):
		_, rest, _ := strings.Cut(path, "/")
		path = "~/" + rest
	}
	parts := strings.Split(strings.TrimRight(path, "/.`"), "/")
	return strings.Join(parts[:min(3, len(parts))], "/")
}
