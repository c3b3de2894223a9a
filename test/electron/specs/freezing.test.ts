import { spawn } from 'node:child_process'
import { onTestFinished, test, vi } from 'vitest'
import { freezesAndActs } from '#test/freezing.ts'
import { useDesk } from '../desk.ts'
import { app, program } from '../program.ts'

const desk = useDesk()
/** A minute of silence, the restart, and the rest of 90 seconds to the limit. */
vi.setConfig({ testTimeout: 600_000 })

test('a Berth that stands still starts anew, says so, and its limit acts', async () => {
  const start = (options: string) => {
    // Without Playwright, whose debugger may hold the main thread.
    const env = { ...desk.session.env, NODE_OPTIONS: options }
    const child = spawn(program, [app], { cwd: '/', env, stdio: ['ignore', 'inherit', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
  }
  await freezesAndActs('lock', desk.session, desk.home, start, onTestFinished)
})
