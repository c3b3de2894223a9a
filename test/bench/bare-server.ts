import { type Running, startNode } from '../berth/browser.ts'

const program = `
const { createServer } = require('node:http')
const page = '<!doctype html><title>Empty</title><table><tr><td>row</td></tr></table>'
const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page))
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port + '/'))
process.on('SIGTERM', () => process.exit(0))
`

/** The control for Berth's process: a bare Node server of one page, which prints the page's address. */
export function startBareServer(): Promise<Running> {
  return startNode(['-e', program], line => line.startsWith('http'))
}
