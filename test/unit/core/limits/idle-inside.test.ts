import { expect, test } from 'vitest'
import { limitActions } from '#core/limits/decide.ts'
import { createGpuLoads } from '#core/limits/gpu-loads.ts'
import { transitionsOf } from '#core/limits/transitions.ts'
import { BerthError } from '#shared/problem.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { instanceView } from '#test/unit/views.ts'
import { limitFacts, storedLimit } from './stored-limit.ts'

const start = 1_800_000_000
const between = 15
const twoGpus = (first: string, second: string) =>
  [first, second].map((load, index) => `${index}, ${load}, 10, 24000, 40, 90, 350, RTX 4090`).join('\n')

/** What an idle limit does at each poll, with the load read over SSH: `printed` is the instance’s answer. */
async function decisions(seconds: number, polls: number, printed: (now: number) => string | undefined) {
  const clock = new HandClock()
  const now = () => start + clock.monotonic() / 1000
  const { gpuLoad: _, ...instance } = instanceView({
    id: 7,
    state: 'running',
    ssh: { direct: { host: 'h', port: 22 } },
  })
  const gpus = createGpuLoads({
    clock,
    now,
    quitting: new AbortController().signal,
    async question() {
      const text = printed(now() - start)
      if (text === undefined)
        throw new BerthError({ code: 'ssh_closed', message: 'The connection was lost.' })
      return text
    },
  })
  let limit = storedLimit({ when: { kind: 'idle', below: 5, seconds }, setAt: now() })
  const done: string[] = []
  for (let poll = 0; poll < polls; poll += 1) {
    const at = now()
    const loads = gpus.heard(1, between)
    const account = { instances: { 7: instance }, spendPerHour: instance.costPerHour }
    const snapshot = {
      facts: limitFacts(at, account, { loads }),
      fresh: true,
      sure: true,
      seenAt: at - between,
      gap: 600,
      acted: new Set<number>(),
    }
    for (const decision of limitActions(snapshot, [limit], at)) {
      limit = decision.limit
      if (decision.kind === 'blind' || decision.kind === 'sees') {
        const [transition] = transitionsOf([decision], [limit], {
          account: 'a00000001',
          instances: { 7: instance },
          now: at,
          sweepOf: () => undefined,
        })
        const alert = transition?.alert
        done.push(`${decision.kind}${alert ? `: ${alert.body}` : ''}`)
      }
      if (decision.kind === 'act') done.push(`act after ${Math.round(at - start - 1)} s`)
    }
    if (done.some(each => each.startsWith('act'))) break
    gpus.ask([instance], 1)
    await flushPromises()
    await clock.pass(between * 1000)
  }
  return done
}

test('an idle limit acts on repeated idle answers', async () => {
  expect(await decisions(180, 60, () => twoGpus('0', '3'))).toHaveLength(1)
})

test('the busier of two GPUs counts', async () => {
  expect(await decisions(60, 60, () => twoGpus('0', '97'))).toEqual([])
})

test('an idle limit that cannot read the load says so once, with the reason, and once more when it can', async () => {
  const told = (why: string) => [
    `blind: Its GPU load can’t be read, so this limit can’t act: ${why}. Set a limit by time or cost.`,
  ]
  const noDevice = 'No devices were found'
  expect(await decisions(60, 60, () => noDevice)).toEqual(told(`nvidia-smi says “${noDevice}”`))
  expect(await decisions(60, 60, () => '')).toEqual(told('nvidia-smi is missing or prints nothing'))
  expect(await decisions(60, 60, () => '[N/A]\n')).toEqual(told('nvidia-smi says “[N/A]”'))
  expect(await decisions(60, 60, now => (now < 300 ? noDevice : twoGpus('0', '97')))).toEqual([
    ...told(`nvidia-smi says “${noDevice}”`),
    'sees',
  ])
})

for (const seconds of [30, 60, 90, 120, 300, 600])
  test(`one idle answer before SSH broke does not last for ${seconds} s`, async () => {
    let answers = 0
    const once = () => {
      answers += 1
      return answers === 1 ? twoGpus('0', '0') : undefined
    }
    expect(await decisions(seconds, 120, once)).toEqual([
      'blind: Its GPU load can’t be read, so this limit can’t act: The connection was lost. Set a limit by time or cost.',
    ])
    expect(answers).toBeGreaterThan(3)
  })

test('a load that was read hours ago no longer counts', async () => {
  const clock = new HandClock()
  const gpus = createGpuLoads({
    clock,
    now: () => start + clock.monotonic() / 1000,
    quitting: new AbortController().signal,
    question: async () => twoGpus('0', '3'),
  })
  gpus.ask([instanceView({ id: 7, state: 'running', ssh: { direct: { host: 'h', port: 22 } } })], 1)
  await flushPromises()
  expect(gpus.heard(1, between).get(7)).toMatchObject({ load: 3 })
  clock.sleep(90_000)
  expect(gpus.heard(1, between).size).toBe(1)
  clock.sleep(3 * 3_600_000)
  expect(gpus.heard(1, between).size).toBe(0)
})
