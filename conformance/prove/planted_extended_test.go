package prove_test

// extendedFaults are mistakes in what decides who may do what, how much of it, and what
// counts once.
func extendedFaults() []fault {
	const engine, prove, harn = "./runtime/engine", "./conformance/prove", "./gateway/harn"
	const signature, identity, quota = "./runtime/connector/signature", "./runtime/identity", "./runtime/policy/quota"
	return []fault{
		{name: "every signature of a delivery is the right one", file: "runtime/connector/signature/signature.go",
			old: "good = hmac.Equal(s.sum, c.signatures[i][:c.size]) || good", new: "good = len(s.sum) == c.size && i >= 0 || good",
			tests: [][2]string{{signature, "TestSchemes"}, {engine, "TestHooks"}}},
		{name: "a delivery of last year may come again", file: "runtime/connector/signature/schemes.go",
			old: "age > most || -age > most", new: "-age > most",
			tests: [][2]string{{signature, "TestSchemes"}}},
		{name: "deliveries are forgotten", file: "runtime/intake/deliveries.go",
			old: "\tif seen {\n", new: "\tif seen && got == nil {\n",
			tests: [][2]string{{engine, "TestDeliveriesBecomeTasksOnce"}, {engine, "TestDeliveriesSurvivePowerCuts"}}},
		{name: "nobody is asked before a call", file: "runtime/engine/gate.go",
			old: "return r.askFirst(ctx, c, a)", new: "return nil",
			tests: [][2]string{{engine, "TestGate"}, {prove, "TestTiersReachNoFurther"}}},
		{name: "what policy withholds is done all the same", file: "runtime/engine/gate.go",
			old: "return cmp.Or(err, refusal(d))", new: "return err",
			tests: [][2]string{{engine, "TestTiers"}, {prove, "TestTiersReachNoFurther"}}},
		{name: "a Task follows the newest version of its Persona", file: "runtime/pinned/keeper.go",
			old: "journal.HashOf(now.Text) == hash {", new: "len(now.Text) > 0 {",
			tests: [][2]string{{engine, "TestTaskKeepsItsVersion"}}},
		{name: "one is a quorum", file: "runtime/waiting/step.go",
			old: "if len(next.approvedBy()) < next.Quorum {", new: "if len(next.approvedBy()) < 1 {",
			tests: [][2]string{{engine, "TestQuorum"}, {engine, "TestQuorumOverRestart"}}},
		{name: "whoever asks may decide", file: "runtime/waiting/request.go",
			old: "if !p.SelfApproval && (", new: "if !p.SelfApproval && p.Quorum == 0 && (",
			tests: [][2]string{{engine, "TestNobodyDecidesForThemselves"}}},
		{name: "what was used is not counted", file: "runtime/policy/quota/meter.go",
			old: "if m.Used[k] += n; m.Used[k] < 0 && n > 0 {", new: "if m.Used[k] < 0 && n > 0 {",
			tests: [][2]string{{engine, "TestSubmitUnderQuota"}}},
		{name: "what is reserved is not held", file: "runtime/policy/quota/meter.go",
			old: "m.reserved = m.reserved.Add(want)", new: "m.reserved = m.reserved.Add(Amounts{})",
			tests: [][2]string{{quota, "TestNeverOver"}}},
		{name: "the value of a secret is in an event", file: "runtime/secrets/vaults.go",
			old: "s.Hosts, s.RemovedAt, s.UpdatedAt = req.Hosts, ", new: "s.Hosts, s.RemovedAt, s.UpdatedAt = append(req.Hosts, req.Value), ",
			tests: [][2]string{{engine, "TestSecretsAreListedWithoutValues"}, {prove, "TestNobodyIsToldASecret"}}},
		{name: "a Vault serves everybody", file: "runtime/secrets/use.go",
			old: "case !u.allowed(v.Access):", new: "case !u.allowed(v.Access) && v.ID == \"\":",
			tests: [][2]string{{engine, "TestWhoMayNotUseASecret"}}},
		{name: "a token for somebody else opens the node", file: "runtime/identity/claims.go",
			old:   "if !slices.ContainsFunc(named, func(a string) bool { return slices.Contains(r.audiences, a) }) {",
			new:   "if !slices.ContainsFunc(named, func(a string) bool { return slices.Contains(r.audiences, a) || a != \"\" }) {",
			tests: [][2]string{{identity, "TestRefusals"}}},
		{name: "a socket leaves an event out now and then", file: "gateway/harn/socket.go",
			old: "e.batch.end(append(b, '}'))\n", new: "if b = append(b, '}'); len(b)%13 != 0 {\n\t\te.batch.end(b)\n\t}\n",
			tests: [][2]string{{harn, "TestSocketAndEventStreamAgree"}}},
	}
}
