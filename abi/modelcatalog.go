package abi

// ModelCatalog is which models a node has. Nothing in it is secret.
type ModelCatalog struct {
	Default   string          `json:"default,omitzero"` // the model of calls that name none
	Providers []ModelProvider `json:"providers"`        // by id
	Models    []NodeModel     `json:"models"`           // by name
}

// ModelPlace says where a model runs.
type ModelPlace string

// Where models run.
const (
	ModelLocal  ModelPlace = "local"  // on the node's machine or network
	ModelCloud  ModelPlace = "cloud"  // at a service outside
	ModelClient ModelPlace = "client" // at the client that gives the Task
)

// ModelAuth is what asking a model takes.
type ModelAuth struct {
	Required bool     `json:"required"` // a key is sent
	Env      []string `json:"env"`      // the names of the environment variables that the node reads it from; none where it is kept elsewhere
}

// ModelProvider is what models of one kind and place have in common.
type ModelProvider struct {
	ID        string     `json:"id"`        // as its models name it
	Kind      string     `json:"kind"`      // how it is asked: openai, anthropic, script or client
	Place     ModelPlace `json:"place"`     // where its models run
	Auth      ModelAuth  `json:"auth"`      // what any of its models takes
	Available bool       `json:"available"` // one of its models is
	Models    []string   `json:"models"`    // their names
}

// ModelPrice is what a model costs, per million tokens.
type ModelPrice struct {
	Input    float64 `json:"input_per_million"`
	Output   float64 `json:"output_per_million"`
	Currency string  `json:"currency"` // ISO 4217
}

// NodeModel is a model that plugins ask by its name.
type NodeModel struct {
	Name          string      `json:"name"`                    // by which plugins ask for it
	Aliases       []string    `json:"aliases"`                 // other names that mean it where a Session or an agent names a model
	Provider      string      `json:"provider"`                // the id of its provider
	Kind          string      `json:"kind"`                    // of the provider: openai, anthropic, script or client
	Model         string      `json:"model"`                   // as the provider names it; "" where the client decides
	Default       bool        `json:"default"`                 // it answers calls that name none
	Place         ModelPlace  `json:"place"`                   // where it runs
	Auth          ModelAuth   `json:"auth"`                    // what asking it takes
	Available     bool        `json:"available"`               // what asking it takes is there; whether it answers nobody has tried
	ContextWindow int         `json:"context_window,omitzero"` // in tokens, where the operator has said it
	MaxTokens     int         `json:"max_tokens,omitzero"`     // of one answer, where it is bounded
	Thinking      bool        `json:"thinking"`                // what it thinks is told to those who may know
	Price         *ModelPrice `json:"price,omitzero"`          // where it is known
	Fallbacks     []string    `json:"fallbacks"`               // the models that are asked when it fails
}
