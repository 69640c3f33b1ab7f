package infer

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A Kind is a language whose scripts are understood further.
type Kind string

// The kinds; "" is any other language.
const (
	Bash   Kind = "bash" // and sh, dash, ash
	Python Kind = "python"
	Node   Kind = "node"
)

// FindScript returns the path of a script in the skill's folder with all links
// followed. The error is [fs.ErrNotExist] where there is no such file, or says why it
// cannot be run.
func FindScript(s *skills.Skill, script string) (string, error) {
	name, err := skillfs.Resolve(s.Files, s.Dir, path.Clean(script))
	if err != nil {
		return "", err
	}
	info, err := fs.Stat(s.Files, name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	return name, nil
}

// InterpreterOf returns the command that a script of the skill is passed to. The
// error is that of [FindScript].
func InterpreterOf(s *skills.Skill, script string) ([]string, error) {
	name, err := FindScript(s, script)
	if err != nil {
		return nil, err
	}
	head, err := skillfs.ReadHead(s.Files, name)
	if err != nil {
		return nil, err
	}
	return Interpreter(name, head), nil
}

// Interpreter returns the command that a script is passed to, by its extension, then
// by its first line; bash if neither names one. The executable bit does not count: two
// thirds of real scripts lack it. A shell script with Windows line ends is read
// without them, as far as head shows them.
func Interpreter(name string, head []byte) []string {
	switch strings.ToLower(path.Ext(name)) {
	case ".py":
		return []string{"python3"}
	case ".js", ".mjs", ".cjs":
		return []string{"node"}
	case ".ts", ".mts", ".cts":
		if len(shebang(head)) == 0 { // Node.js removes the types itself
			return []string{"node"}
		}
	case ".sh", ".bash":
		return shellCommand("bash", head)
	}
	words := shebang(head)
	if len(words) == 0 {
		return shellCommand("bash", head)
	}
	switch program := path.Base(words[0]); program {
	case "sh", "bash", "dash", "ash":
		return shellCommand(program, head)
	case "python", "python2":
		return append([]string{"python3"}, words[1:]...)
	default:
		return append([]string{program}, words[1:]...)
	}
}

// Tells reports whether a script's extension or first line names its interpreter;
// if not, [Interpreter] is bash.
func Tells(name string, head []byte) bool { return hasKind(name) || len(shebang(head)) > 0 }

// NamesNothing reports whether a first line "#!…" names no program.
func NamesNothing(head []byte) bool {
	return bytes.HasPrefix(head, []byte("#!")) && len(shebang(head)) == 0
}

// shebang returns the words of a first line "#!…", without env.
func shebang(head []byte) []string {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "#!")
	if !ok {
		return nil
	}
	words := strings.Fields(rest)
	if len(words) == 0 || path.Base(words[0]) != "env" {
		return words
	}
	words = words[1:]
	if len(words) > 0 && words[0] == "-S" {
		words = words[1:]
	}
	return words
}

// withoutReturns reads a shell script without its carriage returns, which
// shells take for part of its words. $0 is still the script's path.
const withoutReturns = `. <(tr -d '\r' <"$0")`

func shellCommand(program string, head []byte) []string {
	if !HasCarriageReturns(head) {
		return []string{program}
	}
	return []string{"bash", "-c", withoutReturns}
}

// HasCarriageReturns reports whether text has Windows line ends.
func HasCarriageReturns(text []byte) bool { return bytes.Contains(text, []byte("\r\n")) }

// IsShell reports whether an interpreter is a shell whose scripts are bash's or
// plain sh's.
func IsShell(interpreter []string) bool { return kindOf(interpreter) == Bash }

func kindOf(interpreter []string) Kind {
	switch program := interpreter[0]; {
	case program == "sh", program == "bash", program == "dash", program == "ash":
		return Bash
	case program == "node":
		return Node
	case strings.HasPrefix(program, "python3"):
		return Python
	}
	return ""
}

// language returns the kind of a script that an interpreter is passed, whose source is
// understood. Programs other than node run JavaScript and TypeScript, too.
func language(interpreter []string) Kind {
	kind := kindOf(interpreter)
	switch program := interpreter[0]; {
	case kind != "":
		return kind
	case program == "tsx", program == "ts-node", program == "deno", program == "bun", program == "nodejs":
		return Node
	case (program == "npx" || program == "bunx" || program == "pnpx") && slices.ContainsFunc(interpreter[1:], func(word string) bool {
		return word == "tsx" || word == "ts-node" || word == "bun" || word == "deno"
	}):
		return Node
	}
	return ""
}

// hasKind reports whether a file is of a language that is understood, by its
// extension alone.
func hasKind(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts":
		return true
	}
	return false
}
