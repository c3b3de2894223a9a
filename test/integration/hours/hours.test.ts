import { appendFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isInstalled } from '#build/system-parts.ts'
import { inRounds, useKillable } from '#test/berth/processes.ts'
import { noSshd } from '../ssh/own-root.ts'
import { interval, median, type Outcome, runNight } from './night.ts'
import { drawNight } from './plan.ts'

/** The number of rounds, and at how many at once; BERTH_SEEDS and BERTH_AT_ONCE set them. `npm run soak hours` has the long ones. */
const rounds = Number(process.env['BERTH_SEEDS'] ?? 20)
const atOnce = Number(process.env['BERTH_AT_ONCE'] ?? 20)
const first = Number(process.env['BERTH_TEST_SEED'] ?? 1)
const isLong = process.env['BERTH_SEEDS'] !== undefined
const size = {
  state: Number(process.env['BERTH_HOURS_STATE'] ?? (isLong ? 200 : 8)),
  within: isLong ? 140 : 35,
  torch: isLong && isInstalled('torchrun'),
}
/** A file that gets each outcome as a line of JSON. */
const log = process.env['BERTH_HOURS_LOG']

const reason = noSshd || (isInstalled('restic') ? '' : ' (needs restic)')
const processes = useKillable()

function words(outcomes: readonly Outcome[]): string {
  const lost = outcomes.flatMap(({ lost }) => lost)
  const pauses = outcomes.flatMap(({ pauses }) => pauses)
  const share = (seconds: number) => `${((100 * seconds) / interval).toFixed(1)} %`
  return `${outcomes.length} rounds with ${lost.length} ends, ${size.state} MB ${size.torch ? 'with PyTorch' : 'without PyTorch'}
training lost: median ${median(lost).toFixed(1)} s, most ${Math.max(...lost).toFixed(1)} s, of ${interval} s between snapshots
${pauses.length} snapshots delay the steps during them by ${share(median(pauses))} of ${interval} s, at most ${share(Math.max(...pauses))}
torn ${outcomes.reduce((sum, { torn }) => sum + torn, 0)}, machines left ${outcomes.reduce((sum, { left }) => sum + left, 0)}, through this computer at most ${Math.max(...outcomes.map(({ kilobytes }) => kilobytes))} KB`
}

test.skipIf(reason)(
  `training loses little by outbids, kills and torn writes, whatever Berth does then${reason}`,
  async () => {
    const outcomes = await inRounds(rounds, atOnce, async round => {
      const night = drawNight(first + round - 1, size)
      const outcome = await runNight(processes, night, size).catch(error => ({
        ...failed(night.seed),
        problem: String(error),
      }))
      // A file that says nothing for minutes is killed.
      console.log(`round ${round} of ${rounds}: ${outcome.problem ?? outcome.step}`)
      if (log) appendFileSync(log, `${JSON.stringify(outcome)}\n`)
      return outcome
    })
    if (isLong) console.log(words(outcomes))
    const wrong = outcomes.filter(
      ({ step, torn, left, rented, moves, lost, outage, kilobytes }) =>
        step !== 'done' ||
        torn > 0 ||
        left > 0 ||
        rented !== moves + 1 ||
        lost.length !== moves ||
        lost.some((seconds, index) => !(seconds <= 2 * interval + (outage[index] ?? 0))) ||
        kilobytes > 4096,
    )
    expect(wrong).toEqual([])
    expect(median(outcomes.flatMap(({ lost }) => lost))).toBeLessThanOrEqual(interval)
  },
  Math.ceil(rounds / atOnce) * 600_000,
)

function failed(seed: number): Outcome {
  return {
    seed,
    ends: [],
    lost: [],
    outage: [],
    pauses: [],
    torn: 0,
    moves: 0,
    step: '',
    rented: 0,
    left: 0,
    kilobytes: 0,
  }
}
