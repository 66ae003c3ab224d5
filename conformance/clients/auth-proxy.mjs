// Adds a key to every request and passes everything on as it is, Host and Origin included: the official
// conformance suites send no key, and forge both.
//
//   node auth-proxy.mjs URL KEY
//
// It prints its own URL, and ends with its standard input.
import http from 'node:http'

const [target, key] = process.argv.slice(2)
const { hostname, port } = new URL(target)

const proxy = http.createServer((request, response) => {
  const headers = request.rawHeaders.concat('Authorization', `Bearer ${key}`)
  const upstream = http.request({ hostname, port, method: request.method, path: request.url, headers, setHost: false }, (answer) => {
    response.writeHead(answer.statusCode, answer.rawHeaders)
    response.flushHeaders()
    answer.pipe(response)
  })
  upstream.on('error', () => response.destroy())
  response.on('close', () => upstream.destroy()) // whoever leaves here leaves there
  request.pipe(upstream)
})

proxy.listen(0, '127.0.0.1', () => console.log(`http://localhost:${proxy.address().port}`))
process.stdin.on('end', () => process.exit(0)).resume()
