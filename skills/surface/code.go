package surface

import (
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// downloads adds the lines that download and run, also those in prose and in languages
// that are not read further.
func (c *collector) downloads(s *source) {
	fetchers := []string{"curl", "wget", "iwr", "irm", "invoke-", "fetch", "urlopen", "requests", "httpx", "webclient", "downloadstring", "urlretrieve"}
	if !containsAny(s.lower, fetchers...) {
		return
	}
	text := strings.ReplaceAll(s.lower, "\\\n", "  ")
	for _, m := range matches(text, pipes, fetchers...) {
		if s.script && s.code[m[0]] == ' ' { // a comment
			continue
		}
		line := lineAt(s.content, m[0])
		c.add(Item{Kind: Download, Value: "from " + origins(s.content[m[0]:m[1]], line), Text: line, File: s.name, Line: s.line(m[0])})
	}
}

// pipes matches, in lower case, a download that is passed to an interpreter.
var pipes = lazyregexp.New(`\b(?:curl|wget|iwr|irm|invoke-webrequest|invoke-restmethod)\b[^\n]{0,400}\|\s*(?:(?:sudo|env|exec|nohup)\s+(?:-\S+\s+)*)*(?:\S{0,100}/)?(?:(?:ba|z|da|k|a|fi)?sh|python[0-9.]*|node|perl|ruby|php|deno|bun|iex|invoke-expression|osascript|pwsh|powershell)\b` +
	`|\b(?:(?:ba|z|da|k)?sh|eval|source|python[0-9.]*|node|perl|ruby|iex)\b[^\n]{0,40}(?:<\(|\$\(|` + "`" + `|\()\s*(?:curl|wget|iwr|irm|invoke-webrequest|new-object net\.webclient)\b` +
	`|\b(?:exec|eval|function|loads|import_module)\s*\([^\n]{0,200}(?:urlopen|urlretrieve|requests\.|httpx\.|fetch\(|downloadstring)`)

func containsAny(text string, words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// buffers matches the code of Node that decodes a text.
var buffers = lazyregexp.New(`from\([^\n]{0,400}?,\s*["'](base64|hex)(?:url)?["']\s*\)`)

// secrets adds the variables that a text reads.
func (c *collector) secrets(s *source) {
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
	for _, m := range matches(s.code, wholeEnvironment, "os.environ", "process.env", "printenv") {
		c.add(Item{Kind: Variable, Value: allVariables, Text: lineAt(s.content, m[0]), File: s.name, Line: s.line(m[0])})
	}
	if s.language == shellCode && s.script {
		assigned := map[string]bool{}
		for _, m := range matches(s.content, assigns, "=", "read ", " in ") {
			assigned[s.content[m[2]:m[3]]] = true
		}
		for _, m := range matches(s.content, expands, "$") {
			if name := s.content[m[2]:m[3]]; !assigned[name] && s.code[m[2]] != ' ' {
				add(name, m[2])
			}
		}
	}
}

// allVariables is the value of reading the whole environment.
const allVariables = "of any name"

var (
	secretNames      = lazyregexp.New(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PAT)\b`)
	reads            = lazyregexp.New(`(?:environ(?:\.get|\.pop|\.setdefault)?\s*[\[(]\s*["']|getenv\(\s*["']|process\.env\.|process\.env\[["']|env\.get\(["']|ENV\[["']|ENV\.fetch\(["']|import\.meta\.env\.)([A-Za-z_][A-Za-z0-9_]{0,100})`)
	wholeEnvironment = lazyregexp.New(`(?:\bdict\(os\.environ|os\.environ\.(?:items|values|keys)\(|(?:json\.)?dumps?\(\s*(?:dict\()?os\.environ|json\.stringify\(process\.env|object\.(?:entries|keys|values)\(process\.env|str\(os\.environ|\bprintenv\s*(?:\||>|$))`)
	assigns          = lazyregexp.New(`(?m)(?:^|[\s;])(?:for\s+|read\s+(?:-\w+\s+)*)?([A-Za-z_][A-Za-z0-9_]*)(?:\+?=|\s+in\s|$)`)
	expands          = lazyregexp.New(`\$\{?([A-Z][A-Z0-9_]{2,100})`)
)

// isUsual reports whether a variable says nothing about a skill.
func isUsual(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "PWD", "OLDPWD", "LANG", "LANGUAGE", "SHELL", "TERM", "TMPDIR", "TEMP", "TMP", "DEBUG", "VERBOSE", "CI", "EDITOR", "VISUAL", "PAGER", "COLUMNS", "LINES", "IFS", "BASH_SOURCE", "PYTHONPATH", "NODE_ENV",
		"NO_COLOR", "LOG_LEVEL", "HOSTNAME", "RANDOM", "LINENO", "FUNCNAME", "EUID", "UID", "OSTYPE", "ARGUMENTS", "BASH_REMATCH", "SECONDS", "OPTARG", "OPTIND", "REPLY", "PIPESTATUS", "PYTHONUNBUFFERED", "DISPLAY", "APPDATA", "USERPROFILE", "LOCALAPPDATA":
		return true
	}
	return strings.HasPrefix(name, "SKILL_") || strings.HasPrefix(name, "LINX_") || strings.HasPrefix(name, "CLAUDE_PLUGIN") || strings.HasPrefix(name, "CLAUDE_SKILL") || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_")
}

// programs adds the programs that code starts, the texts that it decodes, and the paths
// outside of the workspace that it names.
func (c *collector) programs(s *source) {
	for _, m := range matches(s.code, buffers, "base64", "hex") {
		c.add(Item{Kind: Decoder, Value: s.code[m[2]:m[3]], Text: lineAt(s.content, m[0]), File: s.name, Line: s.line(m[0])})
	}
	if s.script && s.language != shellCode {
		for _, m := range matches(s.content, starts, "run(", "open(", "call(", "output(", "spawn", "exec", "system(", "create_subprocess_shell(") {
			if s.code[m[2]] != ' ' {
				c.shell(s, block{text: s.content[m[2]:m[3]], line: s.line(m[2])})
			}
		}
	}
	for _, m := range matches(s.code, roots, "~/", "$home/", "{home}/", "path.home()", "homedir()", "expanduser(", "/etc/", "/var/", "/root/", "/home/", "/users/", "/proc/", "/sys/", "/opt/", "/library/", "/private/", "/boot/", "/mnt/", "/media/", "/srv/", "/run/") {
		if place := placeOf(s.code[m[2]:m[3]]); place != "" {
			c.add(Item{Kind: Path, Value: place, Text: lineAt(s.content, m[2]), File: s.name, Line: s.line(m[2])})
		}
	}
}

var (
	// starts matches the program, or the command, that Python or JavaScript starts.
	starts = lazyregexp.New(`(?:\brun|\bPopen|\bcall|\bcheck_call|\bcheck_output|\bgetoutput|\bgetstatusoutput|\bspawn|\bspawnSync|\bexecFile|\bexecFileSync|\bexec|\bexecSync|\bsystem|\bpopen|\bexecl|\bexecvp|\bexeca|\bcreate_subprocess_exec|\bcreate_subprocess_shell)\(\s*\[?\s*[fr]?["'` + "`" + `]([^"'` + "`" + `\n]{1,400})`)
	// roots matches, in lower case, a path of the home folder or of the machine.
	roots = lazyregexp.New(`(?:^|[\s"'=(:,<>|])(~/[^\s"'),;:|]*|\$\{?home\}?/[^\s"'),;:|]*|path\.home\(\)|os\.homedir\(\)|homedir\(\)|expanduser\(|/(?:etc|var|root|home|users|proc|sys|opt|library|private|boot|mnt|media|srv|run)/[^\s"'),;:|]*)`)
)

// placeOf returns the first two folders of a path outside of the workspace; "" for one
// that says nothing.
func placeOf(path string) string {
	switch {
	case strings.HasPrefix(path, "path.home"), strings.HasPrefix(path, "os.homedir"), strings.HasPrefix(path, "homedir"), path == "expanduser(":
		return "~"
	case strings.HasPrefix(path, "$"):
		_, rest, _ := strings.Cut(path, "/")
		path = "~/" + rest
	}
	parts := strings.Split(strings.TrimRight(path, "/.`"), "/")
	return strings.Join(parts[:min(3, len(parts))], "/")
}
