package dependencies

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// findPython reads the metadata of a Python script, or else requirements.txt.
func findPython(fsys fs.FS, script string) (*Declared, error) {
	text, err := head(fsys, script)
	if err != nil {
		return nil, err
	}
	block, line, err := inline(script, text)
	if err != nil {
		return nil, err
	}
	if block == "" {
		return nearest(findRequirements)(fsys, script)
	}
	return parseInline(script, line, block)
}

// head returns a script's text with LF line ends, "" if there is none.
func head(fsys fs.FS, script string) (string, error) {
	data, err := read(fsys, script, maxScript)
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(string(data), "\r\n", "\n"), nil
}

// opening matches the first line of a metadata block of any type.
var opening = lazyregexp.New(`^# /// ([a-zA-Z0-9-]+)$`)

// inline returns the content of the block "# /// script" of a script, and the
// number of its first line. Source: PEP 723, whose regular expression this is.
func inline(script, text string) (block string, line int, err error) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		opened := opening.FindStringSubmatch(lines[i])
		if opened == nil {
			continue
		}
		end := closing(lines, i+1)
		if end < 0 { // an unclosed block is none
			continue
		}
		if opened[1] == "script" {
			if line > 0 {
				return "", 0, &Error{script, i + 1, "there is a second block # /// script", "keep one"}
			}
			block, line = uncomment(lines[i+1:end]), i+1
		}
		i = end
	}
	return block, line, nil
}

// closing returns the last line "# ///" of the comment that begins at from, or -1.
func closing(lines []string, from int) int {
	end := -1
	for i := from; i < len(lines) && (lines[i] == "#" || strings.HasPrefix(lines[i], "# ")); i++ {
		if lines[i] == "# ///" && i > from {
			end = i
		}
	}
	return end
}

func uncomment(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "#"), " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// parseInline reads the TOML of a block that begins at line.
func parseInline(script string, line int, block string) (*Declared, error) {
	var metadata struct {
		Dependencies   []string `toml:"dependencies"`
		RequiresPython string   `toml:"requires-python"`
	}
	if _, err := toml.Decode(block, &metadata); err != nil {
		message := strings.TrimPrefix(err.Error(), "toml: ")
		return nil, &Error{script, line, fmt.Sprintf("its metadata is no TOML as PEP 723 wants it: %.200s", message), "fix it"}
	}
	var requirements []requirement
	for _, text := range metadata.Dependencies {
		requirements = append(requirements, requirement{strings.TrimSpace(text), line})
	}
	d, err := declarePython(script, requirements)
	if err != nil {
		return nil, err
	}
	if wanted := strings.TrimSpace(metadata.RequiresPython); wanted != "" {
		if !specifiers().MatchString(wanted) {
			return nil, &Error{script, line, fmt.Sprintf("requires-python is %.100q", wanted), `write for example ">=3.11"`}
		}
		d.Lock = append(d.Lock, File{"requires-python", []byte(wanted + "\n")})
	}
	return d, nil
}

// A requirement is one entry as written, with its line.
type requirement struct {
	text string
	line int
}

const requirementsFile = "requirements.txt"

// findRequirements reads requirements.txt.
func findRequirements(fsys fs.FS) (*Declared, error) {
	data, err := read(fsys, requirementsFile, maxRequirements)
	if data == nil || err != nil {
		return nil, err
	}
	return declarePython(requirementsFile, splitRequirements(string(data)))
}

// comment matches the comment of a line. Source: pip's "Requirements File Format".
var comment = lazyregexp.New(`(^|\s+)#.*$`)

// splitRequirements returns the requirements of a file. It joins lines that end
// with a backslash and drops comments and empty lines.
func splitRequirements(text string) []requirement {
	var all []requirement
	var joined string
	first := 0
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	for i, line := range lines {
		if joined == "" {
			first = i + 1
		}
		line = strings.TrimSuffix(line, "\r")
		if before, more := strings.CutSuffix(line, `\`); more && i+1 < len(lines) && comment.FindString(line) == "" {
			joined += before + " "
			continue
		}
		joined += comment.ReplaceAllString(line, "")
		if r := strings.Join(strings.Fields(joined), " "); r != "" {
			all = append(all, requirement{r, first})
		}
		joined = ""
	}
	return all
}

// The accepted requirements have a name, extras, versions, a marker and hashes.
// Source: PEP 508 and PEP 440. Anything else, an address above all, may run code
// when it is installed.
const (
	name     = `[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`
	clause   = `(?:===|~=|==|!=|<=|>=|<|>)\s*[A-Za-z0-9._*+!-]+`
	versions = clause + `(?:\s*,\s*` + clause + `)*\s*,?`
	extras   = `\[\s*(?:` + name + `(?:\s*,\s*` + name + `)*)?\s*\]`
	marker   = `;[A-Za-z0-9._'"<>=!~()\s,*+-]+`
	hashes   = `(?:\s+--hash=[a-z0-9]+:[0-9a-f]+)*`
)

var (
	accepted = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^` + name + `\s*(?:` + extras + `)?\s*(?:` + versions + `|\(\s*` + versions + `\s*\))?\s*(?:` + marker + `)?` + hashes + `$`)
	})
	specifiers = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^` + versions + `$`) })
	ofHashes   = lazyregexp.New(`\s+--hash=\S+`)
)

// declarePython checks requirements and returns requirements.txt rewritten with
// them.
func declarePython(file string, requirements []requirement) (*Declared, error) {
	d := &Declared{Kind: Python, File: file}
	var lock strings.Builder
	for _, r := range requirements {
		if !accepted().MatchString(r.text) || strings.ContainsAny(r.text, "\n\r") {
			return nil, &Error{file, r.line, fmt.Sprintf("%.100q is not taken: only names of packages are, with versions, markers and hashes", r.text), "name the package as the package index does"}
		}
		lock.WriteString(r.text + "\n")
		d.Packages = append(d.Packages, strings.TrimSpace(ofHashes.ReplaceAllString(r.text, "")))
	}
	if len(d.Packages) > maxPackages {
		return nil, &Error{file, 0, fmt.Sprintf("it names %d packages, and at most %d are taken", len(d.Packages), maxPackages), "name fewer"}
	}
	d.Lock = []File{{requirementsFile, []byte(lock.String())}}
	return d, nil
}
