import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { at } from '#build/places.ts'
import type { SimulatorOptions } from '#simulator/simulator.ts'
import type { Service } from '../berth/browser.ts'
import type { Start } from '../berth/start.ts'
import { type Sshd, startSshd } from '../integration/ssh/sshd.ts'
import { ownPublicKey } from '../own-public-key.ts'
import { connectAccount } from './account-steps.ts'

interface ProjectOpening {
  simulator?: SimulatorOptions
  /** How many real SSH servers the instances lead to; by default one, at 0 they keep the simulator's own. */
  servers?: number
}

/** Opens Projects in Berth, with one that has these files. */
export async function openProjectPage(
  start: Start,
  files: Readonly<Record<string, string>>,
  { simulator, servers = 1 }: ProjectOpening = {},
) {
  const [sim, home] = await Promise.all([start.simulator(simulator), start.folder()])
  const berth = await start.berth({ home })
  const folder = projectFolder(home, files)
  if (servers > 0) await joinInstances(start, sim, home, servers)
  const { page } = await start.page(berth.address)
  await connectAccount(page, sim)
  await page.getByRole('link', { name: 'Projects' }).click()
  return { sim, page, folder }
}

/** Writes a folder and adds it by the CLI as a project of the running Berth. */
export function projectFolder(home: string, files: Readonly<Record<string, string>>): string {
  const folder = join(home, 'code', 'digits')
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  execFileSync(process.execPath, [at('dist/main/cli.js'), 'project', 'add', folder], {
    env: { ...process.env, BERTH_HOME: home },
  })
  return folder
}

/** Leads the instances of the service to real SSH servers from now on, one after another. Gives the first. */
export async function joinInstances(start: Start, sim: Service, home: string, servers = 1): Promise<Sshd> {
  const sshd = await startSshd()
  const sshds = [sshd, ...(await Promise.all(Array.from({ length: servers - 1 }, () => startSshd())))]
  for (const { close } of sshds) start.atEnd(close)
  const joined = new Set<number>()
  let over = false
  start.atEnd(() => {
    over = true
  })
  void ownPublicKey(home)
    .then(key => {
      for (const each of sshds) each.authorize(key)
    })
    .catch(() => undefined)
  const join = async () => {
    while (!over) {
      const { instances } = await sim.api<{ instances: { id: number }[] }>('GET', '/api/v0/instances/')
      for (const { id } of instances.filter(instance => !joined.has(instance.id))) {
        const { host, port } = sshds[joined.size % sshds.length] ?? sshd
        joined.add(id)
        const to = { ssh_host: host, ssh_port: port }
        await sim.control('POST', `/sim/instances/${id}`, to)
      }
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
  void join().catch(() => undefined)
  return sshd
}
