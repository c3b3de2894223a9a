import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chosenFolder, chosenItem } from '#platform/chosen-files.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { createSsh } from '#ssh/connection/connections.ts'
import { openSftp, type Sftp } from '#ssh/files/sftp.ts'
import { downloadJob } from '#ssh/files/transfer/download.ts'
import type { TransferJob } from '#ssh/files/transfer/job.ts'
import { uploadJob } from '#ssh/files/transfer/upload.ts'
import { scratchMachine } from '../integration/ssh/machine.ts'
import { noSshd } from '../integration/ssh/own-root.ts'
import { startSshd } from '../integration/ssh/sshd.ts'
import { account, target } from '../integration/ssh/steps.ts'
import { inPairs, type Pairs, type Row, type Size } from './row.ts'

const never = new AbortController().signal
const quiet = () => undefined

/**
 * Compares the transfer of a large file by Berth and by OpenSSH's `sftp`, over the same sshd and disk. Both are
 * connected before the measurement.
 */
export async function sftpRows({ smoke }: Size): Promise<Row[]> {
  if (noSshd) return []
  const megabytes = smoke ? 1 : 128
  const pairs = smoke ? 1 : 7
  const sshd = await startSshd()
  const machine = scratchMachine()
  const here = mkdtempSync(join(tmpdir(), 'berth-bench-sftp-'))
  const there = join(sshd.folder, 'there')
  mkdirSync(there)
  const ssh = createSsh(machine)
  let stock: Stock | undefined
  try {
    const key = await ssh.keysOf(account).load('berth')
    sshd.authorize(key.publicKey)
    chmodSync(key.path, 0o600)
    const big = join(here, 'big')
    writeFileSync(big, Buffer.alloc(megabytes * 1024 * 1024, 'Berth'))
    writeFileSync(join(there, 'down'), Buffer.alloc(megabytes * 1024 * 1024, 'Berth'))
    const lease = await ssh.connect(target({ direct: sshd }))
    const sftp = await openSftp(lease.connection, systemClock)
    stock = startStock(key.path, sshd.port)
    const { does } = stock
    await does('pwd')
    const up = await inPairs(
      pairs,
      () =>
        move(sftp, uploadJob({ folder: there, list: chosenItem(big).list, replace: true, changed: quiet })),
      () => does(`put ${big} ${there}/stock`),
    )
    const down = await inPairs(
      pairs,
      () => {
        const into = chosenFolder(here)
        return move(
          sftp,
          downloadJob({ paths: [join(there, 'down')], into, system: 'linux', changed: quiet }),
        )
      },
      () => does(`get ${there}/down ${here}/stock`),
      // Deletes the files of the round before.
      () => {
        for (const name of ['down', 'stock']) rmSync(join(here, name), { force: true })
      },
    )
    lease.release()
    return [row('up', up, { megabytes, pairs }), row('down', down, { megabytes, pairs })]
  } finally {
    stock?.end()
    await ssh.close()
    await sshd.close()
    machine.remove()
    rmSync(here, { recursive: true, force: true })
  }
}

interface Stock {
  /** Runs a command and waits for its end. */
  does(command: string): Promise<void>
  end(): void
}

/** OpenSSH's `sftp`, which reads commands from its input. */
function startStock(keyPath: string, port: number): Stock {
  const options = [
    'StrictHostKeyChecking=no',
    'UserKnownHostsFile=/dev/null',
    'LogLevel=ERROR',
    'IdentitiesOnly=yes',
  ].map(option => `-o${option}`)
  const args = ['-q', '-b', '-', '-i', keyPath, '-P', String(port), ...options, 'root@127.0.0.1']
  const child: ChildProcess = spawn('sftp', args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('sftp has no input or output')
  const lines = createInterface({ input: stdout })
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`sftp ended with ${code}`)))
  // Nobody waits for it after `end`.
  ended.catch(quiet)
  let done = 0
  return {
    async does(command) {
      done += 1
      const mark = `done ${done}`
      const marked = new Promise<void>(resolve => {
        lines.on('line', line => line === mark && resolve())
      })
      stdin.write(`${command}\n!echo ${mark}\n`)
      await Promise.race([marked, ended])
      lines.removeAllListeners('line')
    },
    end: () => void child.kill(),
  }
}

async function move(sftp: Sftp, job: TransferJob): Promise<void> {
  await job.prepare(sftp, never)
  await job.run(sftp, never)
}

function row(
  way: 'up' | 'down',
  { first, ratio, spread }: Pairs,
  { megabytes, pairs }: { megabytes: number; pairs: number },
): Row {
  const [least, most] = spread
  return {
    what: `SFTP ${way}`,
    compared: `OpenSSH’s sftp over the same sshd, ${pairs} pairs of ${megabytes} MB in turn, half of them from ${least.toFixed(2)} to ${most.toFixed(2)} ×; Berth ${Math.round((megabytes / first) * 1000)} MB/s`,
    measured: `${ratio.toFixed(2)} × its throughput`,
    budget: 'at least 0.9 ×',
    kept: ratio >= 0.9,
  }
}
