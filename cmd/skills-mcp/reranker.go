package main

import (
	"os"
	"path/filepath"

	"github.com/skillsmcp/skills-mcp/server/embeddings"
)

// reranker returns the reranker of the configured endpoint, which must be closed; nil
// without one. The key is of this program's environment; without it searches go by words.
func (s *settings) reranker() *embeddings.Reranker {
	configured := s.Search.Embeddings
	if configured.URL == "" {
		return nil
	}
	key := os.Getenv(configured.Key)
	if configured.Key != "" && key == "" {
		s.logger.Warn("search results are not ordered by meaning: the variable of search.embeddings.key is not set", "variable", configured.Key)
		return nil
	}
	options := &embeddings.Options{Logger: s.logger}
	if dir, err := cacheDir(); err == nil {
		options.Dir = filepath.Join(dir, "embeddings")
	}
	r, err := embeddings.New(configured.Endpoint(key), options)
	if err != nil { // the configuration was validated
		s.logger.Warn("search results are not ordered by meaning", "error", err)
		return nil
	}
	return r
}
