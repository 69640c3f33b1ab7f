package scriptio

import "regexp"

// begun is how a line begins that says something to the server.
var begun = regexp.MustCompile(`(?m)^[ \t]{0,64}\{[ \t]*"mcp"[ \t]*:[ \t]*(?:\{[ \t]*"(ask|requests)")?`)

// Meant says what output that [ParseResult] finds nothing in was meant to be: a
// line of it begins as a result object does (result), or as a question.
func Meant(stdout []byte) (result, question bool) {
	for _, line := range begun.FindAllSubmatch(stdout, -1) {
		if line[1] != nil {
			question = true
		} else {
			result = true
		}
	}
	return result, question
}
