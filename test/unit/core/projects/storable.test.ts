import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { limitsOf, projectRequest, searchOf } from '#core/projects/plan.ts'
import { Rental } from '#core/renting/rental.ts'
import { Run } from '#core/runs/model.ts'
import { retryBudget } from '#shared/project/bounds.ts'
import { ProjectSpec } from '#shared/project/spec.ts'
import { someRental } from '../renting/some-rental.ts'
import { projectRun } from '../runs/stored-run.ts'

/** A number near a bound, or anywhere. */
const near = (...bounds: number[]) =>
  fc.oneof(
    fc.constantFrom(...bounds.flatMap(bound => [bound, bound - 1, bound + 1, bound / 10, bound * 10])),
    // JSON knows no negative zero.
    fc.double().map(number => number + 0),
    fc.integer({ min: 1, max: 100 }),
  )
const text = fc.oneof(
  fc.string({ maxLength: 80, unit: 'binary' }),
  fc.constantFrom(
    'pytorch/pytorch:latest',
    'ubuntu 24.04',
    'ünïx',
    'a'.repeat(512),
    'a'.repeat(513),
    '',
    ' ',
  ),
)
const port = fc.oneof(
  near(1, 80, 65_535, 66_000, 70_000),
  fc.tuple(near(0, 80, 65_535), near(0, 80, 65_535)).map(([outside, inside]) => `${outside}:${inside}`),
  fc.constantFrom('0:80', '80:0', '99999:1', '66000:66000', '70000:70000', '8080:80'),
)
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 })

/** What a `berth.yaml` may hold, right or wrong. */
const draft = fc.record(
  {
    run: fc.constantFrom('x', 'python train.py'),
    name: maybe(text),
    image: maybe(text),
    template: maybe(text),
    disk: maybe(near(0, 20, 100_000)),
    ports: maybe(fc.array(port, { maxLength: 3 })),
    machine: maybe(
      fc.record(
        {
          gpu: fc.oneof(text, fc.array(text, { maxLength: 3 })),
          count: near(1, 64),
          vram: near(1, 10_000),
          price: near(0.001, 0.01, 128, 1000),
          interruptible: fc.boolean(),
          region: fc.constantFrom('DE', ['us', 'FR'], 'Germany'),
          reliability: near(0, 99, 100),
          download: near(1, 1_000_000),
          cuda: near(12, 100),
        },
        { requiredKeys: [] },
      ),
    ),
    volume: maybe(
      fc.oneof(
        fc.constantFrom('datasets:/data', `d:/${'a'.repeat(2000)}`, 'my data:/x'),
        fc.record({ name: text, at: fc.constantFrom('/data', 'data'), size: near(0, 50, 100_000) }),
      ),
    ),
    env: maybe(fc.dictionary(fc.constantFrom('A', 'B_1', '2'), fc.oneof(text, near(1), fc.boolean()))),
    stop: maybe(
      fc.record(
        {
          idle: fc.constantFrom('1m', '0m', '30m', '9999h'),
          hours: near(0.001, 1, 8784),
          dollars: near(0.001, 1, 1_000_000),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: ['run'] },
)

/** Micro-dollars per hour that an offer may show, as far as it is believed. */
const price = maybe(fc.integer({ min: 0, max: 1_000_000_000 }))

/** The same after it was written and read. */
const stored = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

/** Its paths that the schema refuses. */
const refused = (schema: v.GenericSchema, value: unknown) =>
  (v.safeParse(schema, stored(value)).issues ?? []).map(issue => `${v.getDotPath(issue)} ${issue.message}`)

test('whatever a plan accepts, its rental and its run can be stored and read', () => {
  let accepted = 0
  fc.assert(
    fc.property(draft, price, fc.string({ minLength: 1, maxLength: 300 }), (draft, price, folder) => {
      const read = v.safeParse(ProjectSpec, draft)
      if (!read.success) return
      accepted += 1
      const spec = read.output
      const limits = limitsOf(spec)
      const volume = spec.volume && { ...spec.volume, size: spec.volume.size ?? 10 }
      const known = volume && (spec.volume?.size === undefined ? { ...volume, id: 5, machineId: 7 } : volume)
      const rental = someRental({
        request: projectRequest(spec, spec.name ?? folder, { limits, price, volume: known }),
        search: searchOf(spec, ['RTX 4090', 'H100 SXM'], known),
        retries: retryBudget(spec, price, limits),
      })
      expect(refused(Rental, rental)).toEqual([])
      const run = projectRun({ project: { spec, limits, price: price ?? 0 } })
      expect(refused(Run, run)).toEqual([])
      expect(stored(run.project.spec)).toEqual(spec)
    }),
    { numRuns: 3000 },
  )
  expect(accepted).toBeGreaterThan(100)
})

test.each([
  ['image', { image: 'ubuntu 24.04' }],
  ['image', { image: 'ünïx' }],
  ['ports.0', { ports: ['0:80'] }],
  ['ports.0', { ports: ['99999:1'] }],
  ['machine.price', { machine: { price: 0.0001 } }],
  ['machine.price', { machine: { price: 200, interruptible: true } }],
  ['env.A', { env: { A: Number.POSITIVE_INFINITY } }],
])('what cannot be rented is refused in the plan, at %s', (path, draft) => {
  const [issue] = v.safeParse(ProjectSpec, { run: 'x', ...draft }).issues ?? []
  expect(issue && v.getDotPath(issue)).toBe(path)
})
