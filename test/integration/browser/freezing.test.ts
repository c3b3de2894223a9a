import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { onTestFinished, test, vi } from 'vitest'
import { at } from '#build/places.ts'
import '#test/built.ts'
import { freezesAndActs } from '#test/freezing.ts'
import { startSession } from '#test/integration/platform/session-bus.ts'

/** A minute of silence, the restart, and the rest of 90 seconds to the limit. */
vi.setConfig({ testTimeout: 600_000 })

test('a Berth in browser mode that stands still starts anew, says so, and its limit acts', async () => {
  const session = await startSession()
  onTestFinished(() => session.end())
  const home = join(session.home, 'berth')
  const env = { ...session.env, BERTH_HOME: home }
  const start = (options: string) => {
    const args = [at('dist/main/browser.js'), '--browser', '--no-open']
    const child = spawn(process.execPath, args, { env: { ...env, NODE_OPTIONS: options }, stdio: 'inherit' })
    onTestFinished(() => void child.kill('SIGKILL'))
  }
  await freezesAndActs('files', session, home, start, onTestFinished)
})
