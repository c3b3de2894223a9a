import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { lacks } from '../../needs.ts'
import { sshd } from './own-root.ts'
import { freePort } from './sshd.ts'

/** Debian's Jupyter on a free loopback port. */
export interface JupyterNotebook {
  port: number
  token: string
  stop(): Promise<void>
}

/** Why no notebook can run here, as the end of a name; '' where one can. */
export const noJupyter = lacks(sshd, 'jupyter-notebook')

/** Starts Jupyter, which registers itself in that home, where an SSH session finds it. */
export async function startJupyter(home: string, token = 's3cret-token'): Promise<JupyterNotebook> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-jupyter-'))
  const port = await freePort()
  const child = spawn(
    'jupyter-notebook',
    [
      '--allow-root',
      '--no-browser',
      '--ip=127.0.0.1',
      `--port=${port}`,
      '--port-retries=0',
      `--NotebookApp.token=${token}`,
      `--notebook-dir=${folder}`,
    ],
    { cwd: folder, stdio: 'ignore', env: { ...process.env, HOME: home } },
  )
  await answering(child, `http://127.0.0.1:${port}/api`)
  return {
    port,
    token,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit')
        child.kill('SIGTERM')
        await ended
      }
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}

async function answering(child: ChildProcess, url: string): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (child.exitCode !== null) throw new Error('jupyter-notebook ended at once')
    const answer = await fetch(url).catch(() => undefined)
    if (answer?.ok) return
    await wait(100)
  }
  throw new Error('jupyter-notebook does not answer')
}
