import { expect, test, vi } from 'vitest'
import { live } from './world.ts'

vi.mock('#ssh/exec.ts', async original => ({
  ...(await original<object>()),
  outputOf: async (_: unknown, command: string) => {
    const text = command.includes('HOME') ? '/root' : 'setup other'
    return { text, bytes: Buffer.from(text), code: 0 }
  },
}))

interface Played {
  programEnd(program: string): number | undefined
}

vi.mock('#ssh/runs/runs.ts', async original => ({
  ...(await original<object>()),
  startRun: async () => undefined,
  endRun: async () => undefined,
  markRun: async () => undefined,
  instructWatchdog: async () => undefined,
  readRunStatus: async ({ programEnd }: Played, _: unknown, program: string) => {
    const code = programEnd(program)
    return { state: code === undefined ? 'running' : 'ended', code, size: 0, bytes: Buffer.alloc(0) }
  },
}))

const worlds = Number(process.env['BERTH_WORLDS'] ?? 50)
const first = Number(process.env['BERTH_SEED'] ?? 1)

test(
  `in ${worlds} worlds with a service that lies, no plan’s maximum is passed by more than one poll`,
  async () => {
    for (let seed = first; seed < first + worlds; seed += 1) {
      const { charged, most, poll, left, story } = await live(seed)
      const told = `seed ${seed}: charged ${charged} of ${most}, at most ${poll} between two polls\n${story.join('\n')}`
      expect(charged, told).toBeLessThanOrEqual(most + poll)
      expect(left, told).toBe(0)
    }
  },
  worlds * 20_000,
)
