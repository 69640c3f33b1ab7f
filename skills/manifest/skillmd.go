// Package manifest reads the bytes of one manifest into the model, with problems
// at the positions that their parsers counted. There is a file for each dialect:
// SKILL.md, commands and agents of Claude Code, tools.yaml, ongrid's skill.json,
// LinX, OpenClaw, Codex, and the manifests of plugins and marketplaces.
//
// Start with [ParseSkill] and [ParsePlugin].
package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// Options configure the reading of a skill's manifest. The zero value reads
// all.
type Options struct {
	// ImageRole reports whether an image is configured for a role; nil accepts
	// every role.
	ImageRole func(role string) bool
	// Host returns an error for a host of sandbox.network that cannot be used, with
	// the remedy; nil accepts all.
	Host func(host string) error
	// NoTools says that the folder has no tools.yaml, NoAgents that it has no
	// folder agents, and Plain that it has no other file that could be run.
	NoTools, NoAgents, Plain bool
	// Ongrid is the location of a skill.json; nil is not known.
	Ongrid *OngridLocation
}

// parser reads one SKILL.md into a skill.
type parser struct {
	skill   *skills.Skill
	fields  fields
	doc     *document
	options Options
	// report adds to the skill's problems.
	report Report
	// linx says that the skill is written for LinX, which allows each of its
	// scripts this time, or 0.
	linx             bool
	executionTimeout time.Duration
	// failed is set by a field that restricts and cannot be read: the skill then
	// has nothing to run.
	failed bool
	// withheldTool is set by a tool that is left out because its restriction
	// cannot be read: no script of the skill is then offered undeclared.
	withheldTool bool
}

// The readers of one part of a manifest share its parser.
type (
	entryReader       struct{ *parser } // the script, its parameters and its sandbox
	toolReader        struct{ *parser } // tools beside the skill's own entry
	linxReader        struct{ *parser } // LinX's fields
	ongridReader      struct{ *parser } // ongrid's skill.json and metadata
	requirementReader struct{ *parser } // needs where the skill runs, in each dialect
	restrictionReader struct{ *parser } // restrictions that are misplaced or misspelt
	resourceReader    struct{ *parser } // resources that clients can read
)

// ParseSkill reads a SKILL.md. skill comes with what is known of its place:
// Plugin, Source, Dir, File, Files. folder is the name of its folder.
func ParseSkill(data []byte, skill *skills.Skill, folder string, o Options) error {
	doc, err := parseDocument(data)
	if err != nil {
		return err
	}
	return parse(skill, doc, o, func(p *parser) error { return p.skillFile(folder) })
}

// parse reads a manifest into a skill with read.
func parse(skill *skills.Skill, doc *document, o Options, read func(*parser) error) error {
	return read(newParser(skill, doc, o))
}

// skillFile reads the content of a SKILL.md in a folder.
func (p *parser) skillFile(folder string) error {
	if err := p.raw(); err != nil {
		return err
	}
	p.doc.repairs(p.report)
	if err := p.identity(folder); err != nil {
		return err
	}
	p.invocation()
	p.openAI()
	restrictionReader{p}.misplaced()
	p.paths()
	p.pin()
	p.asks()
	p.task()
	p.class()
	requirementReader{p}.requirements()
	ongridReader{p}.activation()
	if err := (entryReader{p}).entry(); err != nil {
		return err
	}
	linxReader{p}.linxTools()
	toolReader{p}.toolsFile()
	ongridReader{p}.ongridTools()
	toolReader{p}.scriptTools()
	p.ignored()
	if p.failed {
		p.skill.Entry, p.skill.Tools = nil, nil
	}
	resourceReader{p}.resources()
	return nil
}

func newParser(skill *skills.Skill, doc *document, o Options) *parser {
	p := &parser{skill: skill, doc: doc, options: o}
	p.report = func(severity skills.Severity, at Position, remedy, format string, args ...any) {
		p.reportIn(skill.File, severity, at, remedy, format, args...)
	}
	p.fields = newFields(doc.front, p.report)
	return p
}

// maxProblems is how many problems of one skill are told. Who mends these is
// told the rest.
const MaxProblems = 50

// reportIn adds a problem of a file.
func (p *parser) reportIn(file string, severity skills.Severity, at Position, remedy, format string, args ...any) {
	if len(p.skill.Problems) >= MaxProblems && severity != skills.Error {
		return
	}
	p.skill.Problems = append(p.skill.Problems, skills.Problem{
		Severity: severity, Path: file, Line: at.Line, Col: at.Col,
		Message: fmt.Sprintf(format, args...), Remedy: remedy,
	})
}

func (p *parser) raw() (err error) {
	p.skill.Frontmatter, err = p.doc.values()
	return err
}

// conforming is a name as the Agent Skills specification wants it, and with
// the underscores that Colony allows.
var conforming = regexp.MustCompile(`^[a-z0-9]+([-_][a-z0-9]+)*$`)

func (p *parser) identity(folder string) error {
	s := p.skill
	s.Instructions = strings.TrimSpace(p.doc.body)
	given := strings.TrimSpace(p.fields.text("name"))
	p.texts()
	if given == "" && s.Description == "" {
		return Errorf(Position{}, "add name and description between two lines ---", "it has neither a name nor a description")
	}
	s.Name = CleanName(given)
	if s.Name == "" {
		s.Name = CleanName(folder)
	}
	p.checkName(given, folder)
	p.checkDescription()
	return nil
}

// texts reads what the skill says of itself.
func (p *parser) texts() {
	s := p.skill
	s.Description = strings.TrimSpace(p.fields.text("description"))
	s.WhenToUse = strings.TrimSpace(p.fields.text("when_to_use"))
	if s.Description == "" {
		s.Description = firstParagraph(s.Instructions)
	}
}

func (p *parser) checkName(given, folder string) {
	at, name := p.fields.pos("name"), p.skill.Name
	switch {
	case given != "" && given != name:
		p.report(skills.Warning, at, "use a-z, 0-9 and -", "the name %q is not usable; the skill is called %q", given, name)
	case utf8.RuneCountInString(name) > 64:
		p.report(skills.Warning, at, "shorten it to 64 characters", "the name is %d characters long, more than 64; its tool is called %q", utf8.RuneCountInString(name), p.skill.HashedToolName())
	case !conforming.MatchString(name):
		p.report(skills.Warning, at, "use a-z, 0-9 and -", "the name %q does not conform to the Agent Skills specification", name)
	}
	if folder != "" && given != "" && given != folder {
		p.report(skills.Warning, at, "give both the same name", "the name %q differs from the folder's, %q", given, folder)
	}
}

func (p *parser) checkDescription() {
	description := p.skill.Description
	at := p.fields.pos("description")
	if p.fields.text("description") == "" {
		instead := ""
		if description != "" {
			instead = " in the frontmatter; the beginning of the text is used"
		}
		p.report(skills.Warning, at, "say what the skill does and when to use it", "there is no description%s", instead)
	}
	if n := len([]rune(description)); n > 1024 {
		p.report(skills.Warning, at, "shorten it; clients may cut it", "the description is %d characters long, more than 1024", n)
	}
	p.checkHidden()
}

func (p *parser) checkHidden() {
	if r, found := hiddenRune(p.skill.Name, p.skill.Description, p.skill.WhenToUse); found {
		p.report(skills.Warning, p.fields.pos("description"), "remove it", "name or description contain the invisible or direction-changing character %U", r)
	}
}

// hiddenRune finds a character that a person does not see but a model reads.
func hiddenRune(texts ...string) (rune, bool) {
	at, r := skills.FindHidden(strings.Join(texts, "\n"))
	return r, at >= 0
}

// cleanName makes a name that can be typed and that "plugin/skill" can be
// split at.
func CleanName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '-'
		}
		return r
	}, name)
	return strings.Trim(name, "-.")
}

// firstParagraph returns the first text of a Markdown body that is no heading,
// or what follows "description:" where one of its lines begins so: some files
// have their fields without the fences.
func firstParagraph(body string) string {
	for _, block := range strings.Split(body, "\n\n") {
		var words []string
		lines := strings.Split(strings.TrimSpace(block), "\n")
		for i, line := range lines {
			if described, ok := cutField(line, "description"); ok {
				if !blockField.MatchString(line) {
					return described
				}
				words = nil
				for _, line := range lines[i+1:] {
					if anyField.MatchString(line) && indentOf(line) == 0 {
						break
					}
					words = append(words, strings.Fields(line)...)
				}
				break
			}
			if !strings.HasPrefix(line, "#") {
				words = append(words, strings.Fields(line)...)
			}
		}
		if len(words) > 0 {
			return strings.Join(words, " ")
		}
	}
	return ""
}

// cutField returns the value of a line "key: value".
func cutField(line, key string) (value string, ok bool) {
	before, value, found := strings.Cut(line, ":")
	value = strings.Join(strings.Fields(value), " ")
	return value, found && value != "" && strings.EqualFold(strings.TrimSpace(before), key)
}

func (p *parser) invocation() {
	s := p.skill
	disabled, ok := p.fields.flag("disable-model-invocation", false)
	if !ok {
		p.restriction("disable-model-invocation", "true or false")
		disabled = true
	}
	s.ModelInvocable = !disabled
	if s.UserInvocable, ok = p.fields.flag("user-invocable", true); !ok {
		p.fields.wrongType("user-invocable", "true or false")
	}
	s.Arguments = p.fields.words("arguments", strings.Fields)
	s.ArgumentHint = p.hint()
}

// hint reads what to type after the skill's name. Most write it like [file],
// which is a list to YAML.
func (p *parser) hint() string {
	if node := p.fields.get("argument-hint"); node != nil && node.Kind == yaml.SequenceNode && isWords(node) {
		return "[" + strings.Join(p.fields.words("argument-hint", one), ", ") + "]"
	}
	return p.fields.text("argument-hint")
}

// class reads what restricts the skill, and fails closed.
func (p *parser) class() {
	p.skill.Class = skills.Safe
	if p.fields.get("class") == nil {
		return
	}
	switch class := skills.Class(p.fields.text("class")); class {
	case skills.Safe, skills.Mutating, skills.Dangerous:
		p.skill.Class = class
	default:
		p.restriction("class", "safe, mutating or dangerous")
	}
}

func (p *parser) restriction(key, want string) {
	p.restrictionAt(p.fields.pos(key), key, want)
}

func (p *parser) restrictionAt(at Position, key, want string) {
	p.failed = true
	p.report(skills.Error, at, "write "+want, "%q is not %s, %s", key, want, instructionsOnly)
}

// instructionsOnly is the consequence of a restriction that cannot be read.
const instructionsOnly = "so the skill is loaded as instructions only"

// entry reads Colony's fields.
func (p entryReader) entry() error {
	script := strings.TrimSpace(p.fields.text("script"))
	if script == "" {
		if p.fields.get("params") != nil {
			p.report(skills.Warning, p.fields.pos("params"), "name the script to run", "there are params but no script, so there is nothing to run")
		}
		return nil
	}
	entry := &skills.Entry{
		Script:    script,
		Args:      p.params(),
		ImageRole: p.fields.text("sandbox_image_role"),
		Timeout:   cmp.Or(p.fields.seconds("timeout_seconds"), p.fields.seconds("execution_timeout")),
		Output:    p.outputSchema(),
		Closed:    p.closed(),
	}
	p.skill.Entry = entry
	p.sandbox(entry)
	if len(entry.Placeholders()) > 0 {
		return p.checkPattern(entry)
	}
	name, err := infer.FindScript(p.skill, script)
	switch {
	case errors.Is(err, skillfs.ErrLeaves):
		return Errorf(p.fields.pos("script"), "put the script into the skill's folder", "script %q leads out of the skill's folder", script)
	case errors.Is(err, fs.ErrNotExist):
		p.unavailable("script "+script+" does not exist", "create it or correct the path")
		return nil
	case err != nil:
		p.unavailable(fmt.Sprintf("script %s cannot be read: %v", script, err), "make it a readable file")
		return nil
	}
	return p.interpreter(entry, name)
}

// params reads the parameters of a script, unless they are too large to be served.
func (p entryReader) params() skills.Flags {
	params := skills.Flags(parseParams(p.fields))
	if encoded, err := json.Marshal(params.Schema()); err != nil || len(encoded) > maxSchema {
		p.report(skills.Error, p.fields.pos("params"), "shorten descriptions and values", `"params" are larger than %d bytes in all and are ignored`, maxSchema)
		return nil
	}
	return params
}

// closed reads `additional`: whether arguments that params does not declare are
// passed on. What cannot be read restricts.
func (p entryReader) closed() bool {
	if node := p.fields.get("params"); node != nil && isSchema(node) {
		if open, ok := newFields(node, discard).flag("additionalProperties", true); ok && !open {
			return true
		}
	}
	additional, ok := p.fields.flag("additional", true)
	if !ok {
		p.report(skills.Warning, p.fields.pos("additional"), "write true or false", `"additional" is not true or false, so arguments that params does not declare are refused`)
		return true
	}
	return !additional
}

// checkPattern checks what can be known of a script's path that depends on
// parameters.
func (p entryReader) checkPattern(entry *skills.Entry) error {
	sample := entry.ExpandScript(func(string) string { return "x" })
	if !fs.ValidPath(path.Clean(sample)) {
		return Errorf(p.fields.pos("script"), "put the scripts into the skill's folder", "script %q leads out of the skill's folder", entry.Script)
	}
	for _, name := range entry.Placeholders() {
		if !declares(entry, name) {
			p.report(skills.Warning, p.fields.pos("script"), "declare it in params", "script %q uses the undeclared parameter %q", entry.Script, name)
		}
	}
	return nil
}

func declares(e *skills.Entry, name string) bool {
	for _, p := range e.Params() {
		if p.Name == name {
			return true
		}
	}
	return false
}

func (p entryReader) unavailable(reason, remedy string) {
	p.skill.Unavailable = reason
	p.report(skills.Error, p.fields.pos("script"), remedy, "%s", reason)
}

func (p entryReader) interpreter(entry *skills.Entry, name string) error {
	head, err := skillfs.ReadHead(p.skill.Files, name)
	if err != nil {
		p.unavailable(fmt.Sprintf("script %s cannot be read: %v", entry.Script, err), "make it a readable file")
		return nil
	}
	entry.Interpreter = infer.Interpreter(name, head)
	if !infer.Tells(name, head) {
		p.report(skills.Warning, p.fields.pos("script"), "begin it with a line such as #!/usr/bin/env python3, or name it .sh, .py or .js", "neither the name of script %s nor a first line #! says what runs it; it is run with bash", entry.Script)
	}
	if infer.IsShell(entry.Interpreter) && infer.HasCarriageReturns(head) {
		p.report(skills.Warning, p.fields.pos("script"), "save it with LF line ends", "script %s has Windows line ends; they are removed while it is read", entry.Script)
	}
	return nil
}

// ignored says which fields this server does not honour.
func (p *parser) ignored() {
	for _, field := range []struct{ key, why string }{
		{"allowed-tools", "it grants nothing here: the sandbox decides what a script can do"},
		{"disallowed-tools", "it forbids nothing here: the sandbox decides what a script can do"},
		{"hooks", "hooks are not run"},
	} {
		if p.fields.get(field.key) != nil {
			p.report(skills.Note, p.fields.pos(field.key), "", "%q is not honoured: %s", field.key, field.why)
		}
	}
	if skills.HasInlineCommands(p.skill.Instructions) {
		p.report(skills.Note, Position{}, "", "the instructions contain !`commands`; they are shown, not run")
	}
}
