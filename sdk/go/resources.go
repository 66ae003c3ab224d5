package wharf

import "github.com/wharf-dev/wharf/sdk/go/internal/hostcall"

// Resource describes a resource of a server of tools. Size is in bytes; 0 when the server
// does not say it.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mime_type,omitempty"`
	Size        int64  `json:"size,omitempty"`
}

// ResourceTemplate describes resources whose URIs have a form (RFC 6570).
type ResourceTemplate struct {
	URITemplate string `json:"uri_template"`
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	MimeType    string `json:"mime_type,omitempty"`
}

// Prompt describes a prompt of a server of tools.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description,omitempty"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
}

// PromptArgument describes an argument of a [Prompt].
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// ResourceListRequest asks for a list of what a server of tools has. Kind is resource,
// template or prompt.
type ResourceListRequest struct {
	Server string `json:"server"`
	Kind   string `json:"kind,omitempty"`
}

// ResourceList is what a server of tools has of a kind.
type ResourceList struct {
	Resources []Resource         `json:"resources,omitempty"`
	Templates []ResourceTemplate `json:"templates,omitempty"`
	Prompts   []Prompt           `json:"prompts,omitempty"`
}

func listResources(server, kind string) (list ResourceList, err error) {
	err = ask(hostcall.NameResourceList, hostcall.ResourceList, ResourceListRequest{server, kind}, &list)
	return list, err
}

// ListResources lists the resources of a server of tools.
func ListResources(server string) ([]Resource, error) {
	list, err := listResources(server, "resource")
	return list.Resources, err
}

// ListResourceTemplates lists the templates of a server's resources.
func ListResourceTemplates(server string) ([]ResourceTemplate, error) {
	list, err := listResources(server, "template")
	return list.Templates, err
}

// ListPrompts lists the prompts of a server of tools.
func ListPrompts(server string) ([]Prompt, error) {
	list, err := listResources(server, "prompt")
	return list.Prompts, err
}

// ResourceRequest asks for a resource. CallID is what an override key calls this call.
type ResourceRequest struct {
	CallID string `json:"call_id,omitempty"`
	Server string `json:"server"`
	URI    string `json:"uri"`
}

// ResourceContent is the content of a resource: text, or bytes.
type ResourceContent struct {
	URI      string `json:"uri"`
	MimeType string `json:"mime_type,omitempty"`
	Text     string `json:"text,omitempty"`
	Data     []byte `json:"data,omitempty"`
}

// ReadResource reads a resource of a server of tools. One URI may name several contents.
func ReadResource(r ResourceRequest) ([]ResourceContent, error) {
	var answer struct {
		Contents []ResourceContent `json:"contents"`
	}
	err := ask(hostcall.NameResourceRead, hostcall.ResourceRead, r, &answer)
	return answer.Contents, err
}

// PromptRequest asks for a prompt, filled in with arguments. CallID is what an override key
// calls this call.
type PromptRequest struct {
	CallID    string            `json:"call_id,omitempty"`
	Server    string            `json:"server"`
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// PromptAnswer is a prompt that is filled in.
type PromptAnswer struct {
	Description string          `json:"description,omitempty"`
	Messages    []PromptMessage `json:"messages"`
}

// PromptMessage is a message of a prompt. Role is user or assistant.
type PromptMessage struct {
	Role    string      `json:"role"`
	Content ToolContent `json:"content"`
}

// GetPrompt gets a prompt of a server of tools.
func GetPrompt(r PromptRequest) (answer PromptAnswer, err error) {
	err = ask(hostcall.NamePromptGet, hostcall.PromptGet, r, &answer)
	return answer, err
}
