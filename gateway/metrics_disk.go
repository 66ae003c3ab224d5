package gateway

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/wharf-dev/wharf/runtime/disk"
)

// diskCollector shows what is known of the disk of the data folder: what is not known is not there.
type diskCollector struct {
	watch *disk.Watch
	usage *disk.Usage
}

func (c diskCollector) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, ch) }

func (c diskCollector) Collect(ch chan<- prometheus.Metric) {
	send := func(value float64, d *prometheus.Desc, labels ...string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	if s := c.watch.State(); s.Known {
		send(float64(s.Space.Free), describe("wharf_disk_free_bytes", "Bytes that are free for the node on the disk of the data folder."))
		send(float64(s.Space.Total), describe("wharf_disk_size_bytes", "Bytes of the disk of the data folder."))
		send(float64(s.Reserve), describe("wharf_disk_reserve_bytes", "Bytes that are kept free: new work is refused while fewer are."))
		refused := describe("wharf_disk_refusing", "1 while work is held up for want of room, by kind: new work is refused, and the calls of running Tasks wait.", "work")
		send(boolean(s.Refusing), refused, "new")
		send(boolean(s.Waiting), refused, "running")
		if s.Falls {
			send(s.Full.Seconds(), describe("wharf_disk_full_seconds", "Until no more than the reserve is free, if it goes on as in the last hours. Not there while free room does not become less."))
		}
	}
	bytes, at := c.usage.Bytes()
	if bytes == nil {
		return
	}
	taken := describe("wharf_disk_bytes", "Bytes that the data folder takes on the disk, by kind, as they were counted last.", "kind")
	for kind, n := range bytes {
		send(float64(n), taken, string(kind))
	}
	send(float64(at.Unix()), describe("wharf_disk_counted_seconds", "When they were counted last, in seconds since 1970."))
}
