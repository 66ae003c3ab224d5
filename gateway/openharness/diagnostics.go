package openharness

import (
	"runtime"
	"time"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) diagnosticRoutes() []gateway.Route {
	return []gateway.Route{
		read("diagnostics", "diagnostics.get", "harnesses:read", "Say how a harness is doing", a.at(a.diagnostics)),
		read("logs", "diagnostics.logs", "events:read", "List the lines of a harness's log, newest first", a.at(a.listLogs)),
		eventStream("logs/stream", "diagnostics.streamLogs", "events:read", "Stream the lines of a harness's log", a.at(a.streamLogs)),
	}
}

type diagnosticsAnswer struct {
	HarnessID           string            `json:"harness_id"`
	Version             string            `json:"version"`
	UptimeSeconds       float64           `json:"uptime_seconds"`
	MemoryUsageMB       float64           `json:"memory_usage_mb"`
	ActiveSessions      int               `json:"active_sessions"`
	ActiveExecutions    int               `json:"active_executions"`
	ConnectedMCPServers int               `json:"connected_mcp_servers"`
	InstalledSkills     int               `json:"installed_skills"`
	Config              diagnosticsConfig `json:"config"`
}

// diagnosticsConfig is what clients may know of how a harness is set up.
type diagnosticsConfig struct {
	ExecutionType abi.HarnessKind `json:"execution_type"`
	WorkspaceID   string          `json:"workspace_id"`
	Plugin        string          `json:"plugin,omitzero"`
	SkillsPath    string          `json:"skills_path,omitzero"`
	Models        []string        `json:"models"`
	DefaultModel  string          `json:"default_model,omitzero"`
}

func (a *Adapter) diagnostics(r *gateway.Request, h *abi.Harness) error {
	sessions, err := a.activeSessions(r, h)
	if err != nil {
		return err
	}
	servers, err := a.connectedServers(r, h)
	if err != nil {
		return err
	}
	skills, err := a.core.SkillBundles(r.Context(), r.Caller, api.SkillFilter{WorkspaceID: h.WorkspaceID}, api.Page{Limit: 1, Total: true})
	if err != nil {
		return err
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	models := a.has.Models
	if models == nil {
		models = []string{}
	}
	return send(r, statusOK, diagnosticsAnswer{
		HarnessID: h.Name, Version: a.versionOf(h), UptimeSeconds: time.Since(a.core.Started()).Seconds(), MemoryUsageMB: float64(memory.Sys-memory.HeapReleased) / (1 << 20),
		ActiveSessions: sessions, ActiveExecutions: a.core.HarnessRunning(r.Caller, h), ConnectedMCPServers: servers, InstalledSkills: skills.Total,
		Config: diagnosticsConfig{h.Kind, h.WorkspaceID, h.EntryWorkflow, h.SkillsPath, models, a.has.DefaultModel},
	})
}

// activeSessions counts the sessions that take messages.
func (a *Adapter) activeSessions(r *gateway.Request, h *abi.Harness) (n int, err error) {
	for _, state := range []abi.SessionState{abi.SessionActive, abi.SessionIdle} {
		some, err := gather(func(p api.Page) (api.List, error) {
			return a.core.List(r.Context(), r.Caller, abi.ObjectSession, api.Filter{WorkspaceID: h.WorkspaceID, Status: string(state)}, p)
		}, func(view api.View) (string, bool, error) { return view.ID, true, nil })
		if err != nil {
			return 0, err
		}
		n += len(some)
	}
	return n, nil
}

// connectedServers counts the servers of tools that the harness's agents can use.
func (a *Adapter) connectedServers(r *gateway.Request, h *abi.Harness) (int, error) {
	some, err := gather(func(p api.Page) (api.List, error) { return a.core.ToolServers(r.Context(), r.Caller, p) },
		func(view api.View) (string, bool, error) {
			s, err := as[abi.ToolServer](view)
			return view.ID, s.WorkspaceID == "" || s.WorkspaceID == h.WorkspaceID, err
		})
	return len(some), err
}
