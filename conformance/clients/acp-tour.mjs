// Has the official TypeScript SDK use an agent of the Agent Client Protocol.
//
//   node acp-tour.mjs stdio PROGRAM ARGUMENT...
//   node acp-tour.mjs ws URL KEY
//
// Standard input holds lines of JSON, each a step; it prints a line of JSON for what each has come to, and for each
// complaint of the SDK.
import { client, methods, ndJsonStream } from '@agentclientprotocol/sdk'
import { createWebSocketStream } from '@agentclientprotocol/sdk/experimental/ws-client'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Readable, Writable } from 'node:stream'
import { WebSocket } from 'ws'

const say = (line) => process.stdout.write(JSON.stringify(line) + '\n')
for (const level of ['log', 'info', 'warn', 'error', 'debug']) {
  console[level] = (...words) => say({ complaint: words.map((w) => (w instanceof Error ? w.stack : typeof w === 'string' ? w : JSON.stringify(w))).join(' ') })
}

const [way, target, ...rest] = process.argv.slice(2)

function stream() {
  if (way === 'ws') {
    return createWebSocketStream(target, { headers: { Authorization: `Bearer ${rest[0]}` }, WebSocket })
  }
  const agent = spawn(target, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
  return ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout))
}

// Every line of the agent's, as it comes, besides what the SDK makes of it.
function heard({ writable, readable }) {
  const tap = new TransformStream({
    transform(message, controller) {
      say({ line: message })
      controller.enqueue(message)
    },
  })
  const told = new TransformStream({
    transform(message, controller) {
      say({ sent: message })
      controller.enqueue(message)
    },
  })
  told.readable.pipeTo(writable).catch(() => {})
  return { writable: told.writable, readable: readable.pipeThrough(tap) }
}

let updates = []
let decide = 'allow_once'
let open

const app = client({ name: 'tour' })
  .onRequest(methods.client.session.requestPermission, ({ params }) => {
    say({ asked: params })
    if (decide === 'cancel') {
      open.agent.notify(methods.agent.session.cancel, { sessionId: params.sessionId })
      return { outcome: { outcome: 'cancelled' } }
    }
    return { outcome: { outcome: 'selected', optionId: params.options.find((o) => o.kind === decide).optionId } }
  })
  .onNotification(methods.client.session.update, ({ params }) => {
    updates.push(params.update)
    if (params.update.sessionUpdate === 'plan' && decide === 'cancel at the plan') {
      open.agent.notify(methods.agent.session.cancel, { sessionId: params.sessionId })
    }
  })

open = app.connect(heard(stream()))
for await (const text of createInterface({ input: process.stdin })) {
  const step = JSON.parse(text)
  updates = []
  decide = step.decide ?? 'allow_once'
  try {
    const result = await open.agent.request(step.method, step.params)
    say({ step: step.name, result, updates })
  } catch (error) {
    say({ step: step.name, error: { code: error.code, message: error.message, data: error.data }, updates })
  }
}
open.close()
process.exit(0)
