import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Simulator } from '#simulator/simulator.ts'
import { ownPublicKey } from '#test/own-public-key.ts'
import { type Line, openLine } from '../ssh/line.ts'
import { endDetached, type Sshd, startSshd } from '../ssh/sshd.ts'

/** A machine behind a line of 20 Mbit/s and 20 ms. Times in epoch seconds. */
export interface Machine {
  sshd: Sshd
  line: Line
  instance: number | undefined
  /** The text of a file in its home folder; '' without it. */
  read(name: string): string
  has(name: string): boolean
  /** What its command began from. */
  begun(): { at: number; step: number; torn: boolean } | undefined
  /** When each step ended, and how long it has computed. */
  steps(): { at: number; step: number; took: number }[]
  /** From when to when restic stored the results. */
  stores(): { from: number; to: number }[]
  /** Ends all of its programs and connections at once. */
  end(): void
  close(): Promise<void>
}

/** Tells when it stores, beside its work. */
const restic = `#!/bin/sh
storing=
case "$*" in *'backup --json'*) storing=1; date +%s.%N > "$HOME/storing" ;; esac
PATH=\${PATH#*:}
export PATH
trap 'kill $child' TERM
exec 3<&0
restic "$@" <&3 &
child=$!
wait $child
code=$?
if [ -n "$storing" ]; then
  echo "$(cat "$HOME/storing") $(date +%s.%N)" >> "$HOME/stores"
  rm -f "$HOME/storing"
fi
exit $code
`

export async function startMachine(programs: string): Promise<Machine> {
  mkdirSync(programs, { recursive: true })
  writeFileSync(join(programs, 'restic'), restic, { mode: 0o755 })
  const sshd = await startSshd([`SetEnv PATH=${programs}:${process.env['PATH']}`])
  const line = await openLine(sshd, { delay: 20, rate: 2500 })
  const read = (name: string) => {
    try {
      return readFileSync(join(sshd.home, name), 'utf8')
    } catch {
      return ''
    }
  }
  const rows = (name: string) =>
    read(name)
      .split('\n')
      .slice(0, -1)
      .map(row => row.split(' ').map(Number))
  return {
    sshd,
    line,
    instance: undefined,
    read,
    has: name => existsSync(join(sshd.home, name)),
    begun: () => JSON.parse(read('begun') || 'null') ?? undefined,
    steps: () => rows('steps').map(([at = 0, step = 0, took = 0]) => ({ at, step, took })),
    stores: () => rows('stores').map(([from = 0, to = 0]) => ({ from, to })),
    end() {
      endDetached(sshd.home)
      sshd.dropConnections()
    },
    async close() {
      line.close()
      await sshd.close()
    },
  }
}

/** Gives each instance of the service the next machine, and ends the programs of those that are stopped; until it is ended. */
export function joinMachines(
  sim: Simulator,
  home: string,
  machines: readonly Machine[],
): () => Promise<void> {
  ownPublicKey(join(home, 'berth'))
    .then(key => {
      for (const { sshd } of machines) sshd.authorize(key)
    })
    .catch(() => undefined)
  const stopped = new Set<Machine>()
  let isOver = false
  const joining = (async () => {
    for (; !isOver; await wait(50)) {
      const instances = sim.controls.instances()
      for (const { id } of instances) {
        const machine = machines.find(({ instance }) => instance === undefined)
        if (machines.some(({ instance }) => instance === Number(id)) || !machine) continue
        machine.instance = Number(id)
        writeFileSync(join(machine.sshd.home, '.vast_containerlabel'), `C.${id}\n`)
        const { host, port } = machine.line
        sim.controls.setInstance(Number(id), { ssh: { host, port, hasDisk: true } })
      }
      for (const machine of machines) {
        if (machine.instance === undefined || stopped.has(machine)) continue
        const at = instances.find(({ id }) => Number(id) === machine.instance)
        if (at !== undefined && at['actual_status'] !== 'stopped' && at['actual_status'] !== 'exited')
          continue
        stopped.add(machine)
        machine.end()
      }
    }
  })()
  return async () => {
    isOver = true
    await joining
  }
}
