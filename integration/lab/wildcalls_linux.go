package lab

import (
	"regexp"
)

// ApprovalID matches the id of a question that waits for the person.
var ApprovalID = regexp.MustCompile("skills-mcp approve ([A-Za-z0-9-]+)")
