package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxEcho bounds the part of a value that a message repeats, in bytes.
const maxEcho = 80

// An ArgumentError lists the faults of a call's arguments, one message each.
type ArgumentError struct {
	Faults []string
}

func (e *ArgumentError) Error() string { return strings.Join(e.Faults, "; ") }

// argumentFaults words the faults for the author of arguments, sorted.
func argumentFaults(err *validator.ValidationError) []string {
	var all []string
	for _, leaf := range leaves(err) {
		all = append(all, faultsOf(leaf)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// outputFaults words the first five faults of a script's output, sorted.
func outputFaults(err *validator.ValidationError) []string {
	const most = 5
	var all []string
	for _, leaf := range leaves(err) {
		where := "the object"
		if len(leaf.InstanceLocation) > 0 {
			where = "/" + strings.Join(leaf.InstanceLocation, "/")
		}
		all = append(all, truncate.String(where+": "+localized(leaf), 2*maxEcho))
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > most {
		all = append(all[:most], fmt.Sprintf("and %d more", len(all)-most))
	}
	return all
}

// firstFault returns the first fault in the validator's words, in one line.
func firstFault(err error) string {
	var schema *validator.SchemaValidationError
	if errors.As(err, &schema) {
		err = schema.Err
	}
	var invalid *validator.ValidationError
	if !errors.As(err, &invalid) {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return line
	}
	text := leaves(invalid)[0].Error()
	if _, below, headed := strings.Cut(text, "\n- "); headed {
		return below
	}
	return text
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
		return []string{fmt.Sprintf("%s must be one of %s, not %s", where, skills.Enumerate(allowed, "or"), show(k.Got))}
	case *kind.Pattern:
		return []string{fmt.Sprintf("%s must match %s, which %s does not", where, k.Want, show(k.Got))}
	}
	if fault := boundFault(err.ErrorKind); fault != "" {
		return []string{where + " " + fault}
	}
	return []string{where + ": " + localized(err)}
}

// boundFault words a number that is out of its bounds; "" is another fault.
func boundFault(failed validator.ErrorKind) string {
	relation := ""
	var want, got *big.Rat
	switch k := failed.(type) {
	case *kind.Minimum:
		relation, want, got = "at least", k.Want, k.Got
	case *kind.Maximum:
		relation, want, got = "at most", k.Want, k.Got
	case *kind.ExclusiveMinimum:
		relation, want, got = "greater than", k.Want, k.Got
	case *kind.ExclusiveMaximum:
		relation, want, got = "less than", k.Want, k.Got
	default:
		return ""
	}
	return fmt.Sprintf("must be %s %s, not %s", relation, ratio(want), ratio(got))
}

func localized(err *validator.ValidationError) string {
	return err.ErrorKind.LocalizedString(message.NewPrinter(language.English))
}

// unknown words a property that the schema does not have.
func unknown(location []string, name string) string {
	if len(location) == 0 {
		return fmt.Sprintf("there is no parameter %q", name)
	}
	return fmt.Sprintf("%s has no property %q", place(location), name)
}

// place renders the location of a fault in the arguments: "categories"[2].
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
	return skills.Enumerate(named, "or")
}

func ratio(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// show renders a value in a message and shortens a long one.
func show(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return truncate.String(string(data), maxEcho)
}
