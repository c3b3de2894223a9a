import { doubles, orphans, recordsOnDisk } from './checks/accounted.ts'
import { guardsKept } from './checks/guards-kept.ts'
import { moneyCompared } from './checks/money-right.ts'
import { inventedPolls } from './checks/polls.ts'
import type { Lived, Living } from './live-days.ts'

/** Checks the remaining instances, all guards and the money. Nothing runs afterwards. */
export async function judge(living: Living): Promise<Lived> {
  const {
    sim,
    lives,
    elsewhere,
    pace,
    timeline,
    tally,
    broken,
    byHand,
    passing,
    repeats,
    believedGone,
    folder,
  } = living
  const alive = elsewhere.instances()
  const records = await recordsOnDisk(folder)
  tally.add('instances in the end', alive.length)
  for (const orphan of orphans(alive, records, byHand)) broken.push(`orphan ${orphan}`)
  for (const [owner, ids] of doubles(alive, records))
    broken.push(`${owner} was rented twice: ${ids.join(', ')}`)

  broken.push(...passing.broken, ...repeats.broken, ...believedGone.broken)

  await destroyAll(living)
  const berth = lives.now
  await pace.through(berth.run('refresh', {}))
  const history = await pace.through(berth.run('moneyHistory', { from: 0, samples: 1, days: 100 }))
  const requests = sim.controls.requests()
  const ledger = sim.controls.ledger()
  await pace.through(berth.close())

  const kept = guardsKept(timeline, requests)
  const paidIn = Math.round(ledger.credit * 1e6 + ledger.micro_dollars) - 25_000_000
  const money = moneyCompared(history, ledger, paidIn, timeline)
  broken.push(...inventedPolls(timeline.polls, requests), ...kept.broken)
  // Deployments differ in what they show of charges: prices may be absent, and traffic may be charged.
  if (!living.deployments) broken.push(...money.broken)
  const faults = requests.filter(({ fault }) => fault !== null).length
  const figures = [
    `${living.days} days in ${timeline.polls.length} polls and ${requests.length} requests, ${faults} of them with faults`,
    `${tally}`,
    `${money.instances} instances ever, ${money.instances - passing.claimed.size - byHand.size} of them never claimed, ${repeats.repeated} asked for again`,
    `what had to go was found by ${passing.longest} polls at the most`,
    `${timeline.guards.size} guards, ${kept.acted} acted on their instance, ${kept.missed} missed as chosen`,
    `$${(money.ledger / 1e6).toFixed(2)} spent, counted to ${(money.off / 1e4).toFixed(3)} cents`,
    `${money.estimated} days estimated, $${(money.mistaken / 1e6).toFixed(2)} taken for paid in that was not`,
    `worst share ${money.worst.toFixed(2)} polls off`,
  ].join('; ')
  return { tally, figures, broken }
}

/** Destroys all instances, so that nothing costs and sums can be compared. */
async function destroyAll({ lives, pace, broken }: Living): Promise<void> {
  const berth = lives.now
  for (let round = 0; round < 20; round++) {
    await pace.through(berth.run('refresh', {}))
    const left = Object.keys((await berth.account())?.instances ?? {}).map(Number)
    if (left.length === 0) return
    for (const instance of left)
      await pace.through(berth.run('destroyInstance', { instance }).catch(() => undefined))
  }
  broken.push('not all instances could be destroyed')
}
