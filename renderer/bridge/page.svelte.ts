import { createContext, untrack } from 'svelte'
import type { Berth } from '#contract/commands.ts'
import { limitHindrance } from '#shared/automation/limit-words.ts'
import { undoableWords } from '#shared/danger.ts'
import { accountNow, recordedMoment } from '#shared/derived.ts'
import { instanceName } from '#shared/format/name.ts'
import type { InstanceView, UndoableAction } from '#shared/instance/instance.ts'
import { lastSeenAt } from '#shared/outage.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { AccountView, State } from '#shared/state.ts'
import type { BerthLink, PageConnection } from './link.ts'
import { now } from './now.svelte.ts'
import { afterOutage, type Remark, type Undoable, undoables, withRemark } from './remarks.ts'
import type { Reach } from './socket.ts'
import type { PageStream } from './stream.ts'

/**
 * Parts of the shown account that each row of a list reads. Each has its own signal, since what reads the whole
 * account is run again with each change of it: of a thousand rows for a change in one.
 */
class AccountParts {
  clock: AccountView['clock'] | undefined = $state.raw()
  connection: AccountView['connection'] | undefined = $state.raw()
  credit: AccountView['credit'] = $state.raw()
  gpuMemory: AccountView['gpuMemory'] | undefined = $state.raw()
  notes: AccountView['notes'] | undefined = $state.raw()
  undoable: AccountView['undoable'] | undefined = $state.raw()

  follow(account: AccountView | undefined): void {
    this.clock = account?.clock
    this.connection = account?.connection
    this.credit = account?.credit
    this.gpuMemory = account?.gpuMemory
    this.notes = account?.notes
    this.undoable = account?.undoable
  }
}

/** Shared by the whole page: the current State, commands, streams and short messages to the user. */
export class Page {
  #state: State | undefined = $state.raw()
  /** Of the account shown. */
  readonly parts = new AccountParts()
  #reach: Reach = $state('connecting')
  /** Epoch milliseconds of this machine. */
  #lostAt: number | undefined = $state()
  remarks: Remark[] = $state.raw([])
  /** Unanswered actions on instances, as the state that the page shows meanwhile. */
  #pending: ReadonlyMap<string, string> = $state.raw(new Map())
  #link: BerthLink | undefined
  readonly #unsaved = $state({ text: 0, upload: 0 })
  #lastRemark = 0

  /** The account's actions that can still be undone, the newest last. */
  readonly undoables: readonly Undoable[] = $derived.by(() => {
    const { account } = this
    // The clock is only read while there is something to count down.
    return account && Object.keys(account.undoable).length > 0 ? undoables(account, now.ms) : []
  })

  /** The account shown. */
  readonly account: AccountView | undefined = $derived(this.state?.accounts[this.state.shown ?? ''])

  /** Undefined until the main process has sent it. Replaced, never changed in place. */
  get state(): State | undefined {
    return this.#state
  }

  set state(state: State | undefined) {
    this.#state = state
    this.parts.follow(state?.accounts[state.shown ?? ''])
  }

  /** Whether the main process can be reached. */
  get reach(): Reach {
    return this.#reach
  }

  set reach(reach: Reach) {
    this.#reach = reach
    if (reach === 'connected') this.#lostAt = undefined
    else if (reach === 'lost') this.#lostAt ??= Date.now()
  }

  attach(connection: PageConnection): void {
    this.#link = connection.link
    connection.follow(this)
  }

  /** One method per command; rejects with a BerthError. */
  get berth(): Berth {
    if (!this.#link) throw new Error('the page is not attached to a main process')
    return this.#link.berth
  }

  stream(id: number): PageStream {
    if (!this.#link) throw new Error('the page is not attached to a main process')
    return this.#link.stream(id)
  }

  /** The shown account's time, in epoch seconds; ticks. */
  get accountNow(): number {
    const { clock } = this.parts
    return clock ? accountNow(clock, now.ms) : now.ms / 1000
  }

  /** The present as Activity and alerts of an account have it, in epoch milliseconds; ticks. */
  recordedNow(account: string | undefined): number {
    return recordedMoment(this.state?.accounts[account ?? ''], now.ms)
  }

  /**
   * Seconds of this machine's time until a moment of the account's (epoch seconds), 0 once it has passed: countdowns
   * follow the user's clock, even if the account's runs faster.
   */
  secondsUntil(at: number): number {
    return Math.max(0, (at - this.accountNow) / (this.parts.clock?.rate ?? 1))
  }

  /** When the account's shown data was last updated (its time, epoch seconds); undefined while it is current. */
  get asOf(): number | undefined {
    const { clock, connection } = this.parts
    if (!clock || !connection) return undefined
    const lost = this.#lostAt === undefined ? undefined : accountNow(clock, this.#lostAt)
    return lastSeenAt(connection) ?? lost
  }

  /** Seconds of this machine's time since then. An earlier session's world may have had a clock of its own. */
  get age(): number {
    const { connection } = this.parts
    const heardAt = (connection?.status === 'online' ? undefined : connection?.heardAt) ?? this.#lostAt
    if (heardAt !== undefined) return Math.max(0, now.ms - heardAt) / 1000
    return this.asOf === undefined ? 0 : (this.accountNow - this.asOf) / (this.parts.clock?.rate ?? 1)
  }

  /** True while the outage note is shown; screens then omit their own. */
  readonly outageShown: boolean = $derived.by(() => {
    const status = this.parts.connection?.status
    return this.#reach === 'lost' || status === 'offline' || status === 'refused' || status === 'locked'
  })

  /** Why actions that need the service are unavailable; undefined while it answers. */
  readonly unreachable: string | undefined = $derived.by(() =>
    this.outageShown || this.asOf !== undefined ? 'The service isn’t answering.' : undefined,
  )

  /** Why no limit of the shown account acts now, to follow `cannot act`; undefined where they act. */
  readonly limitHindrance: string | undefined = $derived.by(() => {
    if (this.#reach === 'lost') return 'if Berth was stopped'
    return this.parts.connection && limitHindrance(this.parts.connection)
  })

  /** Seconds until requests go on that wait because the service got too many; 0 where none does. */
  get askedToWait(): number {
    const { askedToWait = 0 } = this.account ?? {}
    return Math.max(0, Math.ceil((askedToWait - now.ms) / 1000))
  }

  /** The moment for which growing figures are shown (account time, epoch seconds): now, or when it was last seen. */
  get figuresAt(): number {
    return this.asOf ?? this.accountNow
  }

  /** Whether something would be lost with this page, so that a browser asks before it reloads or closes it. */
  get isHeld(): boolean {
    return this.isUnsaved || this.#unsaved.upload > 0
  }

  /** Whether it has text that is not saved. */
  get isUnsaved(): boolean {
    return this.#unsaved.text > 0
  }

  /** Holds the page for unsaved text or an upload, until the function that this gives is called. */
  hold(of: 'text' | 'upload'): () => void {
    const count = (by: number) =>
      untrack(() => {
        this.#unsaved[of] += by
      })
    count(1)
    return () => count(-1)
  }

  /** Shows a message for a moment. */
  say(title: string, body?: string): void {
    this.#add({ title, body })
  }

  /** Shows an alert for a moment, after the answers to what the user has done. */
  sayNews(title: string, body?: string): void {
    this.#add({ title, body, isNews: true })
  }

  /**
   * Waits for a command and shows the reason where it is refused, with `what` before it. Returns its answer, or
   * undefined after a refusal. Removes the messages of earlier refusals.
   */
  async attempt<Answer>(doing: Promise<Answer>, what?: string): Promise<Answer | undefined> {
    if (this.remarks.some(({ problem }) => problem))
      this.remarks = this.remarks.filter(({ problem }) => !problem)
    try {
      return await doing
    } catch (error) {
      const problem = answerProblem(error)
      const failed = what && (problem.unsure ? `${what}: ` : `${what} failed: `)
      this.#add({ title: `${failed ?? ''}${problem.message}`, problem })
      return undefined
    }
  }

  /** `attempt` for an action on an instance, one at a time: until the answer comes, the instance is shown as doing it. */
  async tell(instance: number, word: string, doing: () => Promise<unknown>, what: string): Promise<void> {
    const key = this.#instanceKey(instance)
    if (this.#pending.has(key)) return
    this.#pending = new Map([...this.#pending, [key, word]])
    await this.attempt(doing(), what)
    this.#pending = new Map([...this.#pending].filter(([other]) => other !== key))
  }

  /** `tell`, but sent after five seconds in which the user can undo it. */
  actSoon(instance: InstanceView, action: UndoableAction): Promise<void> {
    const { doing, name } = undoableWords[action]
    const account = this.account?.id
    return this.tell(
      instance.id,
      doing,
      () => this.berth.actSoon({ ...(account !== undefined && { account }), instance: instance.id, action }),
      `${name} of ${instanceName(instance)}`,
    )
  }

  /** Undoes an action that is not sent yet, by default the newest. False where there is none. */
  undo(chosen: Undoable | undefined = this.undoables.at(-1)): boolean {
    if (!chosen) return false
    const { account, instances, undone } = chosen
    const all = Promise.all(instances.map(instance => this.berth.undoAction({ account, instance })))
    void this.attempt(all.then(() => this.say(undone)))
    return true
  }

  /** The state shown for an action on an instance that is not sent or not answered yet. */
  pendingAction(instance: number): string | undefined {
    const soon = this.parts.undoable?.[instance]
    return soon ? undoableWords[soon.action].doing : this.#pending.get(this.#instanceKey(instance))
  }

  #instanceKey(instance: number): string {
    return `${untrack(() => this.state?.shown)} ${instance}`
  }

  forget(id: number): void {
    this.remarks = this.remarks.filter(remark => remark.id !== id)
  }

  /** The account answers again: messages about its silence are removed. */
  forgetOutage(): void {
    this.remarks = afterOutage(this.remarks)
  }

  #add(remark: Omit<Remark, 'id'>): void {
    this.remarks = withRemark(this.remarks, { id: ++this.#lastRemark, ...remark })
  }
}

/** The Problem of anything that was thrown. */
export function answerProblem(error: unknown): Problem {
  if (error instanceof BerthError) return error.problem
  return {
    code: 'page_error',
    message: 'Something on this page went wrong.',
    advice: error instanceof Error ? error.message : String(error),
  }
}

/** The file of a part of the page is gone, as after an update under a page that stayed open. */
export const notLoaded = {
  code: 'not_loaded',
  message: 'This part of the page couldn’t be loaded.',
  advice: 'Try again, or reload the page. If Berth was updated, restart it.',
}

/**
 * Loads a part of the page that is likely to be needed, half a second after the page is drawn. A failure shows where
 * the part is needed, which loads it again. Returns a function that cancels it.
 */
export function fetchSoon(load: () => Promise<unknown>): () => void {
  const soon = setTimeout(() => load().catch(() => undefined), 500)
  return () => clearTimeout(soon)
}

export const [usePage, providePage] = createContext<Page>()
