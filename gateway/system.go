package gateway

import (
	"github.com/go-json-experiment/json"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
)

// systemRoutes are what the node says about itself.
func (s *Server) systemRoutes() []Route {
	get := func(path, operation, summary, response string, h Handler) Route {
		return Route{Method: fasthttp.MethodGet, Path: path, Operation: operation, Tag: tagSystem, Summary: summary,
			Public: true, Status: fasthttp.StatusOK, Response: response, Handle: h}
	}
	metrics := get("/metrics", "getMetrics", "Show metrics for Prometheus", "", s.serveMetrics)
	metrics.Media = "text/plain"
	metrics.Doc = "Open to requests that reach the node over loopback without a proxy; any other needs a key with the scope `node:admin`."
	ready := get("/readyz", "getReadiness", "Tell whether the node takes work", "Health", s.ready)
	ready.Also = []Answer{{Status: fasthttp.StatusServiceUnavailable, Doc: "The node drains, or its store refuses work."}}
	return []Route{
		get("/healthz", "getLiveness", "Tell whether the process lives", "Health", s.healthy),
		get("/health", "getHealth", "Tell whether the process lives", "Health", s.healthy),
		ready,
		get("/version", "getVersion", "Name the build and the protocol versions", "Version", s.version),
		metrics,
	}
}

func systemSchemas() map[string]Schema {
	text := Schema{"type": "string"}
	return map[string]Schema{
		"Health": object("How the node is.", Schema{
			"status":    Schema{"type": "string", "enum": []string{"ok", "draining", "failed"}},
			"set_aside": Schema{"type": "integer", "minimum": 1, "description": "How much of what is stored could not be read since the node started: it goes on without. The log and `wharf doctor` name it."},
		}, "status"),
		"Version": object("What runs here.", Schema{
			"name": text, "node": text, "version": text, "protocol_family": text,
			"supported_versions": Schema{"type": "array", "items": text},
		}, "name", "node", "version", "protocol_family", "supported_versions"),
	}
}

func object(doc string, properties Schema, required ...string) Schema {
	return Schema{"type": "object", "description": doc, "properties": properties, "required": required}
}

func (s *Server) healthy(r *Request) error {
	r.Send(fasthttp.StatusOK, []byte(`{"status":"ok"}`))
	return nil
}

func (s *Server) ready(r *Request) error {
	st, code, status := s.core.Stats(), fasthttp.StatusOK, "ok"
	switch {
	case st.Failed != nil:
		code, status = fasthttp.StatusServiceUnavailable, "failed"
	case s.Draining():
		code, status = fasthttp.StatusServiceUnavailable, "draining"
	}
	aside := 0
	for _, n := range st.SetAside {
		aside += n
	}
	body, err := json.Marshal(struct {
		Status   string `json:"status"`
		SetAside int    `json:"set_aside,omitzero"`
	}{status, aside})
	if err != nil {
		return err
	}
	r.Send(code, body)
	return nil
}

func (s *Server) version(r *Request) error {
	body, err := json.Marshal(struct {
		Name      string   `json:"name"`
		Node      string   `json:"node"`
		Version   string   `json:"version"`
		Family    string   `json:"protocol_family"`
		Supported []string `json:"supported_versions"`
	}{"wharf", s.cfg.Node, s.cfg.Version, abi.ProtocolFamily, abi.SupportedVersions()})
	if err != nil {
		return err
	}
	r.Send(fasthttp.StatusOK, body)
	return nil
}
