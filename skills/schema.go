package skills

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/skillsmcp/skills-mcp/skills/jsoncheck"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema returns the JSON Schema (2020-12) of the entry's arguments: an object,
// its properties in the manifest's order.
func (e *Entry) Schema() *jsonschema.Schema {
	s := e.Passing().Schema()
	if _, flags := e.Passing().(Flags); flags && e.Closed {
		s.AdditionalProperties = jsonschema.FalseSchema
	}
	return s
}

// Params are the entry's parameters, in the manifest's order.
func (e *Entry) Params() []Param { return e.Passing().params() }

// Pass returns what the script is given for arguments that [Entry.Validate] has
// accepted. The error is for who wrote them. What the script's path is made of is
// not passed as well.
func (e *Entry) Pass(args map[string]any) (Passed, error) {
	return e.Passing().Pass(e.besides(args))
}

// besides returns args without those that the script's path is made of.
func (e *Entry) besides(args map[string]any) map[string]any {
	if names := e.Placeholders(); len(names) > 0 {
		args = maps.Clone(args)
		maps.DeleteFunc(args, func(name string, _ any) bool { return slices.Contains(names, name) })
	}
	return args
}

// Passing returns how arguments reach the script: [Flags], [ParsedCLI], [Input] or
// [RawArgv].
func (e *Entry) Passing() Args {
	switch args := e.Args.(type) {
	case nil:
		return Flags(nil)
	case *Inferred:
		return args.known()
	}
	return e.Args
}

// An ArgumentError says what is wrong with a call's arguments, one message for
// each fault.
type ArgumentError struct {
	Faults []string
}

func (e *ArgumentError) Error() string { return strings.Join(e.Faults, "; ") }

// Validate checks arguments, values of encoding/json, against the entry's
// schema. It returns an [*ArgumentError], or nil.
func (e *Entry) Validate(args map[string]any) error { return Validate(e.Schema(), args) }

// Validate checks arguments, values of encoding/json, against the schema of an
// object. It returns an [*ArgumentError], or nil.
func Validate(schema *jsonschema.Schema, args map[string]any) error {
	compiled, err := compile(schema)
	if err != nil {
		return err
	}
	if args == nil {
		args = map[string]any{}
	}
	if err := jsoncheck.Sane(args); err != nil {
		return &ArgumentError{[]string{err.Error()}}
	}
	err = compiled.Validate(args)
	var invalid *validator.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	return &ArgumentError{faults(invalid)}
}

// CheckOutput checks what the script returned, a JSON object or nil, against the
// schema that the entry declares. The error says where it differs.
func (e *Entry) CheckOutput(object []byte) error {
	if e == nil || e.Output == nil {
		return nil
	}
	if object == nil {
		return errors.New("it is not one JSON object")
	}
	value, err := jsoncheck.Decode(object)
	if err != nil {
		return err
	}
	compiled, err := compile(e.Output)
	if err != nil {
		return err
	}
	err = compiled.Validate(value)
	var invalid *validator.ValidationError
	if !errors.As(err, &invalid) {
		return err
	}
	all := outputFaults(invalid)
	const most = 5
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("and %d more", len(all)-most))
	}
	return &ArgumentError{all}
}

// outputFaults says where a script's output is wrong, as JSON Pointers (RFC 6901),
// sorted.
func outputFaults(err *validator.ValidationError) []string {
	var all []string
	for _, leaf := range leaves(err) {
		where := "the object"
		if len(leaf.InstanceLocation) > 0 {
			where = "/" + strings.Join(leaf.InstanceLocation, "/")
		}
		what := leaf.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		all = append(all, truncate.String(where+": "+what, 2*maxEcho))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// faults words what is wrong, sorted.
func faults(err *validator.ValidationError) []string {
	var all []string
	for _, leaf := range leaves(err) {
		all = append(all, faultsOf(leaf)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Defaults returns args without the parameters that are null, which models send
// for absent, unless null may be a value of theirs. Parameters that the manifest
// declares and that are then absent get their default; other scripts have their
// own.
func (e *Entry) Defaults(args map[string]any) map[string]any {
	all := maps.Clone(args)
	if all == nil {
		all = map[string]any{}
	}
	in, input := e.Passing().(Input)
	foreign := input && in.Object != nil
	_, flags := e.Passing().(Flags)
	for _, p := range e.Params() {
		value, given := all[p.Name]
		if value != nil {
			continue
		}
		if given && !(foreign && p.Schema.Type == "") {
			delete(all, p.Name)
		}
		if (flags || input && !foreign) && p.Schema.Default != nil {
			all[p.Name] = p.Schema.Default
		}
	}
	return all
}

func compile(schema *jsonschema.Schema) (*validator.Schema, error) {
	data, err := json.Marshal(schema)
	if err != nil {
		return nil, fmt.Errorf("encode schema: %w", err)
	}
	compiled, err := jsoncheck.Validator(data, "")
	if err != nil {
		return nil, fmt.Errorf("compile schema: %w", err)
	}
	return compiled, nil
}

func leaves(err *validator.ValidationError) []*validator.ValidationError {
	if len(err.Causes) == 0 {
		return []*validator.ValidationError{err}
	}
	var all []*validator.ValidationError
	for _, cause := range err.Causes {
		all = append(all, leaves(cause)...)
	}
	return all
}

// faultsOf words one failed keyword for the model that wrote the arguments.
func faultsOf(err *validator.ValidationError) []string {
	where := place(err.InstanceLocation)
	switch k := err.ErrorKind.(type) {
	case *kind.Required:
		var faults []string
		for _, name := range k.Missing {
			faults = append(faults, fmt.Sprintf("missing required parameter %q", name))
		}
		return faults
	case *kind.AdditionalProperties:
		var faults []string
		for _, name := range k.Properties {
			faults = append(faults, unknown(err.InstanceLocation, name))
		}
		return faults
	case *kind.Type:
		return []string{fmt.Sprintf("%s must be %s, not %s", where, article(k.Want), article([]string{k.Got}))}
	case *kind.Enum:
		var allowed []string
		for _, value := range k.Want {
			allowed = append(allowed, show(value))
		}
		return []string{fmt.Sprintf("%s must be one of %s, not %s", where, list(allowed, "or"), show(k.Got))}
	case *kind.Minimum:
		return []string{fmt.Sprintf("%s must be at least %s, not %s", where, ratio(k.Want), ratio(k.Got))}
	case *kind.Maximum:
		return []string{fmt.Sprintf("%s must be at most %s, not %s", where, ratio(k.Want), ratio(k.Got))}
	case *kind.ExclusiveMinimum:
		return []string{fmt.Sprintf("%s must be greater than %s, not %s", where, ratio(k.Want), ratio(k.Got))}
	case *kind.ExclusiveMaximum:
		return []string{fmt.Sprintf("%s must be less than %s, not %s", where, ratio(k.Want), ratio(k.Got))}
	case *kind.Pattern:
		return []string{fmt.Sprintf("%s must match %s, which %s does not", where, k.Want, show(k.Got))}
	}
	return []string{where + ": " + err.ErrorKind.LocalizedString(message.NewPrinter(language.English))}
}

// unknown words a property that the schema does not have.
func unknown(location []string, name string) string {
	if len(location) == 0 {
		return fmt.Sprintf("there is no parameter %q", name)
	}
	return fmt.Sprintf("%s has no property %q", place(location), name)
}

// place renders where in the arguments a fault is: "categories"[2].
func place(location []string) string {
	if len(location) == 0 {
		return "the arguments"
	}
	at := strconv.Quote(location[0])
	for _, step := range location[1:] {
		at += "[" + step + "]"
	}
	return at
}

func article(types []string) string {
	named := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "null":
			named[i] = "null"
		case "integer", "array", "object":
			named[i] = "an " + t
		default:
			named[i] = "a " + t
		}
	}
	return list(named, "or")
}

func ratio(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// maxEcho is how much of what an author or a caller wrote a message repeats, in
// bytes.
const maxEcho = 80

// show renders a value of a message, shortened where it is long.
func show(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return truncate.String(string(data), maxEcho)
}

// list renders "a, b or c".
func list(items []string, conjunction string) string {
	switch len(items) {
	case 0:
		return ""
	case 1:
		return items[0]
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " " + conjunction + " " + items[last]
}
