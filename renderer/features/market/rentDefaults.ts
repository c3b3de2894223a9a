import { firstBid } from '#shared/automation/bid.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { OfferFilter, OfferQuery } from '#shared/market/offer-query.ts'
import type { RegistryLogin, RentRequest } from '#shared/market/rent-request.ts'
import { defaultDisk, defaultImage, defaultReliability } from '#shared/market/rental-defaults.ts'
import type { AccountView } from '#shared/state.ts'
import { firstLimits } from '../limits/rentalLimits.ts'
import { noVolume, type RentDraft, type VolumeDraft } from './rentDraft.ts'

/** That of a public image. */
export const noRegistry: RegistryLogin = { server: '', user: '', token: '' }

/** Nothing is filled in yet. */
export function emptyDraft(): RentDraft {
  return {
    image: '',
    access: 'ssh',
    direct: true,
    jupyterLab: true,
    jupyterFolder: '',
    disk: '',
    env: [],
    ports: '',
    onstart: '',
    args: '',
    volume: noVolume,
    registry: noRegistry,
    label: '',
    bid: '',
    recovery: 'tell',
    ceiling: '',
    traffic: '',
    limits: [],
  }
}

/** Defaults of a new rental: image, disk and access of the newest one, else what suits most. */
export function freshDraft(account: AccountView | undefined, offer: OfferView): RentDraft {
  return {
    ...emptyDraft(),
    ...usualWay(account),
    disk: String(fitting(usualDisk(account), offer)),
    bid: firstBid(offer.minimumBid).toFixed(3),
    limits: firstLimits(account),
  }
}

/** The dialog filled from an earlier rental, for another try elsewhere. */
export function draftFrom(request: Omit<RentRequest, 'offer'>, offer: OfferView): RentDraft {
  return {
    image: request.image,
    access: request.access,
    direct: request.direct ?? true,
    jupyterLab: request.jupyter?.lab ?? true,
    jupyterFolder: request.jupyter?.folder ?? '',
    disk: String(request.disk),
    env: request.env.map((variable, key) => ({ key, ...variable })),
    ports: request.ports.map(port => portText(port)).join(', '),
    onstart: request.onstart ?? '',
    args: request.args ?? '',
    volume: volumeDraft(request.volume),
    registry: request.registry ?? noRegistry,
    label: request.label ?? '',
    recovery: request.recovery?.kind ?? 'tell',
    ceiling: request.recovery && request.recovery.kind !== 'tell' ? String(request.recovery.ceiling) : '',
    bid: Math.max(request.bid ?? 0, firstBid(offer.minimumBid)).toFixed(3),
    traffic: request.traffic === undefined ? '' : String(request.traffic),
    limits: request.limits ?? [],
  }
}

function volumeDraft(volume: RentRequest['volume']): VolumeDraft {
  if (!volume) return noVolume
  const { mountPath } = volume
  return volume.create
    ? { ...noVolume, mode: 'new', name: volume.name ?? '', size: String(volume.size), mountPath }
    : { ...noVolume, mode: 'link', volume: String(volume.volume), mountPath }
}

/** Image and access of the newest rental, else common defaults. */
export function usualWay(account: AccountView | undefined): Pick<RentDraft, 'image' | 'access'> {
  const last = newest(account)
  return { image: last?.image ?? defaultImage, access: last?.access ?? 'ssh' }
}

/** GB that a new rental asks for, as far as is known before an offer is chosen. */
export function usualDisk(account: AccountView | undefined): number {
  return newest(account)?.disk ?? defaultDisk
}

function portText({ container, outside, protocol }: RentRequest['ports'][number]): string {
  return `${outside === undefined ? '' : `${outside}:`}${container}${protocol === 'udp' ? '/udp' : ''}`
}

function fitting(disk: number, offer: OfferView): number {
  return offer.disk === undefined ? disk : Math.min(disk, Math.max(1, Math.floor(offer.disk)))
}

interface LastRental {
  image: string | undefined
  access: RentRequest['access'] | undefined
  disk: number | undefined
}

/**
 * The newest rental. A rental from a template is no model for one without it, as variables and ports would be missing.
 */
function newest(account: AccountView | undefined): LastRental | undefined {
  if (!account) return undefined
  const rentals = Object.values(account.rentals)
  const fromTemplate = new Set(rentals.flatMap(({ template, instance }) => (template ? instance : [])))
  const rental = rentals
    .filter(({ template }) => !template)
    .reduce<(typeof rentals)[number] | undefined>(
      (best, each) => (best && best.startedAt >= each.startedAt ? best : each),
      undefined,
    )
  const instances = Object.values(account.instances).filter(
    ({ id, template }) => !template && !fromTemplate.has(id),
  )
  const instance =
    instances.find(each => each.id === rental?.instance) ??
    (rental ? undefined : instances.reduce<InstanceView | undefined>(later, undefined))
  if (!rental && !instance) return undefined
  return {
    image: rental?.image || instance?.image,
    access: accessOf(instance?.runtype),
    disk: instance?.disk?.size === undefined ? undefined : Math.round(instance.disk.size),
  }
}

function later(best: InstanceView | undefined, each: InstanceView): InstanceView {
  return best && (best.startedAt ?? best.id) >= (each.startedAt ?? each.id) ? best : each
}

function accessOf(runtype: string | undefined): RentRequest['access'] | undefined {
  if (runtype?.includes('jupyter')) return 'jupyter'
  return runtype?.includes('ssh') ? 'ssh' : undefined
}

/** As many offers as the page asks for. */
export const mostOffers = 10_000

/** The default search: all GPUs of verified hosts, with the last rental's disk. */
export function usualQuery(account: AccountView | undefined): OfferQuery {
  return { type: 'on-demand', verifiedOnly: true, storage: usualDisk(account), limit: mostOffers }
}

/** Reliable hosts: shown to those who have not looked for anything yet, and again after a reset. */
export const usualFilter: OfferFilter = { reliabilityFrom: defaultReliability }

/** Whether a market has any of that. */
export function hasUsual(offers: readonly OfferView[]): boolean {
  return offers.some(({ reliability }) => reliability !== undefined && reliability >= defaultReliability)
}
