import fc from 'fast-check'
import type { InstanceState, InstanceView } from '../../../../electron/contract/instance/instance.ts'
import { costPerHour, spending } from '../../../../electron/core/instances/spending.ts'
import type { Seen } from '../../../../electron/core/money/accrual.ts'
import { instanceView } from '../../views.ts'

/** Two polls of an account, and what really happened between them. Times in epoch seconds, money in micro-dollars. */
export interface Absence {
  before: Seen
  after: Seen
  paid: number
  spent: number
  /** By id. */
  shares: Readonly<Record<string, number>>
  /** The largest amount that the polls cannot account for. */
  open: number
}

/** What happens to an instance in an absence. */
export type Course =
  | 'same'
  | 'paused'
  | 'stopped'
  | 'started'
  | 'booted'
  | 'died'
  | 'destroyed'
  | 'rented'
  | 'came and went'
  | 'halted'
  | 'unseen run'

interface Machine {
  course: Course
  /** Dollars per hour of the GPUs, and of the disk. */
  gpu: number
  disk: number
  /** Where in the absence it changed: 0 to 1. */
  first: number
  second: number
  /** Seconds from being rented to running. */
  boot: number
}

export interface Plan {
  seconds: number
  machines: readonly Machine[]
  /** Dollars. */
  paid: number
  /** Seconds by which each poll is wrong about the time: at most two. */
  wrong: readonly [number, number]
}

const start = 1_800_000_000

/** A fraction from 0 to 1, uniform. */
const share = fc.noBias(fc.integer({ min: 0, max: 1_000_000 })).map(millionths => millionths / 1_000_000)

function machine(course: fc.Arbitrary<Course>, dearest: number): fc.Arbitrary<Machine> {
  return fc.record({
    course,
    gpu: share.map(part => 0.05 + part * (dearest - 0.05)),
    disk: share.map(part => part * 0.03),
    first: share,
    second: share,
    boot: share.map(part => 60 + part * 235),
  })
}

/** What happens to instances while nobody polls, with weights. */
export const courses: readonly (readonly [Course, number])[] = [
  ['same', 60],
  ['halted', 15],
  ['paused', 4],
  ['stopped', 5],
  ['started', 3],
  ['booted', 3],
  ['died', 2],
  ['destroyed', 4],
  ['rented', 4],
  ['came and went', 1],
  ['unseen run', 1],
]

export interface Kind {
  /** From and to. */
  seconds: readonly [number, number]
  courses?: readonly (readonly [Course, number])[]
  /** Dollars per hour of one machine, and how many there are, at the most. */
  dearest?: number
  most?: number
  /** Dollars. */
  paid: fc.Arbitrary<number>
}

/** Absences of a kind: changes are uniform in time, clocks at most a second and a half wrong. */
export function plans({
  seconds: [from, to],
  courses: chosen = courses,
  dearest = 3,
  most = 8,
  paid,
}: Kind): fc.Arbitrary<Plan> {
  const course = fc.oneof(...chosen.map(([one, weight]) => ({ arbitrary: fc.constant(one), weight })))
  const wrong = share.map(part => part * 3 - 1.5)
  return fc.record({
    seconds: share.map(part => from + part * (to - from)),
    machines: fc.array(machine(course, dearest), { minLength: 1, maxLength: most, size: 'max' }),
    paid,
    wrong: fc.tuple(wrong, wrong),
  })
}

type Stretch = readonly [from: number, to: number]

/** When it existed and when it ran, in seconds after the first poll. */
function times({ course, first, second, boot }: Machine, length: number): { there: Stretch; ran: Stretch[] } {
  const [early, late] = [Math.min(first, second) * length, Math.max(first, second) * length]
  const all: Stretch = [0, length]
  switch (course) {
    case 'same':
      return { there: all, ran: [all] }
    case 'halted':
      return { there: all, ran: [] }
    case 'paused':
      return {
        there: all,
        ran: [
          [0, early],
          [late, length],
        ],
      }
    case 'unseen run':
      return { there: all, ran: [[early, late]] }
    case 'stopped':
    case 'died':
      return { there: all, ran: [[0, late]] }
    case 'started':
      return { there: all, ran: [[early, length]] }
    case 'booted':
      return { there: all, ran: [[Math.min(boot, length), length]] }
    case 'destroyed':
      return { there: [0, late], ran: [[0, late]] }
    case 'rented':
      return { there: [early, length], ran: [[Math.min(early + boot, length), length]] }
    case 'came and went':
      return { there: [early, late], ran: [[Math.min(early + boot, late), late]] }
  }
}

const firstStates: Readonly<Record<Course, InstanceState | undefined>> = {
  same: 'running',
  paused: 'running',
  stopped: 'running',
  died: 'running',
  destroyed: 'running',
  started: 'stopped',
  halted: 'stopped',
  'unseen run': 'stopped',
  booted: 'loading',
  rented: undefined,
  'came and went': undefined,
}

function lastState({ course, first, second, boot }: Machine, length: number): InstanceState | undefined {
  if (course === 'stopped' || course === 'halted' || course === 'unseen run') return 'stopped'
  if (course === 'died') return 'offline'
  if (course === 'destroyed' || course === 'came and went') return undefined
  if (course === 'booted' && boot >= length) return 'loading'
  if (course === 'rented' && Math.min(first, second) * length + boot >= length) return 'loading'
  return 'running'
}

const micros = (dollars: number) => Math.round(dollars * 1_000_000)

/** The part of a machine’s cost that cannot be known, in micro-dollars. */
function openOf({ course, gpu, disk }: Machine, seconds: number): number {
  const perHour = course === 'halted' ? 0 : course === 'same' || course === 'paused' ? gpu : gpu + disk
  return (micros(perHour) * seconds) / 3600
}

/** The same plan with machines so cheap that at most `most` micro-dollars are open. */
export function cheapened(plan: Plan, most: number): Plan {
  const open = plan.machines.reduce((all, one) => all + openOf(one, plan.seconds), 0)
  const factor = Math.min(1, most / open)
  const machines = plan.machines.map(one => {
    const disk = one.course === 'halted' || one.course === 'same' ? one.disk : one.disk * factor
    return { ...one, gpu: one.gpu * factor, disk }
  })
  return { ...plan, machines }
}

/** What the polls show of a plan, and what the service’s ledger records. */
export function lived({ seconds, machines, paid, wrong }: Plan): Absence {
  const [at, later] = [start + wrong[0], start + seconds + wrong[1]]
  const first: Record<string, InstanceView> = {}
  const last: Record<string, InstanceView> = {}
  const shares: Record<string, number> = {}
  let open = 0
  machines.forEach((one, index) => {
    const id = index + 1
    const price = { running: micros(one.gpu) + micros(one.disk), disk: micros(one.disk) }
    const { there, ran } = times(one, seconds)
    const length = ([from, to]: Stretch) => Math.max(0, to - from)
    const running = ran.reduce((total, stretch) => total + length(stretch), 0)
    // The service’s ledger: GPUs and disk each rounded down once.
    shares[id] =
      Math.floor((micros(one.gpu) * running) / 3600) + Math.floor((price.disk * length(there)) / 3600)
    open += openOf(one, seconds)
    const startedAt = start + (there[0] > 0 || !firstStates[one.course] ? there[0] : -7200)
    const view = (state: InstanceState, spent: InstanceView['spent']) =>
      instanceView({
        id,
        state,
        startedAt,
        pricePerHour: price.running,
        diskPricePerHour: price.disk,
        costPerHour: costPerHour(state, price) ?? 0,
        spent,
      })
    const was = firstStates[one.course]
    const is = lastState(one, seconds)
    const begun = was && view(was, spending(undefined, costPerHour(was, price) ?? 0, startedAt, at))
    if (begun) first[id] = begun
    if (is) last[id] = view(is, spending(begun?.spent, costPerHour(is, price) ?? 0, startedAt, later))
  })
  const spent = Object.values(shares).reduce((total, share) => total + share, 0)
  const credit = 900_000_000
  return {
    before: { at, uncertainty: 1.6, credit, instances: first },
    after: { at: later, uncertainty: 1.6, credit: credit - spent + micros(paid), instances: last },
    paid: micros(paid),
    spent,
    shares,
    open,
  }
}
