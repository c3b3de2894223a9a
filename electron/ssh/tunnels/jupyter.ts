import type { Duplex } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'
import type { Connection } from '../connection/connection.ts'
import { type ListedJupyter, readJupyterList } from './jupyter-list.ts'
import { statusOf } from './web.ts'

/** Newer Jupyters know `server`, older ones `notebook`, the oldest no `--json`; a login shell may know more places. */
const questions = [
  'jupyter server list --json',
  'jupyter notebook list --json',
  "bash -lc 'jupyter server list --json'",
  "bash -lc 'jupyter notebook list --json'",
  'jupyter server list',
  'jupyter notebook list',
]
/** Milliseconds for an answer, and characters of it. */
const patience = 15_000
const longest = 65_536

/** Asks the instance which Jupyter servers run in it. Empty where there is none, or no Jupyter. */
export async function listJupyters(connection: Connection, clock: Clock): Promise<ListedJupyter[]> {
  for (const question of questions) {
    const list = readJupyterList(await outputOf(connection, question, clock))
    if (list.length > 0) return list
  }
  return []
}

/** What a command prints, cut to what is read of it; empty when it cannot be run. */
function outputOf({ client }: Connection, command: string, clock: Clock): Promise<string> {
  return new Promise(resolve => {
    let text = ''
    const cancel = clock.after(patience, () => resolve(text))
    const done = () => {
      cancel()
      resolve(text)
    }
    try {
      client.exec(command, (error, channel) => {
        if (error !== undefined) return done()
        channel.on('close', done)
        channel.on('error', done)
        channel.stderr.resume()
        channel.on('data', (chunk: Buffer) => {
          text += chunk.toString('utf8')
          if (text.length > longest) channel.close()
        })
      })
    } catch {
      done()
    }
  })
}

/** How a Jupyter takes a token: `starting` covers whatever else may answer before it does. */
export type Welcome = 'ready' | 'refused' | 'starting'

export async function welcome(
  dial: () => Promise<Duplex>,
  { token, basePath }: Pick<ListedJupyter, 'token' | 'basePath'>,
  clock: Clock,
): Promise<Welcome> {
  const headers: Record<string, string> = token === '' ? {} : { authorization: `token ${token}` }
  const status = await statusOf(await dial(), clock, `${basePath}api/status`, headers)
  if (status === 200) return 'ready'
  return status === 401 || status === 403 || status === 302 ? 'refused' : 'starting'
}

/** Where Jupyter begins: in JupyterLab, or in the Notebook's list of files. */
export type JupyterPage = 'lab' | 'tree'

/** Whether a Jupyter has that page: not every image's has both. */
export async function hasPage(
  dial: () => Promise<Duplex>,
  { token, basePath }: Pick<ListedJupyter, 'token' | 'basePath'>,
  page: JupyterPage,
  clock: Clock,
): Promise<boolean> {
  const headers: Record<string, string> = token === '' ? {} : { authorization: `token ${token}` }
  const status = await statusOf(await dial(), clock, `${basePath}${page}`, headers)
  return status !== undefined && status < 400
}

/** Jupyter's address at an origin; without `page` where it begins by itself. */
export function jupyterAddress(
  origin: string,
  { token, basePath }: Pick<ListedJupyter, 'token' | 'basePath'>,
  page?: JupyterPage,
): string {
  const address = new URL(`${basePath}${page ?? ''}`, origin)
  if (token !== '') address.searchParams.set('token', token)
  return address.href
}
