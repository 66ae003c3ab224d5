// Package subagents offers an agent's model the agent's subagents: each is a tool of the server
// abi.ToolServerAgents by its name, and a call of it is a Task that the subagent does, in a Session
// of its own. It says what is submitted; the engine submits it as a child of the calling Task, and
// waits for it.
//
// It keeps nothing. It may import abi, storage, personas and what calls are answered with.
package subagents
