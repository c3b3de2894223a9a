import type { Duplex } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'
import type { Connection } from '../connection/connection.ts'
import { isShellReplaced } from '../connection/ssh-problems.ts'
import { outputOf } from '../exec.ts'
import { type ListedJupyter, readJupyterList } from './jupyter-list.ts'
import { statusOf } from './web.ts'

/** Newer versions know `server`, older ones `notebook`, the oldest no `--json`. A login shell may find more. */
const questions = [
  'jupyter server list --json',
  'jupyter notebook list --json',
  "bash -lc 'jupyter server list --json'",
  "bash -lc 'jupyter notebook list --json'",
  'jupyter server list',
  'jupyter notebook list',
]
/** Milliseconds for an answer, and the most bytes of it. */
const bounds = { within: 15_000, most: 65_536 }

/** The Jupyter servers that run in the instance; empty if there are none. Throws `ssh_closed` or `shell_replaced`. */
export async function listJupyters(connection: Connection, clock: Clock): Promise<ListedJupyter[]> {
  for (const question of questions) {
    const answer = await outputOf(connection, question, { clock, ...bounds }).catch(error => {
      // An old Jupyter may not answer one of them in time; a lost connection or a replaced shell answers none.
      if (connection.hasEnded() || isShellReplaced(error)) throw error
      return undefined
    })
    const list = readJupyterList(answer?.text ?? '')
    if (list.length > 0) return list
  }
  return []
}

/** Jupyter's reaction to a token; `starting` for any other answer, or none, which may come before Jupyter is up. */
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

/** Jupyter's start page: JupyterLab, or the Notebook's list of files. */
export type JupyterPage = 'lab' | 'tree'

/** Whether a Jupyter server has this page; not every image has both. */
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

/** Jupyter's URL at an origin, with the token; without `page`, Jupyter chooses its start page. */
export function jupyterAddress(
  origin: string,
  { token, basePath }: Pick<ListedJupyter, 'token' | 'basePath'>,
  page?: JupyterPage,
): string {
  const address = new URL(`${basePath}${page ?? ''}`, origin)
  if (token !== '') address.searchParams.set('token', token)
  return address.href
}
