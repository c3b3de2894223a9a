import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { descendants, type Process, processes, readProcess, signalAll } from '#build/process-tree.ts'
import { fingerprintOf, makeKeyPair } from '#ssh/keys/openssh-key.ts'
import { asRoot, asRootNeeds } from './own-root.ts'

/** Debian's OpenSSH server on a free loopback port, with its own configuration and keys. */
export interface Sshd {
  host: string
  port: number
  /** A scratch folder, deleted with the server. */
  folder: string
  /** HOME of the sessions, unless a SetEnv line sets another. */
  home: string
  /** The fingerprint `SHA256:…` of the current host key. */
  fingerprint(): string
  /** Accepts these public keys and no others. */
  authorize(...publicKeys: string[]): void
  /** Ends the server and its connections; `start` brings it back with the same port and host key. */
  stop(): Promise<void>
  start(): Promise<void>
  /** Changes the host key for new connections; gives the new fingerprint. */
  changeHostKey(): Promise<string>
  /** Cuts all connections, as a failing network does, and keeps listening. Gives their number. */
  dropConnections(): number
  /** The number of connections that are logged in. */
  connections(): number
  /** Freezes all connections, as a pulled cable does; gives the function that resumes them. */
  freezeConnections(): () => void
  /** The server's log, for a failing test. */
  log(): string
  close(): Promise<void>
}

const setEnv = 'SetEnv '

/**
 * The SetEnv lines as one, since sshd accepts only one, with a HOME if they set none; and with sessions of tmux of its own,
 * which all servers of this computer would share.
 */
function environment(config: readonly string[], folder: string, home: string): string {
  const given = config.filter(line => line.startsWith(setEnv)).map(line => line.slice(setEnv.length))
  const own = [`HOME=${home}`, `TMUX_TMPDIR=${folder}`]
  const isGiven = (name: string) =>
    given.some(line => line.split(' ').some(one => one.startsWith(`${name}=`)))
  return [...own.filter(one => !isGiven(one.split('=')[0] ?? '')), ...given].join(' ')
}

/**
 * `config`: lines of sshd_config that override the defaults, since sshd uses the first value. HOME is empty, because a
 * user's start files take time, and one that is killed halfway may block the next shell. `first`: the environment of
 * a process that is the first of its own container, with the server below it; `isFirst`: the server is that process.
 */
export async function startSshd(
  config: readonly string[] = [],
  first?: Readonly<Record<string, string>>,
  isFirst = false,
): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-sshd-'))
  const keyFile = join(folder, 'host_key')
  const home = join(folder, 'home')
  const authorized = join(folder, 'authorized_keys')
  const logFile = join(folder, 'log')
  const port = await freePort()
  // It is for root's sshd alone.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  mkdirSync(home)
  writeFileSync(authorized, '', { mode: 0o600 })
  writeFileSync(logFile, '')
  const lines = [
    `SetEnv ${environment(config, folder, home)}`,
    ...config.filter(line => !line.startsWith(setEnv)),
    `ListenAddress 127.0.0.1:${port}`,
    `HostKey ${keyFile}`,
    `AuthorizedKeysFile ${authorized} ${home}/.ssh/authorized_keys`,
    `PidFile ${join(folder, 'pid')}`,
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'KbdInteractiveAuthentication no',
    'StrictModes no',
    'UsePAM no',
    'PrintMotd no',
    'PrintLastLog no',
    'LogLevel VERBOSE',
    'MaxStartups 100',
    ...(config.some(line => line.startsWith('Subsystem sftp')) ? [] : ['Subsystem sftp internal-sftp']),
  ]
  const configFile = join(folder, 'sshd_config')
  writeFileSync(configFile, `${lines.join('\n')}\n`)
  let daemon: ChildProcess | undefined
  makeHostKey()

  function makeHostKey(): void {
    const { privateKey, publicKey } = makeKeyPair('test')
    writeFileSync(keyFile, privateKey, { mode: 0o600 })
    writeFileSync(`${keyFile}.pub`, `${publicKey}\n`)
  }

  async function start(): Promise<void> {
    // With -r it doesn't start its program anew for each connection, which would be half of what one costs.
    const server = `/usr/sbin/sshd -D -r -f ${configFile} -E ${logFile}`
    const container = first ? ['--pid', '--fork', '--kill-child', '--mount-proc'] : []
    const command = first && !isFirst ? `sh -c '${server}; :'` : server
    const shell = ['sh', '-c', asRoot(command, folder, home)]
    const unshared = [...asRootNeeds, ...container]
    const [program = '', ...args] = unshared.length > 0 ? ['unshare', ...unshared, ...shell] : shell
    const before = logLength()
    const child = spawn(program, args, { stdio: 'ignore', ...(first && { env: { ...first } }) })
    daemon = child
    const ended = () => child.exitCode !== null
    if (!(await listensSince(before, ended)) || ended())
      throw new Error(`sshd does not listen:\n${readFileSync(logFile, 'utf8')}`)
  }

  const logLength = () => readFileSync(logFile, 'utf8').length

  /** Its log tells it, since each connection that asked would cost a process. */
  async function listensSince(before: number, ended = () => false): Promise<boolean> {
    for (let tries = 0; tries < 5000 && !ended(); tries++) {
      if (readFileSync(logFile, 'utf8').slice(before).includes('Server listening')) return true
      await wait(10)
    }
    return false
  }

  /** Ends only the listener; connections run in their own processes. */
  async function stopListening(): Promise<void> {
    const child = daemon
    daemon = undefined
    if (child === undefined || child.exitCode !== null) return
    const gone = once(child, 'exit')
    // unshare ignores SIGTERM.
    child.kill(first ? 'SIGKILL' : 'SIGTERM')
    await gone
  }

  /** The processes of the connections, parents before children. */
  function workers(): Process[] {
    return daemon?.pid === undefined ? [] : descendants(daemon.pid)
  }

  await start()
  return {
    host: '127.0.0.1',
    port,
    folder,
    home,
    fingerprint: () => fingerprintAt(keyFile),
    authorize: (...publicKeys) => writeFileSync(authorized, publicKeys.map(key => `${key}\n`).join('')),
    start,
    async stop() {
      // At once, so that nothing is sent meanwhile; then those that came before it ended.
      kill(workers(), 'SIGKILL')
      const running = workers()
      await stopListening()
      kill(running, 'SIGKILL')
    },
    async changeHostKey() {
      makeHostKey()
      const listener = daemon?.pid
      if (listener === undefined) return fingerprintAt(keyFile)
      // SIGHUP reloads the keys without ending connections.
      const before = logLength()
      process.kill(listener, 'SIGHUP')
      await listensSince(before)
      return fingerprintAt(keyFile)
    },
    dropConnections() {
      const running = workers()
      kill(running, 'SIGKILL')
      return running.filter(({ parent }) => parent === daemon?.pid).length
    },
    connections: () =>
      workers().filter(({ name, parent }) => name === 'sshd' && parent === daemon?.pid).length,
    freezeConnections() {
      const running = workers()
      kill(running, 'SIGSTOP')
      return () => kill(running, 'SIGCONT')
    },
    log: () => readFileSync(logFile, 'utf8'),
    async close() {
      const running = workers()
      await stopListening()
      kill(running, 'SIGKILL')
      endDetached(folder)
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}

function fingerprintAt(keyFile: string): string {
  const [, blob = ''] = readFileSync(`${keyFile}.pub`, 'utf8').split(' ')
  return fingerprintOf(Buffer.from(blob, 'base64'))
}

/** A free loopback port below the system's ephemeral range, so that nobody else is given it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 32_768)
    const server = createServer().listen(port, '127.0.0.1')
    const listens = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!listens) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Kills the processes that were started from a folder and outlive their connection, with descendants. */
export function endDetached(folder: string): void {
  const all = processes()
  for (const each of all)
    if (readProcess(each.pid, 'cmdline').includes(`${folder}/`))
      kill([each, ...descendants(each.pid, all)], 'SIGKILL')
}

function kill(running: readonly Process[], signal: NodeJS.Signals): void {
  signalAll(
    running.map(({ pid }) => pid),
    signal,
  )
}
