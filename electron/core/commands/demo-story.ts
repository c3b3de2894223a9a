import { sleep } from '#platform/tasks.ts'
import { firstBid } from '#shared/automation/bid.ts'
import { money, rate } from '#shared/format/money.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { OfferFilter, OfferQuery } from '#shared/market/offer-query.ts'
import { defaultDisk, defaultReliability } from '#shared/market/rental-defaults.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'
import { problemOf } from '../bridge/problems.ts'
import type { DemoControls } from '../demo.ts'
import { searchNarrowed } from '../market/find-offers.ts'
import { offerView } from '../market/offer-view.ts'
import { newRunOf } from './projects.ts'
import type { Services } from './services.ts'

/** Milliseconds of this machine for each step at most, and for reading a step at least. */
const patience = 90_000
const readable = 6_000
const steps = 4
const query: OfferQuery = { type: 'on-demand', verifiedOnly: true, storage: defaultDisk, limit: 500 }
const filter: OfferFilter = { gpus: ['RTX 4090'], countTo: 1, reliabilityFrom: defaultReliability }
const image = 'pytorch/pytorch'

/**
 * Plays a day with Berth in the demo in about a minute, by a user's commands and the demo's events: a training whose
 * results are downloaded, a lost bid that is raised, a watchdog that acts. State shows each step. Resolves once it has
 * ended in any way, also by the signal.
 */
export async function playStory(parts: Services, controls: DemoControls, signal: AbortSignal): Promise<void> {
  const { store, accounts } = parts
  const session = accounts.session('demo')
  const tell = (step: number, text: string) =>
    store.change(draft => {
      draft.story = { step, of: steps, text }
    })
  tell(1, 'Berth rents three machines: one to train on, one for the lowest bid, one for a notebook.')
  try {
    const { automations, rentals } = session
    const [first, second, third] = await threeOffers()
    const request = { image, access: 'ssh' as const, disk: defaultDisk, env: [], ports: [] }
    const finetune = `r${parts.platform.random.hex(16)}`
    const command = 'python3 train.py'
    const training = newRunOf(parts, {
      command,
      name: 'training',
      fetch: '/root/results',
      afterwards: 'stop',
      watchdog: false,
      stuckAfter: 0,
      afterwardsIfStuck: false,
    })
    await automations.runs.begin.startOn({ ...training, rental: finetune }, () =>
      rentals.rent({ ...request, offer: first.id, label: 'finetune' }, first, { id: finetune }),
    )
    const bid = firstBid(second.minimumBid)
    const batch = await rentals.rent({ ...request, offer: second.id, label: 'night batch', bid }, second)
    const notebook = await rentals.rent({ ...request, offer: third.id, label: 'notebook' }, third)

    const bidder = await until(account => running(account, batch))
    const ceiling = Math.ceil(bid * 3000) / 1000
    await automations.recoveries.choose(bidder, { kind: 'raise', ceiling, every: 30 })
    const { id: sleeper } = await until(account => running(account, notebook))
    const at = Math.round(session.now()) + 45 * 60
    const limit = {
      when: { kind: 'time', at },
      action: 'stop',
      asleep: true,
      warning: 0,
      missed: 'act',
    } as const
    await automations.limits.set({ instance: sleeper, ...limit })

    tell(2, '“finetune” is training. Then Berth downloads its results and stops it: see its Limits.')
    await until(({ runs }) => Object.values(runs).find(run => run.rental === finetune && run.lastLine !== ''))
    await pause()
    tell(3, `Someone outbids “night batch”. Berth raises the bid, up to ${rate(ceiling * 1_000_000)}.`)
    controls.outbid(bidder.id)
    await until(({ recoveries }) => (recoveries[bidder.id]?.raises ?? 0) > 0 || undefined)
    await until(account => running(account, batch))
    await until(({ runs }) => Object.values(runs).find(run => run.rental === finetune && run.endedAt))
    await until(({ runs }) => Object.values(runs).find(run => run.rental === finetune && run.step === 'done'))
    tell(4, 'This computer sleeps for an hour. The watchdog on “notebook” keeps running and stops it.')
    await pause()
    controls.advance(3600)
    await until(({ watchdogs }) => watchdogs[sleeper]?.lastAction)
    const saved = 8 * ((first.price ?? 0) + (third.price ?? 0))
    tell(
      0,
      `Berth saved you ${money(saved)}: two machines stopped 8 h early. ` +
        `“night batch” has no limit and runs on.`,
    )
  } catch (error) {
    tell(
      0,
      signal.aborted
        ? 'You stopped the demo day. Its instances stay as they are.'
        : `The demo day ended early. ${problemOf(error).message}`,
    )
  }

  function pause(): Promise<void> {
    return sleep(parts.platform.clock, readable, signal).catch(() => {
      throw new BerthError(stopped)
    })
  }

  /** The offers of three machines, so that an event on one does not affect the others. */
  async function threeOffers(): Promise<[OfferView, OfferView, OfferView]> {
    const found = (await searchNarrowed(session.client.offers, query, filter)).map(offerView)
    const machines = new Map(found.toReversed().map(offer => [offer.machineId, offer]))
    const [first, second, third] = [...machines.values()].toReversed()
    if (!first || !second || !third) throw new BerthError(tooFew)
    return [first, second, third]
  }

  /** The instance of a rental, once it runs. */
  function running({ instances }: AccountView, rental: string): InstanceView | undefined {
    const instance = instances[session.rentals.lastAttempt(rental).instance ?? 0]
    return instance?.state === 'running' ? instance : undefined
  }

  /** Waits until `find` finds something in the demo's account. Throws `story_stuck` after `patience`. */
  function until<Found>(find: (account: AccountView) => Found | undefined): Promise<Found> {
    return new Promise((resolve, reject) => {
      const cancel = parts.platform.clock.after(patience, () => leave(tooSlow))
      const ignore = store.onChange(check)
      signal.addEventListener('abort', stop)
      if (signal.aborted) return stop()
      check()

      function check(): void {
        const account = store.get().accounts['demo']
        const found = account && find(account)
        if (found === undefined) return
        cleanUp()
        resolve(found)
      }
      function stop(): void {
        leave(stopped)
      }
      function leave(problem: Problem): void {
        cleanUp()
        reject(new BerthError(problem))
      }
      function cleanUp(): void {
        cancel()
        ignore()
        signal.removeEventListener('abort', stop)
      }
    })
  }
}

const tooFew: Problem = { code: 'no_machines', message: 'The demo’s market has too few machines left.' }
const stopped: Problem = { code: 'story_stopped', message: 'You stopped the demo day.' }
const tooSlow: Problem = { code: 'story_stuck', message: 'A step took too long on this computer.' }
