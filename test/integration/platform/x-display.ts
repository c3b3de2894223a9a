import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A virtual X display. */
export interface TestDisplay {
  /** Such as `:101`. */
  name: string
  end(): Promise<void>
}

/** Starts Xvfb on a free display number, with a screen of that many pixels. */
export async function startDisplay(size = '1280x800'): Promise<TestDisplay> {
  const flags = ['-displayfd', '3', '-screen', '0', `${size}x24`, '-nolisten', 'tcp']
  // Ends with this process, also where that is killed.
  const server = spawn('setpriv', ['--pdeathsig', 'TERM', 'Xvfb', ...flags], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  })
  const numbers = server.stdio[3]
  if (!numbers) throw new Error('Xvfb cannot say its number')
  const [number] = await once(numbers, 'data')
  return {
    name: `:${String(number).trim()}`,
    async end() {
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      await ended
    },
  }
}
