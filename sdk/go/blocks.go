package wharf

import "github.com/wharf-dev/wharf/sdk/go/internal/hostcall"

// Blocks are what an agent has in mind: blocks of text that all of its Tasks see, in order of label.
type Blocks struct {
	Version int64   `json:"version"` // it counts the changes; 0 before the first
	Blocks  []Block `json:"blocks"`
}

// Block is a text with a label. Version is that of the [Blocks] which has stated it.
type Block struct {
	Label    string `json:"label"`
	Value    string `json:"value"`
	ReadOnly bool   `json:"read_only"` // nobody changes it
	Version  int64  `json:"version"`
}

// The codes of the [Error] of calls about blocks.
const (
	// CodeNoBlocks: the Persona is no agent of a Workspace, and has none.
	CodeNoBlocks = "no_blocks"
	// CodeBlockReadOnly: nobody changes the block.
	CodeBlockReadOnly = "block_read_only"
	// CodeBlockChanged: somebody else was faster, and nothing was written.
	CodeBlockChanged = "block_changed"
)

// CurrentBlocks returns the blocks of the Task's agent as they are now, whoever has changed them.
func CurrentBlocks() (Blocks, error) {
	var blocks Blocks
	err := ask(hostcall.NameBlockList, hostcall.BlockList, struct{}{}, &blocks)
	return blocks, err
}

// BlockWrite says how [WriteBlock] changes a block.
type BlockWrite struct {
	Label string `json:"label"` // a block that is not there is made
	Value string `json:"value"`
	// Append puts Value below what the block has, on a line of its own, instead of in its place.
	Append bool `json:"append,omitempty"`
	// Version is that of the block which is to be changed, 0 for none: when somebody has changed it
	// meanwhile, nothing happens. Nil stands for whatever is there.
	Version *int64 `json:"version,omitempty"`
}

// WrittenBlock is a block after a change.
type WrittenBlock struct {
	Label      string `json:"label"`
	Version    int64  `json:"version"`
	Characters int    `json:"characters"` // of its value
}

// WriteBlock changes a block of the Task's agent, for its later Tasks, too. It is on disk then.
func WriteBlock(w BlockWrite) (WrittenBlock, error) {
	var written WrittenBlock
	err := ask(hostcall.NameBlockWrite, hostcall.BlockWrite, w, &written)
	return written, err
}
