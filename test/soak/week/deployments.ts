import { choices, type Profile } from '../../../simulator/deployment/profile.ts'
import type { Chance } from './chance.ts'
import type { Living } from './live-days.ts'

type Deployment = Partial<Profile>

/**
 * How instances are listed; all answer correctly for a single one. A paged old list without the new list is left out:
 * pages came with the new list, and nothing would show that unknown instances are cut off.
 */
const lists: readonly [Deployment, ...Deployment[]] = [
  {},
  { page: 2 },
  { list: 'v0', v1: '404' },
  { list: 'v0-paged', page: 2 },
  { list: 'v0-200-deprecated' },
  { list: 'v0-success-false' },
  { list: 'v0-empty' },
  { list: 'v0-empty', v1: '404' },
  { v1: 'repeats' },
]

/** Mean seconds between two changes of the deployment. */
const betweenFaces = 180

/** Changes the deployment again and again, without notice. */
export function beginChanging(living: Living, chance: Chance): void {
  const { sim, agenda, pace, tally } = living
  const change = () => {
    if (living.isOver) return
    agenda.add(pace.now + chance.pause(betweenFaces) * 1000, change)
    const deployment = aDeployment(chance)
    sim.controls.setDeployment({ ...deployment })
    tally.add('deployments')
    tally.add(`deployments with ${deployment.list ?? deployment.deployment} lists`)
    tally.add(`deployments with ${deployment.records ?? 'full'} records`)
  }
  change()
}

function aDeployment(chance: Chance): Deployment {
  if (chance.happens(0.15)) return { deployment: 'interface' }
  const one = <Choice>(some: readonly Choice[], otherwise: Choice) => chance.oneOf(some) ?? otherwise
  return {
    deployment: 'public',
    ...chance.pick(lists),
    single: one(choices.single, 'null'),
    limits: one(choices.limits, 'intervals'),
    refusal: one(choices.refusal, 'text'),
    records: chance.happens(0.5) ? 'full' : one(choices.records, 'full'),
    outbid: one(choices.outbid, 'running'),
  }
}
