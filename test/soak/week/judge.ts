import { setTimeout as pause } from 'node:timers/promises'
import { doubles, orphans, wishesOnDisk } from './checks/accounted.ts'
import { guardsKept } from './checks/guards-kept.ts'
import { inventedLooks } from './checks/looks.ts'
import { moneyCompared } from './checks/money-right.ts'
import type { Lived, Living } from './live-days.ts'

/** Real milliseconds by which an answer may be late: what Berth knows of the time is wrong by as much. */
const slowest = 150

/** What is there in the end is what is wanted, all guards were kept, and the money is right. Nothing runs after it. */
export async function judge(living: Living): Promise<Lived> {
  const { sim, lives, elsewhere, timeline, tally, broken, byHand, folder, speed, hurry } = living
  const world = (milliseconds: number) => (milliseconds / 1000) * speed
  const alive = await elsewhere.instances()
  const wishes = await wishesOnDisk(folder)
  tally.add('instances in the end', alive.length)
  for (const orphan of orphans(alive, wishes, byHand)) broken.push(`orphan ${orphan}`)
  for (const [wish, ids] of doubles(alive, wishes)) broken.push(`${wish} was rented twice: ${ids.join(', ')}`)

  await destroyAll(living)
  const berth = lives.now
  await berth.run('refresh', {})
  await berth.run('refresh', {})
  const history = await berth.run('moneyHistory', { from: 0, samples: 1, days: 100 })
  const requests = sim.controls.requests()
  const ledger = sim.controls.ledger()
  timeline.ended()
  await lives.close()

  const blur = world(slowest)
  const { looks, lives: all } = timeline
  const kept = guardsKept(timeline, requests, blur)
  // What changes what is paid is written within a second of Berth's own.
  const unsaved = world(1000 / hurry) + blur
  const saved = looks.filter(({ until }) =>
    all.every(life => until < life.from || until > life.until || until < life.until - unsaved),
  )
  const paidIn = Math.round(ledger.credit * 1e6 + ledger.micro_dollars) - 25_000_000
  const money = moneyCompared(history, ledger, paidIn, { looks: saved, timeline, blur })
  broken.push(...inventedLooks(looks, requests, blur), ...kept.broken, ...money.broken)
  const faults = requests.filter(({ fault }) => fault !== null).length
  const figures = [
    `${living.days} days in ${looks.length} looks and ${requests.length} requests, ${faults} of them with faults`,
    `${tally}`,
    `${money.instances} instances ever`,
    `${timeline.guards.size} guards, ${kept.acted} acted on their instance, ${kept.missed} missed as chosen`,
    `$${(money.ledger / 1e6).toFixed(2)} spent, counted to ${((money.counted - money.ledger) / 1e4).toFixed(3)} cents; ` +
      `worst share ${money.worst.toFixed(2)} polls off`,
  ].join('; ')
  return { tally, figures, broken }
}

/** Until the account is empty: from then on nothing costs, and sums can be compared. */
async function destroyAll({ lives, broken }: Living): Promise<void> {
  const berth = lives.now
  for (let round = 0; round < 50; round++) {
    await berth.run('refresh', {})
    const left = Object.keys((await berth.account())?.instances ?? {}).map(Number)
    if (left.length === 0) return
    for (const instance of left) await berth.run('destroyInstance', { instance }).catch(() => undefined)
    await pause(50)
  }
  broken.push('not all instances could be destroyed')
}
