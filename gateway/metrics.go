package gateway

import (
	"bytes"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
	"github.com/wharf-dev/wharf/runtime/figures"
	"github.com/wharf-dev/wharf/runtime/intake"
	"github.com/wharf-dev/wharf/runtime/outbox"
)

// metrics is what /metrics shows. Labels come from the route table and are
// therefore few, whatever clients send.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	latency  *prometheus.HistogramVec
	unrouted prometheus.Counter
	broken   prometheus.Counter
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wharf_http_requests_total", Help: "Requests answered, by operation and class of status.",
		}, []string{"operation", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wharf_http_request_seconds", Help: "Time from routing to the answer.",
			Buckets: []float64{.001, .005, .025, .1, .5, 2.5, 10},
		}, []string{"operation"}),
		unrouted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "wharf_http_unrouted_total", Help: "Requests for an unknown path or with a wrong method.",
		}),
		broken: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "wharf_http_broken_total", Help: "Requests that were no HTTP, too large or too slow.",
		}),
	}
	m.registry.MustRegister(m.requests, m.latency, m.unrouted, m.broken,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(s.gauges()...)
	m.registry.MustRegister(engineCollector{s.core, s.cfg.Figures})
	if log := s.cfg.AccessLog; log != nil {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "wharf_access_log_dropped_total", Help: "Lines of the access log that were not written, for want of room on the disk or of time.",
		}, func() float64 { return float64(log.Dropped()) }))
	}
	m.registry.MustRegister(s.cfg.Collectors...)
	m.registry.MustRegister(diskCollector{s.cfg.Disk, s.cfg.Usage})
	return m
}

func (s *Server) gauges() []prometheus.Collector {
	gauge := func(name, help string, f func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, f)
	}
	return []prometheus.Collector{
		gauge("wharf_http_connections", "Open connections.", func() float64 { return float64(s.connections()) }),
		gauge("wharf_http_streams", "Running event streams.", func() float64 { return float64(s.streams.open.Load()) }),
		gauge("wharf_http_websockets", "Open WebSockets, which are streams, too.", func() float64 { return float64(s.sockets.open.Load()) }),
		gauge("wharf_http_body_bytes", "Bytes that bodies of running requests take.", func() float64 { return float64(s.inFlight.used.Load()) }),
		gauge("wharf_large_document_bytes", "Bytes that large documents take which are read for runs and answers.", func() float64 { return float64(s.cfg.InHand.Used()) }),
	}
}

// routeMeter counts the answers of one route without looking labels up again. What was never
// answered has no series: a node has far more operations than one client uses.
type routeMeter struct {
	latency func() prometheus.Observer
	classes [6]func() prometheus.Counter
}

func (m *metrics) route(rt *Route) *routeMeter {
	operation := rt.mount.operation(rt)
	meter := &routeMeter{latency: sync.OnceValue(func() prometheus.Observer { return m.latency.WithLabelValues(operation) })}
	for class := range meter.classes {
		meter.classes[class] = sync.OnceValue(func() prometheus.Counter {
			return m.requests.WithLabelValues(operation, fmt.Sprintf("%dxx", class))
		})
	}
	return meter
}

func (m *routeMeter) observe(status int, took time.Duration) {
	m.latency().Observe(took.Seconds())
	m.classes[min(status/100, 5)]().Inc()
}

// engineCollector shows the engine's own counts.
type engineCollector struct {
	core    Core
	figures *figures.Book
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

func (c engineCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

func (c engineCollector) Collect(ch chan<- prometheus.Metric) {
	st := c.core.Stats()
	send := func(kind prometheus.ValueType, value float64, d *prometheus.Desc, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, kind, value, labels...)
	}
	send(prometheus.GaugeValue, float64(st.Queued), describe("wharf_tasks_queued", "Tasks accepted and waiting to run."))
	send(prometheus.GaugeValue, float64(st.Running), describe("wharf_tasks_running", "Tasks running."))
	send(prometheus.CounterValue, float64(st.Accepted), describe("wharf_tasks_accepted_total", "Tasks accepted."))
	send(prometheus.CounterValue, float64(st.Rejected), describe("wharf_tasks_rejected_total", "Tasks refused before they were accepted."))
	finished := describe("wharf_tasks_finished_total", "Tasks that reached a terminal state.", "status")
	for _, status := range abi.TaskStatuses() {
		if status.Terminal() {
			send(prometheus.CounterValue, float64(st.Finished[status]), finished, string(status))
		}
	}
	send(prometheus.CounterValue, float64(st.Gas), describe("wharf_gas_used_total", "Gas that runs and replays of plugins have used: about one unit for each instruction."))
	sendInstances(send, &st.Instances)
	deliveries := c.core.DeliveryStats()
	sendDeliveries(send, &deliveries)
	ch <- batchSizes(&deliveries.Batches)
	sendConnectors(send, deliveries.Connectors)
	sendWebhooks(send, c.core.WebhookStats())
	sendPlugins(send, c.figures.Plugins())
	sendModels(send, c.figures.Models())
	send(prometheus.CounterValue, float64(st.QuotaRefusals), describe("wharf_quotas_refused_total", "Tasks that a Quota had no room for."))
	send(prometheus.GaugeValue, float64(st.PermissionsPending), describe("wharf_permissions_pending", "Requests for permission or input that wait for an answer."))
	secrets := describe("wharf_secret_uses_total", "Uses of secrets by Tasks and Connectors that events tell of.", "decision")
	send(prometheus.CounterValue, float64(st.SecretsUsed), secrets, "allowed")
	send(prometheus.CounterValue, float64(st.SecretsRefused), secrets, "refused")
	tokens := describe("wharf_tokens_checked_total", "Access tokens that callers showed.", "result")
	send(prometheus.CounterValue, float64(st.TokensChecked-min(st.TokensChecked, st.TokensRefused)), tokens, "valid")
	send(prometheus.CounterValue, float64(st.TokensRefused), tokens, "refused")
	send(prometheus.GaugeValue, float64(st.Watermark), describe("wharf_log_position", "The newest durable event."))
	aside := describe("wharf_set_aside", "What could not be read since the node started, and it goes on without, by kind.", "object")
	for object, n := range st.SetAside {
		send(prometheus.GaugeValue, float64(n), aside, string(object))
	}
	send(prometheus.GaugeValue, boolean(st.Failed != nil), describe("wharf_store_failed", "1 when the store refuses work."))
}

// sender passes on a figure of the engine.
type sender func(kind prometheus.ValueType, value float64, d *prometheus.Desc, labels ...string)

func sendInstances(send sender, in *engine.Instances) {
	send(prometheus.GaugeValue, float64(in.Running), describe("wharf_instances_running", "Instances of plugins that a run uses."))
	send(prometheus.GaugeValue, float64(in.Idle), describe("wharf_instances_idle", "Instances of plugins that wait for a run."))
	send(prometheus.GaugeValue, float64(in.IdleBytes), describe("wharf_instances_idle_bytes", "Memory that idle instances hold: at most plugins.idle_memory."))
	taken := describe("wharf_instances_taken_total", "Instances that runs began with: new ones, and idle ones that were used again.", "instance")
	send(prometheus.CounterValue, float64(in.Born), taken, "new")
	send(prometheus.CounterValue, float64(in.Reused), taken, "idle")
	send(prometheus.CounterValue, float64(in.Dropped), describe("wharf_instances_dropped_total", "Instances that are no more."))
}

func sendDeliveries(send sender, d *intake.Deliveries) {
	send(prometheus.CounterValue, float64(d.Received), describe("wharf_deliveries_received_total", "Deliveries to Connectors that were put on disk."))
	send(prometheus.CounterValue, float64(d.Deduped), describe("wharf_deliveries_deduped_total", "Deliveries that had been taken before."))
	rejected := describe("wharf_deliveries_rejected_total", "Deliveries that were not taken: for their signature, or because the backlog was full.", "reason")
	for reason, n := range d.Rejected {
		send(prometheus.CounterValue, float64(n), rejected, reason)
	}
	send(prometheus.CounterValue, float64(d.Normalized), describe("wharf_deliveries_normalized_total", "Deliveries whose effects are there."))
	send(prometheus.CounterValue, float64(d.Dead), describe("wharf_deliveries_dead_total", "Deliveries that were put aside, each time that they were."))
	send(prometheus.CounterValue, float64(d.Redriven), describe("wharf_deliveries_redriven_total", "Deliveries put aside that were driven again."))
	send(prometheus.GaugeValue, float64(d.Pending), describe("wharf_deliveries_pending", "Deliveries that wait to be handled."))
	send(prometheus.GaugeValue, d.Oldest.Seconds(), describe("wharf_deliveries_oldest_seconds", "How long the oldest delivery that is pending has waited, about."))
}

// sendConnectors shows what is counted by Connector; those that are not told apart are shown once there is
// anything to show of them.
func sendConnectors(send sender, all []intake.ConnectorDeliveries) {
	deliveries := describe("wharf_connector_deliveries_total", "Deliveries by Connector, the first 100 that have any; what others have is under other.", "connector", "outcome")
	pending := describe("wharf_connector_deliveries_pending", "Deliveries that wait to be handled, by Connector.", "connector")
	oldest := describe("wharf_connector_oldest_seconds", "How long the oldest pending delivery has waited, about, by Connector.", "connector")
	for i := range all {
		c := &all[i]
		id := c.ID
		if id == "" {
			if id = figures.Other; c.Received+c.Deduped+c.Rejected+c.Dead == 0 {
				continue
			}
		}
		send(prometheus.CounterValue, float64(c.Received), deliveries, id, "received")
		send(prometheus.CounterValue, float64(c.Deduped), deliveries, id, "deduped")
		send(prometheus.CounterValue, float64(c.Rejected), deliveries, id, "refused")
		send(prometheus.CounterValue, float64(c.Dead), deliveries, id, "dead")
		send(prometheus.GaugeValue, float64(c.Pending), pending, id)
		send(prometheus.GaugeValue, c.Oldest.Seconds(), oldest, id)
	}
}

func sendPlugins(send sender, all []figures.Plugin) {
	ended := describe("wharf_plugin_tasks_total", "Tasks that ended, by plugin and how: completed, canceled, or the code of the failure. The first 100 plugins and 20 codes of each are told apart.", "plugin", "outcome")
	runs := describe("wharf_plugin_runs_total", "Runs of plugins. A Task that waited and went on has several.", "plugin")
	ran := describe("wharf_plugin_run_seconds_total", "Time that runs of plugins took, host calls included.", "plugin")
	gas := describe("wharf_plugin_gas_used_total", "Gas that runs of plugins have used.", "plugin")
	calls := describe("wharf_plugin_host_calls_total", "Host calls that runs of plugins made, those included that a record has answered.", "plugin")
	for i := range all {
		p := &all[i]
		for outcome, n := range map[string]uint64{"completed": p.Completed, "canceled": p.Canceled} {
			if n > 0 {
				send(prometheus.CounterValue, float64(n), ended, p.Name, outcome)
			}
		}
		for code, n := range p.Failed {
			send(prometheus.CounterValue, float64(n), ended, p.Name, "failed:"+code)
		}
		if p.Runs == 0 {
			continue
		}
		send(prometheus.CounterValue, float64(p.Runs), runs, p.Name)
		send(prometheus.CounterValue, p.Ran.Seconds(), ran, p.Name)
		send(prometheus.CounterValue, float64(p.Gas), gas, p.Name)
		send(prometheus.CounterValue, float64(p.HostCalls), calls, p.Name)
	}
}

func sendModels(send sender, all []figures.Model) {
	calls := describe("wharf_model_calls_total", "Calls of models that a provider has answered, or, by code, has not after all attempts.", "model", "provider", "outcome")
	tokens := describe("wharf_model_tokens_total", "Tokens of calls of models that were answered.", "model", "provider", "direction")
	cost := describe("wharf_model_cost_total", "What calls of models cost by the prices that are configured, as Quotas count it.", "model", "provider", "currency")
	for i := range all {
		m := &all[i]
		send(prometheus.CounterValue, float64(m.Answered), calls, m.Name, m.Provider, "answered")
		for code, n := range m.Failed {
			send(prometheus.CounterValue, float64(n), calls, m.Name, m.Provider, "failed:"+code)
		}
		send(prometheus.CounterValue, float64(m.Input), tokens, m.Name, m.Provider, "input")
		send(prometheus.CounterValue, float64(m.Output), tokens, m.Name, m.Provider, "output")
		for currency, sum := range m.Cost {
			send(prometheus.CounterValue, sum, cost, m.Name, m.Provider, currency)
		}
	}
}

func sendWebhooks(send sender, w outbox.Stats) {
	send(prometheus.GaugeValue, float64(w.Webhooks), describe("wharf_webhooks", "Webhooks."))
	send(prometheus.CounterValue, float64(w.Taken), describe("wharf_webhook_deliveries_taken_total", "Deliveries that receivers have taken."))
	send(prometheus.CounterValue, float64(w.Failed), describe("wharf_webhook_attempts_failed_total", "Attempts at deliveries that receivers have not taken."))
	send(prometheus.CounterValue, float64(w.Dead), describe("wharf_webhook_deliveries_dead_total", "Deliveries that were given up, each time that they were."))
	send(prometheus.CounterValue, float64(w.Redriven), describe("wharf_webhook_deliveries_redriven_total", "Deliveries that were given up and driven again."))
	send(prometheus.GaugeValue, float64(w.Pending), describe("wharf_webhook_deliveries_pending", "Deliveries that have failed and are tried again."))
	send(prometheus.GaugeValue, w.Oldest.Seconds(), describe("wharf_webhook_oldest_seconds", "How long the oldest event waits that is to be delivered."))
}

func batchSizes(h *intake.Histogram) prometheus.Metric {
	return prometheus.MustNewConstHistogram(describe("wharf_delivery_batch_size", "Deliveries that a plugin was run for at once."),
		h.Count, float64(h.Sum), h.Buckets)
}

func boolean(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// serveMetrics is open to clients that connect to a loopback address without a proxy in
// between; anybody else needs a key that may see metrics, or administer the node.
func (s *Server) serveMetrics(r *Request) error {
	if !local(r.HTTP) {
		if err := s.authenticate(r); err != nil {
			return err
		}
		if err := r.Require(abi.ScopeMetrics); err != nil {
			return err
		}
	}
	return s.showMetrics(r.HTTP)
}

func (s *Server) showMetrics(ctx *fasthttp.RequestCtx) error {
	families, err := s.metrics.registry.Gather()
	if err != nil {
		return fmt.Errorf("gather metrics: %w", err)
	}
	var text bytes.Buffer
	format := expfmt.NewFormat(expfmt.TypeTextPlain)
	encoder := expfmt.NewEncoder(&text, format)
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			return fmt.Errorf("encode metrics: %w", err)
		}
	}
	ctx.SetContentType(string(format))
	ctx.Response.SetBodyRaw(text.Bytes())
	return nil
}

// local reports whether the request came over loopback and not through a proxy
// that runs on this machine.
func local(ctx *fasthttp.RequestCtx) bool {
	addr, ok := ctx.LocalAddr().(*net.TCPAddr)
	if !ok || !addr.IP.IsLoopback() {
		return false
	}
	for _, header := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip", "Via"} {
		if len(ctx.Request.Header.Peek(header)) > 0 {
			return false
		}
	}
	return true
}
