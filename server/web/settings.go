package web

import "net/http"

// settings shows the effective settings.
func (m *management) settings(r *http.Request) (*content, error) {
	all, err := m.manage.Settings(r.Context())
	if err != nil {
		return nil, err
	}
	type group struct {
		Name     string
		Settings []Setting
	}
	var groups []*group
	for _, s := range all {
		if len(groups) == 0 || groups[len(groups)-1].Name != s.Group {
			groups = append(groups, &group{Name: s.Group})
		}
		last := groups[len(groups)-1]
		last.Settings = append(last.Settings, s)
	}
	return &content{Title: "Settings", Template: "settings.html", Section: "settings", Data: groups}, nil
}
