package explain

import "github.com/wharf-dev/wharf/abi"

// failures are why Tasks fail.
func failures() []Page {
	return []Page{
		{Code: abi.FailurePluginTrap, Kind: Failure, Short: "the plugin trapped",
			Means: `The module did what WebAssembly forbids: it panicked or aborted ("unreachable"), divided by zero, read outside of its memory, or called itself too deep ("stack overflow"). Nothing but this Task is affected.`,
			Do:    `Read the stack: the innermost function of your own comes first, and what was said on stderr is the text of the panic. Build with debug information (-g in C and C++, debug = "line-tables-only" in a profile of Cargo) and the stack has files and lines. Then run the record against the mended build.`,
			Example: `
wharf task get task_01K0...
wharf export task_01K0... -o run.zip
wharf test --replay run.zip --against build/plugin.wasm`},
		{Code: "plugin_panic", Kind: Failure, Short: "the plugin's handler panicked, and its SDK has told how",
			Means: `The Go SDK recovers from a panic of the handler and fails the Task with the panic's text, so that no trap hides it.`,
			Do:    `Look for the text of the message in the plugin. Return an error where the input can cause it: that fails the Task with a code of your own.`,
			Example: `
wharf task get task_01K0...`},
		{Code: abi.FailurePluginError, Kind: Failure, Short: "the plugin ended with an error without a code of its own",
			Means: `The export returned something other than 0, or the handler returned an error that has no code. The message has what was said.`,
			Do:    `Give errors that callers can meet a code of their own, with "failure" of the host call output, or the SDK's type for it: callers can then tell them apart.`,
			Example: `
wharf task get task_01K0...
wharf task tail task_01K0...`},
		{Code: abi.FailurePluginExit, Kind: Failure, Short: "the plugin called exit",
			Means: `The module called proc_exit, with whatever code, instead of returning from its export. A runtime of a language does that when a program's main ends, or when it gives up; the message has the first line that it wrote to stderr.`,
			Do:    `Build a reactor and not a command: GOOS=wasip1 go build -buildmode=c-shared, --no-entry for clang, a cdylib for Rust; and return instead of exiting.`,
			Example: `
wharf plugin vet plugin.wasm`},
		{Code: abi.FailurePluginMissing, Kind: Failure, Short: "there is no such plugin, or it has no such export",
			Means: `The Persona's entry_workflow is PLUGIN or PLUGIN:EXPORT. The node has no plugin of that name, or the plugin has no export of that name which takes nothing and returns an i32. Or the plugin is disabled, or no key of plugins.trust has signed it: the message says so.`,
			Do:    `See what the node has, and export the function: //go:wasmexport in Go, #[no_mangle] extern "C" in Rust, __attribute__((export_name("run"))) in C.`,
			Example: `
wharf plugin list
wharf plugin vet plugin.wasm
wharf persona get persona_01K0...`},
		{Code: abi.FailurePluginInvalid, Kind: Failure, Short: "the module is none that can run here",
			Means: `It is not valid WebAssembly, uses a feature that Wharf does not have, imports a function that nobody gives, or cannot be made an instance of. The message says which.`,
			Do:    `Let vet say where in the file the trouble is. An import that is unknown is often a host call with a spelling or a type of its own, or a build for another target (wasm32-unknown-unknown and wasm32-wasip1 are right, wasip2 and Emscripten are not).`,
			Example: `
wharf plugin vet plugin.wasm`},
		{Code: abi.FailurePluginTimeout, Kind: Failure, Short: "the run took longer than it may",
			Means: `The wall time from making the instance to returning was up. The time that host calls take does not count, sleeping does.`,
			Do:    `Wait in host calls (inbox.take, task.await) instead of sleeping in a loop, or give the plugin more time.`,
			Example: `
wharf config show
wharf config show --set tasks.wall_time=5m`},
		{Code: abi.FailurePluginGas, Kind: Failure, Short: "the run computed more than it may",
			Means: `Gas counts what a plugin computes, about one unit for an instruction. It ends in the same place on every run and machine, so a replay ends there too. An endless loop ends like this.`,
			Do:    `Try it with a smaller input, to see whether it ends at all; or give the plugin more gas in tasks.gas, or in plugins.limits.NAME.gas for one plugin.`,
			Example: `
wharf config show --set tasks.gas=1000000000000`},
		{Code: abi.FailurePluginMemory, Kind: Failure, Short: "the plugin asked for more memory than it may have",
			Means: `The module declares more memory than the limit, or was refused to grow and gave up. Memory that a language's collector has not given back yet counts.`,
			Do:    `Read large input in pieces (artifact.get with an offset), or give the plugin more in tasks.memory, or in plugins.limits.NAME.memory for one plugin.`,
			Example: `
wharf config show --set tasks.memory=512MiB`},
		{Code: abi.FailurePluginOutput, Kind: Failure, Short: "what the plugin answered is no valid output",
			Means: `The host call output takes a JSON object as docs/host-calls.md describes it. This was none, or it was said after the Task had its output.`,
			Do:    `The message names the member. Use the SDK's function for it, which cannot write anything else.`,
			Example: `
wharf task tail task_01K0... --json`},
		{Code: abi.FailureOutputTooLarge, Kind: Failure, Short: "the plugin handed out more than it may",
			Means: `Output, Messages, Artifacts and lines of log of one run count together, and passed tasks.output.`,
			Do:    `Write large results as one Artifact instead of many Messages, and log less; or raise tasks.output, or plugins.limits.NAME.output for one plugin.`},
		{Code: abi.FailurePayloadTooLarge, Kind: Failure, Short: "one host call was larger than it may be",
			Means: `The request of a host call, or the answer to it, passed tasks.payload.`,
			Do:    `Cut it into several calls, or raise tasks.payload, or plugins.limits.NAME.payload for one plugin.`},
		{Code: abi.FailureHostCalls, Kind: Failure, Short: "the plugin made more host calls than it may",
			Means: `Every host call counts, and each line on stdout and stderr is one. A loop that polls ends like this.`,
			Do:    `Wait in a host call instead of asking again and again; or raise tasks.host_calls, or plugins.limits.NAME.host_calls for one plugin.`,
			Example: `
wharf task tail task_01K0...`},
		{Code: abi.FailureDeadline, Kind: Failure, Short: "the Task's own deadline has passed",
			Means: `Whoever submitted the Task gave it a deadline, which counts from its start in the queue. What the plugin did by then is recorded.`,
			Do:    `Submit with a later deadline, or fork the Task, which goes on from its record.`,
			Example: `
wharf task submit --deadline 10m "Hello"
wharf task fork task_01K0...`},
		{Code: abi.FailureBudget, Kind: Failure, Short: "the Task has used up a budget",
			Means: `The Persona's budget of time is spent, or, with the bundled agent, its budget of turns, tokens or tool calls; details.limit says which.`,
			Do:    `Raise the budget of the Persona or the agent's setting, and fork the Task to go on where it ended.`,
			Example: `
wharf persona get persona_01K0...
wharf task fork task_01K0...`},
		{Code: abi.FailureAttempts, Kind: Failure, Short: "the node died several times while the Task ran",
			Means: `A Task goes on after the node was killed, tasks.attempts times. One that the node dies with each time may be what kills it.`,
			Do:    `Look for why the node ended (the system's log, for example that it ran out of memory), then submit or fork the Task again.`,
			Example: `
wharf doctor
wharf task fork task_01K0...`},
		{Code: abi.FailureDivergence, Kind: Failure, Short: "a run did not do what its record says",
			Means: `A replay answers each host call from the record. The plugin asked for something else than was recorded at this place: it is another build, it was given an override, or it depends on something that is not recorded. The details show both sides.`,
			Do:    `Read the difference. If the build changed on purpose, nothing is wrong. If the build is the same, look for what the call was made of: an order of a map, a clock or a random number that was read at initialization. docs/debugging.md goes through it.`,
			Example: `
wharf task get task_01K0...
wharf task diff task_01K0... task_01K1...`},
		{Code: abi.FailureReplayMissing, Kind: Failure, Short: "a replay needs what is no longer there",
			Means: `The events, the module or an Artifact that the record names are gone (retention, an erased tenant, a plugin that was taken out), or the Task never ran.`,
			Do:    `Replay from a bundle that was exported in time, or put the module back. Keep what you want to replay: wharf export.`,
			Example: `
wharf export task_01K0... -o run.zip
wharf verify run.zip`},
		{Code: abi.FailureSkillOutput, Kind: Failure, Short: "what a Skill gave is not what its schema says",
			Means: `The Skill has an output_schema, and the answer of the plugin does not fit it. The message names the place.`,
			Do:    `Mend the plugin, or the schema.`,
			Example: `
wharf task get task_01K0... --json --outcome`},
		{Code: abi.FailureUnreadable, Kind: Failure, Short: "what is stored of the Task cannot be read",
			Means: `The disk has lost or damaged it, or a newer build has written it. Other Tasks go on. docs/unreadable.md has more.`,
			Do:    `Submit it again. Let doctor say what else is set aside, and restore a backup if it is much.`,
			Example: `
wharf doctor`},
		{Code: abi.FailureDelivery, Kind: Failure, Short: "what is stored of a delivery cannot be read",
			Means: `A delivery to a Connector is put aside, because what was kept of it makes no sense.`,
			Do:    `Have the provider send it again.`,
			Example: `
wharf connector deadletters conn_01K0...`},
		{Code: abi.FailureHost, Kind: Failure, Short: "the node could not do its part",
			Means: `The disk, the store of blobs or the engine failed. It is not the plugin's fault.`,
			Do:    `The node's log names the cause. Free the disk, then fork the Task: it goes on from its record.`,
			Example: `
wharf doctor
wharf task fork task_01K0...`},
	}
}
