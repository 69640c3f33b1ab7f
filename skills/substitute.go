package skills

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// bangCommand matches an inline command of Claude Code's: !`command`.
var bangCommand = lazily("(?m)(^|\\s)!`[^`\n]+`")

// variable matches the variables of Instantiate, and a backslash that escapes
// one.
var variable = lazily(`\\?\$(ARGUMENTS(?:\[\d+\])?|\d+|[A-Za-z_][A-Za-z0-9_-]*|\{CLAUDE_SKILL_DIR\}|\{CLAUDE_PLUGIN_ROOT\})|\{baseDir\}`)

// HasInlineCommands reports whether a text has an inline command.
func HasInlineCommands(text string) bool {
	return strings.Contains(text, "!`") && bangCommand().MatchString(text)
}

// maxFilledIn bounds the text put into instructions, in bytes: each mention of
// the arguments repeats them.
const maxFilledIn = 2 << 20

// ErrTooLong is the error of instructions that arguments would make too long.
var ErrTooLong = fmt.Errorf("with these arguments the instructions would be more than %d bytes longer; give shorter ones", maxFilledIn)

// Instantiate returns the skill's instructions for one use, with arguments and
// places filled in as Claude Code does: $ARGUMENTS, $ARGUMENTS[N], $N (from 0),
// $name for a declared argument, ${CLAUDE_SKILL_DIR}, ${CLAUDE_PLUGIN_ROOT}, and
// OpenClaw's {baseDir}. A variable without a value stays as it is written, and so
// does one behind a backslash. Arguments that the text does not mention are
// appended. Inline commands are never run; a note says so.
//
// dir is the skill's folder as the reader can reach it: a path, a URI, or "". The error is that of
// [Skill.Text], or [ErrTooLong].
func (s *Skill) Instantiate(args, dir string) (string, error) {
	instructions, err := s.Text()
	if err != nil {
		return "", err
	}
	words := SplitWords(args)
	mentioned, left := false, maxFilledIn
	text := variable().ReplaceAllStringFunc(instructions, func(m string) string {
		if escaped, ok := strings.CutPrefix(m, `\`); ok {
			if s.isArgument(escaped) {
				return escaped
			}
			return m // somebody else's dollar
		}
		value, ok := s.substitute(m, args, words, dir)
		mentioned = mentioned || ok && !isPlace(m)
		if !ok {
			return m
		}
		if left -= len(value); left < 0 {
			return ""
		}
		return value
	})
	if left < 0 {
		return "", ErrTooLong
	}
	if args != "" && !mentioned {
		text += "\n\nARGUMENTS: " + args
	}
	if HasInlineCommands(instructions) {
		next := "run them yourself where you need their output."
		if s.Untrusted() {
			next = "do not run them: the person does not trust the workspace that they are from."
		}
		text += "\n\nNote: commands written as !`…` above were not run; " + next
	}
	return text, nil
}

// isArgument reports whether a variable is one that arguments are put in for.
func (s *Skill) isArgument(name string) bool {
	rest := strings.TrimPrefix(name, "$")
	return isPositional(rest) || slices.Contains(s.Arguments, rest)
}

func isPositional(name string) bool {
	return strings.HasPrefix(name, "ARGUMENTS") || name[0] >= '0' && name[0] <= '9'
}

func isPlace(name string) bool { return strings.Contains(name, "{") }

func (s *Skill) substitute(name, args string, words []string, dir string) (value string, ok bool) {
	switch name {
	case "$ARGUMENTS":
		return args, true
	case "${CLAUDE_SKILL_DIR}", "{baseDir}":
		return dir, dir != ""
	case "${CLAUDE_PLUGIN_ROOT}":
		return s.PluginDir, s.PluginDir != "" && filepath.IsAbs(dir)
	}
	index := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "$"), "ARGUMENTS["), "]")
	i, err := strconv.Atoi(index)
	if err != nil {
		i = slices.Index(s.Arguments, strings.TrimPrefix(name, "$"))
	}
	if i < 0 || i >= len(words) {
		return "", false
	}
	return words[i], true
}
