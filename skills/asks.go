package skills

// An Asked is whom a script may ask while it runs.
type Asked string

// Whom a script may ask.
const (
	AskPerson Asked = "person" // who uses the client: a form to fill in
	AskModel  Asked = "model"  // the client's model: a completion
	AskRoots  Asked = "roots"  // the client: the folders that it works in
)
