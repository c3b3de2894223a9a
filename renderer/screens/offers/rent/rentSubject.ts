import { noVolumeRoom, type StoredSecrets, volumeRoom } from '#renderer/features/market/rentForm.ts'
import type { VolumeView } from '#shared/account/hosting.ts'
import type { RunRequest } from '#shared/automation/run.ts'
import { diskRoom } from '#shared/format/size.ts'
import type { ListedOffer } from '#shared/market/catalogue.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { SavedQuery } from '#shared/market/offer-query.ts'
import type { RentRequest } from '#shared/market/rent-request.ts'
import type { TemplateView } from '#shared/market/template.ts'
import type { Micros } from '#shared/spending/money.ts'

/** The subject of a rent dialog, and its initial values. */
export interface RentSubject {
  offer: OfferView
  /** GB that the offer’s price includes; without it, the disk of `request`. */
  pricedDisk?: number
  /** Offers of other machines like its own, the cheapest first, to rent several. */
  alike?: readonly OfferView[]
  interruptible: boolean
  /** The template chosen beforehand. */
  template?: TemplateView
  /** The request of an earlier rental, which fills the dialog. */
  request?: Omit<RentRequest, 'offer'>
  /** The search that found the offer. */
  search?: SavedQuery
  /** The instance to destroy first. */
  replaces?: number
  /** Another way to rent than this one offer. */
  otherwise?: Otherwise
  /** The volume on its machine to mount; its id. */
  volume?: number
  /** The initial bid, dollars per hour; without it, just above the lowest. */
  bid?: string
  /** Set for a later rental, whose machine is not known yet. */
  later?: RentLater
}

/** The initial values of a rental that waits for its machine. */
export interface RentLater extends StoredSecrets {
  /** Dollars per hour. */
  bid: string
}

/** Another way to rent with the dialog's input. */
export interface Otherwise {
  /** Whether the input may be sent; errors are shown at their fields. */
  check(): boolean
  /** Micro-dollars that its attempts may cost before one is ready; undefined while it's no amount. */
  attempts?(): Micros | undefined
  /** Answers the rental, where it begins one. */
  send(request: RentRequest, run: RunRequest | undefined): Promise<string | undefined>
}

/**
 * The volumes on a machine, with their ids as text; undefined where there are none, so that one is named by its id.
 * `typed`: the form's id, which stays a choice even where it is not among them.
 */
export function volumeChoices(
  volumes: readonly VolumeView[],
  machine: number,
  typed: string,
): { value: string; label: string }[] | undefined {
  const there = volumes.filter(({ machineId }) => machineId === machine)
  if (there.length === 0) return undefined
  const choices = there.map(({ id, label, size }) => ({
    value: String(id),
    label: [label ?? `#${id}`, ...(size === undefined ? [] : [diskRoom(size)])].join(', '),
  }))
  const isOther = typed.trim() !== '' && !choices.some(({ value }) => value === typed.trim())
  return isOther ? [...choices, { value: typed, label: `#${typed.trim()}, not on this machine` }] : choices
}

/** Which volumes a rental may have, with the reason where some kind is missing. */
export interface VolumeWays {
  link: boolean
  new: boolean
  why?: string
}

/**
 * The volumes that can be mounted on the offer's machine, or on any that fits where it has no number. `volumes`: all of the
 * account, as far as they're known. `missing`: the service has none.
 */
export function volumeWays(
  offer: OfferView,
  { answer: volumes, missing }: { answer?: readonly VolumeView[]; missing: boolean },
): VolumeWays {
  if (missing) return { link: false, new: false, why: 'This service has no volumes.' }
  if (!volumes) return { link: false, new: false }
  const { machineId } = offer
  const link = volumes.some(volume => machineId === undefined || volume.machineId === machineId)
  if (volumeRoom(offer) >= 1)
    return {
      link,
      new: true,
      why: link || volumes.length === 0 ? undefined : 'None of yours is on this machine.',
    }
  return { link, new: false, why: noVolumeRoom }
}

/** A name for a new volume that no other has: `data`, `data_2`. */
export function volumeName(volumes: readonly VolumeView[]): string {
  const taken = new Set(volumes.map(({ label }) => label))
  let number = 1
  const name = () => (number === 1 ? 'data' : `data_${number}`)
  while (taken.has(name())) number += 1
  return name()
}

/** The offer as an example of the machine that is rented, which is not known yet. */
export function someMachine({ disk: _, volumeRoom: _room, machineId: _id, ...offer }: OfferView): OfferView {
  return offer
}

/** How much dearer a machine may be to count as alike. */
const alikeShare = 1.05

/** The offers of other machines with the same GPUs, as reliable and hardly dearer, the cheapest of each machine. */
export function alikeOffers(offers: readonly ListedOffer[], { offer, price }: ListedOffer): OfferView[] {
  const { machineId, gpuName, gpuCount, verified, reliability = 0 } = offer
  if (price === undefined || machineId === undefined || gpuName === undefined) return []
  const machines = new Set([machineId])
  return offers
    .filter(
      ({ offer: other, price: asked = Infinity }) =>
        other.gpuName === gpuName &&
        other.gpuCount === gpuCount &&
        asked <= price * alikeShare &&
        (other.verified === verified || other.verified === true) &&
        (other.reliability ?? 0) >= reliability - 0.01,
    )
    .toSorted((a, b) => (a.price ?? 0) - (b.price ?? 0))
    .flatMap(({ offer: other }) => {
      if (other.machineId === undefined || machines.has(other.machineId)) return []
      machines.add(other.machineId)
      return [other]
    })
}
