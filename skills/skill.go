// Package skills is the model of a person's skills, plugins, agents, and the
// problems with them, whatever dialect they are written in. It reads no file,
// runs nothing and knows no protocol.
//
// Start with [Catalog], which skills/scan makes of folders, and [Skill].
package skills

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The reasons for which a skill is blocked.
const (
	BlockedByChange = "it has changed since it was accepted, and could do more now. A person has to accept that first"
	BlockedByScan   = "the scan found something in its files, so nobody may use it"
)

// A Skill is a folder that teaches something (instructions), and may have
// something to run (an [Entry]). It is not changed once its catalog is
// published.
//
// A folder with several things to run has a Skill for each beside its own: see
// Tools.
type Skill struct {
	// Name is the skill's own name, by default its folder's; "skill__tool" where
	// it is one of a skill's Tools.
	Name string
	// DisplayName is the name for people; "" where there is none.
	DisplayName string
	// ShortDescription is for a person who chooses among skills, and DefaultPrompt
	// shows them how to ask for this one; "" where nobody said.
	ShortDescription, DefaultPrompt string
	// Plugin is the name of the plugin that the skill belongs to, or "".
	Plugin string
	// Folder is the name of a folder that separates the skill from others of its name
	// in the same root; "" where there is none.
	Folder string
	// Prefix stands before the name of an untrusted workspace's skill whose name could be
	// mistaken for another's: "workspace"; "" where it could not.
	Prefix string
	// Description is the skill's purpose; "" where there is none.
	Description string
	// WhenToUse says when to load the skill; "" where nobody said.
	WhenToUse string
	// Keywords are words to find the skill by, beside those of its texts.
	Keywords []string
	// Category groups skills for people; "" where nobody said.
	Category string
	// Key is the name in OpenClaw's configuration; "" is the skill's own.
	Key string

	Source Source
	// Dir is the absolute host folder, or "" for a bundled or packed skill.
	Dir string
	// PluginDir is the absolute host folder of the plugin, or "" outside of one.
	PluginDir string
	// Workspace is the folder that others may write to and that the
	// skill comes from; "" for a skill that is the person's, or that they name with
	// a root of their own. A skill can claim any name, so grants go by this.
	Workspace string
	// Trusted reports that the person trusts Workspace.
	Trusted bool
	// Installed reports that the skill is in the folder of the skills that the person has
	// installed from elsewhere.
	Installed bool
	// File is the path of the skill's definition, for people.
	File string
	// Files are the folder's contents. Nothing in it leads out of the folder. Who
	// reads many of them uses [github.com/skillsmcp/skills-mcp/skills/skillfs.Hold].
	Files fs.FS
	// Command says that the skill is one file of a folder that has others: it has
	// no folder of its own.
	Command bool

	// Instructions are the text below the frontmatter, for a model. They are ""
	// where Stored has them: see [Skill.Text].
	Instructions string
	// Stored reads instructions that a cache keeps out of memory; else it is nil.
	Stored func() (string, error)
	// Revision identifies the files that a cache read the skill from: skills of equal
	// revisions have equal texts. It is "" where that is not known.
	Revision string
	// Frontmatter is the whole frontmatter as JSON values, unknown keys included.
	Frontmatter map[string]any

	// Entry is the skill's script; nil is an instruction skill.
	Entry *Entry
	// Tools are the other scripts of the folder. Each is a skill of the catalog too,
	// with the folder and the instructions of this one.
	Tools []*Skill
	// Of is the skill that has this one among its Tools, or nil.
	Of *Skill
	// Class selects the sandbox's grant for a call.
	Class Class
	// Arguments are the names of positional arguments of the instructions.
	Arguments []string
	// ArgumentHint is for a person to see after the skill's name.
	ArgumentHint string
	// ModelInvocable is false where only a person may call the skill.
	ModelInvocable bool
	// UserInvocable is false where the skill is not to be offered to a person.
	UserInvocable bool
	// Requires lists the requirements on the skill's machine.
	Requires Requires
	// Paths are globs of the files that the skill is for, slash-separated and
	// relative to a workspace, with ** and {a,b}; none says nothing.
	Paths []string
	// Pinned says that the author wants the skill to be a tool where not all are.
	Pinned bool
	// PinnedByPerson says that the person wants the same.
	PinnedByPerson bool
	// Priority is its position among the pins of the client's profile, from 1; 0 is none.
	Priority int
	// Asks lists whom the skill's script may ask while it runs; none is nobody.
	Asks []Asked
	// Calls are patterns of the qualified names of the skills that the skill's script
	// wants to call while it runs, as [MatchesCall] reads them. Only a grant allows it.
	Calls []string
	// Secrets are the names of the secrets that the skill's script wants. Only a grant
	// gives it some.
	Secrets []string
	// Task says how the skill is run for clients that know tasks.
	Task Task
	// Unavailable says why the skill cannot be run here; "" where it can.
	Unavailable string
	// Blocked says why nobody may use the skill before a person decides about it; "" is not
	// blocked. Its texts are not those of its files then: Unblocked has them. BlockedBy is
	// [BlockedByChange] or [BlockedByScan].
	Blocked, BlockedBy string
	// Unblocked is the skill as it was read; nil unless it is blocked.
	Unblocked *Skill

	// Resources are for clients to read. Another skill may have some of the URIs: see
	// [Catalog.Resources].
	Resources []Resource

	// Problems are the faults of this skill, though it loaded.
	Problems []Problem
}

// QualifiedName returns "plugin/skill", or the skill's name outside of plugins,
// with "folder/" before it where the same root has another skill of that name, and its
// prefix before all. It is unique in a catalog.
func (s *Skill) QualifiedName() string { return qualify("/", s.Prefix, s.Plugin, s.Folder, s.Name) }

// qualify joins those names that are not empty.
func qualify(separator, prefix, plugin, folder, name string) string {
	for _, above := range []string{folder, plugin, prefix} {
		if above != "" {
			name = above + separator + name
		}
	}
	return name
}

// Untrusted reports whether the skill comes from a workspace that the person does not
// trust. It is granted nothing, and gets no name that another skill has.
func (s *Skill) Untrusted() bool { return s.Workspace != "" && !s.Trusted }

// Owner returns the skill that the instructions are of: the one that has this one
// among its Tools, or else itself.
func (s *Skill) Owner() *Skill {
	if s.Of != nil {
		return s.Of
	}
	return s
}

// LacksScript reports whether the skill has a script that was missing when it was read.
func (s *Skill) LacksScript() bool { return s.Entry != nil && s.Entry.Missing }

// Clone returns a copy of the skill with copies of its tools, which know it.
func (s *Skill) Clone() *Skill {
	owner := *s
	owner.Tools = nil
	for _, tool := range s.Tools {
		copied := *tool
		copied.Of = &owner
		owner.Tools = append(owner.Tools, &copied)
	}
	return &owner
}

// CloneTo adds the copies of [Skill.Clone] to copies, by the skill and the tools that they
// are of.
func (s *Skill) CloneTo(copies map[*Skill]*Skill) {
	copied := s.Clone()
	copies[s] = copied
	for i, tool := range s.Tools {
		copies[tool] = copied.Tools[i]
	}
}

// MissingSecrets returns the names of the secrets that the skill asks for and, as has reports,
// does not have: those that it calls so, and variables whose names say so.
func (s *Skill) MissingSecrets(has func(name string) bool) []string {
	names := slices.Clone(s.Secrets)
	wanted := s.Requires.Env
	if s.Entry != nil {
		wanted = slices.Concat(wanted, s.Entry.Env)
	}
	for _, name := range wanted {
		if IsCredential(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return slices.DeleteFunc(names, has)
}

// IsCredential reports whether the name of a variable says that its value is a secret.
func IsCredential(name string) bool {
	words := []string{"TOKEN", "KEY", "APIKEY", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "PAT", "CREDENTIAL", "CREDENTIALS"}
	return slices.ContainsFunc(strings.Split(strings.ToUpper(name), "_"), func(word string) bool { return slices.Contains(words, word) })
}

// Text returns the instructions, as they were when the skill was read. The error
// is of a cache that was damaged since.
func (s *Skill) Text() (string, error) {
	if s.Stored == nil {
		return s.Instructions, nil
	}
	return s.Stored()
}

// HasText reports whether there are instructions.
func (s *Skill) HasText() bool { return s.Instructions != "" || s.Stored != nil }

// A Class is the harm that a skill can do with its grant.
type Class string

// The classes, from the one that gets least.
const (
	Safe      Class = "safe"
	Mutating  Class = "mutating"
	Dangerous Class = "dangerous"
)

// A Source is the level at which a root ranks. Earlier ones win.
type Source string

// The sources, highest priority first.
const (
	SourceSession Source = "session" // the workspace
	SourceUser    Source = "user"    // the person's own
	SourceSystem  Source = "system"  // the machine's
	SourceExtra   Source = "extra"   // named by flags and configuration, and bundled
)

// Sources returns all sources, highest priority first.
func Sources() []Source {
	return []Source{SourceSession, SourceUser, SourceSystem, SourceExtra}
}

// Requires lists a skill's requirements on its machine, from every dialect.
type Requires struct {
	// OS are the systems that it runs on, as of GOOS; none is any.
	OS []string `json:"os,omitempty"`
	// Bins are programs that all have to be there.
	Bins []string `json:"bins,omitempty"`
	// AnyBins are programs one of which has to be there.
	AnyBins []string `json:"any_bins,omitempty"`
	// Env are environment variables that have to be set.
	Env []string `json:"env,omitempty"`
	// Config are settings of its author's agent that have to be on.
	Config []string `json:"config,omitempty"`
	// Capabilities are permissions that its author's agent has to give it.
	Capabilities []string `json:"capabilities,omitempty"`
}

// Empty reports whether nothing is needed.
func (r Requires) Empty() bool {
	return len(r.OS)+len(r.Bins)+len(r.AnyBins)+len(r.Env)+len(r.Config)+len(r.Capabilities) == 0
}

// String lists the requirements for people; "" is none.
func (r Requires) String() string {
	var parts []string
	add := func(what string, names []string, conjunction string) {
		if len(names) > 0 {
			parts = append(parts, what+Enumerate(names, conjunction))
		}
	}
	add("", r.OS, "or")
	add("", r.Bins, "and")
	add("", r.AnyBins, "or")
	add("the environment's ", r.Env, "and")
	add("the settings ", r.Config, "and")
	add("the capabilities ", r.Capabilities, "and")
	return strings.Join(parts, "; ")
}

// Needs returns the skill's requirements, with the interpreter of its script.
func (s *Skill) Needs() Requires {
	needs := s.Requires
	if s.Entry != nil && len(s.Entry.Interpreter) > 0 && !slices.Contains(needs.Bins, s.Entry.Interpreter[0]) {
		needs.Bins = append(slices.Clone(needs.Bins), s.Entry.Interpreter[0])
	}
	return needs
}

// A Resource is something that a skill lets clients read by a URI.
type Resource struct {
	// URI names it; "" where Template does.
	URI string
	// Template names many: a URI template (RFC 6570, level 1). Each variable is a
	// parameter of the skill's script.
	Template string
	// Name is never "".
	Name        string
	Title       string
	Description string
	MIMEType    string // "" where nobody said
	// File is the path of the content in the skill's folder; "" where the skill's
	// output is the content.
	File string
	// Line is the line of its declaration in the skill's File.
	Line int
}

// Key returns the resource's unique key in a catalog: URI or Template.
func (r Resource) Key() string { return r.URI + r.Template }

// An Asked is a person or program that a script may ask while it runs.
type Asked string

// Whom a script may ask.
const (
	AskPerson Asked = "person" // who uses the client: a form to fill in
	AskModel  Asked = "model"  // the client's model: a completion
	AskRoots  Asked = "roots"  // the client: the folders that it works in
)

// MatchesCall reports whether one of the patterns of skills that a script may call names
// a skill, or the one whose tool it is, by the qualified name. "*" matches every name;
// elsewhere * and ? match letters of one part of a name, as in [path.Match].
func MatchesCall(patterns []string, skill *Skill) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, _ := path.Match(pattern, skill.QualifiedName()) // a malformed pattern matches nothing
		owner, _ := path.Match(pattern, skill.Owner().QualifiedName())
		return ok || owner || pattern == "*"
	})
}

// Interactive reports whether the skill's script may ask, or call other skills, and
// reads the answers on its standard input.
func (s *Skill) Interactive() bool { return len(s.Asks)+len(s.Calls) > 0 }

// A Task says how a skill is run for clients that know tasks.
type Task string

// How a skill is run for clients that know tasks.
const (
	TaskLong     Task = ""         // a long call becomes a task
	TaskAlways   Task = "always"   // each call is one at once; other clients get the result as ever
	TaskRequired Task = "required" // likewise, and other clients are refused
)

// Unread returns a problem for each part of the script's arguments that its
// source does not define.
func (s *Skill) Unread() []Problem {
	if s.Entry == nil {
		return nil
	}
	var all []Problem
	for _, note := range s.Entry.Unread {
		all = append(all, Problem{
			Severity: Note, Path: filepath.Join(filepath.Dir(s.File), filepath.FromSlash(s.Entry.Script)), Line: note.Line,
			Message: "of the script's arguments, not all is known: " + note.Text,
		})
	}
	return all
}
