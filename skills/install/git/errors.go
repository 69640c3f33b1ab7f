package git

// A Problem is a reason why a repository cannot be reached.
type Problem string

// The problems. Each has its remedy in the error.
const (
	NoGit          Problem = "git is not installed"
	Authentication Problem = "authentication failed"
	UnknownHost    Problem = "the host's key is not known"
	NotFound       Problem = "no such repository"
	NoRef          Problem = "no such branch, tag or commit"
	NoPath         Problem = "no such folder"
	Certificate    Problem = "the server's certificate is not valid"
	Network        Problem = "the server cannot be reached"
	Busy           Problem = "the server is overloaded"
	TooLarge       Problem = "the repository is too large"
	Other          Problem = "git failed"
)

// An Error says why a repository cannot be fetched.
type Error struct {
	Problem Problem
	Text    string // one sentence; may quote a stranger's text
	Remedy  string // an imperative
}

// Error implements error.
func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.Text
	}
	return e.Text + "; " + e.Remedy
}
