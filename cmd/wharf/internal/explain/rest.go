package explain

// statuses are what host calls answer plugins with: numbers at the border of the sandbox,
// names in the SDKs.
func statuses() []Page {
	page := func(code, short, means, do string) Page {
		return Page{Code: code, Kind: Status, Short: short, Means: means, Do: do, Example: "wharf task tail task_01K0..."}
	}
	return []Page{
		page("invalid", "status 1: the request is malformed", `It is no JSON, has an unknown or a wrong member, or too many (code too_many) or too deep (too_deep) values.`,
			`The answer's message names the member; docs/host-calls.md has the form of each request.`),
		page("denied", "status 2: policy forbids it", `The Persona's capabilities, the node's grants, a hook or a composition's ceiling do not allow the call; code and message say which.`,
			`Add the host call to the capabilities, or the host, tool or secret to grants; or do without: the Task goes on.`),
		page("not_found", "status 3: what it names does not exist, or not for this Task", `An Artifact, a Skill, a tool, a secret or a key of state.`,
			`Check the name, and that the Persona and the Session have it.`),
		page("too_large", "status 4: a limit on size or count", `The request or the answer passes a limit of this call.`,
			`Ask for less, or in pieces. docs/limits.md has the numbers.`),
		page("unavailable", "status 5: the host could not do it now", `A server, a model or the disk does not answer. Nothing is wrong with the request.`,
			`Try again later, or fail with a code of your own.`),
		page("indeterminate", "status 6: nobody knows whether it was done", `The node died during the call, and doing it again is not safe.`,
			`Look whether it was done, ask somebody, or give up. Give calls that write an idempotency key, and this does not happen.`),
		page("timeout", "status 7: nobody answered, or nothing happened, in time", `The time that the call names was up.`,
			`Go on without an answer, or ask again.`),
	}
}

// exits are the exit codes of the program.
func exits() []Page {
	page := func(code, short, means, do string) Page {
		return Page{Code: "exit " + code, Kind: Exit, Short: short, Means: means, Do: do, Example: "wharf exit-codes"}
	}
	return []Page{
		page("0", "it did what it was asked to", `With task tail and --wait: the Task is COMPLETED.`, `Nothing.`),
		page("1", "it failed, or the answer is no", `The command failed; or the Task that it waited for failed or was canceled; or what verify, test, diff or doctor looked at is not as it should be.`,
			`Read what it printed on standard error. With --json it is one object with a code and what to try.`),
		page("2", "the command line or the configuration is wrong", `Nothing was done. For verify, test, task diff and skill validate: they could not find out.`,
			`Look at the command's manual page: the command again with --help.`),
		page("3", "no node answers", `Nothing listens at the address, or the connection broke for longer than a command tries again.`,
			`Start a node with wharf serve, or name another with --server or WHARF_SERVER.`),
		page("4", "the API key is missing, unknown or not allowed to do this", `The node answered unauthenticated or permission_denied, or no key was given.`,
			`Set WHARF_API_KEY, or have a key made with the scopes that it takes.`),
		page("5", "the time of --wait was up", `The Task has not ended yet, and goes on.`, `Watch it with wharf task tail.`),
		page("6", "it took more memory or time than it may", `verify, test and plugin vet run modules of strangers in a process of their own, which was ended.`,
			`Give it more with --max-memory or --timeout, if you trust the module.`),
		page("130", "it was interrupted", `Ctrl-C or a signal ended it.`, `Nothing: what a node has accepted goes on.`),
	}
}
