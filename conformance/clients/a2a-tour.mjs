// Tours an A2A server with the official SDK for JavaScript, in each way of asking that the card names.
//
//   node a2a-tour.mjs URL KEY SLOW ASKING
//
// SLOW is a Skill that works for a while, ASKING one that asks for something. It prints a line of JSON
// for each step.
import { createServer } from 'node:http'
import { SendMessageRequest, TaskState } from '@a2a-js/sdk'
import { TaskNotFoundError } from '@a2a-js/sdk/errors'
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client'

const [url, key, slow, asking] = process.argv.slice(2)
const legacyCompat = { enabled: true }
const fetchImpl = (to, init = {}) => {
  const headers = new Headers(init.headers)
  headers.set('Authorization', `Bearer ${key}`)
  return fetch(to, { ...init, headers })
}
const cardResolver = new DefaultAgentCardResolver({ fetchImpl, legacyCompat })
const transports = [new JsonRpcTransportFactory({ fetchImpl, legacyCompat }), new RestTransportFactory({ fetchImpl, legacyCompat })]
const factory = new ClientFactory({ transports, cardResolver })
const ended = [TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_CANCELED, TaskState.TASK_STATE_FAILED]

// pushed has the notifications of a receiver on this machine; untilEnd waits for the last of a Task.
const pushed = []
let heard = () => {}
const receiver = createServer((request, response) => {
  let text = ''
  request.on('data', (part) => { text += part })
  request.on('end', () => {
    pushed.push({ token: request.headers['x-a2a-notification-token'], body: JSON.parse(text) })
    response.end()
    heard()
  })
})
await new Promise((done) => { receiver.listen(0, '127.0.0.1', done) })
const receiverURL = `http://127.0.0.1:${receiver.address().port}/`
const stateIn = ({ body }) => (body.statusUpdate ?? body.task ?? body).status?.state
const isLast = (told) => ['TASK_STATE_COMPLETED', 'completed'].includes(stateIn(told))
async function untilEnd() {
  while (!pushed.some(isLast)) await new Promise((done) => { heard = done })
  return pushed.splice(0)
}

let number = 0
const message = (text, more = {}, configuration = {}) => SendMessageRequest.fromJSON({
  message: { messageId: `js-${process.pid}-${number++}`, role: 'ROLE_USER', parts: [typeof text === 'string' ? { text } : { data: text }], ...more }, configuration,
})
const toSkill = (id) => ({ metadata: { wharf: { skill_id: id } } })
const stateOf = (task) => TaskState[task.status.state].replace('TASK_STATE_', '')
const taskOf = (payload) => (payload.$case === 'task' ? payload.value : undefined)
const statusOf = (event) => (event.payload.$case === 'task' || event.payload.$case === 'statusUpdate' ? event.payload.value.status : undefined)
const saidIn = (task) => task.artifacts.flatMap((a) => a.parts).map((p) => p.content?.value).filter((v) => typeof v === 'string').join(' ')

// follow reads a stream to its end, and returns the last state with the kinds of what was told.
async function follow(events) {
  let last
  const kinds = []
  for await (const event of events) {
    kinds.push(event.payload.$case)
    last = statusOf(event) ?? last
  }
  return { state: stateOf({ status: last }), begins: kinds[0], artifacts: kinds.includes('artifactUpdate') }
}

async function tour(way, client) {
  const say = (step, what) => console.log(JSON.stringify({ way, step, ...what }))
  const card = await client.getAgentCard()
  say('card', { slow: card.skills.some((s) => s.id === slow) })

  const sent = await client.sendMessage(message('hello there'))
  say('send', { state: stateOf(sent), said: saidIn(sent).includes('hello there') })
  say('stream', await follow(client.sendMessageStream(message('hello there'))))

  let left
  for await (const event of client.sendMessageStream(message({ seconds: 1 }, toSkill(slow)))) {
    left = taskOf(event.payload)?.id
    break
  }
  say('come back', await follow(client.resubscribeTask({ id: left, tenant: '' })))
  say('get', { state: stateOf(await client.getTask({ id: left, tenant: '' })) })

  try {
    const list = await client.listTasks({ contextId: sent.contextId, status: TaskState.TASK_STATE_UNSPECIFIED, tenant: '', pageToken: '' })
    say('list', { tasks: list.tasks.length, same: list.tasks[0]?.id === sent.id })
  } catch (err) {
    say('list', { refused: err.message.includes('tasks/list') })
  }

  const waiting = await client.sendMessage(message({ message: 'Who?' }, toSkill(asking)))
  const answered = await client.sendMessage(message({ username: 'ada', email: 'ada@example.com' }, { taskId: waiting.id, contextId: waiting.contextId }))
  say('answer', { waits: stateOf(waiting), state: stateOf(answered), said: saidIn(answered).includes('"ada@example.com"') })

  const long = await client.sendMessage(message({ seconds: 600 }, toSkill(slow), { returnImmediately: true }))
  const config = { taskId: long.id, id: 'p', url: receiverURL, token: '', tenant: '' }
  await client.createTaskPushNotificationConfig(config)
  const { configs } = await client.listTaskPushNotificationConfig({ taskId: long.id, tenant: '', pageSize: 10, pageToken: '' })
  const got = await client.getTaskPushNotificationConfig({ taskId: long.id, id: configs[0].id, tenant: '' })
  await client.deleteTaskPushNotificationConfig({ taskId: long.id, id: got.id, tenant: '' })
  say('configs', { configs: configs.length, same: got.url === receiverURL })
  const canceled = await client.cancelTask({ id: long.id, tenant: '' })
  say('cancel', { ended: !ended.includes(long.status.state) && stateOf(canceled) })

  await client.sendMessage(message('hello there', {}, { taskPushNotificationConfig: { url: receiverURL, token: 'the token' } }))
  const notices = await untilEnd()
  say('push', { last: isLast(notices.at(-1)), token: notices.at(-1).token === 'the token' })

  const missing = await client.getTask({ id: 'task_none', tenant: '' }).catch((err) => err)
  say('unknown', { known: missing instanceof TaskNotFoundError })
}

const card = await cardResolver.resolve(url)
for (const at of card.supportedInterfaces) {
  await tour(`${at.protocolVersion} ${at.protocolBinding}`, await factory.createFromAgentCard({ ...card, supportedInterfaces: [at] }))
}
receiver.close()
