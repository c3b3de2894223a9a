import type { Run } from '#core/runs/model.ts'
import { openStoredRuns } from '#core/runs/stored-runs.ts'
import { account, accountContext } from '../berth/account-context.ts'
import { HandClock } from '../berth/clocks.ts'
import { inTurn, type Row, ratioRow, type Size } from './row.ts'

const all = 10_000
const going = 200
const sweep = 'q0000000000000001'
/** What all runs have in common, as large as a real `berth.yaml`. */
const project = {
  id: 'p0000000000000001',
  folder: '/home/me/digits',
  text: 'run: python train.py\n'.repeat(50),
  spec: { run: 'python train.py' },
  limits: [],
  secretFiles: [],
}

/**
 * What one new line of a run's output costs among 10,000 stored runs of a sweep, 200 of them in progress: to keep, to
 * show in State, and to have ready for the disk.
 */
export async function runRows({ smoke }: Size): Promise<Row[]> {
  const clock = new HandClock()
  let written = 0
  const context = accountContext({
    clock,
    files: {
      read: async () => undefined,
      write: async (_: string, text: string) => {
        written = text.length
      },
    } as never,
  })
  const runs = await openStoredRuns(context, () => project)
  for (let index = 0; index < all; index += 1) runs.putSoon(storedRun(index))
  runs.show()
  await runs.flush()
  const bytes = written
  let line = 0
  const changed = () => runs.all()[line % going]
  const { first, second } = await inTurn(
    smoke ? 3 : 100,
    () => {
      const run = changed()
      // What any store of one record costs: as text, to the disk and to the page.
      for (let times = 0; times < 1000; times += 1) JSON.stringify(run)
    },
    () => {
      const { id = '' } = changed() ?? {}
      line += 1
      runs.note(id, { lastLine: `loss=0.${line}`, outputBytes: line, printed: { loss: line } })
      runs.show()
    },
  )
  const perStringify = first / 1000
  const shown = Object.keys(context.store.get().accounts[account]?.runs ?? {}).length
  if (shown !== all) throw new Error(`${shown} runs are shown`)
  return [
    ratioRow(
      `one of ${going} runs in progress among ${all} stored changes`,
      `${second.toFixed(2)} ms, ${(bytes / all / 1024).toFixed(1)} KB a run; JSON of 100 such records: ${(perStringify * 100).toFixed(2)} ms`,
      second / (perStringify * 100),
      10,
    ),
  ]
}

function storedRun(index: number): Run {
  return {
    id: `x${index.toString(16).padStart(16, '0')}`,
    instance: 4000 + index,
    rental: `r${index.toString(16).padStart(16, '0')}`,
    name: `digits ${index}`,
    command: 'python train.py',
    project,
    sweep: { id: sweep, index, attempt: 0 },
    afterwards: 'destroy',
    watchdog: false,
    stuckAfter: 0,
    afterwardsIfStuck: false,
    step: index < going ? 'running' : 'done',
    createdAt: 1_790_000_000 + index,
    startedAt: 1_790_000_100 + index,
    program: `x${index.toString(16).padStart(16, '1')}`,
    begun: true,
    outputBytes: 100_000,
    droppedBytes: 0,
    lastLine: 'loss=0.5',
    printed: { loss: 0.5, acc: 0.9, step: 1000 },
    downloadResult: { files: 3, beside: [] },
    spent: { micros: 100_000, at: 1_790_000_100, perHour: 400_000 },
  }
}
