package pages

// Reasons that several blocks have.
const (
	picture    = "it is a picture, or a form, and no command"
	theirs     = "it is the configuration of a program of somebody else's, which this project does not run"
	fragment   = "it is a part of a program, which by itself does nothing"
	aRegistry  = "it needs a registry, or a program of somebody else's"
	afterwards = "it is what a program has printed"
)

var (
	first     = by("conformance/clients/first_test.go TestFirstScreen")
	tour      = by("conformance/clients/tour_test.go TestTour")
	commands  = by("conformance/clients/docs_test.go TestDocumentedCommands")
	tutorial  = by("conformance/tutorials/tutorials_test.go TestTutorials")
	example   = by("conformance/tutorials/tutorials_test.go TestExamples")
	nodeTests = by("conformance/sdk/plugins_test.go TestPluginReadmes")
)

// models are what blocks of configurations that use models speak of.
const (
	openaiSecret    = "secrets: {openai: {env: OPENAI_API_KEY}}"
	anthropicSecret = "secrets: {anthropic: {env: ANTHROPIC_API_KEY}}"
	someModel       = "models: {main: {provider: anthropic, model: claude-sonnet-4-5}}"
)

// repeated is a place so many times.
func repeated(p place, n int) []place {
	all := make([]place, n)
	for i := range all {
		all[i] = p
	}
	return all
}

// joined are places one after the other.
func joined(lists ...[]place) (all []place) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// places says what becomes of each block of each document, in their order; one place alone that is another test's is
// that of all blocks.
var places = map[string][]place{
	"README.md": joined([]place{first, first, by("conformance/clients/install_test.go TestWhatTheReadmeBuildsIsStatic"), by("cmd/wharf/demo_test.go TestReadmeShowsTheDemo"), by("cmd/wharf/demo_test.go TestReadmeShowsTheDemo"),
		never("it is the test command, which CI runs as it stands there"), never(picture), never("it starts the node, which the test of the tour does otherwise")}, repeated(tour, 11),
		[]place{run(), after("T=$ID_TASK"), never(afterwards)}),
	"benches/README.md":     repeated(never("a measurement of minutes, which a test of its own folder starts in small"), 2),
	"conformance/README.md": {by("conformance/node_test.go TestWharfConforms"), by("conformance/openharness/node_test.go TestWharfConforms")},
	"docs/RATIONALE.md":     repeated(never(fragment), 4),
	"docs/a2a.md":           {run(), commands},
	"docs/acp.md":           {never(theirs), never(theirs), never(theirs), never(theirs), json("")},
	"docs/approvals.md":     {json("respond"), json("input.request"), json("input.answer"), json("submit")},
	"docs/architecture.md":  {never(picture)},
	"docs/authentication.md": {never(picture),
		run().without("curl", "its server issues tokens by OAuth, which TestOwnIssuer of conformance/clients asks for").without("{", afterwards), config(),
		by("cmd/wharf/trust_test.go TestPrivateAuthority")},
	"docs/bundle-format.md": {by("runtime/bundle/docs_test.go TestDocumentedExamples")},
	"docs/clients.md":       {config()},
	"docs/configuration.md": {config(), config(), config(anthropicSecret), config(), config(), config("secrets: {tickets: {env: T}, coder: {env: C}}"),
		config("secrets: {crm: {env: CRM}}\ntools: {files: {command: npx}, tickets: {url: https://tickets.example.com/mcp}, coder: {a2a: https://coder.example.com}}"),
		config(), config(), config("models: {good: {provider: script}, fast: {provider: script}, script: model.json}")},
	"docs/connectors.md": {run(), made("connector"), made("connector"), made("connector"), run().without("dead_01K0", "it needs a delivery that failed")},
	"docs/debugging.md":  {never(afterwards), run(), after("ID_TASK=$(new task task submit Ada --persona persona_hello --wait=5m)")},
	"docs/delegation.md": {config("secrets: {coder: {env: C}}"), commands, json("agent.delegate")},
	"docs/deploying-plugins.md": {after("for name in hello triage; do wharf plugin remove $name --force || true; done; sed -i 's/^version.*/version = \"0.0.9\"/' hello/wharf.toml; wharf plugin install hello; sed -i 's/^version.*/version = \"0.1.0\"/' hello/wharf.toml").
		without("hello.wasm", "the node has the plugin from the line before, and would be asked for a version").without("remove", "the next block shows the plugin").without("disable", "as is that"),
		run(), run().without("push", aRegistry).without("pull", aRegistry), run()},
	"docs/errors.md": {by("conformance/pages/help_test.go TestHelpExamples")},
	"docs/extism.md": {json(""), by("runtime/sandbox/extism_test.go TestExtismPDKs"), by("runtime/sandbox/extism_test.go TestExtismDocumentedExample"), by("runtime/sandbox/extism_test.go TestExtismDocumentedExample"),
		by("runtime/sandbox/extism_test.go TestExtismPDKs"), by("runtime/sandbox/extism_test.go TestExtismPDKs"), never("it builds what is kept in testdata, with tools and packages of somebody else's")},
	"docs/hooks.md":               {json("")},
	"docs/host-calls-examples.md": {by("conformance/sdk/packages_test.go TestExamples")},
	"docs/live-sessions.md":       {after(`WHARF=$N; ID=$(new_session)`), json("")},
	"docs/log-format.md":          {by("storage/pebble/golden_test.go TestDocumentedExample")},
	"docs/manifest.md":            {by("runtime/manifest/manifest_test.go TestTheExampleIsRight")},
	"docs/mcp.md":                 {never(theirs), by("conformance/clients/docs_test.go TestDesktopConfiguration"), commands, json(""), json("")},
	"docs/models.md":              {config(), config(), config(), config(anthropicSecret), config(), json(""), config(anthropicSecret), config()},
	"docs/open-harness.md":        {run(), after("wharf agent delete my-agent || true; wharf harness delete front-desk || true")},
	"docs/packages.md":            {after("rm my.key").without("push", aRegistry).without("pull", aRegistry), run(), never(aRegistry)},
	"docs/plugin-projects.md":     {after("rm -r hello").without("plugin dev", "it runs until it is stopped").without("plugin install", "the node has another plugin of that name and version"), never(afterwards), tutorial},
	"docs/plugins.md": {by("runtime/sandbox/docs_test.go TestDocumentedExamples"), by("runtime/sandbox/docs_test.go TestDocumentedExamples"), by("runtime/sandbox/docs_test.go TestDocumentedExamples"), by("runtime/sandbox/docs_test.go TestDocumentedExamples"), by("runtime/sandbox/docs_test.go TestDocumentedExamples"),
		json(""), never(picture), never(picture), json(""), never(fragment)},
	"docs/policy.md":  {run(), made("persona"), tour, run()},
	"docs/quotas.md":  {after("NODE=$N")},
	"docs/receipt.md": {by("runtime/receipt/docs_test.go TestDocumentedExamples")},
	"docs/sdk-assemblyscript.md": {by("runtime/sandbox/sdk_assemblyscript_test.go TestAssemblyScriptGreets"), by("runtime/sandbox/sdk_assemblyscript_test.go TestAssemblyScriptGreets"), never("it gets a compiler from the registry of npm"),
		never(fragment), never(fragment), never(fragment), by("runtime/sandbox/sdk_assemblyscript_test.go TestAssemblyScriptAsAPackage")},
	"docs/sdk-c.md":      joined(repeated(by("runtime/sandbox/sdk_c_test.go TestCDocumentedExample"), 2), []place{never(fragment)}, repeated(by("runtime/sandbox/sdk_c_test.go TestCDocumentedExample"), 2)),
	"docs/sdk-python.md": {file("hello.py", "wharf plugin build FILE"), run(), file("kept.py", "wharf plugin build FILE"), never("it gets a package from where this project is published"), by("conformance/sdk/plugins_test.go TestNewPluginsAreTestedNatively")},
	"docs/sdk-rust.md":   joined(repeated(by("runtime/sandbox/sdk_rust_test.go TestRust"), 3), []place{never(fragment), tutorial, by("internal/cargotest/cargotest.go UseDebiansCrates")}),
	"docs/sdk-typescript.md": {file("hello.ts", "wharf plugin build FILE"), run(), never("it gets TypeScript from the registry of npm"), file("upper.js", "wharf plugin build FILE"), by("runtime/sandbox/js_test.go TestTypeScriptDocumentedExamples"), by("runtime/sandbox/js_test.go TestTypeScriptDocumentedExamples"),
		by("runtime/sandbox/js_test.go TestTypeScriptDocumentedExamples"), never("its second line is for a clone beside the folder"), by("conformance/sdk/plugins_test.go TestNewPluginsAreTestedNatively")},
	"docs/sessions.md": {json("submit"), json("session")},
	"docs/skills-bundles.md": {run(), by("cmd/wharf/skill_test.go TestDocumentedSkill"), by("cmd/wharf/skill_test.go TestDocumentedSkill"), by("cmd/wharf/skill_test.go TestDocumentedSkill"),
		after("wharf skill uninstall my-skill || true").without("upgrade", "its folder has the next version by then").without("rollback", "so has this"), by("runtime/skillmd/digest_test.go TestDigestOfOtherTools")},
	"docs/testing-plugins.md":          {after("ID_TASK=$(new task task submit Hello --persona persona_my-plugin --wait=5m)"), file("answers.yaml", "wharf plugin run hello Ada --answers answers.yaml"), file("my-plugin/testdata/documented.yaml", "code=0; wharf plugin test my-plugin --run documented || code=$?; [ $code = 1 ] # it is whole, and of another plugin")},
	"docs/tools.md":                    {after("wharf tool-server list"), json("tool server")},
	"docs/tutorials/assemblyscript.md": {tutorial}, "docs/tutorials/c.md": {tutorial}, "docs/tutorials/go.md": {tutorial},
	"docs/tutorials/python.md": {tutorial}, "docs/tutorials/rust.md": {tutorial}, "docs/tutorials/typescript.md": {tutorial},
	"docs/upgrading.md":     {never(afterwards)},
	"docs/vaults.md":        {after("exec <<<a-token"), by("cmd/wharf/operations_test.go TestTheVaultsPage"), config(), config()},
	"docs/disk.md":          {never(theirs)},
	"docs/observability.md": {config(), never(theirs), json(""), never(theirs)},
	"docs/retention.md": {after("ID_TASK=$(new_task); ID_SESS=$(new_session); ID_ART=$(new art artifact add notes.txt)"), config(), never("TestRetention of gateway/harn has it"),
		after("ID_WS=$(new ws workspace create roomy)"), after("ID_WS=$(new ws workspace create held)")},
	"docs/webhooks.md":          {run()},
	"docs/websocket.md":         {by("conformance/clients/websocket_test.go TestWscat"), config()},
	"docs/workspaces.md":        {json("skill")},
	"examples/gauges/README.md": {example}, "examples/invoice/README.md": {example}, "examples/reviewer/README.md": {example},
	"examples/scraper/README.md": {example}, "examples/triage/README.md": {example}, "examples/units/README.md": {example},
	"sdk/assemblyscript/README.md": {never("it is the plugin of docs/sdk-assemblyscript.md, as a package has it")},
	"sdk/python/README.md":         {nodeTests},
	"sdk/rust/README.md":           {by("sdk/rust_test.go TestCargoPackage")},
	"sdk/typescript/README.md":     {never("it gets a package from the registry of npm"), nodeTests},
}
