package config

// CORS says which pages may read what the node answers.
type CORS struct {
	Origins string // as the file has them: see [CORS.List]
}

// List returns the origins whose pages may read answers.
func (c CORS) List() []string { return listed(c.Origins) }

func corsSettings() []Setting {
	return []Setting{
		set("cors.origins", "", text(origins), func(c *Config) *string { return &c.CORS.Origins },
			"The origins whose pages may read what the node answers over HTTP, such as https://app.example.com, separated by commas; * is all. Their requests need a key like any. WebSockets have websocket.origins, and /mcp has mcp.origins besides."),
	}
}
