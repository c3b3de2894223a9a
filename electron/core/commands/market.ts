import type {
  offerCommands,
  rentingCommands,
  templateCommands,
  watchCommands,
} from '#contract/commands/market.ts'
import type { Condition, Filters } from '#service/offers.ts'
import type { TemplateBody as ServiceFields, Template, TemplateSearchFields } from '#service/templates.ts'
import { firstBid } from '#shared/automation/bid.ts'
import type { RunRequest } from '#shared/automation/run.ts'
import { startScriptTooLong } from '#shared/market/rent-request.ts'
import type { Replacement } from '#shared/market/rental-view.ts'
import { type SearchPart, withoutParts } from '#shared/market/search-part.ts'
import {
  type TemplateFields,
  type TemplateFilter,
  type TemplateView,
  templateNames,
} from '#shared/market/template.ts'
import { BerthError } from '#shared/problem.ts'
import type { Session } from '../accounts/session.ts'
import type { HandlersOf } from '../bridge/dispatcher.ts'
import { needingPermission } from '../bridge/problems.ts'
import { believable } from '../instances/spending.ts'
import { findOffers, searchNarrowed } from '../market/find-offers.ts'
import { offerView } from '../market/offer-view.ts'
import { checkLengths } from '../renting/create.ts'
import { goodEnough } from '../renting/next-offer.ts'
import { asGoodAs, foundBy, type Replaced, requestAgain, requestLike } from '../renting/replacement.ts'
import { tellingUnread } from '../storage/store.ts'
import { newRunOf } from './projects.ts'
import { askOf, type Services, targetOf } from './services.ts'

/** Milliseconds: a search of the whole market has a large answer. */
const searchTimeout = 45_000

/** A tag as Docker takes it, and the number of them that are proposed. */
const isTag = /^\w[\w.-]{0,127}$/
const mostTags = 500

export function offerHandlers(parts: Services): HandlersOf<typeof offerCommands> {
  const { accounts, platform, searches, recentSearches, seenOffers, store } = parts
  return {
    async searchOffers({ account, query, filter = {}, maxAge }, { withdrawn, by }) {
      const session = accounts.session(account)
      const market = recentSearches.market(session.id, session.client.offers, maxAge)
      const searching = tellingUnread(store, session.id, 'offers', options =>
        findOffers(market, query, filter, { ...options, timeout: searchTimeout, withdrawn }),
      )
      const { offers, cap } = await needingPermission('misc', searching)
      seenOffers.remember(session.id, offers, by)
      const limited = cap !== undefined || offers.length >= query.limit
      return { offers, at: platform.clock.now() - market.age, limited, cap }
    },
    async recommendedBid({ account, id }) {
      return believable(await askOf(parts)(account, 'misc', ({ offers }) => offers.recommendedBid(id)))
    },
    async imageTags({ account, image, registry }, { withdrawn }) {
      const { registries } = accounts.session(account).client
      const tags = await registries.tags(image, registry, { withdrawn }).catch(() => [])
      return tags.filter(tag => isTag.test(tag)).slice(0, mostTags)
    },
    async checkRegistry({ account, registry }, { withdrawn }) {
      const { registries } = accounts.session(account).client
      const isTaken = await registries.takes(registry, { withdrawn }).catch(() => undefined)
      return isTaken === undefined ? 'unknown' : isTaken ? 'taken' : 'refused'
    },
    saveSearch: ({ name, search }) => searches.save(name, search),
    deleteSearch: ({ id }) => searches.delete(id),
  }
}

export function rentingHandlers(parts: Services): HandlersOf<typeof rentingCommands> {
  const { accounts, activity } = parts
  return {
    async rent({ account, request, replaces, search, run, byCommand }, { by }) {
      const session = accounts.session(account)
      const offer = parts.seenOffers.get(session.id, request.offer, by)
      parts.recentSearches.forget(session.id)
      if (replaces !== undefined) {
        targetOf(parts, { account: session.id, instance: replaces })
        await session.endings.request(replaces, 'destroy')
      }
      return withRun(session, run, id => session.rentals.rent(request, offer, { search, by, byCommand, id }))
    },
    async rentWithRetries({ account, search, request, limits, run }) {
      if ((search.query.type === 'bid') !== (request.bid !== undefined))
        throw new BerthError({
          code: 'invalid_argument',
          message: 'Only interruptible offers take a bid.',
          field: 'request.bid',
        })
      const session = accounts.session(account)
      checkLengths(request, parts.store.get().accounts[session.id])
      const retryRequest = { search, request, retries: limits, why: 'user' } as const
      return withRun(session, run, id => session.rentals.start(retryRequest, id))
    },
    cancelRental: ({ account, rental }) => accounts.session(account).rentals.cancel(rental),
    waitLonger: ({ account, rental }) => accounts.session(account).rentals.waitLonger(rental),
    resolveRental: ({ account, rental, instance }) =>
      accounts.session(account).rentals.resolve(rental, instance),
    dismissRental: ({ account, rental }) => accounts.session(account).rentals.dismiss(rental),
    async forgiveMachine({ account, machine }) {
      const { id, rentals } = accounts.session(account)
      await rentals.forgive(machine)
      activity.add({ account: id, kind: 'user', text: `Forgave machine ${machine}` })
    },
    async findReplacement({ without, ...args }) {
      const { instance, account } = targetOf(parts, args)
      const session = accounts.session(account)
      const attempt = session.rentals.ofInstance(instance.id)
      const record = session.record(instance.id)
      const request = attempt ? requestAgain(attempt) : requestLike(instance, record)
      const rental = attempt && foundBy(attempt)
      return bestOf(session, { request, rental, gpu: instance.gpu, record }, without, instance.machineId)
    },
    async findAgain({ account, rental: id, without }) {
      const session = accounts.session(account)
      const attempt = session.rentals.lastAttempt(id)
      return bestOf(session, { request: requestAgain(attempt), rental: foundBy(attempt) }, without)
    },
  }

  /** Rents; the run that is to follow on the machine, if there is one, is stored first, with the rental's id. */
  async function withRun(
    { automations }: Session,
    run: RunRequest | undefined,
    rent: (id?: string) => Promise<string>,
  ): Promise<string> {
    if (!run) return rent()
    const rental = `r${parts.platform.random.hex(16)}`
    return automations.runs.begin.startOn({ ...newRunOf(parts, run), rental }, () => rent(rental))
  }

  /** The best offer on a machine other than `machine` that is as good, and the request with a sufficient bid. */
  async function bestOf(
    { id, client, rentals }: Session,
    replaced: Replaced,
    without: readonly SearchPart[] = [],
    machine?: number,
  ): Promise<Replacement> {
    const { request } = replaced
    const search = asGoodAs(replaced)
    const { query, filter } = withoutParts(search, without)
    const found = await needingPermission('misc', searchNarrowed(client.offers, query, filter))
    const offers = found.map(offerView)
    parts.seenOffers.remember(id, offers)
    const order = { column: 'price', descending: false } as const
    const failed = rentals.hosts.view()
    const fitting = goodEnough(offers, { query, filter, order }, request, failed)
    const best = fitting.find(
      ({ offer }) => offer.machineId === undefined || offer.machineId !== machine,
    )?.offer
    if (!best || request.bid === undefined) return { request, search, offer: best }
    const bid = Math.max(request.bid, firstBid(best.minimumBid))
    return { request: { ...request, bid }, search, offer: best }
  }
}

export function watchHandlers(parts: Services): HandlersOf<typeof watchCommands> {
  const watches = (account: string | undefined) => parts.accounts.session(account).automations.watches
  const shownWatch = (account: string | undefined, watch = '') =>
    parts.store.get().accounts[parts.accounts.session(account).id]?.watches[watch]
  return {
    async saveWatch({ account, watch, request, run }) {
      const { id } = parts.accounts.session(account)
      if (request.rents) checkLengths(request.rents.request, parts.store.get().accounts[id])
      if (!run) return watches(account).save(watch, request)
      const before = shownWatch(account, watch)?.run?.into
      const newRun = newRunOf(parts, run)
      const stays = run.into === undefined && run.fetch !== undefined && before !== undefined
      return watches(account).save(watch, request, stays ? { ...newRun, into: before } : newRun)
    },
    pauseWatch: ({ account, watch, paused }) => watches(account).pause(watch, paused),
    deleteWatch: ({ account, watch }) => watches(account).delete(watch),
    searchWatch: ({ account, watch }) => watches(account).search(watch),
    watchPrices: async ({ account, watch }) => watches(account).prices(watch),
  }
}

/** Stored launch configurations (section 4.5). Activity names them, but never holds env or token. */
export function templateHandlers(parts: Services): HandlersOf<typeof templateCommands> {
  const { accounts, store } = parts
  const ask = askOf(parts)

  function checkStartScript(account: string, script: string | undefined): void {
    const problem = startScriptTooLong(script ?? '', store.get().accounts[account]?.capabilities)
    if (problem) throw new BerthError({ code: 'invalid_argument', message: problem, field: 'fields.onstart' })
  }

  return {
    async searchTemplates({ account, filters }) {
      const session = accounts.session(account)
      const found = await tellingUnread(store, session.id, 'templates', options =>
        needingPermission('user_read', session.client.templates.search(selectFilters(filters), options)),
      )
      const userId = () => store.get().accounts[session.id]?.userId
      // Until the first poll nobody knows whose they are, and the list is not read again for that.
      if (userId() === undefined) await session.poll()
      const user = userId()
      return found.map(template => templateView(template, user))
    },
    async createTemplate({ account, fields }) {
      const session = accounts.session(account)
      checkStartScript(session.id, fields.onstart)
      const { id, hash_id: hash } = await ask(
        session.id,
        'user_write',
        ({ templates }) => templates.create(templateBody(fields)),
        `Created template ${fields.name}`,
      )
      return { id, hash }
    },
    async editTemplate({ account, hash, changes }) {
      const session = accounts.session(account)
      checkStartScript(session.id, changes.onstart)
      const { hash_id: next, name = changes.name } = await ask(
        session.id,
        'user_write',
        ({ templates }) => templates.edit(hash, changesBody(changes)),
        edited => `Edited template ${edited.name ?? changes.name ?? hash}`,
      )
      await session.rentals.followTemplate(hash, next, name)
      return { hash: next }
    },
    deleteTemplate: ({ account, id }) =>
      ask(account, 'user_write', ({ templates }) => templates.remove(id), `Deleted template #${id}`),
  }
}

const names: Record<keyof TemplateFields, keyof ServiceFields> = templateNames
const ownFields = Object.keys(names) as (keyof TemplateFields)[]

/** The given fields under the names of section 2.3; absent ones stay unchanged. */
function changesBody(changes: Partial<TemplateFields>): Partial<ServiceFields> {
  const body = Object.fromEntries(ownFields.map(name => [names[name], changes[name]]))
  return changes.jupyterFolder === '' ? { ...body, jupyter_dir: null } : body
}

/** A new template. The registry's three fields are required (empty for public images), the tag is optional. */
function templateBody(fields: TemplateFields): ServiceFields {
  const { tag, ...rest } = changesBody(fields)
  return {
    ...rest,
    tag: tag || undefined,
    name: fields.name,
    image: fields.image,
    docker_login_repo: fields.registry,
    docker_login_user: fields.registryUser,
    docker_login_pass: fields.registryToken ?? '',
  }
}

/** `select_filters`. Where a field and operator come twice, the later counts. */
function selectFilters(filters: readonly TemplateFilter[]): Filters<TemplateSearchFields> {
  const conditions: Record<string, Condition<string | number | boolean>> = {}
  for (const { field, condition } of filters)
    conditions[field] = { ...conditions[field], [condition.operator]: condition.value }
  return conditions as Filters<TemplateSearchFields>
}

/** The view of a template's record, without the registry's token even where a service sends it. */
function templateView(template: Template, userId: number | undefined): TemplateView {
  const record: Readonly<Record<string, unknown>> = template
  const readable = ownFields.filter(name => name !== 'registryToken')
  const own: Partial<TemplateFields> = Object.fromEntries(readable.map(name => [name, record[names[name]]]))
  return {
    ...own,
    name: template.name.trim() || template.image || 'Without a name',
    hash: template.hash_id,
    id: template.id,
    creatorId: template.creator_id,
    own:
      template.creator_id === undefined || userId === undefined ? undefined : template.creator_id === userId,
    createdAt: template.created_at,
    recentlyUsedAt: template.recent_create_date,
    used: template.count_created,
    recommended: template.recommended,
    defaultTag: template.default_tag,
    runtype: runtypeOf(template.runtype),
  }
}

/** Deployments also send forms such as `jupyter_direc ssh_direc ssh_proxy` (FIELDS). */
function runtypeOf(runtype: string | undefined): TemplateFields['runtype'] | undefined {
  if (runtype === undefined) return undefined
  if (runtype.includes('jupyter')) return 'jupyter'
  return runtype.includes('ssh') ? 'ssh' : 'args'
}
