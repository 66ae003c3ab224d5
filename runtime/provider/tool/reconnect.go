package tool

import (
	"time"

	"github.com/wharf-dev/wharf/abi"
)

// Reconnect says when an [MCP] connects.
type Reconnect int

const (
	// WhenUsed connects when the server is needed, and there is no connection.
	WhenUsed Reconnect = iota
	// ByItself connects at [MCP.Begin], too, and again after a pause whenever the connection is
	// gone.
	ByItself
	// OnlyOnce connects when the server is first needed. When the connection is gone, only
	// [MCP.Begin] makes another.
	OnlyOnce
)

// ownPause is the longest that an MCP waits before it connects by itself: a server that stays
// away is asked for seldom.
const ownPause = 5 * time.Minute

// Begin has the MCP connect, and does not wait for that.
func (m *MCP) Begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return
	}
	m.resting, m.notBefore = false, time.Time{}
	m.links.Add(1)
	go func() {
		defer m.links.Done()
		m.connectInTurn()
	}()
}

// Rest has nothing connect before Begin.
func (m *MCP) Rest() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.resting = true
}

func (m *MCP) connectInTurn() {
	if turns := m.config.Turns; turns != nil {
		select {
		case turns <- struct{}{}:
			defer func() { <-turns }()
		case <-m.life.Done():
			return
		}
	}
	_, _ = m.connected(m.life) // what came of it is in the state
}

// again connects by itself after a pause, when a connection is gone or could not be made.
func (m *MCP) again() {
	m.mu.Lock()
	wait := min(ownPause, firstPause<<min(max(m.failures-1, 0), 16))
	m.mu.Unlock()
	if m.config.Reconnect == ByItself && sleep(m.life, wait) {
		m.connectInTurn()
	}
}

// State returns whether there is a connection, and what went wrong last when there is none.
func (m *MCP) State() (abi.ToolServerStatus, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.link != nil:
		return abi.ToolServerConnected, ""
	case m.refused:
		return abi.ToolServerError, m.lastError
	}
	return abi.ToolServerDisconnected, m.lastError
}
