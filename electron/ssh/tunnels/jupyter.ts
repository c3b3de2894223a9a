import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { connect } from 'node:tls'
import * as v from 'valibot'
import type { Clock } from '#platform/platform.ts'
import type { SshAddress } from '#shared/instance/instance.ts'
import { firstLines } from '#shared/text.ts'
import type { Connection } from '../connection/connection.ts'
import { isShellReplaced } from '../connection/ssh-problems.ts'
import { outputOf } from '../exec.ts'
import { openChannel } from './channel.ts'
import { statusOf, whatAnswers } from './web.ts'
import type { WebServer } from './web-headers.ts'

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

/** Milliseconds for Jupyter, or a TLS handshake, to answer. */
const patience = 5000
/** The most servers of a list that are tried. */
const mostTried = 16

/** The Jupyter that runs in an instance, and how it is asked. */
export interface FoundJupyter extends ListedJupyter {
  server: WebServer
}

/**
 * The result of the search for Jupyter: a server that takes its token, or none. `refused`: one answers, and takes none
 * of the tokens; `starting`: one should be there, and none answers; `missing`: none is listed.
 */
export type JupyterFinding = FoundJupyter | 'refused' | 'starting' | 'missing'

/**
 * Finds the Jupyter in an instance that takes its token, among the `known` servers and those that Jupyter lists, at the
 * `usual` port first. Throws `ssh_closed`, or `shell_replaced` where none is known.
 */
export async function findJupyter(
  connection: Connection,
  { known, usual }: { known: readonly ListedJupyter[]; usual: number },
  clock: Clock,
): Promise<JupyterFinding> {
  let finding: 'refused' | 'starting' | 'missing' = 'missing'
  for await (const list of serverLists(connection, known, clock)) {
    const servers = likeliestFirst(list, usual).slice(0, mostTried)
    const tries = servers.map(server => tried(connection, server, clock))
    // The first that is ready ends the wait for the others.
    for (const attempt of tries) attempt.catch(() => undefined)
    for (const attempt of tries) {
      const result = await attempt
      if (typeof result === 'object') return result
      if (finding !== 'refused') finding = result
    }
  }
  return finding
}

/** The known servers, then the answer to each question. */
async function* serverLists(
  connection: Connection,
  known: readonly ListedJupyter[],
  clock: Clock,
): AsyncGenerator<readonly ListedJupyter[]> {
  if (known.length > 0) yield known
  let last = ''
  for (const question of questions) {
    const answer = await outputOf(connection, question, { clock, ...bounds }).catch(error => {
      // An old Jupyter may not answer one of them in time; a lost connection or a replaced shell answers none, which
      // matters less where a server is known.
      if (connection.hasEnded() || (isShellReplaced(error) && known.length === 0)) throw error
      return undefined
    })
    const list = readJupyterList(answer?.text ?? '')
    const text = JSON.stringify(list)
    if (list.length > 0 && text !== last) yield list
    last = text
  }
}

async function tried(
  connection: Connection,
  listed: ListedJupyter,
  clock: Clock,
): Promise<FoundJupyter | 'refused' | 'starting'> {
  const { port, basePath } = listed
  const question = { path: `${basePath}api/status`, headers: authorization(listed), patience }
  const answering = await whatAnswers(() => openChannel(connection, port), port, clock, question)
  if (typeof answering === 'string') return 'starting'
  const { server, status } = answering
  if (status === 200) return { ...listed, server }
  return status === 401 || status === 403 || status === 302 ? 'refused' : 'starting'
}

function authorization({ token }: Pick<ListedJupyter, 'token'>): Record<string, string> {
  return token === '' ? {} : { authorization: `token ${token}` }
}

/** Jupyter's start page: JupyterLab, or the Notebook's list of files. */
export type JupyterPage = 'lab' | 'tree'

/** Whether a Jupyter server has this page; not every image has both. */
export async function hasPage(
  dial: () => Promise<Duplex>,
  { server, basePath, token }: Pick<FoundJupyter, 'server' | 'token' | 'basePath'>,
  page: JupyterPage,
  clock: Clock,
): Promise<boolean> {
  const question = { path: `${basePath}${page}`, headers: authorization({ token }) }
  const status = await statusOf(dial, clock, server, question)
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

/** Whether the host's TLS certificate is valid for it and trusted by this machine. `ca`: the CA to trust instead. */
export function hasValidCertificate({ host, port }: SshAddress, clock: Clock, ca?: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({
      host,
      port,
      servername: isIP(host) === 0 ? host : undefined,
      ca,
      ALPNProtocols: ['http/1.1'],
    })
    const answer = (valid: boolean) => {
      cancel()
      resolve(valid)
      socket.destroy()
    }
    const cancel = clock.after(patience, () => answer(false))
    socket.on('secureConnect', () => answer(socket.authorized))
    socket.on('error', () => answer(false))
    socket.on('close', () => answer(false))
  })
}

/** The most characters of a list, and the most lines and characters per line, that are read. */
const longestList = 65_536
const listBounds = { lines: 256, length: 8192 }

/** A Jupyter server inside the instance, as Jupyter lists it. */
interface ListedJupyter {
  port: number
  /** Empty if the server needs no token. */
  token: string
  /** The path below the server's origin; begins and ends with a slash. */
  basePath: string
  /** Its process, where the list has it. */
  pid?: number | undefined
}

const Port = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(65_535))
const Token = v.pipe(v.string(), v.maxLength(512), v.regex(/^[\x21-\x7e]*$/))
const BasePath = v.pipe(v.string(), v.maxLength(512), v.regex(/^\/([A-Za-z0-9._~@-]+\/)*$/))
const Server = v.object({
  port: Port,
  token: v.optional(Token, ''),
  base_url: v.optional(BasePath, '/'),
  pid: v.fallback(v.optional(v.number()), undefined),
})

/**
 * Parses the output of `jupyter server list` or `jupyter notebook list`: with `--json` one object per line, with
 * `--jsonlist` one list, with neither one address per line. Anything else is skipped.
 */
export function readJupyterList(text: string): ListedJupyter[] {
  const whole = fromJson(text.slice(0, longestList))
  return whole.length > 0
    ? whole
    : firstLines(text, listBounds).flatMap(line => [...fromJson(line), ...fromAddress(line)])
}

function fromJson(text: string): ListedJupyter[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return []
  }
  return (Array.isArray(value) ? value.slice(0, listBounds.lines) : [value]).flatMap(one => {
    const server = v.safeParse(Server, one)
    if (!server.success) return []
    const { port, token, base_url: basePath, pid } = server.output
    return [{ port, token, basePath, ...(pid === undefined ? {} : { pid }) }]
  })
}

/** `http://localhost:8888/?token=… :: /workspace` */
function fromAddress(line: string): ListedJupyter[] {
  const text = /https?:\/\/\S+/.exec(line)?.[0]
  const address = text === undefined ? null : URL.parse(text)
  if (address === null) return []
  const port = address.port === '' ? (address.protocol === 'https:' ? 443 : 80) : Number(address.port)
  return fromJson(
    JSON.stringify({ port, token: address.searchParams.get('token') ?? '', base_url: address.pathname }),
  )
}

/**
 * The servers of a list in the order to try them: those at the service's usual port before others, and newer ones before
 * older ones. Jupyter also lists servers that have ended.
 */
export function likeliestFirst(list: readonly ListedJupyter[], usual: number): ListedJupyter[] {
  return list.toReversed().sort((a, b) => {
    const byPort = Number(b.port === usual) - Number(a.port === usual)
    return byPort === 0 && a.pid !== undefined && b.pid !== undefined ? b.pid - a.pid : byPort
  })
}
