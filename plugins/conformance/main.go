// Command conformance is a Wharf plugin with what the official conformance suites of the Model
// Context Protocol call: tools, prompts and resources, an export each, and a turn for clients of the Agent
// Client Protocol. conformance.json says what
// each is offered as. It does not come with the node: build it into a folder of plugins, and put
// conformance.json beside it.
package main

import wharf "github.com/wharf-dev/wharf/sdk/go"

// Tools that answer at once, or after a moment.

//go:wasmexport test_simple_text
func simpleTextExport() int32 { return wharf.Run(simpleText) }

//go:wasmexport test_image_content
func imageExport() int32 { return wharf.Run(image) }

//go:wasmexport test_audio_content
func audioExport() int32 { return wharf.Run(audio) }

//go:wasmexport test_embedded_resource
func embeddedExport() int32 { return wharf.Run(embedded) }

//go:wasmexport test_multiple_content_types
func mixedExport() int32 { return wharf.Run(mixed) }

//go:wasmexport test_tool_with_logging
func loggingExport() int32 { return wharf.Run(logging) }

//go:wasmexport test_tool_with_progress
func progressExport() int32 { return wharf.Run(progress) }

//go:wasmexport test_error_handling
func failingExport() int32 { return wharf.Run(failing) }

//go:wasmexport echo_arguments
func echoExport() int32 { return wharf.Run(echo) }

//go:wasmexport test_reconnection
func reconnectionExport() int32 { return wharf.Run(reconnection) }

// Tools that ask the client.

//go:wasmexport test_sampling
func samplingExport() int32 { return wharf.Run(sampling) }

//go:wasmexport test_elicitation
func elicitationExport() int32 { return wharf.Run(elicitation) }

//go:wasmexport test_elicitation_sep1034_defaults
func defaultsExport() int32 { return wharf.Run(defaults) }

//go:wasmexport test_elicitation_sep1330_enums
func enumsExport() int32 { return wharf.Run(enums) }

//go:wasmexport test_streaming_elicitation
func streamingExport() int32 { return wharf.Run(streaming) }

//go:wasmexport test_missing_capability
func missingCapabilityExport() int32 { return wharf.Run(missingCapability) }

//go:wasmexport test_input_required_result_elicitation
func askNameExport() int32 { return wharf.Run(askName) }

//go:wasmexport test_input_required_result_sampling
func askModelExport() int32 { return wharf.Run(askModel) }

//go:wasmexport test_input_required_result_list_roots
func askRootsExport() int32 { return wharf.Run(askRoots) }

//go:wasmexport test_input_required_result_request_state
func askStateExport() int32 { return wharf.Run(askState) }

//go:wasmexport test_input_required_result_multiple_inputs
func askAllExport() int32 { return wharf.Run(askAll) }

//go:wasmexport test_input_required_result_multi_round
func askTwiceExport() int32 { return wharf.Run(askTwice) }

//go:wasmexport test_input_required_result_capabilities
func askWhatItCanExport() int32 { return wharf.Run(askWhatItCan) }

// Tools that are tasks.

//go:wasmexport greet
func greetExport() int32 { return wharf.Run(greet) }

//go:wasmexport slow_compute
func slowComputeExport() int32 { return wharf.Run(slowCompute) }

//go:wasmexport failing_job
func failingJobExport() int32 { return wharf.Run(failingJob) }

// protocolErrorJob does without Run, which would turn the panic into a failure of the plugin's own.
//
//go:wasmexport protocol_error_job
func protocolErrorJob() int32 { panic("this job ends in the middle of its work") }

//go:wasmexport confirm_delete
func confirmDeleteExport() int32 { return wharf.Run(confirmDelete) }

//go:wasmexport multi_input
func multiInputExport() int32 { return wharf.Run(multiInput) }

//go:wasmexport test_tool_with_task
func askThenWorkExport() int32 { return wharf.Run(askThenWork) }

// Tools that change what there is.

//go:wasmexport test_trigger_tool_change
func changeToolExport() int32 { return wharf.Run(changeTool) }

//go:wasmexport test_trigger_prompt_change
func changePromptExport() int32 { return wharf.Run(changePrompt) }

// Prompts.

//go:wasmexport test_simple_prompt
func simplePromptExport() int32 { return wharf.Run(simplePrompt) }

//go:wasmexport test_prompt_with_arguments
func argumentsPromptExport() int32 { return wharf.Run(argumentsPrompt) }

//go:wasmexport test_prompt_with_embedded_resource
func resourcePromptExport() int32 { return wharf.Run(resourcePrompt) }

//go:wasmexport test_prompt_with_image
func imagePromptExport() int32 { return wharf.Run(imagePrompt) }

//go:wasmexport test_input_required_result_prompt
func askingPromptExport() int32 { return wharf.Run(askingPrompt) }

// Resources.

//go:wasmexport static_text
func staticTextExport() int32 { return wharf.Run(staticText) }

//go:wasmexport static_binary
func staticBinaryExport() int32 { return wharf.Run(staticBinary) }

//go:wasmexport template_data
func templateDataExport() int32 { return wharf.Run(templateData) }

//go:wasmexport watched_resource
func watchedExport() int32 { return wharf.Run(watched) }

// The turn of a client of the Agent Client Protocol.

//go:wasmexport turn
func turnExport() int32 { return wharf.Run(turn) }

// main is never called: a plugin has exports instead.
func main() {}
