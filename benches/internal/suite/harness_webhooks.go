package suite

import (
	"context"
	"fmt"

	"github.com/wharf-dev/wharf/benches/internal/report"
)

// measureHarnessWebhooks measures the same as [measureWebhooks] of webhooks of a harness, whose
// receivers have certificates as that API requires. Harn's own deliveries to such a receiver stand
// beside them.
func measureHarnessWebhooks(ctx context.Context, s *Suite) ([]report.Row, error) {
	c := &samplers{suite: s, cpu: map[string][]float64{}}
	got, err := s.interleave(ctx, []step{
		c.webhooks(hooked{name: "webhooks-tls", tls: true}),
		c.webhooks(hooked{name: "webhooks-harness", tls: true, harness: true}),
		c.webhooks(hooked{name: "beside-harness", tls: true, harness: true, dead: deadReceivers}),
	})
	if err != nil {
		return nil, err
	}
	alone := report.NewFigure(perSecond, got["webhooks-harness"])
	row := report.Row{What: "delivery to a webhook of a harness ended, over TLS", Wharf: alone,
		Note: fmt.Sprintf("from %d events that waited; the receiver is in this process; processor time of the node for each: %.1f µs (Harn's: %.1f µs), beside dead receivers %.1f µs",
			webhookEvents, report.Median(c.cpu["webhooks-harness"]), report.Median(c.cpu["webhooks-tls"]), report.Median(c.cpu["beside-harness"]))}
	return []report.Row{
		row.Against("Harn's own, over TLS", report.NewFigure(perSecond, got["webhooks-tls"])).MustBe(report.AtLeast, goalWebhooks),
		report.Row{What: fmt.Sprintf("the same, beside %d receivers that never answer", deadReceivers), Wharf: report.NewFigure(perSecond, got["beside-harness"])}.
			Against("without them", alone).Must(report.AtLeast, goalBesideDead),
	}, nil
}
