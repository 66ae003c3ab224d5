package oaf

import (
	"path"

	json "github.com/go-json-experiment/json"
)

// active reads which tools of a server an agent is to have.
func (m *manifest) active(s *Server, file string, content []byte) {
	var a struct {
		Selected []struct {
			Name    string `json:"name"`
			Enabled *bool  `json:"enabled"`
		} `json:"selectedTools"`
		Excluded []string `json:"excludedTools"`
		Strategy string   `json:"contextStrategy"`
	}
	at := path.Join(m.agent.Folder, file)
	if err := json.Unmarshal(content, &a); err != nil || len(a.Selected) > maxEntries || len(a.Excluded) > maxEntries {
		m.fail(ServerInvalid, at, 1, "it is no JSON that says selectedTools and excludedTools, of at most %d each", maxEntries)
		return
	}
	s.Excluded = a.Excluded
	if a.Strategy == "all" {
		return
	}
	for _, t := range a.Selected {
		if t.Name != "" && (t.Enabled == nil || *t.Enabled) {
			s.Tools = append(s.Tools, t.Name)
		}
	}
}
