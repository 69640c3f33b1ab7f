package python

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// A ValueError says which property's value no command line can express.
type ValueError struct {
	Property string
	Message  string
}

func (e *ValueError) Error() string { return fmt.Sprintf("%q %s", e.Property, e.Message) }

func fault(property, format string, args ...any) error {
	return &ValueError{property, fmt.Sprintf(format, args...)}
}

// texts returns one value, or the values of an array, as they are written.
func (a *argument) texts(v any) ([]string, error) {
	if a.nargs == "" || a.nargs == "?" {
		text, err := a.text(v)
		return []string{text}, err
	}
	list, ok := v.([]any)
	switch n := a.span(); {
	case !ok:
		return nil, fault(a.property.name, "must be an array")
	case n.least == n.most && len(list) != n.least:
		return nil, fault(a.property.name, "must have %d items, not %d", n.least, len(list))
	case len(list) < n.least:
		return nil, fault(a.property.name, "must have an item")
	}
	texts := make([]string, len(list))
	for i, item := range list {
		var err error
		if texts[i], err = a.text(item); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// text returns one value as it is written.
func (a *argument) text(v any) (string, error) {
	text, err := a.render(v)
	switch {
	case err != nil:
		return "", fault(a.property.name, "%v", err)
	case strings.IndexByte(text, 0) >= 0:
		return "", fault(a.property.name, "cannot hold a NUL")
	case text == "--":
		return "", fault(a.property.name, `cannot be "--", which ends the options`)
	}
	return text, nil
}

func (a *argument) render(v any) (string, error) {
	switch a.typ {
	case typeInteger:
		if n, ok := wholeNumber(v); ok {
			return n.String(), nil
		}
		return "", errors.New("must be an integer")
	case typeNumber:
		if text, ok := decimal(v); ok {
			return text, nil
		}
		return "", errors.New("must be a number")
	case typeBool, typeTruth:
		on, ok := v.(bool)
		if !ok {
			return "", errors.New("must be true or false")
		}
		return a.truth(on), nil
	case typeJSON:
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			return "", fmt.Errorf("cannot be written as JSON: %w", err)
		}
		return strings.TrimSuffix(b.String(), "\n"), nil
	}
	text, ok := v.(string)
	if !ok {
		return "", errors.New("must be a string")
	}
	return text, nil
}

// truth returns the text that the argument's type takes for true, or for false.
func (a *argument) truth(on bool) string {
	texts := []string{"true", "false"}
	if a.typ == typeBool {
		texts = []string{"True", ""}
	} else if a.truths != nil {
		texts = a.truths
	}
	if on {
		return texts[0]
	}
	return texts[1]
}

// maxDigits bounds numbers: Python refuses integers of more than 4300 digits.
const maxDigits = 400

func rational(v any) (*big.Rat, bool) {
	switch v.(type) {
	case json.Number, float64, int64, int:
	default:
		return nil, false
	}
	text := fmt.Sprint(v)
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		if n, err := strconv.Atoi(exponent); err != nil || n > maxDigits || n < -maxDigits {
			return nil, false
		}
	}
	if len(text) > maxDigits || !json.Valid([]byte(text)) {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// wholeNumber returns an integer, however JSON writes it: 5, 5.0, 5e0.
func wholeNumber(v any) (*big.Int, bool) {
	r, ok := rational(v)
	if !ok || !r.IsInt() {
		return nil, false
	}
	return r.Num(), true
}

// decimal returns a number without an exponent: argparse takes -1e5 for an
// option.
func decimal(v any) (string, bool) {
	r, ok := rational(v)
	if !ok || r.IsInt() {
		n, ok := wholeNumber(v)
		return n.String(), ok
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'f', -1, 64), true
}
