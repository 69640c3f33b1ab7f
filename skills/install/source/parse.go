package source

import "errors"

// Parse returns the source that a person has written. Relative paths start from folder,
// an absolute host path. The error says which forms there are.
func Parse(text, folder string) (Source, error) {
	return Source{}, errors.New("not written yet")
}

// String returns the source as a person writes it: [Parse] returns the same source for
// it, except for Pin.
func (s Source) String() string { return s.Location }
