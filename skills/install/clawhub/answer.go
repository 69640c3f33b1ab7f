package clawhub

import "encoding/json"

// The answers of a registry, as far as they are read. Unknown fields are ignored.
type (
	skillAnswer struct {
		Skill struct {
			Slug string          `json:"slug"`
			Tags json.RawMessage `json:"tags"` // versions by tag
		} `json:"skill"`
		LatestVersion *struct {
			Version string `json:"version"`
		} `json:"latestVersion"`
		Owner *struct {
			Handle string `json:"handle"`
		} `json:"owner"`
		Moderation *moderation `json:"moderation"`
	}
	versionAnswer struct {
		Version struct {
			Files    []file    `json:"files"`
			Security *security `json:"security"`
			Yanked   bool      `json:"yanked"`
			Deleted  any       `json:"softDeletedAt"`
		} `json:"version"`
	}
	file struct {
		Path   string `json:"path"`
		Size   int64  `json:"size"`
		SHA256 string `json:"sha256"`
	}
	// refusal is the body of a 403 or 423 answer.
	refusal struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
	}
	// ambiguity is the body of a 409 answer.
	ambiguity struct {
		Code    string  `json:"code"`
		Matches []match `json:"matches"`
	}
	match struct {
		OwnerHandle string `json:"ownerHandle"`
		Slug        string `json:"slug"`
	}
)

func (a *skillAnswer) tag(ref string) string {
	var tags map[string]string
	if json.Unmarshal(a.Skill.Tags, &tags) != nil {
		return ""
	}
	return tags[ref]
}

// withdrawn reports whether a version was deleted or yanked by its author or the registry.
func (a *versionAnswer) withdrawn() bool {
	return a.Version.Yanked || a.Version.Deleted != nil && a.Version.Deleted != false
}

// moderation is the state of a skill that was flagged.
type moderation struct {
	IsSuspicious     bool     `json:"isSuspicious"`
	IsMalwareBlocked bool     `json:"isMalwareBlocked"`
	Verdict          string   `json:"verdict"`
	ReasonCodes      []string `json:"reasonCodes"`
}

// security is the state of a version.
type security struct {
	Status    string `json:"status"`
	RawStatus string `json:"rawStatus"`
	Verdict   string `json:"verdict"`
	Passed    *bool  `json:"passed"`
	// Of a package that is no skill alone.
	BlockedFromDownload bool `json:"blockedFromDownload"`
	Pending             bool `json:"pending"`
	Stale               bool `json:"stale"`
}

// A verdict is the registry's answer about one version.
type verdict struct {
	OK             bool      `json:"ok"`
	Decision       string    `json:"decision"`
	Reasons        []string  `json:"reasons"`
	Slug           string    `json:"slug"`
	RequestedSlug  string    `json:"requestedSlug"`
	Version        string    `json:"version"`
	PublisherOwner string    `json:"publisherHandle"`
	Security       *security `json:"security"`
}
