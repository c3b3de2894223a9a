import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { openStoredLimits } from '#core/limits/model.ts'
import type { Run } from '#core/runs/model.ts'
import { printedNumbers } from '#core/runs/printed-numbers.ts'
import { retriedRun } from '#core/runs/seeking.ts'
import { openStoredRuns } from '#core/runs/stored-runs.ts'
import { openFiles } from '#platform/files.ts'
import type { Limit } from '#shared/automation/limit.ts'
import { keepingOf, limitsAt, mostOf, retryBudget } from '#shared/project/bounds.ts'
import { ProjectSpec } from '#shared/project/spec.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { storedLimit } from '../limits/stored-limit.ts'
import { projectRun } from '../runs/stored-run.ts'

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const oneOrMore = <T>(value: fc.Arbitrary<T>) => fc.oneof(value, fc.array(value, { maxLength: 3 }))
/** Texts of strangers: any characters, halves of pairs, and what JSON and objects treat in their own way. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom('__proto__', 'constructor', '\ud800', '\u2028', '{"loss": 1e999}', ' ', '..', 'a/b'),
)
/** Numbers of strangers: also infinite, negative, far too large, and none. */
const number = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(Number.NaN, Number.NEGATIVE_INFINITY, 1e300, 5e-324, 2 ** 53, 0.1),
)
const name = fc.stringMatching(/^[A-Z_]{1,6}$/)
const time = fc.oneof(fc.nat(1e6), fc.constantFrom('30m', '2h', '1d'))

/** Drafts of a `berth.yaml`, most of which are accepted. */
const draft = fc.record(
  {
    name: fc.oneof(text, fc.constant('digits')),
    machine: fc.record(
      {
        gpu: oneOrMore(fc.string({ maxLength: 20 })),
        count: fc.nat(70),
        vram: fc.double({ min: 0, max: 20_000, noNaN: true }),
        price: fc.double({ min: 0, max: 200, noNaN: true }),
        interruptible: fc.boolean(),
        region: oneOrMore(fc.constantFrom('DE', 'us')),
        reliability: fc.double({ min: 0, max: 100, noNaN: true }),
      },
      { requiredKeys: [] },
    ),
    image: fc.constantFrom('pytorch/pytorch', 'a/b:c'),
    disk: fc.oneof(number, fc.integer({ min: 1, max: 500 })),
    env: fc.dictionary(name, fc.oneof(text, number, fc.boolean(), fc.constant({ secret: 'TOKEN' })), {
      maxKeys: 3,
    }),
    setup: text,
    run: fc.oneof(text, fc.constant('python3 train.py')),
    results: oneOrMore(fc.constantFrom('out', 'out/*.pt', 'a b')),
    checkpoint: time,
    stop: fc.record({ idle: time, hours: number, dollars: number }, { requiredKeys: [] }),
    after: fc.constantFrom('destroy', 'stop'),
    failed: fc.record({ keep: time, afterwards: fc.constantFrom('remind', 'destroy') }, { requiredKeys: [] }),
    outbid: fc.record({ elsewhere: fc.nat(25) }),
    before_stop: fc.record(
      {
        signal: fc.constantFrom('TERM', 'USR1'),
        run: fc.constant('./save.sh'),
        at_most: fc.constantFrom('60s', '2m'),
      },
      { requiredKeys: [] },
    ),
    retry: fc.record(
      { times: fc.integer({ min: 1, max: 50 }), on: fc.constantFrom(137, 'error', ['timeout', 3]) },
      { requiredKeys: ['times'] },
    ),
    keep: time,
  },
  { requiredKeys: ['run'] },
)

/** Events of a run: output of its program, its exit code, and what the service answers. */
const event = fc.oneof(
  fc.record({ output: text, printed: number, bytes: fc.nat() }),
  fc.record({ code: number }),
  fc.record({ micros: number, perHour: number, at: number }),
  fc.record({ says: text, id: number }),
  fc.record({ failed: fc.nat(99), code: fc.nat(255), pause: fc.nat(1000) }),
)
type Event = typeof event extends fc.Arbitrary<infer Of> ? Of : never

function changeBy(happened: Event, run: Run): Partial<Run> {
  if ('output' in happened) {
    const { output, printed: loss, bytes } = happened
    const printed = printedNumbers(`${output}\nloss=${loss}\n`, run.printed)
    return { lastLine: output, outputBytes: bytes, printed }
  }
  if ('failed' in happened) return { retried: retriedRun(run, happened, 100) }
  if ('code' in happened) return { code: happened.code, endedAt: 100, step: 'fetching' }
  if ('micros' in happened) return { spent: happened, gpu: { name: 'H100', count: happened.perHour } }
  const problem = {
    code: 'server_error',
    message: happened.says,
    facts: { 'The service says': happened.says },
  }
  return { problem, outcome: { failedAt: 'running', problem }, instance: happened.id }
}

test('what a plan accepts, a program prints and the service answers is read again after a kill', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'berth-survives-'))
  let worlds = 0
  let accepted = 0
  const property = fc.asyncProperty(
    draft,
    some(number),
    fc.array(event, { maxLength: 4 }),
    async (given, price, events) => {
      const checked = v.safeParse(ProjectSpec, given)
      fc.pre(checked.success)
      accepted += 1
      worlds += 1
      const files = openFiles(join(folder, String(worlds)))
      const misread: string[] = []
      /** A Berth that reads these files; another one takes its place without an end of the first. */
      const start = async () => {
        const dead = new AbortController()
        const context = accountContext({
          files,
          quitting: dead.signal,
          onBroken: ({ name, why, isAtWrite }) => {
            if (!isAtWrite) misread.push(`${name} ${why}`)
          },
        })
        const runs = await openStoredRuns(context, () => undefined)
        return { runs, limits: await openStoredLimits(context), kill: () => dead.abort() }
      }
      const spec = checked.output
      const asked = price !== undefined && price > 0 && price < 1e9 ? Math.ceil(price) : undefined
      const most = mostOf(spec, [], [asked])
      const limits: Limit[] = most === undefined ? [] : limitsAt([], most)
      const before = await start()
      const run = projectRun({
        most,
        project: { spec, text: JSON.stringify(given), limits, keeping: keepingOf(spec), price: asked },
      })
      expect(retryBudget(spec, asked, limits)).toBeDefined()
      await before.runs.add(run)
      for (const [at, { when, action }] of limits.entries())
        await before.limits.add(
          storedLimit({ id: `g${at}00000000000000`.slice(0, 17), instance: 7, when, action }),
        )
      for (const one of events) await before.runs.update(run.id, changeBy(one, before.runs.get(run.id)))
      before.kill()
      const after = await start()
      const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
      expect(plain(after.runs.all())).toEqual(plain(before.runs.all()))
      expect(after.runs.get(run.id).project?.spec).toEqual(plain(spec))
      expect(plain(after.limits.all())).toEqual(plain(before.limits.all()))
      expect(misread).toEqual([])
      after.kill()
    },
  )
  try {
    await fc.assert(property, { numRuns: 25, maxSkipsPerRun: 1000 })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  expect(accepted).toBeGreaterThan(20)
})
