import { moneyUp, rate, unitPrice } from '#shared/format/money.ts'
import { gpuWords } from '#shared/format/name.ts'
import { catalogueOf } from '#shared/market/catalogue.ts'
import { fieldsWith, type OfferView } from '#shared/market/offer.ts'
import { Sorter } from '#shared/market/offer-order.ts'
import type { OfferFilter } from '#shared/market/offer-query.ts'
import { defaultDisk, defaultImage } from '#shared/market/rental-defaults.ts'
import { isRenting } from '#shared/market/rental-view.ts'
import { dearerWay } from '#shared/spending/traffic.ts'
import type { AccountView, State } from '#shared/state.ts'
import { accountsOf, type Call, type CliCommand, cliDollars, polledState, print, table } from './call.ts'
import { CliFailure, exitCodes, usageFailure } from './failure.ts'
import { numberOf, secondsOf } from './options.ts'

/** Milliseconds to wait for a machine to be created, less than clients wait for an answer. */
const patience = 40_000
const mostOffers = 20

const columns = fieldsWith('cli').map(([, { cli }]) => cli)

export const search: CliCommand = {
  operands: '[GPU]',
  takes: [0, 1],
  summary: 'Search machines to rent now, the cheapest first; GPU is words of its name, such as "RTX 4090"',
  options: ['gpus', 'memory', 'max-price', 'disk', 'account', 'json'],
  async run(call) {
    const { given, operands } = call
    const { account } = await shownAccount(call)
    const found = await searchedOffers(call, account, {
      disk: numberOf('--disk', given.disk) ?? defaultDisk,
      filter: {
        text: operands[0],
        countFrom: numberOf('--gpus', given.gpus),
        memoryFrom: numberOf('--memory', given.memory),
        priceTo: numberOf('--max-price', given['max-price']),
      },
    })
    const offers = found.slice(0, mostOffers).map(offerJson)
    if (call.json) print(call, { account: account.id, found: found.length, offers })
    else if (offers.length > 0)
      call.write(
        table(
          columns.map(({ title }) => title),
          found.slice(0, mostOffers).map(offer => columns.map(({ words }) => words(offer))),
        ),
      )
    else call.say('No offer fits.')
    return undefined
  },
}

export const rent: CliCommand = {
  operands: 'OFFER',
  takes: [1, 1],
  summary:
    'Rent an offer of search; without --yes, only print what it costs. With --for, it’s destroyed after that time',
  options: ['for', 'image', 'disk', 'label', 'yes', 'account', 'json'],
  async run(call) {
    const { given, operands, yes } = call
    const offer = numberOf('OFFER', operands[0]) ?? 0
    const disk = numberOf('--disk', given.disk) ?? defaultDisk
    const seconds = secondsOf('--for', given.for)
    const { account } = await shownAccount(call)
    const rental = { offer, disk, image: given.image ?? defaultImage, label: given.label, seconds }
    if (yes) {
      const answer = await rented(call, account, rental)
      if (call.json) print(call, { account: account.id, ...answer })
      else call.write(`${answer.instance ?? answer.rental}\n`)
      return undefined
    }
    const found = (await searchedOffers(call, account, { disk, filter: {} })).find(({ id }) => id === offer)
    if (!found) throw noSuchOffer(offer)
    const { gpu, pricePerHour } = offerJson(found)
    const costsAtMost =
      seconds === undefined || pricePerHour === null ? null : (pricePerHour * seconds) / 3600
    const plan = {
      offer,
      gpu,
      pricePerHour,
      disk,
      image: rental.image,
      lastsAtMost: seconds ?? null,
      costsAtMost,
      trafficPricePerGb: dearerWay(found) || null,
    }
    if (call.json) print(call, { account: account.id, ...plan })
    else {
      const most =
        costsAtMost === null ? 'until you stop or destroy it' : `at most ${moneyUp(costsAtMost * 1e6)}`
      const perHour = found.price === undefined ? 'an unknown price' : rate(found.price)
      const traffic = plan.trafficPricePerGb
      const more = traffic === null ? '' : `, plus traffic at up to ${unitPrice(traffic)}/GB`
      call.write(`${gpuWords(found)} for ${perHour}, ${most}${more}\n`)
    }
    throw new CliFailure(exitCodes.refused, {
      code: 'needs_yes',
      message: 'Nothing was rented.',
      advice: 'Add --yes to rent it.',
    })
  },
}

function noSuchOffer(offer: number): CliFailure {
  return new CliFailure(exitCodes.unknown, {
    code: 'no_such_offer',
    message: `No offer has the id ${offer} now.`,
    advice: 'List them: berth search',
  })
}

/** What to search for: GB of disk in the price, and filters. */
interface Wanted {
  disk: number
  filter: OfferFilter
}

/** The offers that fit, the cheapest first. */
export async function searchedOffers(
  { connection }: Call,
  { id: account }: AccountView,
  { disk, filter }: Wanted,
): Promise<OfferView[]> {
  if (disk > 100_000) throw usageFailure('--disk takes at most 100000 GB.')
  const query = { type: 'on-demand', verifiedOnly: true, storage: disk, limit: 5000 } as const
  const { offers } = await connection.command('searchOffers', { account, query, filter })
  const order = { column: 'price', descending: false } as const
  return new Sorter(catalogueOf(offers, query.type)).order(order, filter).map(({ offer, price }) => ({
    ...offer,
    price,
  }))
}

/** The first of them in JSON. Scripts rely on these fields: they are added, never renamed. */
export function offerJson({ id, gpuName, gpuCount, price, reliability, location }: OfferView) {
  return {
    offer: id,
    gpu: { name: gpuName ?? null, count: gpuCount ?? null },
    pricePerHour: price === undefined ? null : cliDollars(price),
    reliability: reliability ?? null,
    location: location ?? null,
  }
}

interface Rental {
  offer: number
  image: string
  /** GB. */
  disk: number
  label?: string | undefined
  /** After which it is destroyed, by a watchdog on it while this computer sleeps. */
  seconds?: number | undefined
}

/** Rents; gives the rental once a list shows its machine, or as far as it is after a while. Throws where it failed. */
export async function rented(call: Call, account: AccountView, { seconds, ...what }: Rental) {
  const limits =
    seconds === undefined
      ? []
      : [{ when: { kind: 'duration', seconds }, action: 'destroy', asleep: true } as const]
  const rental = await call.connection.command('rent', {
    account: account.id,
    request: { ...what, access: 'ssh', env: [], ports: [], limits: [...limits] },
    byCommand: true,
  })
  return rentedJson(call, account.id, rental)
}

async function rentedJson({ connection }: Call, account: string, id: string) {
  const until = performance.now() + patience
  for (;;) {
    const { rentals, instances = {} } = (await connection.state()).accounts[account] ?? {}
    const rental = rentals?.[id]
    const left = until - performance.now()
    // Its mark is the rental's id. Where the service hides marks, the list has confirmed what the service named.
    const own =
      Object.values(instances).find(({ mark }) => mark === id)?.id ??
      (rental?.isOwn ? rental.instance : undefined)
    // One that is ready leaves the list.
    if (!rental) return { rental: id, step: 'ready', instance: own ?? null }
    if (own !== undefined || !isRenting(rental) || left <= 0) {
      const { step, problem } = rental
      if (step === 'failed' && problem) throw new CliFailure(exitCodes.failed, problem)
      return { rental: id, step, instance: own ?? null }
    }
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>(resolve => {
      timer = setTimeout(resolve, Math.min(left, 2000))
    })
    await Promise.race([connection.change(), late]).finally(() => clearTimeout(timer))
  }
}

/** The account of `--account`, else the one that Berth shows. */
export async function shownAccount(call: Call): Promise<{ account: AccountView; state: State }> {
  const state = await polledState(call)
  const account = call.account === undefined ? state.accounts[state.shown ?? ''] : accountsOf(call, state)[0]
  if (account) return { account, state }
  throw new CliFailure(exitCodes.unknown, { code: 'no_such_account', message: 'No account is connected.' })
}
