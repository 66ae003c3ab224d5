package openharness

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	json "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/gateway"
	"github.com/wharf-dev/wharf/gateway/api"
)

func (a *Adapter) harnessRoutes() []gateway.Route {
	const reads, writes = "harnesses:read", "harnesses:write"
	health := read("health", "harnesses.health", "", "Say whether a harness works", a.health)
	health.Public = true
	return []gateway.Route{
		read("/", "harnesses.list", reads, "List harnesses", a.listHarnesses),
		post("/", "harnesses.register", writes, "Register a harness", statusCreated, a.registerHarness),
		read("", "harnesses.get", reads, "Get a harness", a.at(a.getHarness)),
		patch("", "harnesses.update", writes, "Change a harness", a.at(a.updateHarness)),
		remove("", "harnesses.unregister", writes, "Unregister a harness", a.at(a.unregisterHarness)),
		read("capabilities", "harnesses.capabilities", reads, "Say what a harness can do", a.at(a.capabilities)),
		health,
		post("validate-credentials", "harnesses.validateCredentials", writes, "Try a key of a harness", statusOK, a.at(a.validateKey)),
	}
}

// harness is a harness as the protocol shows it.
type harness struct {
	ID            string            `json:"id"`
	Name          string            `json:"name"`
	Vendor        string            `json:"vendor"`
	Description   string            `json:"description"`
	ExecutionType abi.HarnessKind   `json:"execution_type"`
	Status        abi.HarnessStatus `json:"status"`
	Version       string            `json:"version"`
	Capabilities  manifest          `json:"capabilities"`
	CreatedAt     abi.Time          `json:"created_at"`
	UpdatedAt     abi.Time          `json:"updated_at"`
}

func (a *Adapter) shown(r *gateway.Request, h *abi.Harness) (harness, error) {
	m, err := a.manifest(r, h)
	if shown, gone := err.(*abi.Error); gone && shown.Code == abi.CodeServiceUnavailable {
		m = manifestOf(h, nil)
	} else if err != nil {
		return harness{}, err
	}
	return harness{ID: h.Name, Name: h.Title, Vendor: h.Vendor, Description: h.Description, ExecutionType: h.Kind, Status: h.Status,
		Version: a.versionOf(h), Capabilities: m, CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt}, nil
}

// versionOf returns the version of a harness: the node's for its own.
func (a *Adapter) versionOf(h *abi.Harness) string {
	if h.Name == abi.OwnHarness {
		return a.cfg.Version
	}
	return cmp.Or(h.Version, "0.0.0")
}

type harnessAnswer struct {
	Harness harness `json:"harness"`
}

func (a *Adapter) listHarnesses(r *gateway.Request) error {
	if err := checkAccept(r); err != nil {
		return err
	}
	status, err := oneOf(r, "status", abi.HarnessActive, abi.HarnessBeta, abi.HarnessComingSoon, abi.HarnessMaintenance, abi.HarnessDeprecated)
	if err != nil {
		return err
	}
	kind, err := oneOf(r, "execution_type", abi.HarnessHosted, abi.HarnessSDK, abi.HarnessIDE)
	if err != nil {
		return err
	}
	all := []harness{}
	for _, h := range a.core.Harnesses(r.Context(), r.Caller) {
		if status != "" && h.Status != status || kind != "" && h.Kind != kind {
			continue
		}
		one, err := a.shown(r, h)
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	return page(r, all)
}

// oneOf reads a parameter of the query that has few values; "" when it is absent.
func oneOf[T ~string](r *gateway.Request, name string, values ...T) (T, error) {
	got := T(r.Query(name))
	if r.HasQuery(name) && !slices.Contains(values, got) {
		return "", abi.InvalidParam(name, "%q is not one of %s", got, values)
	}
	return got, nil
}

func (a *Adapter) getHarness(r *gateway.Request, h *abi.Harness) error {
	one, err := a.shown(r, h)
	if err != nil {
		return err
	}
	return send(r, statusOK, harnessAnswer{one})
}

// harnessConfig says where a harness runs, and where its skills are.
type harnessConfig struct {
	BaseURL    *string `json:"base_url"`
	BinaryPath *string `json:"binary_path"`
	SkillsPath *string `json:"skills_path"`
}

type registerRequest struct {
	ID            string            `json:"id"`
	Name          string            `json:"name"`
	Vendor        string            `json:"vendor"`
	Description   string            `json:"description"`
	ExecutionType abi.HarnessKind   `json:"execution_type"`
	Status        abi.HarnessStatus `json:"status"`
	Version       string            `json:"version"`
	Config        harnessConfig     `json:"config"`
	Capabilities  jsontext.Value    `json:"capabilities"` // kept, and not believed
}

func (a *Adapter) registerHarness(r *gateway.Request) error {
	if err := checkAccept(r); err != nil {
		return err
	}
	req, retry, err := decode[registerRequest](r)
	if err != nil {
		return err
	}
	create := abi.NewHarness{
		Name: cmp.Or(req.ID, kebab(req.Name)), Title: req.Name, Vendor: req.Vendor, Description: req.Description, Kind: req.ExecutionType,
		Status: req.Status, Version: req.Version, EntryWorkflow: said(req.Config.BinaryPath), BaseURL: said(req.Config.BaseURL), SkillsPath: said(req.Config.SkillsPath),
	}
	if len(req.Capabilities) > 0 {
		if create.Metadata, err = json.Marshal(map[string]jsontext.Value{"capabilities": req.Capabilities}); err != nil {
			return err
		}
	}
	made, err := a.core.CreateHarness(r.Context(), r.Caller, retry, create)
	if err != nil {
		return a.noPlugin(err)
	}
	return a.sentHarness(r, statusCreated, made)
}

func said(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// noPlugin says which plugins there are to somebody who names one that is not.
func (a *Adapter) noPlugin(err error) error {
	wrong, ok := err.(*abi.Error)
	if !ok || wrong.Param != "config.binary_path" || a.has.Plugins == nil || strings.HasPrefix(wrong.Message, "missing") {
		return err
	}
	named := *wrong
	named.Status = 422
	named.Message += "; the plugins of this node are " + strings.Join(a.has.Plugins(), ", ")
	return &named
}

func (a *Adapter) sentHarness(r *gateway.Request, status int, written api.View) error {
	h, err := as[abi.Harness](written)
	if err != nil {
		return err
	}
	one, err := a.shown(r, &h)
	if err != nil {
		return err
	}
	return sent(r, status, written, harnessAnswer{one})
}

var unplain = regexp.MustCompile(`[^a-z0-9]+`)

// kebab returns the id that follows from a name.
func kebab(name string) string {
	return strings.Trim(unplain.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

type updateHarnessRequest struct {
	Name        *string            `json:"name"`
	Description *string            `json:"description"`
	Status      *abi.HarnessStatus `json:"status"`
	Config      harnessConfig      `json:"config"`
}

func (a *Adapter) updateHarness(r *gateway.Request, h *abi.Harness) error {
	req, retry, err := decode[updateHarnessRequest](r)
	if err != nil {
		return err
	}
	written, err := a.core.UpdateHarness(r.Context(), r.Caller, retry, h.Name, abi.HarnessChange{Title: req.Name, Description: req.Description,
		Status: req.Status, EntryWorkflow: req.Config.BinaryPath, BaseURL: req.Config.BaseURL, SkillsPath: req.Config.SkillsPath})
	if err != nil {
		return err
	}
	return a.sentHarness(r, statusOK, written)
}

func (a *Adapter) unregisterHarness(r *gateway.Request, h *abi.Harness) error {
	retry, err := r.Retry(nil)
	if err != nil {
		return err
	}
	if err := a.core.DeleteHarness(r.Context(), r.Caller, retry, h.Name); err != nil {
		return err
	}
	return empty(r)
}

type capabilitiesAnswer struct {
	HarnessID    string   `json:"harness_id"`
	HarnessName  string   `json:"harness_name"`
	Version      string   `json:"version"`
	Capabilities manifest `json:"capabilities"`
}

func (a *Adapter) capabilities(r *gateway.Request, h *abi.Harness) error {
	m, err := a.manifest(r, h)
	if err != nil {
		return err
	}
	return send(r, statusOK, capabilitiesAnswer{h.Name, h.Title, a.versionOf(h), m})
}

type validateRequest struct {
	APIKey  string `json:"api_key"`
	BaseURL string `json:"base_url"`
	Store   bool   `json:"store"`
}

type validateAnswer struct {
	Valid  bool   `json:"valid"`
	Stored bool   `json:"stored"`
	Error  string `json:"error,omitzero"`
}

func (a *Adapter) validateKey(r *gateway.Request, h *abi.Harness) error {
	var req validateRequest
	if _, err := r.Decode(&req); err != nil {
		return err
	}
	tried, err := a.core.ValidateHarnessKey(r.Context(), r.Caller, h, req.APIKey, req.BaseURL, req.Store)
	if err != nil {
		return err
	}
	return send(r, statusOK, validateAnswer{tried.Valid, tried.Stored, tried.Reason})
}

// healthAnswer says whether a harness works, in the words of both kinds of clients.
type healthAnswer struct {
	Status    string        `json:"status"`
	Healthy   bool          `json:"healthy"`
	LatencyMS float64       `json:"latency_ms"`
	Version   string        `json:"version,omitzero"`
	Checks    []healthCheck `json:"checks"`
}

type healthCheck struct {
	Name    string `json:"name"`
	Status  string `json:"status"` // pass or fail
	Message string `json:"message,omitzero"`
}

// health says to everybody whether the node works, and to those who may see a harness what of
// it does.
func (a *Adapter) health(r *gateway.Request) error {
	begun := time.Now()
	answer := healthAnswer{Status: "healthy", Healthy: true, Checks: []healthCheck{}}
	stats := a.core.Stats()
	if stats.Failed != nil || stats.Draining {
		answer.Status, answer.Healthy = "unhealthy", false
	}
	if r.Header("Authorization") != "" {
		if err := a.ownHealth(r, &answer); err != nil {
			return err
		}
	}
	answer.LatencyMS = float64(time.Since(begun).Microseconds()) / 1000
	return send(r, statusOK, &answer)
}

func (a *Adapter) ownHealth(r *gateway.Request, answer *healthAnswer) error {
	caller, err := r.Reauthenticate()()
	if err != nil {
		return err
	}
	h, err := a.core.Harness(r.Context(), caller, r.PathValue("harnessId"))
	if err != nil {
		return err
	}
	answer.Version = a.versionOf(h)
	_, err = a.core.HarnessCalls(r.Context(), h)
	answer.Checks = []healthCheck{
		checked("storage", a.core.Stats().Failed, "the node's store refuses work: its log says why"),
		checked("plugin", err, "the plugin that runs the agents cannot be used"),
	}
	if err != nil && answer.Healthy {
		answer.Status, answer.Healthy = "degraded", false
	}
	return nil
}

// checked is the result of a check. What is wrong within the node is for its log.
func checked(name string, err error, wrong string) healthCheck {
	if err != nil {
		return healthCheck{Name: name, Status: "fail", Message: wrong}
	}
	return healthCheck{Name: name, Status: "pass"}
}
