import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { at } from '#build/places.ts'
import type { LimitWhen } from '#shared/automation/limit.ts'
import { everything } from '#shared/automation/limits-that-block.ts'
import type { SweepView } from '#shared/automation/sweep.ts'
import { dangers, type RentTerms } from '#shared/danger.ts'
import { type InstanceView, UndoableAction } from '#shared/instance/instance.ts'
import { runDangers } from '#shared/run-dangers.ts'
import type { AccountView } from '#shared/state.ts'
import { accountView, instanceView, limitView, projectRunView, runView } from '../views.ts'

const [box, other] = [
  instanceView({ id: 7, label: 'box', diskPricePerHour: 3000 }),
  instanceView({ id: 8, label: 'other' }),
]
const train = runView({ id: 'x1', instance: 7, name: 'train' })

const stopped = (given: Partial<AccountView>, ...instances: InstanceView[]) =>
  dangers.stop.question(accountView(given, ...instances), { instances }, 0)

describe('stopping', () => {
  test('one is asked about only where it ends a run, which is named', () => {
    expect(stopped({}, box)).toBeUndefined()
    expect(stopped({ runs: { x1: train } }, box)).toEqual({
      title: 'Stop box #7?',
      verb: 'Stop box #7',
      lines: [
        'A run on it ends before it has finished: train.',
        'Files are kept; the disk is billed at $0.003/h.',
      ],
      grave: false,
    })
    for (const step of ['waiting', 'ending', 'done', 'failed'] as const)
      expect(stopped({ runs: { x1: { ...train, step } } }, box)).toBeUndefined()
  })

  test('a node of a run on several machines ends the whole run', () => {
    const nodes = [projectRunView({ id: 'x2', step: 'running', instance: 8 })]
    const run = projectRunView({ id: 'x1', step: 'running', instance: 7, name: 'digits', nodes })
    expect(stopped({ runs: { x1: run } }, other)?.lines[0]).toContain('digits')
  })

  test('everything leaves out what is being destroyed already', () => {
    const view = accountView({}, box, other)
    const ending = { action: 'destroy', phase: 'retrying', since: 0, requests: 1 } as const
    const ids = (endings: AccountView['endings']) =>
      everything({ ...view, endings }).instances.map(({ id }) => id)
    expect(ids({ 8: ending })).toEqual([7])
    expect(ids({ 8: { ...ending, action: 'stop' } })).toEqual([7, 8])
  })

  test('a question says what limits will still destroy', () => {
    const when = { kind: 'duration', seconds: 3600 } as const
    const limit = limitView({ id: 'g1', instance: 7, when, action: 'destroy', dueAt: 3600 })
    const line = (limits: AccountView['limits'], runs: AccountView['runs'], ...instances: InstanceView[]) =>
      stopped({ limits, runs }, ...instances)?.lines.find(one => one.includes('destroy'))
    expect(line({ g1: limit }, { x1: train }, box)).toMatch(/^Its limit still destroys it with its files at /)
    expect(line({ g1: limit }, {}, box, other)).toMatch(/^Limits still destroy 1 of them .*, the first at /)
    expect(line({ g1: { ...limit, action: 'stop' } }, {}, box, other)).toBeUndefined()
    expect(line({ g1: { ...limit, step: 'off' } }, {}, box, other)).toBeUndefined()
  })

  test('several are always asked about, with all runs that end', () => {
    const runs = { x1: train, x2: runView({ id: 'x2', instance: 8, name: 'eval' }) }
    expect(stopped({}, box, other)?.verb).toBe('Stop 2 instances')
    expect(stopped({ runs }, box, other)?.lines[0]).toBe(
      '2 runs on them end before they have finished: train and eval.',
    )
  })

  test('several say first which of them work, one does not', () => {
    const [busy, idle] = [
      { ...box, gpuLoad: 82 },
      { ...other, gpuLoad: 2 },
    ]
    const works = 'box #7 (82%) is working now.'
    expect(stopped({ runs: { x1: train } }, busy, idle)?.lines[0]).toBe(works)
    expect(
      dangers.destroy.question(accountView({}, busy, idle), { instances: [busy, idle] }, 0)?.lines[0],
    ).toBe(works)
    expect(stopped({ runs: { x1: train } }, busy)?.lines[0]).not.toContain('working')
  })
})

test('destroying names the runs that end, what is lost, and what is no longer paid', () => {
  const question = dangers.destroy.question(
    accountView({ runs: { x1: train } }, box),
    { instances: [box] },
    0,
  )
  expect(question?.lines.join(' ')).toMatch(/train.*Everything on it is lost.*You stop paying \$0\.400\/h\.$/)
  expect(question?.grave).toBe(true)
  const volumes = { count: 2, perHour: 14_000, names: [] }
  expect(dangers.destroy.question(accountView({ volumes }, box), { instances: [box] }, 0)?.lines.at(-1)).toBe(
    'Volumes stay, with what is in them: 2 volumes cost $0.014/h.',
  )
})

test('a run that waits for an offer is cancelled, and one under way loses its machine', () => {
  const of = (run: Parameters<typeof projectRunView>[0]) =>
    runDangers.cancelRun.question(accountView({}, box), { run: projectRunView(run) }, 0)
  const waiting = { for: 'offer', since: 0 } as const
  expect(of({ step: 'waiting', waiting })).toMatchObject({ title: 'Cancel digits?', verb: 'Cancel run' })
  expect(of({ step: 'waiting', instance: 7, waiting })?.verb).toBe('Destroy')
  expect(of({ step: 'waiting', waiting: { for: 'boot', since: 0 } })?.verb).toBe('Destroy')
})

test('what can be undone is what the service can take back', () => {
  const undone = Object.entries(dangers).flatMap(([action, { undo }]) => (undo ? action : []))
  expect(undone.toSorted()).toEqual(UndoableAction.options.toSorted())
})

const resting = instanceView({
  id: 7,
  label: 'box',
  state: 'stopped',
  costPerHour: 3000,
  pricePerHour: 403_000,
})
const limit = limitView({ instance: 7, when: { kind: 'duration', seconds: 4 * 3600 }, step: 'done' })
const started = (given: Partial<AccountView>) =>
  dangers.start.question(accountView(given, resting), { instances: [resting] }, 0)

test('a start is asked about where credit or limits say no, and where nothing would stop it', () => {
  const limits = { one: limit }
  expect(started({ limits })).toBeUndefined()
  expect(started({})?.lines).toEqual(['It has no limit, so it runs until you stop it.'])
  // A watchdog that couldn't be told, since it was stopped.
  const there = { action: 'destroy' as const, at: accountView().clock.serverAt / 1000 + 7200 }
  const untold = { instance: 7, request: there, there, step: 'removing' as const, foreign: false }
  expect(started({ watchdogs: { 7: untold } })?.lines).toEqual([
    expect.stringMatching(
      /^The watchdog of box #7 still destroys it .*: it couldn’t be told of the change\.$/,
    ),
  ])
  const passed = { ...untold, there: { ...there, at: -60 } }
  expect(started({ watchdogs: { 7: passed } })?.lines).toEqual([
    'The watchdog of box #7 stops it five minutes after a start, unless Berth reaches it before.',
  ])
  expect(started({ limits, credit: 1_000_000 })).toMatchObject({
    lines: [expect.stringMatching(/^4 h cost \$1\.60, more than your \$1\.00\. It would be cut off after/)],
    grave: true,
  })
  expect(started({ limits, credit: 0 })?.lines).toEqual(['Your credit is used up.'])
  const account = limitView({ id: 'two', when: { kind: 'credit', hours: 5000 } })
  expect(started({ limits: { one: limit, two: account } })?.lines).toEqual([
    expect.stringContaining('its limit stops'),
  ])
})

test('the restart of a crashed instance is asked about like a start, that of another only for its run', () => {
  const crashed = { ...resting, state: 'crashed' as const }
  const asked = (instance: InstanceView, given: Partial<AccountView> = {}) =>
    dangers.reboot.question(accountView(given, instance), { instances: [instance] }, 0)
  expect(asked(crashed, { credit: 0 })?.title).toBe('Restart box #7?')
  expect(asked(box, { credit: 0 })).toBeUndefined()
  expect(asked(box, { runs: { x1: train } })).toMatchObject({
    title: 'Restart box #7?',
    lines: [expect.stringContaining('train'), 'Files are kept.'],
  })
})

const terms: RentTerms = {
  cost: { perHour: 1_000_000 },
  isUnpriced: false,
  bid: '',
  highBid: undefined,
  meetsLimits: true,
}
const rented = (given: Partial<AccountView>, change: Partial<RentTerms> = {}) =>
  dangers.rent.question(accountView(given), { ...terms, ...change }, 0)

test('a run is asked about where the credit doesn’t pay for its machines until it’s stopped, or for 8 h', () => {
  const asked = (credit: number | undefined, sum: number, longest?: number) =>
    runDangers.startRun.question(accountView({ credit }), { sum, longest }, 0)
  expect(asked(300_000, 1_000_000)).toMatchObject({
    title: 'Run beyond your credit?',
    verb: 'Run for 18 min of credit',
    lines: [
      expect.stringMatching(/^8 h cost \$8\.00, more than your \$0\.30\. It would be cut off after 18 min/),
    ],
    grave: true,
  })
  expect(asked(0, 1_000_000, 60)).toMatchObject({
    verb: 'Run without credit',
    lines: ['Your credit is used up.'],
  })
  expect(asked(1_000_000, 1_000_000, 3600)).toBeUndefined()
  expect(asked(undefined, 1_000_000)).toBeUndefined()
})

test('a rental is asked about where credit, limits or its price speak against it', () => {
  expect(rented({})).toBeUndefined()
  expect(rented({ credit: 300_000 })).toMatchObject({
    title: 'Rent beyond your credit?',
    verb: 'Rent for 18 min of credit',
    grave: true,
  })
  expect(rented({ credit: 0 })?.verb).toBe('Rent without credit')
  // A limit that ends it before the credit does.
  expect(rented({ credit: 1_500_000 }, { cost: { perHour: 1_000_000, endsAfter: 3600 } })).toBeUndefined()
  const limits = { one: limitView({ when: { kind: 'credit', hours: 100 } }) }
  expect(rented({ limits })?.title).toBe('Rent against your limit?')
  // Retries wait for such a limit.
  expect(rented({ limits }, { meetsLimits: false })).toBeUndefined()
  expect(rented({}, { cost: undefined, isUnpriced: true })?.title).toBe('Rent at an unknown price?')
  expect(rented({}, { highBid: 'That’s 757 × the minimum.', bid: '31.8' })?.verb).toBe('Bid $31.8/h')
})

test('each way of the page to rent reads the question about it, and only the button that asks it sends a form', () => {
  const files = readdirSync(at('renderer'), { recursive: true, encoding: 'utf8' })
    .filter(file => /\.(ts|svelte)$/.test(file))
    .map(file => ({ file, text: readFileSync(at(`renderer/${file}`), 'utf8') }))
  const using = (words: RegExp) => files.filter(({ text }) => words.test(text)).map(({ file }) => file)
  const asking = [
    'screens/home/ChatDialog.svelte',
    'screens/instances/dialogs/AnotherDialog.svelte',
    'screens/offers/rent/rentalPrice.svelte.ts',
  ]
  expect(using(/\bdangers\.rent\.question\(/).sort()).toEqual(asking)
  // The form sends what its button asked about, a rental with retries through it, and a watch rents later.
  const form = ['screens/offers/rent/RetriesDialog.svelte', 'screens/offers/rent/rentForm.svelte.ts']
  expect(using(/\bberth\.rent(WithRetries)?\(/).sort()).toEqual([...asking.slice(0, 2), ...form])
  expect(using(/\brenting\.rent\(\)/).sort()).toEqual([
    'screens/offers/rent/RentButton.svelte',
    'screens/offers/watches/watchForm.svelte.ts',
  ])
})

test('cancelling a sweep says how many machines it destroys, and nothing else’s', () => {
  const sweep = { id: 'q1', name: 'lr', project: 'p1' } as SweepView
  const run = (id: string, index: number, given: Partial<ReturnType<typeof projectRunView>>) =>
    projectRunView({ id, sweep: { id: 'q1', index, attempt: 0 }, ...given })
  const machines = [1, 2, 3, 4, 5].map(id => instanceView({ id }))
  const wait = { project: 'p1', since: 0, until: 9, action: 'destroy' as const }
  const account = accountView(
    {
      runs: {
        a: run('a', 0, { step: 'running', instance: 1 }),
        b: run('b', 1, { step: 'waiting' }),
        c: run('c', 2, { step: 'failed', instance: 2 }),
        d: projectRunView({ id: 'd', step: 'running', instance: 3 }),
      },
      waiting: { 4: { ...wait, instance: 4, sweep: 'q1' }, 5: { ...wait, instance: 5 } },
    },
    ...machines,
  )
  const question = runDangers.cancelSweep.question(account, { sweep }, 0)
  expect(question).toMatchObject({ title: 'Cancel the sweep lr?', verb: 'Destroy 2 machines' })
  expect(question?.lines.join(' ')).toMatch(
    /^2 runs in progress are cancelled.*#1 and Instance #4\. 1 machine being rented is destroyed too\./,
  )
  expect(question?.lines.join(' ')).not.toMatch(/#[235]/)
  expect(runDangers.cancelSweep.question(accountView(), { sweep }, 0)?.verb).toBe('Cancel sweep')
})

test('continuing a sweep says what its machines cost, those that start again and those that are rented', () => {
  const sweep = {
    id: 'q1',
    name: 'lr',
    attempts: [0, 0, 0, 0],
    atOnce: 3,
    agreed: { price: 300_000, most: 2_000_000 },
  } as unknown as SweepView
  const run = (index: number, given: Partial<ReturnType<typeof projectRunView>>) =>
    projectRunView({ id: `x${index}`, sweep: { id: 'q1', index, attempt: 0 }, step: 'failed', ...given })
  const limit = { code: 'sweep_limit', message: '' }
  const account = accountView(
    {
      runs: {
        a: run(0, { instance: 1, problem: limit }),
        b: run(1, { step: 'cancelled', instance: 2 }),
        c: run(2, { instance: 3, problem: { code: 'command_failed', message: '' } }),
      },
    },
    ...[1, 2, 3].map(id => instanceView({ id, state: 'stopped', pricePerHour: 200_000, costPerHour: 9_000 })),
  )
  expect(runDangers.continueSweep.question(account, { sweep, repeats: false }, 0)).toMatchObject({
    title: 'Continue lr?',
    verb: 'Continue for $0.800/h',
    lines: [
      '1 run starts again on its machine, with the files there.',
      '2 runs begin from the start, on machines that Berth rents.',
      'Its limits count anew, so it may cost up to $2.00 more.',
    ],
  })
  expect(runDangers.continueSweep.question(account, { sweep, repeats: true }, 0)?.verb).toBe(
    'Rerun for $0.700/h',
  )
})

test('deleting the key that Berth uses, or may use, says which limits no longer act', () => {
  const limits = { one: limit }
  const asked = (given: Partial<AccountView>, inUse: boolean | undefined) =>
    dangers.deleteApiKey.question(accountView(given), { id: 4, name: 'ci', inUse }, 0)
  expect(asked({ limits }, false)).toEqual({
    title: 'Delete “ci”?',
    verb: 'Delete key',
    lines: ['Anything that uses it stops working. You can’t undo this.'],
    grave: true,
  })
  expect(asked({ limits: { one: { ...limit, step: 'waiting' } } }, true)?.lines[1]).toBe(
    'Berth uses this key. Without it, Berth can’t reach the account until you enter another, and 1 limit can’t act.',
  )
  expect(asked({}, true)?.lines[1]).toBe(
    'Berth uses this key. Without it, Berth can’t reach the account until you enter another.',
  )
  expect(asked({}, undefined)?.lines).toHaveLength(1)
})

test('every deletion is for good: red, and without an undo', () => {
  const subject = { id: 4, name: 'it', room: undefined, hasReadme: false, isUsed: false, inUse: false }
  for (const action of [
    'deleteVolume',
    'deleteTemplate',
    'deleteSecret',
    'deleteApiKey',
    'deleteWebhook',
  ] as const) {
    const { undo, question } = dangers[action]
    const asked = question(accountView(), subject, 0)
    expect([undo, asked?.grave, asked?.verb]).toEqual([false, true, expect.stringMatching(/^Delete/)])
  }
})

test('removing a name is asked about only while it has machines, which lose its caps', () => {
  const asked = (...machines: string[]) =>
    dangers.removeSpender.question(accountView(), { name: 'nightly', machines }, 0)
  expect(asked()).toBeUndefined()
  expect(asked('box #7')?.lines).toEqual([
    'nightly has 1 machine: box #7.',
    'It runs on without its caps: Berth no longer stops it when one is reached.',
  ])
  expect(asked('box #7', '#8')?.lines.join(' ')).toContain('2 machines: box #7 and #8. They run on')
})

describe('prepaying', () => {
  const machine = instanceView({ id: 7, label: 'box', pricePerHour: 500_000, mostDiscount: 0.4 })
  const asked = (given: Partial<AccountView>, more: Partial<InstanceView> = {}, amount = 360) => {
    const instance = { ...machine, ...more }
    return dangers.prepay.question(accountView(given, instance), { instance, amount }, 0)
  }

  test('is always asked about, with what it costs, what it changes, and that it stays there', () => {
    expect(asked({ credit: 400_000_000 })).toEqual({
      title: 'Prepay box #7?',
      verb: 'Prepay $360.00',
      lines: [
        '$360.00 leaves your credit now. It’s for about a month of running, and counts as spent as it’s used.',
        'Its price of $0.500/h then falls by a discount that the service decides, 40% at most.',
        expect.stringContaining('You can’t get it back'),
      ],
      grave: true,
    })
  })

  test('says where the credit is too low, or then lasts too short, or a discount may fall', () => {
    const credit = limitView({ when: { kind: 'credit', hours: 24 } })
    const lines = (amount: number) =>
      asked(
        { credit: 30_000_000, limits: { [credit.id]: credit } },
        { prepaid: { left: 5_000_000, discount: 0.25 } },
        amount,
      )?.lines.join('\n')
    expect(lines(50)).toContain('Your credit is $30.00, so the service will probably refuse it.')
    expect(lines(25)).toMatch(/its limit stops the instance that’s cheapest to stop/)
    expect(lines(10)).not.toContain('its limit stops')
    expect(lines(10)).toContain('it’s 25% now, and a small amount can lower it')
  })

  test('destroying says how much of it is kept, also where a run’s end destroys', () => {
    const prepaid = { left: 5_000_000, discount: 0.25 }
    const kept = (spent: number, more: Partial<InstanceView> = {}) => {
      const instance = { ...machine, prepaid, spent: { micros: spent, at: 0, perHour: 0 }, ...more }
      const account = accountView({}, instance)
      const lines = [
        dangers.destroy.question(account, { instances: [instance] }, 0),
        runDangers.cancelRun.question(account, { run: projectRunView({ step: 'running', instance: 7 }) }, 0),
      ].map(question => question?.lines.find(line => line.includes('prepaid')))
      expect(lines[0]).toBe(lines[1])
      return lines[0]
    }
    expect(kept(3_000_000)).toBe(
      'Of the $5.00 prepaid that is left, the service keeps up to $1.05: the discount so far and a fee of 5% of that. ' +
        'The rest is paid back.',
    )
    expect(kept(300_000_000)).toContain('keeps up to $5.00')
    expect(kept(0, { costUnknown: true })).toContain('keeps up to $5.00')
    expect(kept(3_000_000, { prepaid: undefined })).toBeUndefined()
  })

  test('says which limits act before it is used up', () => {
    const limits = (when: LimitWhen, dueAt?: number) => {
      const one = limitView({ instance: 7, when, ...(dueAt !== undefined && { dueAt }) })
      return asked({ credit: 400_000_000, limits: { one } })?.lines.find(line => line.startsWith('A limit'))
    }
    const hours = { kind: 'duration', seconds: 8 * 3600 } as const
    expect(limits(hours, 8 * 3600)).toMatch(/^A limit stops it .*\(8 h limit\), before this is used up\.$/)
    expect(limits(hours, 32 * 86_400)).toBeUndefined()
    expect(limits({ kind: 'idle', below: 5, seconds: 1800 })).toMatch(/, perhaps before this is used up\.$/)
  })
})
