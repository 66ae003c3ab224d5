package gateway

import (
	"bytes"
	"fmt"
	"net"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
	"github.com/valyala/fasthttp"

	"github.com/wharf-dev/wharf/abi"
	"github.com/wharf-dev/wharf/runtime/engine"
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
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
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
	m.registry.MustRegister(engineCollector{s.core})
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

// routeMeter counts the answers of one route without looking labels up again.
type routeMeter struct {
	latency prometheus.Observer
	classes [6]prometheus.Counter
}

func (m *metrics) route(rt *Route) *routeMeter {
	operation := rt.mount.operation(rt)
	meter := &routeMeter{latency: m.latency.WithLabelValues(operation)}
	for class := range meter.classes {
		meter.classes[class] = m.requests.WithLabelValues(operation, fmt.Sprintf("%dxx", class))
	}
	return meter
}

func (m *routeMeter) observe(status int, took time.Duration) {
	m.latency.Observe(took.Seconds())
	m.classes[min(status/100, 5)].Inc()
}

// engineCollector shows the engine's own counts.
type engineCollector struct{ core Core }

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
	sendWebhooks(send, c.core.WebhookStats())
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
// between; anybody else needs a key that may administer the node.
func (s *Server) serveMetrics(r *Request) error {
	if !local(r.HTTP) {
		if err := s.authenticate(r); err != nil {
			return err
		}
		if err := r.Require(abi.ScopeNode); err != nil {
			return err
		}
	}
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
	r.HTTP.SetContentType(string(format))
	r.HTTP.Response.SetBodyRaw(text.Bytes())
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
