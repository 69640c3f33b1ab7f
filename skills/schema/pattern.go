package schema

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// maxPatternSize bounds the program of a pattern, in parts of the
// pattern with repetitions written out: "(ab){1000}" has some 2000. It takes the
// time to compile it, at each reading and each call.
const maxPatternSize = 5_000

// Pattern compiles a stranger's regular expression, which is in RE2's
// syntax and matches in linear time, unless it is too large.
func Pattern(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPatternSize {
		return nil, fmt.Errorf("it is longer than %d bytes", maxPatternSize)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, err
	}
	if patternSize(parsed) > maxPatternSize {
		return nil, errors.New("its repetitions make it too large")
	}
	return regexp.Compile(pattern)
}

// patternSize estimates the program of a pattern; it stops to count above the
// limit.
func patternSize(re *syntax.Regexp) int {
	size := 1
	if re.Op == syntax.OpLiteral {
		size = len(re.Rune)
	}
	for _, sub := range re.Sub {
		size = min(size+patternSize(sub), maxPatternSize+1)
	}
	switch {
	case re.Op != syntax.OpRepeat:
		return size
	case re.Max > 0:
		return min(size*re.Max, maxPatternSize+1)
	}
	return min(size*max(re.Min, 1), maxPatternSize+1)
}
