package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// A failure is a script that failed, with all that likely causes are told from.
type failure struct {
	*job
	command   *sandbox.Command
	outcome   *Outcome
	output    string   // the parts in memory; set by explain
	variables []string // the names of those that it was given
	installed bool     // what the skill declares
	barred    func(workspace string) string
	none      func(so string) string // says that there is no workspace
	identify  func(ctx context.Context, role string) (sandbox.Base, error)
}

// explain sets the hints of the outcome; there may be none. err is the [*Error] that ended
// the script, if one did.
func (f *failure) explain(ctx context.Context, err error) {
	o := f.outcome
	late, _ := errors.AsType[*Error](err)
	timeout := late != nil && late.Code == Timeout
	switch {
	case serverOf(f.job) != nil:
		o.Hint = f.serverLacks(string(o.Stdout.Head) + string(o.Stderr.Head))
		return
	case o.Code == 0 && !timeout:
		return
	case timeout && f.skill.Interactive():
		o.Hint = unheard
		return
	}
	f.output = string(o.Stderr.Head) + string(o.Stderr.Tail) + string(o.Stdout.Head) + string(o.Stdout.Tail)
	causes := []string{f.packages(), f.offline(), f.variable(), f.program(ctx)}
	if causes[3] == "" {
		causes = append(causes, f.file())
	}
	person, model := f.write()
	o.Hint, o.ModelHint = sentence(append(causes, person)), sentence(append(causes, model))
}

// sentence joins the causes that there are.
func sentence(causes []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(causes), func(s string) bool { return s == "" }), "; ")
}

// unheard hints at a script that asked without flushing its output: it waits for the
// answer to a question that nobody has received.
const unheard = "where it was about to ask: a question is one line, with a newline at its end, and has to be flushed"

// grant returns the command by which a person gives the skill something, which asks on a
// terminal.
func (f *failure) grant(flags string) string {
	name := f.skill.QualifiedName()
	if f.skill.Entry.Server != nil { // all its tools have one process then
		name = f.skill.Owner().QualifiedName()
	}
	return trusted(f.skill, "skills-mcp grant "+shellWord(name, "NAME")+" "+flags)
}

// trusted puts the command before another that the skill's workspace needs.
func trusted(skill *skills.Skill, command string) string {
	if skill.Untrusted() {
		return "skills-mcp trust " + shellWord(skill.Workspace, "DIR") + ", as a skill of a workspace that is not trusted is given nothing, and then " + command
	}
	return command
}

// SecretRemedy returns the commands by which the person gives a skill a secret that it asks
// for. The last one asks on a terminal.
func SecretRemedy(skill *skills.Skill, name string) string {
	return trusted(skill, fmt.Sprintf("skills-mcp secret set %s and then skills-mcp secret grant %s %s --host HOST", name, shellWord(skill.QualifiedName(), "NAME"), name))
}

// SecretRequests returns a note for each secret that a skill's script asks for and, as has
// reports, does not have, with the commands that grant it.
func SecretRequests(skill *skills.Skill, has func(name string) bool) (notes []skills.Problem) {
	for _, name := range skill.MissingSecrets(has) {
		if skill.Entry != nil {
			notes = append(notes, skills.Problem{
				Severity: skills.Note, Path: skill.File, Message: "it asks for the secret " + name + ", which it does not have",
				Remedy: "if it should use one, " + SecretRemedy(skill, name),
			})
		}
	}
	return notes
}

// shellWord returns a word if nothing of it means something to a shell, and otherwise another.
func shellWord(word, other string) string {
	if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/_.") != "" {
		return other
	}
	return word
}

// packages names the packages that the skill declares, unless they were installed.
func (f *failure) packages() string {
	if f.installed || !f.outcome.Exited {
		return ""
	}
	return missing(f.command.Folder, f.command.Argv)
}

// Texts of programs, and of libraries of several languages, for a network that is not there,
// and for a request that failed for any reason.
var (
	saysOffline = lazyregexp.New(`(?i)(?:could not|couldn't|unable to) resolve|name resolution|name or service not known|nodename nor servname|no such host|no address associated|getaddrinfo|gaierror|\bE(?:AI_AGAIN|NOTFOUND|NETUNREACH|HOSTUNREACH)\b|network is (?:unreachable|down)|no route to host|fetch failed|failed to establish a new connection|all connection attempts failed|cannot connect to host|(?:couldn't|could not) connect to server|failed to connect to \S+ port|failed to open tcp connection|UnknownHostException|ERR_NAME_NOT_RESOLVED|ERR_INTERNET_DISCONNECTED|dns error|temporary failure resolving|urlopen error`)
	saysFailed  = lazyregexp.New(`(?i)(?:fail\w*|unable|could not|couldn't|cannot|can't) (?:to |on )?(?:fetch|download|connect|reach|retriev|request|query)|(?:fetch|download|request|connection)\w*\b[^\n]{0,40}\b(?:failed|error|refused)|timed? ?out|network error|offline`)
	reaches     = lazyregexp.New(`(?m)^[^#\n]*\b(?:curl|wget)\b|\burllib|\brequests\.\w|\bhttpx\b|\baiohttp\b|\bhttp\.client\b|\bfetch\(|\baxios\b|['"](?:node:)?https?['"]`)
)

// curlCodes are the exit codes of curl for a host that is not found, or not reached.
var curlCodes = [...]int{6, 7}

// offline reports a script that needed a host that it was not granted. Where its output does not
// say so, its source and a silent or vague failure do.
func (f *failure) offline() string {
	for _, c := range f.outcome.Connections {
		if strings.Contains(c.Refused, "was granted") {
			return c.Refused + "; a person can give it another one: " + f.grant("--network HOST:443")
		}
	}
	if len(f.command.Grant.Hosts) > 0 {
		return ""
	}
	vague := strings.TrimSpace(f.output) == "" || slices.Contains(curlCodes[:], f.outcome.Code) || saysFailed.MatchString(f.output)
	if !saysOffline.MatchString(f.output) && !(f.outcome.Exited && vague && reaches.MatchString(f.source())) {
		return ""
	}
	return f.wantsHosts()
}

// wantsHosts tells a person how to give hosts to a skill that has none.
func (f *failure) wantsHosts() string {
	if names := f.skill.MissingSecrets(func(name string) bool { return slices.Contains(f.variables, name) }); len(names) > 0 {
		return "it has no network, nor the secret " + names[0] + " that it asks for; a person can give it both: " + SecretRemedy(f.skill, names[0])
	}
	return "it has no network, and that may be why; a person can give it hosts: " + f.grant("--network HOST:443")
}

// serverLacks is offline and write for a server: said is its answer, or the reason for which it
// did not start.
func (f *failure) serverLacks(said string) string {
	grant := f.command.Grant
	switch {
	case saysReadOnly.MatchString(said) && !grant.Write:
		return "it may write to " + sandbox.DataDir + " and /tmp alone; a person can let it write to the workspace: " + f.grant("--workspace rw")
	case len(grant.Hosts) > 0 || !saysOffline.MatchString(said):
		return ""
	}
	return f.wantsHosts()
}

// source returns the text of the script that ran, and "" if it is large.
func (f *failure) source() string {
	fsys := skillfs.DirFS(f.command.Folder)
	for _, word := range f.command.Argv {
		if name := path.Clean(word); fs.ValidPath(name) && name != "." {
			if text, err := skillfs.ReadRegular(fsys, name, 256<<10); err == nil {
				return string(text)
			}
		}
	}
	return ""
}

// saysUnset matches messages for a variable that is not set.
var saysUnset = lazyregexp.New(`(?s:(?:<frozen os>|/os\.py).{0,400}?)KeyError: '([A-Z][A-Z0-9_]+)'|\b([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b['"]?(?:: parameter|:? (?:is |was |must be |environment variable |env var )*(?:null or )?(?:not set|unset|not defined|required|missing|undefined|unbound))`)

// variable reports a script that names a variable which it was not given.
func (f *failure) variable() string {
	declared := slices.Concat(f.skill.Entry.Env, f.skill.Requires.Env, f.skill.Secrets)
	for _, m := range saysUnset.FindAllStringSubmatch(f.output, 4) {
		declared = append(declared, m[1]+m[2])
	}
	for _, name := range declared {
		if !slices.Contains(f.variables, name) && strings.Contains(f.output, name) {
			remedy := f.grant("--secret " + name)
			if skills.IsCredential(name) || slices.Contains(f.skill.Secrets, name) {
				remedy = SecretRemedy(f.skill, name)
			}
			return "it was not given the variable " + name + "; a person can give it: " + remedy
		}
	}
	return ""
}

// saysProgram matches messages of shells, env, and libraries for a program that is not found.
var saysProgram = lazyregexp.New(`(?m)(?:line \d+|: \d+): ([\w.+-]+): (?:command )?not found|^([\w.+-]+): command not found$|command not found: ([\w.+-]+)|env: [‘'"]?([\w.+-]+)[’'"]?: No such file|exec: "([\w.+-]+)": executable file|spawn ([\w.+-]+) ENOENT|which: no ([\w.+-]+) in |(?s:_execute_child.{0,600}?)No such file or directory: '([\w.+-]+)'`)

// program reports a program that the sandbox lacks.
func (f *failure) program(ctx context.Context) string {
	found := saysProgram.FindStringSubmatch(f.output)
	if found == nil {
		return ""
	}
	name := strings.Join(found[1:], "") // one of them
	base, err := f.identify(context.WithoutCancel(ctx), f.role)
	if err != nil {
		return fmt.Sprintf("the sandbox has no program %s", name)
	}
	return fmt.Sprintf("%s has no program %s; a person can %s", base.Name, name, base.Remedy)
}

// Messages of scripts for a file that is not found, or cannot be read or written.
var (
	saysReadOnly = lazyregexp.New(`(?i)read-only file system|EROFS`)
	saysMissing  = lazyregexp.New(`(?i)no such file or directory|ENOENT|FileNotFoundError|(?:file|path|director\w*|folder|input)\b.{0,200}(?:not found|does not exist|not a (?:valid )?(?:file|directory|path))|not found: \S*[./]`)
	saysDenied   = lazyregexp.New(`(?i)permission denied|EACCES`)
)

// file reports a file that the script does not see where it looked.
func (f *failure) file() string {
	grant := f.command.Grant
	missing, denied := saysMissing.MatchString(f.output), saysDenied.MatchString(f.output)
	if !missing && !denied {
		return ""
	}
	for _, workspace := range grant.Workspaces {
		if why := f.barred(workspace); why != "" {
			return workspace + ": " + why
		}
	}
	outside := f.outside()
	switch {
	case len(grant.Workspaces) == 0 && (missing || outside != ""):
		return "it runs in its own folder, /skill: " + f.none("")
	case outside != "":
		return fmt.Sprintf("%s is outside of the workspaces (%s), so it is not seen; a person can add its folder with --workspace DIR", outside, strings.Join(grant.Workspaces, ", "))
	case !missing:
		return ""
	}
	hint := "it runs in its own folder, /skill: name files of the workspace by their whole path, " + path.Join(filepath.ToSlash(grant.Workspaces[0]), "NAME")
	if grant.Aliased() {
		hint += " or " + path.Join(sandbox.WorkspaceDir, "NAME")
	}
	return hint
}

// outside returns the first argument that names a file of this machine which no sandbox
// shows, or "". It does not look for the file: a model must not learn of it.
func (f *failure) outside() string {
	words := slices.Clone(f.command.Argv)
	for _, name := range slices.Sorted(maps.Keys(f.args)) { // they may not be on the command line
		list, _ := f.args[name].([]any)
		for _, item := range slices.Concat(list, []any{f.args[name]}) {
			text, _ := item.(string)
			words = append(words, text)
		}
	}
	for _, word := range words {
		if _, value, option := strings.Cut(word, "="); option && strings.HasPrefix(word, "-") {
			word = value
		}
		if foreign(word) && !inAny(f.command.Grant.Workspaces, filepath.Clean(word)) {
			return word
		}
	}
	return ""
}

// foreign reports whether a value is a path of this machine, and of none of the folders that
// sandboxes have of their own. Their /tmp is empty at first.
func foreign(value string) bool {
	if strings.HasPrefix(value, "~/") || strings.HasPrefix(value, "../") {
		return true
	}
	own := []string{sandbox.SkillDir, sandbox.WorkspaceDir, sandbox.OutDir, "/usr", "/bin", "/etc", "/lib", "/opt", "/dev", "/proc"}
	return filepath.IsAbs(value) && strings.Count(value, "/") > 1 && !inAny(own, filepath.Clean(value))
}

// write reports where the script can write, and to a script that failed to edit a workspace
// the way to a yes.
func (f *failure) write() (person, model string) {
	const alone = "it may write to /out and /tmp alone"
	where := alone + ", and its folder, /skill, is read-only: name what it writes by a path in /out, which is returned"
	switch {
	case !saysReadOnly.MatchString(f.output):
		return "", ""
	case f.editsInPlace():
		return alone + "; to let it edit the workspace in place: " + f.grant("--workspace rw"), alone + `; to let it edit the workspace in place, call run_skill with "write": true: the person is asked`
	case f.command.Grant.Write:
		where = "its folder, /skill, is read-only: name what it writes by a path in the workspace or in /out, which is returned"
	}
	return where, where
}

// editsInPlace reports whether the script failed to write to a workspace that a yes of the
// person would make writable.
func (f *failure) editsInPlace() bool {
	grant := f.command.Grant
	if grant.Write || f.skill.Class != skills.Safe || len(grant.Workspaces) == 0 {
		return false
	}
	all := f.output + strings.Join(f.command.Argv, "\n")
	return slices.ContainsFunc(append(grant.Workspaces, sandbox.WorkspaceDir), func(dir string) bool { return strings.Contains(all, dir) })
}
