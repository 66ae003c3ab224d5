package model

import "fmt"

// Models answers llm.complete. It is safe for concurrent use.
type Models struct {
	config Config
}

// New checks a configuration and returns its models. Nothing is asked of any
// provider.
func New(c Config) (*Models, error) {
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("configuring models: %w", err)
	}
	return &Models{config: c}, nil
}
