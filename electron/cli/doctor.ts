import { access, constants, statfs } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { cantEndWords } from '../shared/account/api-key.ts'
import { accountNow } from '../shared/derived.ts'
import { bytes, figure } from '../shared/format/size.ts'
import { duration, exactTime } from '../shared/format/time.ts'
import type { AccountView, State } from '../shared/state.ts'
import { berthHome } from '../start/home.ts'
import { unsupportedNode } from '../start/node-support.ts'
import { accountsOf, type Call, type CliCommand, polledState, print } from './call.ts'
import { exitCodes } from './failure.ts'

/** One thing that Berth needs. `needed`: without it something fails, and not only some comfort. */
interface Check {
  name: string
  ok: boolean
  message: string
  advice?: string | undefined
  needed: boolean
}

/** The least free bytes, and the most seconds by which this computer's clock may be wrong. */
const bounds = { free: 1_000_000_000, clock: 60 }

export const doctor: CliCommand = {
  operands: '',
  takes: [0, 0],
  summary: 'Check keys, programs, disk and clock, and suggest fixes',
  options: ['account', 'json'],
  async run(call) {
    const state = await polledState(call)
    const accounts = accountsOf(call, state)
    const checks = [
      ...accountChecks(accounts, await lackingOf(call, accounts)),
      ...accounts.map(proxyCheck),
      keychainCheck(state),
      nodeCheck(state),
      await programCheck('SSH', 'ssh', 'Install OpenSSH. berth ssh and your own terminals need it.', true),
      await programCheck(
        'git',
        'git',
        'Install git. Without it, Berth ignores git’s rules outside the project folder.',
        false,
      ),
      await programCheck(
        'rsync',
        'rsync',
        'Berth doesn’t need it. Install it to copy files yourself.',
        false,
      ),
      await diskCheck(berthHome(process.env, process.platform)),
      ...accounts.flatMap(clockCheck),
    ]
    if (call.json)
      print(call, {
        checks: checks.map(({ advice, ...check }) => ({ ...check, advice: advice ?? null })),
      })
    else for (const check of checks) call.write(`${line(check)}\n`)
    return checks.some(({ ok, needed }) => needed && !ok) ? exitCodes.failed : exitCodes.done
  },
}

function line({ name, ok, message, advice, needed }: Check): string {
  const mark = ok ? 'ok   ' : needed ? 'wrong' : 'note '
  return `${mark}  ${name}: ${[message, ok ? undefined : advice].filter(Boolean).join(' ')}`
}

/** What each account's key can't do though it can be polled, by the account's id. */
async function lackingOf(
  { connection }: Call,
  accounts: readonly AccountView[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const {
    id,
    connection: { status },
    limitation,
  } of accounts) {
    if (status !== 'online' || limitation !== undefined) continue
    const keys = await connection.command('listApiKeys', { account: id }).catch(() => [])
    const own = keys.find(({ inUse }) => inUse)
    const lacking = own && cantEndWords(own)
    if (lacking !== undefined) found.set(id, lacking)
  }
  return found
}

function accountChecks(accounts: readonly AccountView[], lacking: ReadonlyMap<string, string>): Check[] {
  if (accounts.length === 0)
    return [
      {
        name: 'Key',
        ok: false,
        message: 'No account is connected.',
        advice: 'Connect one in Berth: berth open',
        needed: true,
      },
    ]
  return accounts.flatMap(({ id, name, connection, limitation = lacking.get(id) }) => [
    {
      name: `Key of ${name}`,
      ok: connection.status === 'online',
      message:
        'problem' in connection
          ? connection.problem.message
          : connection.status === 'online'
            ? 'The service answers.'
            : 'The service hasn’t answered yet.',
      advice: 'problem' in connection ? connection.problem.advice : 'Run this check again in a moment.',
      needed: true,
    },
    {
      name: `Permissions of ${name}`,
      ...(connection.status === 'online' || limitation !== undefined
        ? { ok: limitation === undefined, needed: true }
        : { ok: false, needed: false }),
      message:
        limitation ??
        (connection.status === 'online'
          ? 'The key can read everything Berth polls.'
          : 'Not known until the service answers.'),
      advice: limitation && 'Create a key with these permissions, and replace this one in Account.',
    },
  ])
}

export function proxyCheck({
  name,
  proxy,
  connection,
}: Pick<AccountView, 'name' | 'proxy' | 'connection'>): Check {
  const check = { name: `Proxy of ${name}`, needed: true }
  if ('problem' in connection && connection.problem.code === 'proxy_failed') {
    const { message, advice } = connection.problem
    return { ...check, ok: false, message, advice }
  }
  const message =
    proxy === undefined ? 'None: Berth asks the service directly.' : `Berth asks through ${proxy}.`
  return { ...check, ok: true, message }
}

/** The Node that runs Berth, which may be another than this command's. */
function nodeCheck({ app: { runtime = '', shell } }: State): Check {
  const [, node = process.versions.node] = /Node ([\d.]+)/.exec(runtime) ?? []
  // Electron's versions end on other days than its Node's.
  const old = shell === 'browser' ? unsupportedNode(node, Date.now()) : undefined
  return {
    name: 'Node',
    ok: old === undefined,
    message: old?.message ?? `${node}.`,
    advice: old?.advice,
    needed: false,
  }
}

function keychainCheck({ app: { keychainProblem } }: State): Check {
  return {
    name: 'Keychain',
    ok: keychainProblem === undefined,
    message: keychainProblem ?? 'Keys are stored in the keychain.',
    needed: false,
  }
}

async function programCheck(name: string, program: string, advice: string, needed: boolean): Promise<Check> {
  const found = await findProgram(program)
  return {
    name,
    ok: found !== undefined,
    message: found ?? 'Not installed.',
    advice,
    needed,
  }
}

async function findProgram(name: string): Promise<string | undefined> {
  const file = process.platform === 'win32' ? `${name}.exe` : name
  for (const folder of (process.env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, file)
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}

export async function diskCheck(folder: string): Promise<Check> {
  const facts = await statfs(folder).catch(() => undefined)
  const free = facts && facts.bavail * facts.bsize
  const isReadOnly = await access(folder, constants.W_OK).then(
    () => false,
    (error: unknown) => error instanceof Error && 'code' in error && error.code !== 'ENOENT',
  )
  if (isReadOnly)
    return {
      name: 'Disk',
      ok: false,
      message: `${folder} can’t be written to.`,
      advice:
        'Make its disk writable, or give the folder back to your user. Limits still act, but nothing else begins.',
      needed: true,
    }
  return {
    name: 'Disk',
    ok: free !== undefined && free >= bounds.free,
    message: free === undefined ? `Can’t read ${folder}.` : `${bytes(free)} free.`,
    advice: `Free some space on the disk of ${folder}. Berth can’t act if it can’t write there.`,
    needed: true,
  }
}

/** Berth goes by the service's clock, so a wrong one here is no more than a note; and by its own, where that one is wrong. */
export function clockCheck({ demo, clock }: Pick<AccountView, 'demo' | 'clock'>): Check[] {
  const { serverAt, localAt, rate, strays } = clock
  if (serverAt === 0) return []
  if (demo) {
    const message = `In the demo it’s ${exactTime(accountNow(clock, Date.now()))}, and time passes ${figure(rate, 1)} times as fast.`
    return [{ name: 'Clock', ok: true, message, needed: false }]
  }
  const off = Math.round((localAt - serverAt) / 1000)
  const wrong: Check[] =
    strays === undefined
      ? []
      : [
          {
            name: 'Clock of the service',
            ok: false,
            message: `It’s ${duration(Math.abs(strays))} ${strays > 0 ? 'ahead of' : 'behind'} the time that Berth goes by.`,
            advice:
              'It stands still or is wrong, or answers are old. Limits act by the time that passes here.',
            needed: false,
          },
        ]
  return [
    ...wrong,
    {
      name: 'Clock',
      ok: Math.abs(off) <= bounds.clock,
      message:
        Math.abs(off) <= bounds.clock
          ? 'Matches the service’s clock.'
          : `${duration(Math.abs(off))} ${off > 0 ? 'ahead of' : 'behind'} the service’s clock.`,
      advice: 'Turn on automatic time in the system settings.',
      needed: false,
    },
  ]
}
