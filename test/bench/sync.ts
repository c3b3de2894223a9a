import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isInstalled } from '#build/system-parts.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { systemSyncedFolders } from '#platform/synced-folders.ts'
import { createSsh } from '#ssh/connection/connections.ts'
import { syncUp } from '#ssh/sync/up.ts'
import { scratchMachine } from '../integration/ssh/machine.ts'
import { noSshd } from '../integration/ssh/own-root.ts'
import { type Sshd, startSshd } from '../integration/ssh/sshd.ts'
import { account, target } from '../integration/ssh/steps.ts'
import { inPairs, type Pairs, type Row, type Size } from './row.ts'

/** Bytes of each file. */
const fileSize = 20_000

/**
 * Compares the sync of many small files by Berth and by rsync over OpenSSH, to the same sshd and disk: first all files,
 * then after one has changed. Both are connected before the measurement.
 */
export async function syncRows({ smoke }: Size): Promise<Row[]> {
  if (noSshd || !isInstalled('rsync')) return []
  const files = smoke ? 100 : 10_000
  const pairs = smoke ? 1 : 3
  const sshd = await startSshd()
  const machine = scratchMachine()
  const here = mkdtempSync(join(tmpdir(), 'berth-bench-sync-'))
  const ssh = createSsh(machine)
  let stock: Stock | undefined
  try {
    const key = await ssh.keysOf(account).load('berth')
    sshd.authorize(key.publicKey)
    fill(here, files)
    const { connection } = await ssh.connect(target({ direct: sshd }))
    stock = await startStock(key.path, sshd)
    const { rsync } = stock
    const ours = join(sshd.folder, 'ours')
    const theirs = join(sshd.folder, 'theirs')
    const sync = () =>
      syncUp(connection, {
        folder: systemSyncedFolders.at(here),
        remote: ours,
        confirmed: [],
        downloaded: new Map(),
        modes: true,
        clock: systemClock,
        signal: new AbortController().signal,
      })
    const first = await inPairs(
      pairs,
      sync,
      () => rsync(here, theirs),
      () => {
        for (const folder of [ours, theirs]) rmSync(folder, { recursive: true, force: true })
      },
    )
    await sync()
    await rsync(here, theirs)
    let changes = 0
    let sent = 0
    const again = await inPairs(
      pairs * 3,
      async () => {
        change(here, 'ours', ++changes)
        sent = (await sync()).files
      },
      () => {
        change(here, 'theirs', ++changes)
        return rsync(here, theirs)
      },
    )
    if (sent < 1 || sent > 2) throw new Error(`${sent} files were sent again`)
    return [row('first', first, files), row('after a change', again, files)]
  } finally {
    stock?.end()
    await ssh.close()
    await sshd.close()
    machine.remove()
    rmSync(here, { recursive: true, force: true })
  }
}

/** Fills a folder like a project with data: a few files in each of many folders, changed long ago. */
function fill(folder: string, files: number): void {
  const noise = randomBytes(1024 * 1024)
  for (let file = 0; file < files; file++) {
    const into = join(folder, `part ${Math.floor(file / 100)}`, file % 2 === 0 ? 'train' : 'test')
    mkdirSync(into, { recursive: true })
    const from = (file * 104_729) % (noise.length - fileSize)
    const path = join(into, `sample-${file}.bin`)
    writeFileSync(path, noise.subarray(from, from + fileSize))
    utimesSync(path, 1_700_000_000 + file / 7, 1_700_000_000 + file / 7)
  }
}

function change(folder: string, name: string, time: number): void {
  const path = join(folder, 'part 0', name)
  writeFileSync(path, String(time))
  utimesSync(path, 1_700_000_000 + time, 1_700_000_000 + time)
}

interface Stock {
  rsync(from: string, to: string): Promise<void>
  end(): void
}

/** rsync over an OpenSSH connection that stays open. */
async function startStock(keyPath: string, sshd: Sshd): Promise<Stock> {
  const key = join(sshd.folder, 'key')
  copyFileSync(keyPath, key)
  chmodSync(key, 0o600)
  const control = join(sshd.folder, 'control')
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    'IdentitiesOnly=yes',
    `ControlPath=${control}`,
  ].flatMap(option => ['-o', option])
  const args = ['-i', key, '-p', String(sshd.port), ...options]
  const master: ChildProcess = spawn('ssh', [...args, '-M', '-N', 'root@127.0.0.1'], { stdio: 'ignore' })
  while (!existsSync(control)) {
    if (master.exitCode !== null) throw new Error('ssh did not connect')
    await wait(20)
  }
  return {
    async rsync(from, to) {
      const shell = ['ssh', ...args].join(' ')
      const child = spawn('rsync', ['-a', '-e', shell, `${from}/`, `root@127.0.0.1:${to}/`], {
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const [code] = await once(child, 'exit')
      if (code !== 0) throw new Error(`rsync ended with ${code}`)
    },
    end: () => void master.kill(),
  }
}

function row(what: string, { first, ratio, spread }: Pairs, files: number): Row {
  const [least, most] = spread.map(each => 1 / each)
  const ours = 1 / ratio
  return {
    what: `sync, ${what}`,
    compared: `rsync over the same sshd, both connected, ${files} files of ${fileSize / 1000} kB, half of the pairs from ${most?.toFixed(2)} to ${least?.toFixed(2)} ×; Berth ${Math.round(first)} ms`,
    measured: `${ours.toFixed(2)} × its time`,
    budget: 'at most 1.3 ×',
    kept: ours <= 1.3,
  }
}
