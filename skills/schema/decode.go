package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// maxDepth bounds the nesting of a value. Some clients give up soon after it.
	maxDepth = 128
	// maxNumber bounds the length of a number, in bytes.
	maxNumber = 512
)

// Decode decodes one JSON value, with numbers as they are written. The error is
// for one that cannot be decoded, or that sane refuses.
func Decode(data []byte) (any, error) {
	value, err := validator.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("it is not JSON")
	}
	return value, sane(value, maxDepth)
}

// sane refuses values of encoding/json that a stranger may write to do harm: that
// nest too deep, and numbers beyond float64. The validator makes exact fractions
// of numbers: 1e-999999 costs it milliseconds, and 1e9999999 a panic.
func sane(value any, left int) error {
	if left == 0 {
		return fmt.Errorf("it nests more than %d deep", maxDepth)
	}
	switch v := value.(type) {
	case json.Number:
		return saneNumber(v.String())
	case []any:
		for _, item := range v {
			if err := sane(item, left-1); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, item := range v {
			if err := sane(item, left-1); err != nil {
				return err
			}
		}
	}
	return nil
}

func saneNumber(text string) error {
	n, err := strconv.ParseFloat(text, 64)
	digits, _, _ := strings.Cut(strings.ToLower(text), "e")
	vanished := n == 0 && strings.ContainsAny(digits, "123456789")
	if len(text) > maxNumber || err != nil || vanished {
		return fmt.Errorf("the number %.20s is out of range", text)
	}
	return nil
}
