package describe

import "time"

// Installed says where an installed skill comes from, and whether its files are still
// those that were installed.
type Installed struct {
	Source   string    `json:"source"` // as a person writes it
	Revision string    `json:"revision,omitempty"`
	Entry    string    `json:"entry"` // in the lock file
	Digest   string    `json:"digest"`
	At       time.Time `json:"at"`
	// Intact reports that the files equal the lock file; Differences are the ways in which
	// they do not, or the reason why they could not be compared.
	Intact      bool     `json:"intact"`
	Differences []string `json:"differences,omitempty"`
}
