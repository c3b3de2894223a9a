import { openBrowser, scratchFolder, startBerth, startNode } from '../e2e/app.ts'
import { inTurn, type Row, ratioRow } from './row.ts'

const emptyServer = `
import { createServer } from 'node:http'
const page = '<!doctype html><title>Empty</title><table><tr><td>row</td></tr></table>'
const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end(page))
server.listen(0, '127.0.0.1', () => console.log('http://127.0.0.1:' + server.address().port + '/'))
process.on('SIGTERM', () => process.exit(0))
`

/** Browser mode from the start of its process to the first row drawn, over an empty page of a bare Node server. */
export async function startRows(): Promise<Row[]> {
  const { first, second } = await inTurn(
    7,
    async () => {
      const home = await scratchFolder()
      const [berth, browser] = await Promise.all([startBerth(home.path, ['--demo']), openBrowser()])
      const page = await browser.newPage()
      await page.goto(`${berth.address}`)
      await page.getByText('This is the demo market.').waitFor()
      await page.getByRole('link', { name: 'Offers' }).waitFor()
      await browser.close()
      await berth.stop()
      await home.remove()
    },
    async () => {
      const [server, browser] = await Promise.all([
        startNode(['--input-type=module', '-e', emptyServer], line => line.startsWith('http')),
        openBrowser(),
      ])
      const page = await browser.newPage()
      await page.goto(server.line)
      await page.getByText('row').waitFor()
      await browser.close()
      await server.stop()
    },
  )
  return [
    ratioRow(
      'browser mode, process start to what it shows',
      'an empty page of a bare Node server',
      first / second,
      1.5,
    ),
  ]
}
