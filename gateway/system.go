package gateway

import (
	"reflect"

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
	metrics.Doc = "Open to requests that reach the node over loopback without a proxy; any other needs a key with the scope `metrics:read` or `node:admin`."
	ready := get("/readyz", "getReadiness", "Tell whether the node takes work", "Health", s.ready)
	ready.Also = []Answer{{Status: fasthttp.StatusServiceUnavailable, Doc: "The node drains, its store refuses work, or its disk is nearly full."}}
	return []Route{
		get("/healthz", "getLiveness", "Tell whether the process lives", "Health", s.healthy),
		get("/health", "getHealth", "Tell whether the process lives", "Health", s.healthy),
		ready,
		get("/version", "getVersion", "Name the build and the protocol versions", "Version", s.version),
		metrics,
	}
}

// health is how the node is.
type health struct {
	Status   string `json:"status" enum:"ok,draining,failed,disk" doc:"draining: the node is about to stop and takes no more work; failed: its store refuses work; disk: its disk is nearly full, and new work is refused until there is room again."`
	SetAside int    `json:"set_aside,omitzero" minimum:"1" doc:"How much of what is stored could not be read since the node started: it goes on without. The log and 'wharf doctor' name it."`
}

// version names the build.
type version struct {
	Name      string   `json:"name" doc:"The product: wharf."`
	Node      string   `json:"node" doc:"The name of this node."`
	Version   string   `json:"version" doc:"Of the build."`
	Family    string   `json:"protocol_family"`
	Supported []string `json:"supported_versions" doc:"The versions of the protocol that the node speaks."`
}

func systemSchemas() map[string]Schema {
	return map[string]Schema{
		"Health":  Typed{}.Object(reflect.TypeFor[health](), "How the node is."),
		"Version": Typed{}.Object(reflect.TypeFor[version](), "What runs here."),
	}
}

func object(doc string, properties Schema, required ...string) Schema {
	return Schema{"type": "object", "description": doc, "properties": properties, "required": required}
}

// alive is what tells that the process lives.
const alive = `{"status":"ok"}`

func (s *Server) healthy(r *Request) error {
	r.Send(fasthttp.StatusOK, []byte(alive))
	return nil
}

func (s *Server) ready(r *Request) error {
	code, body, err := s.readiness()
	if err == nil {
		r.Send(code, body)
	}
	return err
}

// readiness returns how /readyz answers.
func (s *Server) readiness() (code int, body []byte, err error) {
	st, code, status := s.core.Stats(), fasthttp.StatusOK, "ok"
	switch {
	case st.Failed != nil:
		code, status = fasthttp.StatusServiceUnavailable, "failed"
	case s.Draining():
		code, status = fasthttp.StatusServiceUnavailable, "draining"
	case s.cfg.Disk.State().Refusing:
		code, status = fasthttp.StatusServiceUnavailable, "disk"
	}
	aside := 0
	for _, n := range st.SetAside {
		aside += n
	}
	body, err = json.Marshal(health{status, aside})
	return code, body, err
}

func (s *Server) version(r *Request) error {
	body, err := json.Marshal(version{"wharf", s.cfg.Node, s.cfg.Version, abi.ProtocolFamily, abi.SupportedVersions()})
	if err != nil {
		return err
	}
	r.Send(fasthttp.StatusOK, body)
	return nil
}
