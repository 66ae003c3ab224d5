// Tours an MCP server with both official TypeScript SDKs: it lists tools, calls one, and answers a question.
//
//   node mcp-tour.mjs URL KEY
//
// It prints a line of JSON for each step.
import { Client as Old } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { Client as New, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'

const [url, key] = process.argv.slice(2)
const headers = { Authorization: `Bearer ${key}` }
const say = (step) => console.log(JSON.stringify(step))
const info = { name: 'tour', version: '1.0.0' }
const capabilities = { elicitation: { form: {} } }
const answer = () => ({ action: 'accept', content: { username: 'ada', email: 'ada@example.com' } })

async function tour(sdk, client, transport) {
  await client.connect(transport)
  const { tools } = await client.listTools()
  say({ sdk, step: 'list', tools: tools.length })
  const called = await client.callTool({ name: 'greet', arguments: { name: 'Ada' } })
  say({ sdk, step: 'call', text: called.content[0].text })
  const asked = await client.callTool({ name: 'test_elicitation', arguments: { message: 'Who?' } })
  say({ sdk, step: 'elicit', text: asked.content[0].text })
  await client.close()
}

const old = new Old(info, { capabilities })
old.setRequestHandler(ElicitRequestSchema, answer)
await tour('sdk', old, new OldTransport(new URL(url), { requestInit: { headers } }))

const fresh = new New(info, { capabilities })
fresh.setRequestHandler('elicitation/create', answer)
await tour('client', fresh, new NewTransport(new URL(url), { requestInit: { headers } }))
