import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Failover } from '../../../../../../electron/core/renting/attempts/model.ts'
import type { Held } from '../../../plain-service/service.ts'
import { type History, histories } from './history.ts'
import { stepsOf } from './standing.ts'
import { World } from './world.ts'

/** Generated histories; BERTH_HISTORIES asks for more. */
const runs = Number(process.env['BERTH_HISTORIES'] ?? 150)

/** The market had nothing as good, Berth was killed while it tried again, and the user cancelled that. */
const cancelledAfterTwoKills: History = {
  offers: ['shut'],
  tries: 2,
  ceiling: 0.03,
  own: false,
  both: false,
  events: [
    ...Array.from({ length: 2 }, () => [
      { do: 'look' as const, berth: 0 },
      { do: 'kill' as const, berth: 0 },
      { do: 'live' as const, seconds: 400 },
      { do: 'outbid' as const, which: 0 },
    ]).flat(),
    { do: 'look', berth: 0 },
    { do: 'kill', berth: 0 },
    { do: 'cancel', berth: 0 },
  ],
}

async function live(history: History): Promise<World> {
  const world = new World(history)
  await world.open()
  for (const event of history.events) await world.happen(event)
  await world.calm()
  return world
}

/** What is left of a failover beyond what it has come to. */
function leftOf(world: World, at: number, { id, step, instance }: Failover): Held[] {
  const kept = step === 'ready' || step === 'failed' ? instance : undefined
  return world.tries(at, id).flatMap(({ id: mark }) => world.living(mark).filter(held => held.id !== kept))
}

function isWanted({ wanted, fate }: Held): boolean {
  return wanted === 'running' && fate === 'good'
}

function isOutbid({ bid = 0, lowest = 0 }: Held): boolean {
  return lowest > bid
}

/** How a Berth's recoveries must have ended, once all is quiet. */
function wrongEnds(world: World, at: number): string[] {
  const { failovers, view } = world.berth(at).automation
  const living = new Map(world.service.living().map(held => [held.id, held]))
  const wrong: string[] = []
  if (failovers.underWay()) wrong.push('it still tries')
  for (const failover of failovers.all()) {
    const left = leftOf(world, at, failover)
    if (left.length > 0) wrong.push(`${failover.id} ${failover.step} has left #${left.map(({ id }) => id)}`)
    const original = living.get(failover.replaces ?? 0)
    const replacement = living.get(failover.instance ?? 0)
    if (failover.step === 'ready' && original && replacement && isWanted(original))
      wrong.push(`#${original.id} may run beside #${replacement.id}`)
  }
  for (const [key, { step, choice, by, problem }] of Object.entries(view())) {
    const held = living.get(Number(key))
    if (!held) {
      wrong.push(`#${key} is gone, and not forgotten`)
      continue
    }
    const outbid = isOutbid(held) && held.wanted === 'running'
    const expected = stepsOf({ by, choice }, { state: outbid ? 'outbid' : 'running' })
    if (!expected.includes(step)) wrong.push(`#${key} is ${step}, not ${expected.join(' or ')}`)
    if (!isOutbid(held) || by !== undefined || choice.kind !== 'replace' || !isWanted(held)) continue
    if (!problem) wrong.push(`#${key} is not replaced, and nobody says why`)
    if (world.free().length > 0) wrong.push(`#${key} is not replaced, though there is a machine`)
  }
  return wrong
}

test(`${runs} histories of rivals, faults, kills and choices replace as the plain model says`, {
  timeout: 3_600_000,
}, async () => {
  const seen = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(histories, async history => {
      const world = await live(history)
      for (const standing of world.standings) standing.ends()
      expect(world.wrongs).toEqual([])
      for (const at of world.berths.keys()) expect(wrongEnds(world, at)).toEqual([])
      // Of one instance there is one replacement, whoever has rented it.
      const places = world.service.living().flatMap(held => held.body.env?.['BERTH_REPLACES'] ?? [])
      expect([...new Set(places)]).toEqual(places)
      for (const { files, keychain } of world.machines) {
        expect([...keychain]).toEqual([])
        expect(files.writes.filter(({ text }) => text.includes('a secret'))).toEqual([])
      }
      for (const { automation } of world.berths)
        for (const { step } of automation.failovers.all()) seen.set(step, (seen.get(step) ?? 0) + 1)
    }),
    { numRuns: runs, examples: [[cancelledAfterTwoKills]] },
  )
  for (const end of ['ready', 'failed', 'cancelled']) expect(seen.get(end) ?? 0).toBeGreaterThan(runs / 50)
})
