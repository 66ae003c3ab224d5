package wharf_test

import (
	"encoding/json"
	"time"

	wharf "github.com/wharf-dev/wharf/sdk/go"
)

// These are the examples of docs/host-calls-examples.md. A plugin that is made of them runs on a node, beside
// those in the other languages (runtime/sandbox/examples_test.go). Each says which host calls it shows.

// Calls: input, output.
func ExampleHandler() {
	answer := func(task *wharf.Task) (wharf.Result, error) {
		return wharf.Result{Summary: "done: " + task.Text(), Metrics: map[string]float64{"orders": 1}}, nil
	}
	wharf.Run(answer) // in a plugin: func run() int32 { return wharf.Run(answer) }
}

// Calls: clock.
func ExampleNow() {
	now, err := wharf.Now()
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "it is %d", now.UnixNano())
}

// Calls: random.
func ExampleRandom() {
	key := make([]byte, 16)
	if err := wharf.Random(key); err != nil {
		panic(err)
	}
}

// Calls: id.
func ExampleNewID() {
	order, err := wharf.NewID()
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "this is order %s", order)
}

// Calls: log.
func ExampleLog() {
	wharf.Log(wharf.LevelWarn, "the pot is half empty")
}

// Calls: progress.
func ExampleProgress() {
	if err := wharf.Progress(0.5, "half of the orders are in"); err != nil {
		panic(err)
	}
}

// Calls: plan.
func ExampleSetPlan() {
	err := wharf.SetPlan(
		wharf.PlanStep{Title: "Ask for the order", Status: "completed"},
		wharf.PlanStep{Title: "Place it", Status: "pending"},
	)
	if err != nil {
		panic(err)
	}
}

// Calls: agent.event.
func ExampleTell() {
	if err := wharf.Tell(wharf.TurnStarted, wharf.Turn{Iteration: 1}); err != nil {
		panic(err)
	}
}

// Calls: plan.get, plan.set.
func ExampleReplacePlan() {
	plan, err := wharf.CurrentPlan()
	if err != nil {
		panic(err)
	}
	// It fails when somebody has changed the plan since it was read.
	if _, err := wharf.ReplacePlan(plan.Version, wharf.Step{ID: "order", Content: "Place the order", Status: "in_progress"}); err != nil {
		panic(err)
	}
}

// Calls: inbox.take.
func ExampleInboxWait() {
	inbox, err := wharf.InboxWait(wharf.AtTurn, time.Minute)
	if err != nil {
		panic(err)
	}
	for _, message := range inbox.Messages {
		wharf.Log(wharf.LevelInfo, "somebody says: %s", message.Text())
	}
}

// Calls: message.append.
func ExampleReply() {
	if _, err := wharf.Reply("Your tea is coming."); err != nil {
		panic(err)
	}
}

// Calls: message.delta.
func ExampleDelta() {
	if err := wharf.Delta("Your tea"); err != nil {
		panic(err)
	}
}

// Calls: transcript.read.
func ExampleTranscript() {
	messages, _, err := wharf.Transcript(5)
	if err != nil {
		panic(err)
	}
	for _, message := range messages {
		wharf.Log(wharf.LevelInfo, "%s has spoken", message.Role)
	}
}

// Calls: llm.complete.
func ExampleComplete_call() {
	answer, err := wharf.Complete(wharf.ModelRequest{
		System:    "You know teas.",
		Messages:  []wharf.ModelMessage{{Role: "user", Text: "Name one."}},
		MaxTokens: 20,
	})
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "the model says: %s", answer.Text)
}

// Calls: tool.list.
func ExampleListTools() {
	tools, err := wharf.ListTools("desk")
	if err != nil {
		panic(err)
	}
	for _, tool := range tools {
		wharf.Log(wharf.LevelInfo, "there is a tool %s", tool.Name)
	}
}

// Calls: tool.call.
func ExampleCallTool() {
	answer, err := wharf.CallTool(wharf.ToolRequest{Server: "desk", Name: "look", Arguments: json.RawMessage(`{"where":"harbour"}`)})
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "the tool says: %s", answer.Text())
}

// Calls: composition.begin, composition.end.
func ExampleCompose() {
	snippet := wharf.Snippet{
		Name: "what time it is", Language: "javascript", Ceiling: wharf.ReadOnly,
		SnippetHash:  "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
		ManifestHash: "fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9",
	}
	_, err := wharf.Compose(snippet, func(c *wharf.Composition) (wharf.CompositionResult, error) {
		_, err := c.CallTool(wharf.ToolRequest{Server: "host", Name: "time_now"})
		return wharf.CompositionResult{Stdout: "tea time"}, err
	})
	if err != nil {
		panic(err)
	}
}

// Calls: resource.list.
func ExampleListResources() {
	resources, err := wharf.ListResources("desk")
	if err != nil {
		panic(err)
	}
	for _, resource := range resources {
		wharf.Log(wharf.LevelInfo, "there is %s", resource.URI)
	}
}

// Calls: resource.read.
func ExampleReadResource() {
	contents, err := wharf.ReadResource(wharf.ResourceRequest{Server: "desk", URI: "notes://teas"})
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "the note says: %s", contents[0].Text)
}

// Calls: prompt.get.
func ExampleGetPrompt() {
	prompt, err := wharf.GetPrompt(wharf.PromptRequest{Server: "desk", Name: "greet", Arguments: map[string]string{"name": "Ada"}})
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "the prompt says: %s", prompt.Messages[0].Content.Text)
}

// Calls: config.get.
func ExampleConfig() {
	var currency string
	found, err := wharf.Config("currency", &currency)
	if err != nil {
		panic(err)
	}
	if found {
		wharf.Log(wharf.LevelInfo, "prices are in %s", currency)
	}
}

// Calls: secret.use, http.fetch.
func ExampleFetch() {
	var shop string // where it is, by the node's configuration
	if _, err := wharf.Config("shop", &shop); err != nil {
		panic(err)
	}
	// The handle stands for the key. The host puts the key in its place.
	key, err := wharf.UseSecret("shop-key")
	if err != nil {
		panic(err)
	}
	answer, err := wharf.Fetch(wharf.FetchRequest{
		Method: "POST", URL: shop + "/orders",
		Header: map[string]string{"Authorization": "Bearer " + key, "Content-Type": "application/json"}, Text: `{"tea":"green"}`,
		Purpose: "to order tea", IdempotencyHeader: "Idempotency-Key", TimeoutMS: 30000,
	})
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "the shop says: %s", answer.Text)
}

// Calls: memory.write.
func ExampleRemember() {
	if _, err := wharf.Remember(wharf.NewMemory{Scope: wharf.ScopeSession, Content: "Ada likes green tea", Confidence: 0.75}); err != nil {
		panic(err)
	}
}

// Calls: memory.query.
func ExampleQueryMemory() {
	memories, err := wharf.QueryMemory(wharf.MemoryQuery{Scope: wharf.ScopeSession, Text: "tea", Limit: 3})
	if err != nil {
		panic(err)
	}
	for _, memory := range memories {
		wharf.Log(wharf.LevelInfo, "I remember: %s", memory.Text())
	}
}

// Calls: block.write.
func ExampleWriteBlock() {
	if _, err := wharf.WriteBlock(wharf.BlockWrite{Label: "customer", Value: "Ada, who likes green tea."}); err != nil {
		panic(err)
	}
}

// Calls: block.list.
func ExampleCurrentBlocks() {
	blocks, err := wharf.CurrentBlocks()
	if err != nil {
		panic(err)
	}
	for _, block := range blocks.Blocks {
		wharf.Log(wharf.LevelInfo, "%s: %s", block.Label, block.Value)
	}
}

// Calls: artifact.put, artifact.get.
func ExamplePutArtifact_call() {
	artifact, err := wharf.PutArtifact(wharf.Artifact{Kind: "dataset", MimeType: "text/csv", Name: "orders.csv"}, []byte("tea,10\n"))
	if err != nil {
		panic(err)
	}
	first, err := wharf.ReadArtifact(artifact.ID, 0, 3)
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "it begins with %s", first)
}

// Calls: file.write.
func ExampleWriteFile() {
	if _, err := wharf.WriteFileAs(wharf.WriteFileRequest{Path: "orders/today.md", Text: "green tea, ten times"}); err != nil {
		panic(err)
	}
}

// Calls: file.edit.
func ExampleEditFile() {
	if _, err := wharf.EditFile(wharf.EditFileRequest{Path: "orders/today.md", Old: "green tea", New: "black tea"}); err != nil {
		panic(err)
	}
}

// Calls: sleep.
func ExampleSleep() {
	if err := wharf.Sleep(100 * time.Millisecond); err != nil {
		panic(err)
	}
}

// Calls: file.read.
func ExampleReadFileRange() {
	file, err := wharf.ReadFileRange(wharf.ReadFileRequest{Path: "orders/today.md"})
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "the file says: %s", file.Text)
}

// Calls: file.list.
func ExampleListFiles() {
	page, err := wharf.ListFiles(wharf.ListFilesRequest{Path: "orders", Recursive: true, Limit: 10})
	if err != nil {
		panic(err)
	}
	for _, file := range page.Entries {
		wharf.Log(wharf.LevelInfo, "there is a file %s", file.Path)
	}
}

// Calls: file.search.
func ExampleSearchFiles() {
	found, err := wharf.SearchFiles(wharf.SearchFilesRequest{Glob: "*.md", Text: "TEA", IgnoreCase: true, Limit: 10})
	if err != nil {
		panic(err)
	}
	for _, match := range found.Matches {
		wharf.Log(wharf.LevelInfo, "%s: %s", match.Path, match.Text)
	}
}

// Calls: file.remove.
func ExampleRemoveFile() {
	if err := wharf.RemoveFile("orders/today.md", ""); err != nil {
		panic(err)
	}
}

// Calls: skill.read.
func ExampleReadSkill() {
	file, err := wharf.ReadSkill(wharf.SkillRequest{Skill: "brewing", Path: "times.md"})
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "the skill says: %s", file.Text)
}

// Calls: skill.match.
func ExampleMatchSkills() {
	ranked, err := wharf.MatchSkills(wharf.SkillMatchRequest{Prompt: "How long does tea take?", WorkingFiles: []string{"orders/today.md"}})
	if err != nil {
		panic(err)
	}
	for _, match := range ranked.Matches {
		wharf.Log(wharf.LevelInfo, "the skill %s fits", match.Name)
	}
}

// Calls: state.get, state.set.
func ExampleState_call() {
	var orders int
	if _, err := wharf.State("orders").Get(&orders); err != nil { // 0 when nothing is kept
		panic(err)
	}
	if err := wharf.State("orders").Set(orders + 1); err != nil {
		panic(err)
	}
}

// Calls: input.request.
func ExampleRequestInput() {
	answer, err := wharf.RequestInput(wharf.InputRequest{
		Prompt: "Which tea?", Schema: json.RawMessage(`{"type":"object","required":["tea"]}`), Timeout: time.Hour,
	})
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "%s has answered", answer.Actor)
}

// Calls: auth.request.
func ExampleRequestAuth() {
	answer, err := wharf.RequestAuth(wharf.AuthRequest{
		Provider: "calendar", Prompt: "May I see when you are at home?", URL: "https://calendar.example.com/authorize", Timeout: time.Hour,
	})
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "%s has authorized it", answer.Actor)
}

// Calls: approval.request.
func ExampleRequestApproval_call() {
	approval, err := wharf.RequestApproval(wharf.ApprovalRequest{
		Action: "order.place", Prompt: "Order ten teas?", Arguments: json.RawMessage(`{"count":10}`), Timeout: time.Hour,
	})
	if err != nil {
		panic(err)
	}
	if approval.Decision != wharf.DecisionApproved {
		panic("nobody wants tea")
	}
}

// Calls: task.spawn, task.await.
func ExampleSpawn() {
	child, err := wharf.Spawn(wharf.SpawnRequest{PersonaID: "persona_echo", Input: map[string]string{"text": "Boil water."}})
	if err != nil {
		panic(err)
	}
	outcome, err := wharf.Await(child, time.Minute)
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "the child says: %s", outcome.Summary)
}

// Calls: handoff.
func ExampleHandoff() {
	successor, err := wharf.Handoff(wharf.HandoffRequest{PersonaID: "persona_echo", Input: map[string]string{"text": "Serve the tea."}, Reason: "it has the cups"})
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "%s goes on", successor)
}

// Calls: agent.delegate.
func ExampleDelegate() {
	work, err := wharf.Delegate(wharf.DelegationRequest{
		Agent: "coder", Task: "Mend the kettle's firmware", Budget: wharf.DelegationBudget{USD: 2, Seconds: 60},
		Checkpoint: &wharf.DelegationCheckpoint{Approved: true},
	})
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "the work is %s", work.Status)
}

// Calls: event.emit.
func ExampleEmit() {
	if err := wharf.Emit("vendor.shop.ordered", map[string]int{"count": 10}); err != nil {
		panic(err)
	}
}

// Calls: host.fact.
func ExampleFact() {
	version, err := wharf.Fact("abi.version")
	if err != nil {
		panic(err)
	}
	wharf.Log(wharf.LevelInfo, "the host speaks %s", version)
}

// Calls: connector.deliver.
func ExampleDeliver_call() {
	orders := wharf.Found{ID: "order-1", Header: map[string]string{"content-type": "text/plain"}, Text: "two green teas"}
	if _, err := wharf.Deliver(orders); err != nil {
		panic(err)
	}
}

// Calls: connector.deliveries, connector.normalized.
func ExampleNormalize_call() {
	prepare := func(*wharf.Connector) (wharf.Normalizer, error) {
		return func(d *wharf.Delivery) (wharf.Normalized, error) {
			message := wharf.Message{Role: "user", Parts: []wharf.Part{wharf.TextPart(d.Text)}}
			return wharf.Normalized{
				Tasks:  []wharf.ConnectorTask{{Message: &message, Thread: "orders"}},
				Events: []wharf.ConnectorEvent{{Kind: "vendor.shop.order", Payload: json.RawMessage(`{"count":2}`)}},
			}, nil
		}, nil
	}
	wharf.Normalize(prepare) // in a plugin: func normalize() int32 { return wharf.Normalize(prepare) }
}
