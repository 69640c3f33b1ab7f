package secrets

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox/redact"
)

// maxExtracted bounds the secrets within a value: the proxy looks for each in every request.
const maxExtracted = 32

// CheckPattern returns an error, with the remedy, for a text that is no pattern of [Mask].
func CheckPattern(pattern string) error {
	compiled, err := regexp.Compile(pattern)
	if err != nil || len(pattern) > 1000 || compiled.NumSubexp() != 1 {
		return fmt.Errorf(`%.70q is no regular expression (RE2) with one group, the secret; write one such as 'password (\S+)', and (?:…) for other groups`, pattern)
	}
	return nil
}

// Mask returns a value with a sentinel in place of each secret in it, and the sentinels by
// their secrets. These are the first group of each match of a pattern, or the whole value
// where that is "". The errors have nothing of the value.
func Mask(value, pattern string) (text string, sentinels map[string]string, err error) {
	found := [][]int{{0, len(value), 0, len(value)}}
	if pattern != "" {
		if err := CheckPattern(pattern); err != nil {
			return "", nil, err
		}
		found = regexp.MustCompile(pattern).FindAllStringSubmatchIndex(value, maxExtracted+1)
	}
	if len(found) == 0 || len(found) > maxExtracted {
		return "", nil, fmt.Errorf("its pattern has to match 1 to %d times in the value; grant it with another --extract", maxExtracted)
	}
	sentinels = map[string]string{}
	var masked, rest strings.Builder
	end := 0
	for _, at := range found {
		if at[2] < 0 || at[3]-at[2] < minValue {
			return "", nil, fmt.Errorf("its pattern extracts less than %d bytes, which cannot be told from other text; grant it with another --extract, or with --plain", minValue)
		}
		secret := value[at[2]:at[3]]
		if strings.ContainsAny(secret, breaks) {
			return "", nil, errors.New(`what is to be masked has line breaks or tabs, and no request has those; grant it with --extract and a pattern of the part that is sent, such as 'password (\S+)', or with --plain`)
		}
		if sentinels[secret] == "" {
			if sentinels[secret], err = Sentinel(secret); err != nil {
				return "", nil, err
			}
		}
		masked.WriteString(value[end:at[2]] + sentinels[secret])
		rest.WriteString(value[end:at[2]] + "\x00")
		end = at[3]
	}
	masked.WriteString(value[end:])
	rest.WriteString(value[end:])
	if redact.New(sentinels).String(rest.String()) != rest.String() {
		return "", nil, errors.New("what its pattern extracts is also elsewhere in the value, where the skill would see it; grant it with an --extract that matches there, too")
	}
	return masked.String(), sentinels, nil
}
