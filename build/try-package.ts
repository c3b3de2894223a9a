import { dirname } from 'node:path'
import { electronForTests } from './electron/here.ts'
import { at } from './places.ts'
import { runScript, runTool } from './run.ts'

/** `npm run package:try`: packs Berth for Linux around the Electron of the tests, and starts that package. */
const { program, version } = await electronForTests()
const electron = [`-c.electronDist=${dirname(program)}`, `-c.electronVersion=${version}`]
process.exitCode =
  (await runScript('package.ts', '--linux', '--dir', ...electron)) ||
  (await runTool('vitest', ['run', 'test/electron/shipped'], {
    ...process.env,
    BERTH_SHIPPED: at('release/linux-unpacked/berth'),
  }))
