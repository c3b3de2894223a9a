import { chmodSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { FileDialogs } from '#platform/folders.ts'
import type { FaultTime } from '#simulator/http/faults.ts'
import { requestCheapest } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'
import { startDetour } from '#test/e2e/detour.ts'
import { endDetached, type Sshd, startSshd } from '#test/integration/ssh/sshd.ts'
import { ownPublicKey } from '#test/own-public-key.ts'

/** Berth with an instance of the simulator whose SSH server is Debian's own OpenSSH. */
export interface Inside {
  world: World
  under: BerthUnderTest
  sshd: Sshd
  instance: number
  /** The home folder on the instance. */
  home: string
  /** Percent, as the fake nvidia-smi reports it. */
  setLoad(percent: number): void
  /** The fake nvidia-smi, as a shell script. */
  setNvidiaSmi(script: string): void
  /** Starts Berth again on the same files, connected as before. */
  restart(): Promise<BerthUnderTest>
  /** Hides the instance from that many lists and, unless `listOnly`, from requests for it alone. */
  hide(lists: number, listOnly?: boolean): void
  /** The service's `intended_status`; undefined once it is destroyed. */
  intended(): Promise<string | undefined>
}

/** `fileDialogs` are set where the test answers them, `faultTime` where it ends a delay. */
export async function openInside({
  fileDialogs,
  faultTime,
}: {
  fileDialogs?: FileDialogs
  faultTime?: FaultTime
} = {}): Promise<Inside> {
  const world = await createWorld({ speed: 1, faultTime })
  onTestFinished(() => world.close())
  if (fileDialogs) world.platform.fileDialogs = fileDialogs
  const bin = join(world.platform.home, 'bin')
  const home = join(world.platform.home, 'instance')
  mkdirSync(bin)
  mkdirSync(home)
  const setLoad = (percent: number) => writeFileSync(join(home, 'load'), `${percent}\n`)
  setLoad(80)
  const setNvidiaSmi = (script: string) => {
    writeFileSync(join(bin, 'nvidia-smi'), `#!/bin/sh\n${script}\n`)
    chmodSync(join(bin, 'nvidia-smi'), 0o755)
  }
  setNvidiaSmi(`cat ${home}/load`)
  const sshd = await startSshd([`SetEnv HOME=${home} PATH=${bin}:/usr/local/bin:/usr/bin:/bin`])
  onTestFinished(() => sshd.close())
  // Ends processes that outlive their connections.
  onTestFinished(() => endDetached(home))
  const detour = await startDetour(world.sim.baseUrl, sshd.port)
  onTestFinished(() => detour.close())

  const under = await world.startConnected(detour.baseUrl)
  await under.run('rent', { request: await requestCheapest(under) })
  const only = () => Object.values(under.account().instances)[0]
  await under.until(() => only() !== undefined)
  await world.sim.controls.advance(900)
  await under.until(() => only()?.state === 'running')
  const instance = only()?.id ?? 0
  sshd.authorize(await ownPublicKey(join(world.platform.home, 'berth')))

  return {
    world,
    under,
    sshd,
    instance,
    home,
    setLoad,
    setNvidiaSmi,
    hide: detour.hide,
    async restart() {
      const again = await world.start()
      await again.until(() => again.account().connection.status === 'online')
      return again
    },
    async intended() {
      type Answer = { instances?: { intended_status: string } }
      const asked = world.api<Answer>('GET', `/api/v0/instances/${instance}/`)
      const { instances } = await asked.catch((): Answer => ({}))
      return instances?.intended_status
    },
  }
}

/** Makes a file that takes a while to fetch. It is sparse, so making it takes no time. */
export function writeLarge(path: string, megabytes: number): void {
  writeFileSync(path, '')
  truncateSync(path, megabytes * 1024 * 1024)
}
