package conformance

import "slices"

// coreChecks lists the checks of the Core level, without the observer's.
func coreChecks() []Check {
	return atCore(slices.Concat(accessChecks(), errorChecks(), sessionChecks(), taskChecks(),
		idempotencyChecks(), eventChecks(), streamChecks(), resultChecks(), listChecks()))
}

func atCore(all []Check) []Check {
	for i := range all {
		all[i].Level = LevelCore
	}
	return all
}

// observedChecks turn what the observer found into results. They come last: they
// are about every answer before them.
func observedChecks() []Check {
	verdict := func(rule string) func(*probe) {
		return func(p *probe) {
			if found := p.client.seen.found(rule); len(found) > 0 {
				p.fail("%d kinds of breach, such as: %s", len(found), found[0])
			}
			errors, resources := p.client.seen.counts()
			if errors == 0 || resources == 0 {
				p.skip("too little was seen: %d errors, %d resources", errors, resources)
			}
			p.note("of %d errors and %d resources", errors, resources)
		}
	}
	return atCore([]Check{
		{ID: "errors.envelope", Title: "every error has code, message and one of the nine types", Section: "Error taxonomy", Strength: Must, run: verdict(ruleEnvelope)},
		{ID: "errors.codes", Title: "status, code and type belong together", Section: "Error taxonomy", Strength: Must, run: verdict(ruleCodes)},
		{ID: "errors.request-id", Title: "every error carries a request_id", Section: "Error taxonomy", Strength: Should, run: verdict(ruleRequestID)},
		{ID: "resources.envelope", Title: "every resource has id, object, UTC times and metadata", Section: "Resource model", Strength: Must, run: verdict(ruleResource)},
		{ID: "auth.key-never-shown", Title: "the API key appears in no answer and no event", Section: "API key", Strength: Must, run: verdict(ruleSecret)},
	})
}
