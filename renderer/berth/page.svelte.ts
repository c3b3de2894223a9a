import { createContext } from 'svelte'
import type { UndoableAction } from '../../electron/contract/automation/undoable.ts'
import type { Berth } from '../../electron/contract/commands.ts'
import { instanceName } from '../../electron/contract/format/name.ts'
import type { InstanceView } from '../../electron/contract/instance/instance.ts'
import { lastSeenAt } from '../../electron/contract/outage.ts'
import { BerthError, type Problem } from '../../electron/contract/problem.ts'
import { accountNow } from '../../electron/contract/reading.ts'
import type { AccountView, State } from '../../electron/contract/state.ts'
import type { Link } from './link.ts'
import { now } from './now.svelte.ts'
import { afterOutage, type Remark, withRemark } from './remarks.ts'
import type { Reach } from './socket.ts'
import type { PageStream } from './stream.ts'
import { actionWords, type Undoable, undoables } from './undoables.ts'

/** What every part of the page may use: State as it is now, the commands, the streams, and a way to say something. */
export class Page {
  /** Undefined until the main process has first told it. Never changed in place. */
  state: State | undefined = $state.raw()
  #reach: Reach = $state('connecting')
  /** Epoch milliseconds of this machine. */
  #lostAt: number | undefined = $state()
  remarks: Remark[] = $state.raw([])
  /** What instances were told and is not answered yet, as the word for what they do meanwhile. */
  #pending: ReadonlyMap<string, string> = $state.raw(new Map())
  #link: Link | undefined
  #lastRemark = 0

  /** What instances of the account are about to be told, the newest last. */
  readonly undoables: readonly Undoable[] = $derived.by(() => {
    const { account } = this
    // Nothing is to be counted while there is nothing.
    return account && Object.keys(account.undoable).length > 0 ? undoables(account, now.ms) : []
  })

  /** The account that is shown. */
  readonly account: AccountView | undefined = $derived(this.state?.accounts[this.state.shown ?? ''])

  /** Whether the main process can be reached. */
  get reach(): Reach {
    return this.#reach
  }

  set reach(reach: Reach) {
    this.#reach = reach
    if (reach === 'connected') this.#lostAt = undefined
    else if (reach === 'lost') this.#lostAt ??= Date.now()
  }

  attach(link: Link): void {
    this.#link = link
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
    return this.account ? accountNow(this.account.clock, now.ms) : now.ms / 1000
  }

  /**
   * Seconds of this machine's time until a moment of the account's (epoch seconds), 0 once it has passed: what is
   * counted down is counted as the user's clock goes, also where the account's runs faster.
   */
  secondsUntil(at: number): number {
    return Math.max(0, (at - this.accountNow) / (this.account?.clock.rate ?? 1))
  }

  /** When what is shown of the account was last seen (its time, epoch seconds); undefined while it is seen. */
  get asOf(): number | undefined {
    if (!this.account) return undefined
    const lost = this.#lostAt === undefined ? undefined : accountNow(this.account.clock, this.#lostAt)
    return lastSeenAt(this.account.connection) ?? lost
  }

  /** Whether it is said above every screen why the account is not seen: no part of a screen says it once more. */
  readonly outageShown: boolean = $derived.by(() => {
    const status = this.account?.connection.status
    return this.#reach === 'lost' || status === 'offline' || status === 'refused' || status === 'locked'
  })

  /** The moment for which what grows with time is told (account time, epoch seconds): now, or when it was last seen. */
  get figuresAt(): number {
    return this.asOf ?? this.accountNow
  }

  /** Shows a remark for a moment. */
  say(title: string, body?: string): void {
    this.#add({ title, body })
  }

  /**
   * Waits for a command and says so when it is refused, with `failed` before the reason. Gives its answer, or undefined
   * after a refusal. What was refused before is history once something else is tried.
   */
  async attempt<Answer>(doing: Promise<Answer>, failed?: string): Promise<Answer | undefined> {
    if (this.remarks.some(({ problem }) => problem))
      this.remarks = this.remarks.filter(({ problem }) => !problem)
    try {
      return await doing
    } catch (error) {
      const problem = problemOf(error)
      this.#add({ title: failed === undefined ? problem.message : `${failed}: ${problem.message}`, problem })
      return undefined
    }
  }

  /** `attempt` for what an instance is told to do, once at a time: until it is answered, the instance is said to do it. */
  async tell(instance: number, word: string, doing: () => Promise<unknown>, failed: string): Promise<void> {
    const key = this.#instanceKey(instance)
    if (this.#pending.has(key)) return
    this.#pending = new Map([...this.#pending, [key, word]])
    await this.attempt(doing(), failed)
    this.#pending = new Map([...this.#pending].filter(([other]) => other !== key))
  }

  /** `tell` in five seconds, unless it is undone. */
  actSoon(instance: InstanceView, action: UndoableAction): Promise<void> {
    const { doing, name } = actionWords[action]
    const account = this.account?.id
    return this.tell(
      instance.id,
      doing,
      () => this.berth.actSoon({ ...(account !== undefined && { account }), instance: instance.id, action }),
      `${name} of ${instanceName(instance)} failed`,
    )
  }

  /** Calls off what is not sent yet: the newest, without `chosen`. False where there is nothing. */
  undo(chosen: Undoable | undefined = this.undoables.at(-1)): boolean {
    if (!chosen) return false
    const { account, instance, undone } = chosen
    void this.attempt(this.berth.undoAction({ account, instance }).then(() => this.say(undone)))
    return true
  }

  /** What an instance of the shown account does since it was told to, until that is answered. */
  pendingAction(instance: number): string | undefined {
    const soon = this.account?.undoable[instance]
    return soon ? actionWords[soon.action].doing : this.#pending.get(this.#instanceKey(instance))
  }

  #instanceKey(instance: number): string {
    return `${this.state?.shown} ${instance}`
  }

  forget(id: number): void {
    this.remarks = this.remarks.filter(remark => remark.id !== id)
  }

  /** The account answers again: that it did not is history. */
  forgetOutage(): void {
    this.remarks = afterOutage(this.remarks)
  }

  #add(remark: Omit<Remark, 'id'>): void {
    this.remarks = withRemark(this.remarks, { id: ++this.#lastRemark, ...remark })
  }
}

/** The Problem inside whatever was thrown. */
export function problemOf(error: unknown): Problem {
  if (error instanceof BerthError) return error.problem
  return {
    code: 'page_error',
    message: 'Something on this page went wrong.',
    advice: error instanceof Error ? error.message : String(error),
  }
}

export const [usePage, providePage] = createContext<Page>()
