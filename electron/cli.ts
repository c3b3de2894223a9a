import { fileURLToPath } from 'node:url'
import { runCli } from './cli/run-cli.ts'

/** The command `berth` under Node, which starts Berth in browser mode. */
const browserMode = fileURLToPath(new URL('./browser.js', import.meta.url))
process.exitCode = await runCli(process.argv.slice(2), {
  program: process.execPath,
  args: [browserMode, '--browser', '--no-open'],
})
