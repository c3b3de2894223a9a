import { afterAll, beforeAll, expect, test, vi } from 'vitest'

vi.mock('#ssh/exec.ts', async original => ({
  ...(await original<object>()),
  outputOf: async (there: Played, command: string, { input = '' }: { input?: string }) => {
    const text = said(there, command, input)
    return { text, bytes: Buffer.from(text), code: 0 }
  },
}))

interface Played {
  programEnd(program: string): { code: number; failed: number } | undefined
  addresses(): string
  /** What a machine says that takes over the files of the one before it. */
  takenOver(): string
}

function said({ addresses, takenOver }: Played, command: string, input: string): string {
  const side = /\.berth\/left\/\d+/.exec(input)?.[0]
  if (side !== undefined && input.includes('pwd -P')) return `/root/${side}`
  if (side !== undefined) return input.includes('echo began') ? 'began' : takenOver()
  return command.includes('HOME') ? '/root' : command.includes('addr') ? addresses() : 'setup other'
}

vi.mock('#ssh/runs/runs.ts', async original => ({
  ...(await original<object>()),
  startRun: async () => undefined,
  endRun: async () => undefined,
  // A command that never ends its time before a stop.
  tellOfStop: async () => false,
  settleRun: async () => true,
  markRun: async () => undefined,
  stillAtWork: () => 'true',
  instructWatchdog: async () => undefined,
  readRunStatus: async ({ programEnd }: Played, _: unknown, program: string) => {
    const end = programEnd(program)
    const status = { state: end ? 'ended' : 'running', code: end?.code, size: 0, bytes: Buffer.alloc(0) }
    return { ...status, attempts: end && { failed: end.failed, code: 1, pause: 0 } }
  },
}))

// Files of a worker share what they import: this one needs it with the played machines, and those after it without.
beforeAll(async () => {
  vi.resetModules()
  // A script that is read while a world goes on takes this computer's time, in which the world's clock runs far ahead.
  const { takeOver } = await import('#ssh/runs/take-over.ts')
  await takeOver('side', 'folder', [])
})
afterAll(() => {
  vi.doUnmock('#ssh/exec.ts')
  vi.doUnmock('#ssh/runs/runs.ts')
  vi.resetModules()
})

const worlds = Number(process.env['BERTH_WORLDS'] ?? 20)
const first = Number(process.env['BERTH_SEED'] ?? 1)
const atOnce = Math.min(worlds, 10)

const total = { began: 0, beganTogether: 0, retried: 0, left: 0, moved: 0, planned: 0 }

test.each(Array.from({ length: Math.ceil(worlds / atOnce) }, (_, part) => first + part * atOnce))(
  `in ${atOnce} worlds from %i on with a service that lies, no plan’s maximum is passed by more than one poll`,
  async from => {
    const { live } = await import('./world.ts')
    const failed: string[] = []
    for (let seed = from; seed < from + atOnce; seed += 1) {
      const { charged, most, poll, left, ends, moved, story } = await live(seed)
      total.began += ends.began
      total.beganTogether += ends.beganTogether
      total.retried += ends.retried
      total.left += ends.left
      total.moved += moved
      total.planned += ends.planned
      const told = [
        `seed ${seed}: charged ${charged} of ${most}, at most ${poll} between two polls, ${left} left`,
        ...ends.problems,
        ...story,
      ].join('\n')
      if (charged > most + poll || left !== 0 || ends.problems.includes('internal')) failed.push(told)
    }
    expect(failed).toEqual([])
  },
  atOnce * 20_000,
)

test('in these worlds commands ran, also on several machines, left machines, moved, began at a time, and were tried again', () => {
  // A world in which nothing runs shows nothing.
  expect(total.began).toBeGreaterThanOrEqual(Math.floor(worlds / 5))
  expect(total.beganTogether).toBeGreaterThanOrEqual(Math.floor(worlds / 50))
  expect(total.retried).toBeGreaterThanOrEqual(Math.floor(worlds / 50))
  expect(total.left).toBeGreaterThanOrEqual(Math.floor(worlds / 200))
  expect(total.moved).toBeGreaterThanOrEqual(Math.floor(worlds / 50))
  expect(total.planned).toBeGreaterThanOrEqual(Math.floor(worlds / 50))
})
