import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import type { Platform } from '#platform/platform.ts'
import { isProjectRun, type ProjectRunView } from '#shared/automation/run.ts'
import { usesMade } from '#shared/project/borrowed.ts'
import { agreedCosts, planCosts } from '#shared/project/plan-costs.ts'
import type { Simulator, SimulatorOptions } from '#simulator/simulator.ts'
import { answeredDialogs } from '#test/berth/machine.ts'
import { listed } from '#test/berth/processes.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { endDetached, type Sshd, startSshd } from '#test/integration/ssh/sshd.ts'
import { ownPublicKey } from '#test/own-public-key.ts'

/** Berth with a user's folder, in a world where the SSH server of every instance is Debian's own OpenSSH. */
export interface ProjectPlace {
  world: World
  under: BerthUnderTest
  sshd: Sshd
  /** The local folder. */
  folder: string
  project: string
  /** Plans and runs the project, or another, by its file; returns the run's id. */
  runProject(under?: BerthUnderTest, project?: string): Promise<string>
}

/** Seconds of world time within which any instance boots. */
const boot = 300

/**
 * `change` gets the machine before Berth starts. `servers`: of how many machines the servers differ. `image`: they have one
 * host key, as if it were in their image, and these lines of sshd's configuration, by their index.
 */
export async function openProject(
  files: Readonly<Record<string, string>>,
  change: (platform: Platform) => void = () => undefined,
  options: SimulatorOptions = {},
  servers = 1,
  image?: (server: number) => readonly string[],
): Promise<ProjectPlace & { sshds: readonly Sshd[] }> {
  const world = await createWorld({ speed: 60, ...options })
  onTestFinished(() => world.close())
  change(world.platform)
  const sshd = await startSshd(image?.(0))
  const ofImage = (server: number) => image && [`HostKey ${sshd.folder}/host_key`, ...image(server)]
  const others = Array.from({ length: servers - 1 }, (_, index) => startSshd(ofImage(index + 1)))
  const sshds = [sshd, ...(await Promise.all(others))]
  onTestFinished(async () => void (await Promise.all(sshds.map(each => each.close()))))
  const folder = join(world.platform.home, 'code', 'digits')
  write(folder, files)
  world.platform.fileDialogs = answeredDialogs({ chooseTarget: () => world.platform.downloads.at(folder) })
  const under = await world.startConnected()
  joinAll(world, under, ...sshds)
  const project = (await under.run('addProject', {})) ?? ''
  return {
    world,
    under,
    sshd,
    sshds,
    folder,
    project,
    runProject: (by = under, other = project) => agreedRun(by, other),
  }
}

export async function agreedRun(under: BerthUnderTest, project: string): Promise<string> {
  const plan = await under.run('planProject', { project })
  const { content, limits, pricePerHour: price, scan } = plan
  return under.run('runProject', {
    project,
    content,
    limits,
    price,
    ...agreedCosts(planCosts(plan)),
    secretFiles: scan.secrets.map(({ path }) => path),
    allow: [...usesMade(plan), ...plan.borrowed.map(({ use }) => use)],
  })
}

/**
 * Points each new instance at a server that had none yet, else at a free one, else at the next; authorizes Berth's key,
 * and lets the boot's time pass. All programs of one that stops end, as in its container.
 */
export function joinAll({ sim, platform }: World, { berth }: BerthUnderTest, ...sshds: Sshd[]): void {
  const joined = new Map<number, { sshd: Sshd; isStopped: boolean }>()
  berth.onChange(() => {
    for (const account of Object.values(berth.state().accounts))
      for (const { id, state } of Object.values(account.instances)) {
        const there = joined.get(id)
        if (there) {
          if (state === 'stopped' && !there.isStopped) endPrograms(there.sshd)
          there.isStopped = state === 'stopped'
          continue
        }
        const uses = (one: Sshd) => [...joined].filter(([, at]) => at.sshd === one)
        const isFree = (one: Sshd) => uses(one).every(([other]) => account.instances[other] === undefined)
        const sshd =
          sshds.find(one => uses(one).length === 0) ?? sshds.find(isFree) ?? sshds[joined.size % sshds.length]
        if (!sshd) continue
        joined.set(id, { sshd, isStopped: false })
        // The service writes it into each container.
        writeFileSync(join(sshd.home, '.vast_containerlabel'), `C.${id}\n`)
        ownPublicKey(join(platform.home, 'berth'))
          .then(sshd.authorize)
          .catch(() => undefined)
        sim.controls.setInstance(id, { ssh: { host: sshd.host, port: sshd.port, hasDisk: true } })
        void sim.controls.advance(boot)
      }
  })
}

/** The same for a Berth in another process, on that home: without the time of a boot. The returned function ends it. */
export function joinListed(sim: Simulator, home: string, ...sshds: readonly Sshd[]): () => Promise<void> {
  // There is no key if it was killed early.
  ownPublicKey(join(home, 'berth'))
    .then(key => {
      for (const sshd of sshds) sshd.authorize(key)
    })
    .catch(() => undefined)
  let isOver = false
  const joining = (async () => {
    for (const joined = new Set<number>(); !isOver; await wait(30))
      for (const { id } of listed(sim)) {
        const sshd = sshds[joined.size % sshds.length]
        if (joined.has(id) || !sshd) continue
        joined.add(id)
        sim.controls.setInstance(id, { ssh: { host: sshd.host, port: sshd.port } })
      }
  })()
  return async () => {
    isOver = true
    await joining
  }
}

function endPrograms(sshd: Sshd): void {
  sshd.dropConnections()
  endDetached(sshd.home)
}

export function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
}

export function jobOf(under: BerthUnderTest, id: string): ProjectRunView | undefined {
  const run = under.account().runs[id]
  return run && isProjectRun(run) ? run : undefined
}
