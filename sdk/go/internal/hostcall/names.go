package hostcall

// The names of the host calls.
const (
	NameInput         = "input"
	NameOutput        = "output"
	NameMessageAppend = "message.append"
	NameLog           = "log"
	NameProgress      = "progress"
	NameClock         = "clock"
	NameRandom        = "random"
	NameArtifactPut   = "artifact.put"
	NameArtifactGet   = "artifact.get"
)

// Statuses of a host call.
const (
	OK          uint32 = 0
	Invalid     uint32 = 1
	Denied      uint32 = 2
	NotFound    uint32 = 3
	TooLarge    uint32 = 4
	Unavailable uint32 = 5
)
