import { copyFileSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { isGoing } from '#contract/automation/run.ts'
import type { ProjectPlan } from '#contract/project/project.ts'
import type { RunningBerth } from '#core/running.ts'

/**
 * Runs one project after another in the folders below `places`, each with the next file of `queue`, until that is
 * empty. Failed runs are cancelled. Prints a line of JSON before each: its name, the price and the most it may cost.
 */
export async function runProjects(berth: RunningBerth, folder: string): Promise<void> {
  const queue = join(folder, 'queue')
  const places = join(folder, 'places')
  const projects = await Promise.all(
    readdirSync(places).map(async name => {
      const path = join(places, name)
      return { path, project: await berth.registerProject(path) }
    }),
  )
  let checking = false
  async function check(): Promise<void> {
    const [account] = Object.values(berth.state().accounts)
    if (checking || account?.connection.status !== 'online') return
    checking = true
    try {
      for (const { path, project } of projects) {
        const runs = Object.values(account.runs).filter(run => run.project === project)
        for (const { id, step } of runs) if (step === 'failed') await berth.dispatch('cancelRun', { run: id })
        const next = readdirSync(queue).sort()[0]
        if (next === undefined || runs.some(isGoing)) continue
        copyFileSync(join(queue, next), join(path, 'berth.yaml'))
        renameSync(join(queue, next), join(folder, 'begun', next))
        const { content, spec, stops, pricePerHour: price, most } = await plan(project)
        if (price === undefined) continue
        process.stdout.write(`${JSON.stringify({ name: spec.name, price, most })}\n`)
        await berth.dispatch('runProject', { project, content, stops, price, secretFiles: [] })
      }
    } catch (error) {
      process.stderr.write(`${error}\n`)
    } finally {
      checking = false
    }
  }

  async function plan(project: string): Promise<ProjectPlan> {
    await berth.dispatch('readProject', { project })
    return (await berth.dispatch('planProject', { project })) as ProjectPlan
  }

  berth.onChange(() => void check())
  await check()
}
