import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** A machine with a network interface, processes and a home folder of its own, and Debian's SSH server. */
export interface NodeMachine {
  host: string
  port: number
  /** What is `/root` there. */
  home: string
  authorize(publicKey: string): void
  /** Ends every process of the machine at once. */
  kill(): Promise<void>
}

/** The network that all of them are in: the first private one that a simulator gives. */
const net = '10.0.1'
const bridge = 'berth-nodes'
const port = 22

/** Some machines in one network. */
export async function startMachines(
  count: number,
): Promise<{ machines: NodeMachine[]; close(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-nodes-'))
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  removeNetwork()
  ip('link', 'add', bridge, 'type', 'bridge')
  ip('addr', 'add', `${net}.1/24`, 'dev', bridge)
  ip('link', 'set', bridge, 'up')
  const machines: NodeMachine[] = []
  for (let index = 0; index < count; index++) machines.push(await startMachine(folder, index))
  return {
    machines,
    async close() {
      await Promise.all(machines.map(machine => machine.kill()))
      removeNetwork()
      rmSync(folder, { recursive: true, force: true, maxRetries: 20 })
    },
  }
}

async function startMachine(folder: string, index: number): Promise<NodeMachine> {
  const name = `berth-${index}`
  const host = `${net}.${index + 2}`
  const place = join(folder, name)
  const home = join(place, 'home')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  ip('netns', 'add', name)
  ip('link', 'add', `${name}-out`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
  ip('link', 'set', `${name}-out`, 'master', bridge, 'up')
  ip('-n', name, 'addr', 'add', `${host}/24`, 'dev', 'eth0')
  ip('-n', name, 'link', 'set', 'eth0', 'up')
  ip('-n', name, 'link', 'set', 'lo', 'up')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(place, 'host')])
  const log = join(place, 'log')
  const authorized = join(place, 'authorized_keys')
  for (const file of [log, authorized]) writeFileSync(file, '', { mode: 0o600 })
  const config = [
    `ListenAddress ${host}:${port}`,
    `HostKey ${join(place, 'host')}`,
    `AuthorizedKeysFile ${authorized}`,
    `PidFile none`,
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'StrictModes no',
    'UsePAM no',
    'MaxStartups 100',
    'Subsystem sftp internal-sftp',
  ]
  writeFileSync(join(place, 'config'), `${config.join('\n')}\n`)
  const server = `/usr/sbin/sshd -D -f ${place}/config -E ${log}`
  const container = `mount --bind ${home} /root && mount -t tmpfs tmpfs /run && mkdir -p /run/sshd && ${server}`
  const args = [
    'netns',
    'exec',
    name,
    'unshare',
    '--mount',
    '--pid',
    '--fork',
    '--kill-child',
    '--mount-proc',
  ]
  // What a set-up puts there is found, as the image's programs are.
  const env = { ...process.env, PATH: `/root/bin:${process.env['PATH']}` }
  const child: ChildProcess = spawn('ip', [...args, 'sh', '-c', container], { stdio: 'ignore', env })
  for (let tries = 0; !readFileSync(log, 'utf8').includes('Server listening'); tries++) {
    if (child.exitCode !== null || tries > 400) throw new Error(`${name} did not start: ${readFileSync(log)}`)
    await wait(25)
  }
  return {
    host,
    port,
    home,
    authorize: publicKey => writeFileSync(authorized, `${publicKey}\n`),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

/**
 * Also what a run that was killed left. The links go first: with its namespace alone, a link goes only when the
 * kernel gets to it, and the next machine of that name would find it still there.
 */
function removeNetwork(): void {
  const of = (...args: readonly string[]): string[] =>
    execFileSync('ip', [...args], { encoding: 'utf8' })
      .split('\n')
      .flatMap(line => /\bberth-(?:nodes|\d+(?:-out)?)\b/.exec(line)?.[0] ?? [])
  for (const link of of('-o', 'link', 'show')) ip('link', 'delete', link)
  for (const name of of('netns', 'list')) ip('netns', 'delete', name)
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args)
}
