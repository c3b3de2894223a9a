import { setImmediate as settle } from 'node:timers/promises'
import { countedOn, spending } from '#core/instances/spending.ts'
import { Ledger, type Reservation } from '#core/ledger/perform.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Problem } from '#shared/problem.ts'
import { defaultSettings } from '#shared/settings.ts'
import { type Everything, newSpender, type SpenderForm, spenderOf } from '#shared/spending/spender.ts'
import { account, accountContext, endingsAtOnce, freshAnswer } from '#test/berth/account-context.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { instanceView } from '../../views.ts'

export interface Machine {
  id: number
  by: string
  mark: string
  price: number
  isStopped: boolean
  isGone: boolean
}

/** Micro-dollars per hour of a stopped machine. */
export const disk = 10_000

export function form(name: string, given: Partial<SpenderForm> = {}): SpenderForm {
  return { ...newSpender, kind: 'agent', name, ...given }
}

/** A service, the rentals of its account, and the ledger over them, which a kill opens again from its files. */
export async function spendingWorld(
  spenders: SpenderForm[],
  capsOfAll: Everything = defaultSettings.everything,
) {
  const clock = new HandClock()
  const files = new MemoryFiles()
  const machines: Machine[] = []
  /** Rentals by mark: under way until their instance is known or they have failed. */
  const attempts = new Map<string, { instance?: number; isOpen: boolean }>()
  /** Micro-dollars by spender and day. */
  const truth = new Map<string, number>()
  let everything = capsOfAll
  let time = 1_699_920_000
  let marks = 0
  let context = newContext()
  let ledger = await open()

  function newContext() {
    const client = () => ({
      instances: {
        stop: async (id: number) => end(id, 'stop'),
        destroy: async (id: number) => end(id, 'destroy'),
      },
    })
    const made = accountContext({
      clock,
      files,
      now: () => time,
      endings: endingsAtOnce(client),
    })
    made.store.change(draft => {
      Object.assign(draft.settings, { spenders, everything })
    })
    return made
  }

  function open(): Promise<Ledger> {
    return Ledger.open(context, mark => attempts.get(mark))
  }

  function end(id: number, action: 'stop' | 'destroy'): void {
    const machine = machines.find(one => one.id === id)
    if (!machine) return
    machine.isStopped = true
    if (action === 'destroy') machine.isGone = true
  }

  const seen = new Map<number, InstanceView>()
  function viewOf({ id, price, isStopped }: Machine): InstanceView {
    const costPerHour = isStopped ? disk : price
    const before = seen.get(id)
    const view = instanceView({
      id,
      state: isStopped ? 'stopped' : 'running',
      pricePerHour: price,
      diskPricePerHour: disk,
      costPerHour,
      spent: spending(before?.spent, costPerHour, time, time),
    })
    seen.set(id, view)
    return view
  }

  return {
    machines,
    files,
    get ledger() {
      return ledger
    },
    get state() {
      return context.store.get().accounts[account]
    },
    machinesOf: (by: string) => machines.filter(one => one.by === by && !one.isGone),
    spent: (by: string) => truth.get(`${by}/${Math.floor(time / 86_400)}`) ?? 0,
    /**
     * Asks for a machine as a rental does: reserved, then requested. `name`: an agent’s, `you`, or a spender such as
     * `project:train`. `answer`: what becomes of the request.
     */
    async ask(
      name: string,
      price: number,
      {
        answer = 'created',
        ...bounds
      }: Partial<Pick<Reservation, 'most' | 'seconds' | 'group' | 'isShared'>> & {
        answer?: 'created' | 'lost' | 'refused'
      } = {},
    ): Promise<Problem | undefined> {
      marks += 1
      const id = marks
      const mark = `r${id}`
      const by = name.includes(':') ? name : spenderOf('agent', name)
      attempts.set(mark, { isOpen: true })
      const refused = await ledger.reserve({
        mark,
        by: name === 'you' ? undefined : by,
        perHour: price,
        ...bounds,
      })
      if (refused || answer === 'refused') {
        attempts.set(mark, { isOpen: false })
        return refused
      }
      const machine = { id, by, mark, price, isStopped: false, isGone: false }
      machines.push(machine)
      attempts.set(mark, answer === 'lost' ? { isOpen: true } : { instance: machine.id, isOpen: false })
      return undefined
    },
    /** The answers that were lost are found again. */
    find(): void {
      for (const { mark, id } of machines) attempts.set(mark, { instance: id, isOpen: false })
    },
    /** The clock is set by so many seconds. */
    setClock(seconds: number): void {
      for (const view of countedOn(Object.fromEntries(seen), time, time + seconds)) seen.set(view.id, view)
      time += seconds
    },
    destroy: (id: number) => end(id, 'destroy'),
    stop: (id: number) => end(id, 'stop'),
    start(id: number): void {
      ledger.mayCost(id)
      const machine = machines.find(one => one.id === id)
      if (!machine || machine.isGone) return
      machine.isStopped = false
      const asked = { state: 'running', at: time } as const
      context.store.change(draft => {
        const target = draft.accounts[account]?.instances[id]
        if (target) target.stateRequest = asked
      })
    },
    /** The caps over everything become others. */
    cap(caps: Everything): void {
      everything = caps
      context.store.change(draft => {
        draft.settings.everything = caps
      })
    },
    setPrice(id: number, price: number): void {
      const machine = machines.find(one => one.id === id)
      if (machine) machine.price = price
    },
    /** So many seconds pass, and then a fresh poll is read. */
    async poll(seconds: number): Promise<void> {
      for (let left = seconds; left > 0; ) {
        const step = Math.min(left, 86_400 - (time % 86_400))
        const day = Math.floor(time / 86_400)
        for (const { by, price, isStopped, isGone } of machines)
          if (!isGone) {
            const key = `${by}/${day}`
            truth.set(key, (truth.get(key) ?? 0) + ((isStopped ? disk : price) * step) / 3600)
          }
        time += step
        left -= step
      }
      const here = machines.filter(({ isGone }) => !isGone)
      const instances = Object.fromEntries(here.map(machine => [machine.id, viewOf(machine)]))
      context.store.change(draft => {
        const target = draft.accounts[account]
        if (target) target.instances = instances
      })
      ledger.onPoll(freshAnswer(context, instances))
      await ledger.flush()
      await settle()
    },
    /** Berth is killed, and started again. */
    async kill(): Promise<void> {
      const shown = context.store.get().accounts[account]?.instances ?? {}
      context = newContext()
      context.store.change(draft => {
        const target = draft.accounts[account]
        if (target) target.instances = { ...shown }
      })
      ledger = await open()
    },
  }
}
