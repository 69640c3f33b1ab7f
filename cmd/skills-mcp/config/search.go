package config

import (
	"errors"
	"fmt"

	"github.com/skillsmcp/skills-mcp/server/embeddings"
	"github.com/skillsmcp/skills-mcp/skills/lazyregexp"
)

// Search configures how skills are found.
type Search struct {
	Embeddings Embeddings `yaml:"embeddings"`
}

// Embeddings configures the endpoint that orders search results by meaning. Without a
// URL they are ordered by words alone.
type Embeddings struct {
	URL   string `yaml:"url"`
	Model string `yaml:"model"`
	Key   string `yaml:"key"` // the name of a variable that holds the bearer token
}

// variableName matches the name of a variable.
var variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (e Embeddings) validate() error {
	switch {
	case e.URL == "" && (e.Model != "" || e.Key != ""):
		return errors.New("search.embeddings.url is missing; write one such as https://api.example.com/v1")
	case e.URL == "":
		return nil
	case e.Key != "" && !variableName.MatchString(e.Key):
		return errors.New("search.embeddings.key is no name of a variable; write the name of the one that holds the key, not the key")
	}
	if err := e.Endpoint("").Validate(); err != nil {
		return fmt.Errorf("search.embeddings: %w", err)
	}
	return nil
}

// Endpoint returns the endpoint with its key.
func (e Embeddings) Endpoint(key string) embeddings.Endpoint {
	return embeddings.Endpoint{URL: e.URL, Model: e.Model, Key: key}
}
