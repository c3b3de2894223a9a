import type { Rental } from '#core/renting/rental.ts'
import { noAnswer } from '#service/http/failure.ts'
import type { Send } from '#service/http/operation.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Settings } from '#shared/settings.ts'
import { micros } from '#shared/spending/money.ts'
import { newSpender, type Spender, type SpenderForm, spenderOf } from '#shared/spending/spender.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { type Fault, Service } from '#test/unit/core/renting/model/service.ts'
import { type Berth, type Computer, startBerth } from './berth.ts'

export const agents = ['a', 'b', 'c', 'd', 'e'] as const
export const caps = { perDay: 2, perHour: 1.5, machines: 3, price: 1 } as const
const forms: SpenderForm[] = agents.map(name => ({ ...newSpender, kind: 'agent', name, ...caps }))

/** Epoch seconds of the service when the hand clock begins: an hour before midnight. */
const epoch = 1_700_000_000 - (1_700_000_000 % 86_400) + 23 * 3600

/** Five agents that keep to nothing, their user, and a service that loses answers and changes prices. */
export async function openWorld(draw: () => number, settings: Partial<Settings> = { spenders: forms }) {
  const clock = new HandClock(epoch * 1000)
  const now = () => epoch + clock.monotonic() / 1000
  const service = new Service(now, 'both', true, 60)
  const wrongs: string[] = []
  const story: string[] = []
  /** Writes and answers until the next kill. */
  let untilKill = Number.POSITIVE_INFINITY
  /** Whether answers are lost. */
  let honest = true

  const send: Send = async (operation, input) => {
    const isCreate = operation.path.includes('/asks/')
    const isList = operation.method === 'GET' || operation.path.includes('/bundles/')
    if (isCreate && !honest) {
      const faults: Fault[] = ['lost', 'unanswered', 'failing', 'refused', { late: 20 }]
      if (draw() < 0.25) service.faults.create.push(faults[Math.floor(draw() * faults.length)] ?? 'lost')
    } else if (!honest && isList && draw() < 0.05)
      throw noAnswer({ operation, secrets: [] }, 'connection_lost', true)
    const answer = await service.answer(operation, input)
    if (!honest && !isCreate && !isList && draw() < 0.1)
      throw noAnswer({ operation, secrets: [] }, 'connection_lost', true)
    return answer
  }
  const files = new MemoryFiles()
  files.texts.set('settings.json', JSON.stringify(settings))
  const computer: Computer = {
    clock,
    files,
    keychain: new Map(),
    ids: { count: 0 },
    seen: { instances: {} },
    send,
    told: now,
    kills() {
      untilKill -= 1
      return untilKill === 0
    },
  }
  let berth: Berth = await startBerth(computer)

  /** Who pays for each machine at the service; undefined for yours. */
  const payers = new Map<number, Spender | undefined>()
  const marks = new Map<string, Spender | undefined>()
  /** Machines that their own agent destroys, or whose rental it cancels. */
  const givenUp = new Set<number>()
  const cancelled = new Set<string>()
  const known = new Map<number, string>()
  /** Micro-dollars of each machine so far, by payer and day, and by payer since the last poll that Berth could act on. */
  const charged = new Map<number, number>()
  const today = new Map<string, number>()
  const sincePoll = new Map<Spender, number>()
  const mostInPoll = new Map<Spender, number>()
  /** Polls in a row after which an agent was past its hour's cap, or ran although all were stopped. */
  const overFor = new Map<Spender, number>()
  let stoppedFor: number | undefined

  const day = () => Math.floor(now() / 86_400)
  const machines = () => service.world.instances.list()

  function count(): void {
    const rentals = JSON.parse(files.texts.get('accounts/a00000001/rentals.json') ?? '[]') as Rental[]
    for (const { by, attempts } of rentals) for (const { mark } of attempts) marks.set(mark, by)
    service.charged()
    for (const { instance_id: id, micro_dollars: sum } of service.world.ledger.totals(
      service.world.clock.now(),
    )) {
      const more = sum - (charged.get(id) ?? 0)
      charged.set(id, sum)
      const by = payers.get(id)
      if (by === undefined || more === 0) continue
      const key = `${by}/${day()}`
      today.set(key, (today.get(key) ?? 0) + more)
      sincePoll.set(by, (sincePoll.get(by) ?? 0) + more)
    }
    const there = new Set<number>()
    for (const machine of machines()) {
      const { id, launch } = machine
      there.add(id)
      priced.set(id, machine)
      const mark = launch.env['BERTH_RENTAL'] ?? ''
      if (!payers.has(id)) payers.set(id, marks.get(mark))
      known.set(id, mark)
    }
    for (const [id, mark] of known) {
      if (there.has(id)) continue
      known.delete(id)
      const by = payers.get(id)
      if (by === undefined) wrongs.push(`#${id}, which is yours, was destroyed`)
      else if (!givenUp.has(id) && !cancelled.has(mark) && !isFarDearer(id))
        wrongs.push(`#${id} of ${by} was destroyed by nobody`)
    }
  }

  const ofAgent = (by: Spender) => machines().filter(({ id }) => payers.get(id) === by)
  const isRunning = ({ intended }: { intended: string }) => intended === 'running'

  /** Berth itself destroys a new machine that costs far more than was confirmed. */
  const listed = new Map(service.world.market.all().map(({ index, price }) => [index, price]))
  const priced = new Map<number, ReturnType<typeof machines>[number]>()
  function isFarDearer(id: number): boolean {
    const { price = 0, offer } = priced.get(id) ?? {}
    return price > 2 * (listed.get(offer?.index ?? -1) ?? Number.POSITIVE_INFINITY)
  }
  function check(): void {
    count()
    for (const { id, intended } of machines())
      if (payers.get(id) === undefined && intended !== 'running')
        wrongs.push(`#${id}, which is yours, was stopped`)
    for (const name of agents) {
      const by = spenderOf('agent', name)
      const own = ofAgent(by).length
      if (own > caps.machines) wrongs.push(`${by} has ${own} machines`)
      const spent = today.get(`${by}/${day()}`) ?? 0
      const most = micros(caps.perDay) + Math.max(mostInPoll.get(by) ?? 0, sincePoll.get(by) ?? 0)
      if (spent > most) wrongs.push(`${by} has spent ${spent} of ${most}`)
    }
  }

  /** After a poll that Berth could act on. */
  function checkPoll(): void {
    for (const name of agents) {
      const by = spenderOf('agent', name)
      mostInPoll.set(by, Math.max(mostInPoll.get(by) ?? 0, sincePoll.get(by) ?? 0))
      sincePoll.set(by, 0)
      const running = ofAgent(by).filter(isRunning)
      const perHour = running.reduce((sum, { price }) => sum + price, 0)
      const isOver = perHour > micros(caps.perHour) || running.some(({ price }) => price > micros(caps.price))
      overFor.set(by, isOver ? (overFor.get(by) ?? 0) + 1 : 0)
      if ((overFor.get(by) ?? 0) > 2) wrongs.push(`${by} pays ${perHour} per hour after two polls`)
      if (stoppedFor !== undefined && stoppedFor >= 2 && running.length > 0)
        wrongs.push(`${by} runs ${running.length} two polls after all were stopped`)
    }
    if (stoppedFor !== undefined) stoppedFor += 1
  }

  async function pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; ) {
      // Charges are counted on the day that they belong to.
      const step = Math.min(left, Math.max(0.001, 86_400 - (now() % 86_400) - 0.001))
      await clock.pass(step * 1000)
      left -= step
      check()
    }
  }

  async function restartIfDead(): Promise<void> {
    if (!berth.isDead) return
    untilKill = Number.POSITIVE_INFINITY
    story.push('killed')
    stoppedFor = undefined
    berth = await startBerth(computer)
    await clock.pass(0)
  }

  return {
    wrongs,
    story,
    service,
    clock,
    machines,
    payerOf: (id: number) => payers.get(id),
    get berth() {
      return berth
    },
    get refusals() {
      return berth.refusals
    },
    /** Only from now on are answers lost. */
    begin(): void {
      honest = false
    },
    killAfter(steps: number): void {
      untilKill = steps
    },
    /** Waits for a command; what refused it, or its answer. */
    async call(name: string, args: unknown, by?: Spender): Promise<{ answer?: unknown; problem?: Problem }> {
      const asked = berth.dispatch(name, args, by).then(
        answer => ({ answer }),
        (error: unknown) => {
          if (!(error instanceof BerthError)) throw error
          return { problem: error.problem }
        },
      )
      return clock.runUntil(asked)
    },
    /** What an agent destroys itself is no loss. */
    gaveUp: (id: number) => void givenUp.add(id),
    gaveUpRental: (mark: string) => void cancelled.add(mark),
    /** So is what a stop of all agents undoes: machines that no rental had got yet. */
    gaveUpRentals(): void {
      for (const { id } of Object.values(berth.view()?.rentals ?? {})) cancelled.add(id)
    },
    stopped(): void {
      stoppedFor = 0
    },
    async permitAgain(): Promise<void> {
      stoppedFor = undefined
      await restartIfDead()
      untilKill = Number.POSITIVE_INFINITY
      await clock.runUntil(berth.permit(forms))
    },
    payerOfRental: (mark: string) => marks.get(mark),
    /** How many machines agents had. */
    rented: () => [...payers.values()].filter(by => by !== undefined).length,
    check,
    /** Time passes, and Berth polls, and is started again where it was killed. */
    async poll(seconds: number): Promise<void> {
      await pass(seconds)
      await restartIfDead()
      const isSeen = await clock.runUntil(berth.poll())
      await clock.pass(0)
      check()
      if (isSeen && !berth.isDead) checkPoll()
      await restartIfDead()
    },
    /** The user's clock is set, which nobody's budget follows. */
    setClock(days: number): void {
      clock.wall += days * 86_400_000
    },
  }
}
