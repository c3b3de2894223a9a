import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Clock, Programs } from '#platform/platform.ts'
import type { Connection } from '../connection/connection.ts'
import { openExec, outputOf } from '../exec.ts'

/** The machine's processor, where it has no restic and nothing to install it with. `store.sh` looks in the same places. */
const probe = `{
PATH=$PATH:$HOME/.berth/bin
command -v restic && exit
if [ "$(id -u)" = 0 ]; then for one in apt-get apk dnf; do command -v $one && exit; done; fi
echo lacks "$(uname -s) $(uname -m)"
} < /dev/null
`

/** Takes a program on its standard input, and keeps one that runs there: it may want another libc. */
const take = `cd && mkdir -p .berth/bin && cat > .berth/bin/restic.new && chmod 700 .berth/bin/restic.new &&
  ./.berth/bin/restic.new version < /dev/null > /dev/null 2>&1 && mv -f .berth/bin/restic.new .berth/bin/restic
  rm -f .berth/bin/restic.new`

/** The `e_machine` of a 64-bit ELF file for each processor, as `uname -m` names it. */
const processors = new Map([
  ['x86_64', 62],
  ['aarch64', 183],
])

/** Milliseconds to send it, over a home's line. */
const sentWithin = 600_000

/**
 * Sends this computer's restic to a machine whose image has neither that nor a package manager, if both are Linux on the same
 * processor. Where that fails, the run says that the machine has none.
 */
export async function lendRestic(
  connection: Connection,
  clock: Clock,
  programs: Pick<Programs, 'find'>,
): Promise<void> {
  await send(connection, clock, programs).catch(() => undefined)
}

async function send(connection: Connection, clock: Clock, programs: Pick<Programs, 'find'>): Promise<void> {
  const { text } = await outputOf(connection, 'sh -s', { clock, within: 20_000, most: 4096, input: probe })
  const [, processor = ''] = /^lacks Linux (\w+)$/m.exec(text) ?? []
  const wanted = processors.get(processor)
  const path = wanted === undefined ? undefined : await programs.find('restic')
  if (path === undefined || (await processorOf(path)) !== wanted) return
  const exec = await openExec(connection, clock, take)
  const cancel = clock.after(sentWithin, () => exec.close())
  try {
    await exec.begun
    exec.output.resume()
    await pipeline(createReadStream(path), exec.channel)
    await exec.ended
  } finally {
    cancel()
    exec.close()
  }
}

/** The `e_machine` of a program; undefined for a script and for programs of other systems. */
async function processorOf(path: string): Promise<number | undefined> {
  const file = await open(path)
  try {
    const head = Buffer.alloc(20)
    await file.read(head, 0, head.length, 0)
    const isElf64 = head.subarray(0, 5).equals(Buffer.from('\x7fELF\x02', 'latin1'))
    return isElf64 ? head.readUInt16LE(18) : undefined
  } finally {
    await file.close()
  }
}
