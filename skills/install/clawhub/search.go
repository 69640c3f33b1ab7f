package clawhub

import (
	"context"
	"net/url"
	"strconv"
	"strings"
)

// A Hit is a skill that a search found. Its texts are a stranger's.
type Hit struct {
	Name      string `json:"name"` // "owner/slug", or "slug" if the registry does not tell the owner
	Title     string `json:"title,omitempty"`
	Summary   string `json:"summary,omitempty"`
	Version   string `json:"version,omitempty"`
	Downloads int64  `json:"downloads"`
}

// maxHits bounds a search.
const maxHits = 100

// Search asks a registry, "" for the default one, for at most limit skills (20 for 0), the
// best first. Suspicious ones are left out by the registry.
func (f *Fetcher) Search(ctx context.Context, registry, query string, limit int) ([]Hit, error) {
	r, err := f.open(ctx, registry, true)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = 20
	}
	limit = min(limit, maxHits)
	var answer struct {
		Results []struct {
			Slug        string  `json:"slug"`
			DisplayName string  `json:"displayName"`
			Summary     string  `json:"summary"`
			Version     string  `json:"version"`
			OwnerHandle string  `json:"ownerHandle"`
			Downloads   float64 `json:"downloads"`
		} `json:"results"`
	}
	parameters := url.Values{"q": {query}, "limit": {strconv.Itoa(limit)}, "nonSuspiciousOnly": {"true"}}
	if err := r.get(ctx, "/search", parameters, &answer); err != nil {
		return nil, r.explain(err, "search")
	}
	var hits []Hit
	for _, found := range answer.Results {
		name := found.Slug
		if found.OwnerHandle != "" {
			name = strings.TrimPrefix(found.OwnerHandle, "@") + "/" + name
		}
		if found.Slug == "" || strings.ContainsFunc(name, unprintable) || len(hits) == limit {
			continue
		}
		hits = append(hits, Hit{name, printable(found.DisplayName, 200), printable(found.Summary, 1000), printable(found.Version, 40), int64(found.Downloads)})
	}
	return hits, nil
}
