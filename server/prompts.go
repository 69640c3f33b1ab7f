package server

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
)

// promptPage returns the prompts from a cursor on, and the next cursor: first the fixed
// ones, then those of skills. The prompt of a skill is made when it is listed: for some, a
// script is read.
func (v *view) promptPage(cursor mcp.Cursor, fixed []mcp.Prompt) (page []mcp.Prompt, next mcp.Cursor) {
	var all []func() mcp.Prompt
	for _, prompt := range fixed {
		all = append(all, func() mcp.Prompt { return prompt })
	}
	for _, skill := range v.offered() {
		all = append(all, func() mcp.Prompt { return v.promptOf(skill) })
	}
	page, after, _ := pageOf(all, string(cursor), maxPage, func(make func() mcp.Prompt) mcp.Prompt { return make() }) // mcp-go has refused a cursor of another kind
	return page, mcp.Cursor(after)
}

// forwardPrompt makes mcp-go call the handler of [anyPrompt] for every prompt: it would
// have to be told each name.
func forwardPrompt(_ context.Context, _ any, in *mcp.GetPromptRequest) {
	forward(&in.Header, &in.Params.Name, anyPrompt)
}

// offered returns the skills that a person can use: first those that a model cannot use
// for them, last those that are tools of another.
func (v *view) offered() []*skills.Skill {
	var alone, both, tools []*skills.Skill
	for _, skill := range v.exposed.Order() {
		switch {
		case !describe.IsPrompt(skill):
		case skill.Of != nil:
			tools = append(tools, skill)
		case skill.Command || !skill.ModelInvocable:
			alone = append(alone, skill)
		default:
			both = append(both, skill)
		}
	}
	return slices.Concat(alone, both, tools)
}

// promptOf returns the prompt of a skill.
func (v *view) promptOf(skill *skills.Skill) mcp.Prompt {
	return mcp.Prompt{
		Name:        v.name(skill),
		Title:       v.titles.Of(skill),
		Description: menuText(skill),
		Arguments:   promptArguments(skill),
	}
}

// fixedPrompts returns the prompts that are of no skill.
func fixedPrompts(options *Options) []mcp.Prompt {
	if options.Installer == nil {
		return []mcp.Prompt{usePrompt()}
	}
	return []mcp.Prompt{usePrompt(), promptToInstall()}
}

func usePrompt() mcp.Prompt {
	return mcp.Prompt{
		Name:        anyPrompt,
		Title:       "Use a skill",
		Description: "Use any skill by its name, also one that this menu does not show.",
		Arguments: []mcp.PromptArgument{
			{Name: "name", Description: "The skill's name, or plugin/name.", Required: true},
			{Name: textArgument, Description: "What the skill is given: text, or a JSON object of its parameters."},
		},
	}
}

// prompted returns the skill whose prompt is called name.
func (v *view) prompted(name string) (*skills.Skill, error) {
	if skill := v.called(name); skill != nil && skill.UserInvocable {
		return skill, nil
	}
	return nil, notFound("prompt", name)
}

// prompts answer prompts/get.
type prompts struct {
	view   func() *view
	find   *finder
	invoke *invoker
	loader *loader

	installs bool // there is the prompt install
}

// get returns the contents of a result as a person's messages.
func (s *prompts) get(ctx context.Context, in mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	r, name := newRequest(ctx, in.Params.Meta, s.view()), forwarded(in.Header)
	r.retry = retry{"prompts/get", name, in.Params.Arguments, in.Params.MultiRoundTripParams}
	result, err := s.use(r, name, in.Params.Arguments)
	if err := s.invoke.protocol(result, err); err != nil {
		return nil, err
	}
	answer := &mcp.GetPromptResult{Result: result.Result, MultiRoundTripResult: result.MultiRoundTripResult}
	for _, content := range result.Content {
		answer.Messages = append(answer.Messages, mcp.NewPromptMessage(mcp.RoleUser, content))
	}
	ofServer(answer, result.StructuredContent)
	return answer, nil
}

// ofServer sets the description of an answer, and the role of each message, to those of the
// prompt of a plugin's server. There are more contents where the server has logged.
func ofServer(answer *mcp.GetPromptResult, structure any) {
	var said struct {
		Prompt *struct {
			Description string
			Roles       []mcp.Role
		}
	}
	raw, _ := structure.(json.RawMessage)
	if json.Unmarshal(raw, &said) != nil || said.Prompt == nil || len(said.Prompt.Roles) > len(answer.Messages) {
		return
	}
	answer.Description, answer.Messages = said.Prompt.Description, answer.Messages[:len(said.Prompt.Roles)]
	for i, role := range said.Prompt.Roles {
		answer.Messages[i].Role = role
	}
}

// use uses the skill of a prompt.
func (s *prompts) use(r *request, name string, given map[string]string) (*mcp.CallToolResult, error) {
	if name == installPrompt && s.installs {
		return askToInstall(given)
	}
	if name != anyPrompt {
		skill, err := s.find.find(r, func(v *view) (*skills.Skill, error) { return v.prompted(name) })
		if err != nil {
			return nil, err
		}
		return s.pick(r, skill, func() (picked, error) { return pickedBy(skill, given) })
	}
	if given["name"] == "" {
		return nil, &run.Error{Code: run.InvalidParam, Message: `"name" is missing; give the name of a skill`}
	}
	skill, err := s.find.named(r, given["name"])
	if err != nil {
		return nil, err
	}
	return s.pick(r, skill, func() (picked, error) { return pickedWith(skill, given[textArgument]) })
}

// pick returns the instructions of a skill for a person, or runs it.
func (s *prompts) pick(r *request, skill *skills.Skill, arguments func() (picked, error)) (*mcp.CallToolResult, error) {
	if !skill.UserInvocable {
		return nil, &run.Error{Code: run.PermissionDenied, Message: "skill " + skill.QualifiedName() + " is for models only; ask one to use it"}
	}
	given, err := arguments()
	if err != nil {
		return nil, err
	}
	if skill.Entry != nil || skill.Unavailable != "" { // which the call refuses
		return s.invoke.execute(r, run.Request{Call: run.Call{Way: run.WayPrompt}, Skill: skill, Args: given.values, Picked: true})
	}
	tool := commandTool(skill)
	for _, own := range skill.Tools {
		if own.Name == tool || own.Name == skill.Name+"__"+tool {
			return s.pick(r, own, func() (picked, error) { return pickedWith(own, given.text) })
		}
	}
	skill, asked, err := s.loader.fetch(r, skill)
	if asked != nil || err != nil {
		return asked, err
	}
	loaded, err := s.loader.instruct(r.ctx, skill, given.text)
	if err != nil {
		return nil, err
	}
	text := loaded.text()
	if hasFiles(skill) {
		text = loaded.header() + text
	}
	if tool != "" {
		text = s.dispatch(r, skill, tool, given.text) + "\n\n" + text
	}
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text)}}, nil
}

// commandTool returns the tool that an OpenClaw skill has its command passed on to; "" is
// none.
func commandTool(skill *skills.Skill) string {
	if skill.Frontmatter["command-dispatch"] != "tool" {
		return ""
	}
	name, _ := skill.Frontmatter["command-tool"].(string)
	return line(name)
}

// dispatch returns the sentence that has a model pass a command on to a tool of its own, with
// the arguments that OpenClaw gives it, or its shell commands to run_code.
func (s *prompts) dispatch(r *request, skill *skills.Skill, tool, text string) string {
	args := map[string]string{"command": text, "commandName": skill.Name, "skillName": skill.Name}
	if _, runs := r.view.handlers["run_code"]; runs && (tool == "exec" || tool == "bash") {
		tool, args = "run_code", map[string]string{"language": "bash", "code": text, "skill": skill.QualifiedName()}
	}
	object, _ := skills.JSONText(args) // of texts
	return fmt.Sprintf("Call the tool %q with just these arguments, and answer with its result: %s", tool, object)
}

// hasFiles reports whether there are files beside the instructions that they may
// speak of.
func hasFiles(skill *skills.Skill) bool {
	if skill.Command {
		return false
	}
	entries, err := fs.ReadDir(skill.Files, ".")
	return err != nil || slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return !strings.EqualFold(e.Name(), "SKILL.md") && !scan.Skip(e.Name())
	})
}

// menuText returns the description of a skill, and an example of its use, for a person.
func menuText(skill *skills.Skill) string {
	text := line(cmp.Or(skill.ShortDescription, skill.Description))
	if skill.DefaultPrompt != "" {
		text += " For example: " + line(skill.DefaultPrompt)
	}
	return text
}
