package abi

import "testing"

// Whose a Task's changes are follows from the Task, whoever tells of it; who can change nothing has no mutation session.
func TestMutationSessions(t *testing.T) {
	acts, asks := &Persona{AutonomyTier: TierActAuto, ToolsDenied: []string{"fs:rm"}}, &Persona{AutonomyTier: TierActWithApproval, Approvals: &ApprovalPolicy{Without: []string{"fs:read"}}}
	task := func(change func(*Task)) *Task {
		of := &Task{Envelope: Envelope{ID: "t"}, SessionID: "s"}
		change(of)
		return of
	}
	alone := task(func(*Task) {})
	child, parent := task(func(t *Task) { t.ParentTaskID = "p" }), &Task{Envelope: Envelope{ID: "p"}, SessionID: "s0"}
	forked := &Session{Envelope: Envelope{ID: "s"}, ParentSessionID: "s9"}
	for name, c := range map[string]struct {
		task, parent *Task
		session      *Session
		persona      *Persona
		worker       string
		above        string // the Session above
	}{
		"by itself":                   {alone, nil, &Session{}, acts, "", ""},
		"its session is not known":    {alone, nil, nil, asks, "", ""},
		"in a fork":                   {alone, nil, forked, acts, "", "s9"},
		"a child":                     {child, parent, &Session{}, acts, "t", "s0"},
		"a child, to the parent":      {child, parent, nil, acts, "t", "s0"},
		"a child in a fork":           {child, parent, forked, asks, "t", "s0"},
		"its parent cannot be read":   {child, nil, forked, acts, "t", "s"},
		"a fork of a child's session": {task(func(t *Task) { t.ParentTaskID, t.Fork = "p", &TaskFork{} }), parent, forked, acts, "", "s9"},
	} {
		m := MutationSessionOf(c.task, c.parent, c.session, c.persona)
		if m == nil || m.SessionID != "s" || m.RunID != "t" || m.WorkerID != c.worker || m.ParentSessionID != c.above || (m.ExecutionKind == "worker") != (c.worker != "") {
			t.Errorf("%s: %+v", name, m)
		}
	}
	if a := MutationSessionOf(alone, nil, nil, asks).ApprovalPolicy; a.AutoApprove[0] != "fs:read" || a.RequireApproval[0] != "*" || len(a.AutoDeny) != 0 {
		t.Errorf("who asks: %+v", a)
	}
	if a := MutationSessionOf(alone, nil, nil, acts).ApprovalPolicy; a.AutoApprove[0] != "*" || len(a.RequireApproval) != 0 || a.AutoDeny[0] != "fs:rm" {
		t.Errorf("who acts: %+v", a)
	}
	for name, m := range map[string]*MutationSession{
		"proposes":        MutationSessionOf(alone, nil, nil, &Persona{AutonomyTier: TierSuggest}),
		"does as if":      MutationSessionOf(alone, nil, nil, &Persona{AutonomyTier: TierShadow}),
		"is of a newer":   MutationSessionOf(alone, nil, nil, &Persona{AutonomyTier: "act_boldly"}),
		"replays":         MutationSessionOf(task(func(t *Task) { t.Replay = &TaskReplay{} }), nil, nil, acts),
		"is not known":    MutationSessionOf(nil, nil, nil, acts),
		"has no persona":  MutationSessionOf(alone, nil, nil, nil),
		"works, proposes": MutationSessionOf(child, parent, nil, &Persona{AutonomyTier: TierSuggest}),
	} {
		if m != nil {
			t.Errorf("who %s has %+v", name, m)
		}
	}
}
