import type { Endings } from '#core/endings/perform.ts'
import { instanceView } from '#core/instances/instance-view.ts'
import { askForOne } from '#core/instances/poll-account.ts'
import { secretsEntry } from '#core/market/request-secrets.ts'
import { openRentals, type Rentals } from '#core/renting/rentals.ts'
import type { BrokenFile } from '#core/storage/json-file.ts'
import { notedKeychain } from '#core/storage/noted-keychain.ts'
import { createStore } from '#core/storage/store.ts'
import type { FullClient } from '#service/client.ts'
import type { DialectMemory } from '#service/dialect.ts'
import type { Send } from '#service/http/operation.ts'
import { instances } from '#service/instances.ts'
import { offers } from '#service/offers.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { account, accountContext, freshAnswer, withEndings } from '#test/berth/account-context.ts'
import type { HandClock } from '#test/berth/clocks.ts'
import { type MemoryFiles, testKeychain } from '#test/berth/machine.ts'
import { accountView, emptyState } from '#test/unit/views.ts'
import { neighbours } from '../some-rental.ts'
import { inTurn, type Turns } from './turns.ts'

type Instances = Readonly<Record<string, InstanceView>>

/** The computer that Berth runs on, which survives a kill. */
export interface Machine {
  turns: Turns
  clock: HandClock
  files: MemoryFiles
  keychain: Map<string, string>
  /** The instances that were shown last. */
  shown: Instances
  /** Sends the client’s requests. */
  send: Send
  /** The account's time, as this machine has learned it: epoch seconds. */
  now(): number
  newId(): string
  /** Called with each poll; `follow` passes it to the rentals. */
  onPoll(instances: Instances, follow: () => void): void
}

/** The rentals of one account, in one process of Berth. */
export interface Berth {
  rentals: Rentals
  /** Polls the account, once more after a poll in progress. */
  poll(): void
  /** Kills it: nothing it still does takes effect. */
  kill(): void
}

export async function startBerth(platform: Machine): Promise<Berth> {
  const { turns, clock, now, newId } = platform
  const dead = new AbortController()
  const { signal } = dead
  // The client repeats nothing here, so that the rentals meet every failure.
  const dialect: DialectMemory = { get: () => ({ list: 'v0' }), set: () => undefined }
  const { send } = platform
  const client = { instances: instances(send, dialect), offers: offers(send, dialect) } as FullClient
  const views = { [account]: accountView({ id: account, instances: platform.shown }) }
  const store = createStore({ ...emptyState(), accounts: views })
  let rentals: Rentals | undefined
  let endings: Endings | undefined
  let polling = false
  let again = false

  async function poll(): Promise<void> {
    again = polling
    if (polling) return
    polling = true
    const begunAt = clock.monotonic()
    const list = await client.instances.list({ signal }).catch(() => undefined)
    const missing = endings?.allPending().filter(id => !list?.instances.some(one => one.id === id)) ?? []
    const gone = new Set<number>()
    for (const id of missing) if ((await askForOne(client, id, signal)) === 'gone') gone.add(id)
    polling = false
    if (list) {
      const shown = list.instances.map(record => instanceView(record, platform.shown[record.id], now()))
      platform.shown = Object.fromEntries(shown.map(view => [view.id, view]))
      store.change(draft => {
        const target = draft.accounts[account]
        if (target) target.instances = platform.shown
      })
      const answer = freshAnswer({ store }, platform.shown, list.instances, now())
      platform.onPoll(platform.shown, () => {
        rentals?.onPoll(answer)
        endings?.onPoll({ account: answer.account, gone, begunAt, at: now() })
      })
    }
    if (again) void poll()
  }

  async function open(): Promise<void> {
    const files = inTurn(platform.files, ['write', 'delete'], turns, signal)
    const entries = testKeychain(platform.keychain)
    const onBroken = ({ name }: BrokenFile) => {
      throw new Error(`${name} is broken`)
    }
    const inKeychain = inTurn(entries, ['get', 'set', 'delete'], turns, signal)
    const keychain = await notedKeychain(inKeychain, { files, platform: { clock }, onBroken })
    const context = accountContext({
      clock,
      store,
      files,
      keychain,
      client: () => client,
      quitting: signal,
      now,
      newId,
      poll,
      onBroken,
    })
    endings = await withEndings(context, () => client)
    const opened = await openRentals(context, neighbours, { actedOn: () => undefined })
    await keychain.keepOnly(new Set(opened.secretOwners().map(secretsEntry)))
    rentals = opened
  }

  const opened = open()
  while (!rentals) await Promise.race([opened, turns.give(0)])
  rentals.resume()
  return { rentals, poll: () => void poll(), kill: () => dead.abort() }
}
