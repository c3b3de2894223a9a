import { openBrowser, scratchFolder, startBerth } from '../e2e/app.ts'
import { startBareServer } from './bare-server.ts'
import { inTurn, type Row, ratioRow, type Size } from './row.ts'

/** Browser mode from the start of its process to the first row drawn, over an empty page of a bare Node server. */
export async function startRows({ smoke }: Size): Promise<Row[]> {
  const { first, second } = await inTurn(
    smoke ? 1 : 7,
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
      const [server, browser] = await Promise.all([startBareServer(), openBrowser()])
      const page = await browser.newPage()
      await page.goto(server.line)
      await page.getByText('row').waitFor()
      await browser.close()
      await server.stop()
    },
    smoke ? 0 : 2,
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
