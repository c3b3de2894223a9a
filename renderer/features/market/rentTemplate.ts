import { catalogueOf } from '#shared/market/catalogue.ts'
import { activeParts, type FilterPart, filterWithout, offersPassing } from '#shared/market/filter.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { OfferQuery } from '#shared/market/offer-query.ts'
import type { RentRequest } from '#shared/market/rent-request.ts'
import type { TemplateView } from '#shared/market/template.ts'
import { envOf } from '../templates/dockerFlags.ts'
import { readExtraFilters } from '../templates/extraFilters.ts'
import { imageName } from '../templates/listing.ts'
import { volumeHint } from '../templates/templateForm.ts'
import { partNames, partWords } from './offerWords.ts'
import { noVolume, type RentDraft } from './rentDraft.ts'

/** What of a rental a template fills in, and the request may override. */
const filled = [
  'image',
  'access',
  'direct',
  'jupyterLab',
  'jupyterFolder',
  'disk',
  'onstart',
  'args',
  'volume',
] as const
export type FilledField = (typeof filled)[number]
export type FilledValues = Pick<RentDraft, FilledField>

/** A template that is rented from. Its values are absent while only its hash is known. */
export interface RentTemplate {
  hash: string
  name: string
  values?: {
    fields: FilledValues
    /** Merged with the request's, which win (section 4.2). */
    variables: ReadonlyMap<string, string>
    /** `8080`, `9000:80` or `53/udp`. */
    ports: ReadonlySet<string>
    /** The registry whose login it has. */
    registry: string
    extraFilters: Record<string, Record<string, unknown>>
  }
}

/** What renting from a template begins with; where it says nothing, `fresh` does. */
export function rentTemplate(template: TemplateView, fresh: FilledValues): RentTemplate {
  const { variables, ports } = envOf(template.env ?? '')
  const { rest: _rest, ...volume } = volumeHint(template.volumeInfo ?? null)
  return {
    hash: template.hash,
    name: template.name,
    values: {
      fields: {
        image: imageName(template) || fresh.image,
        ...waysIn(template, fresh),
        disk: template.disk === undefined ? fresh.disk : String(template.disk),
        onstart: template.onstart ?? '',
        args: template.args ?? '',
        volume: volume.mode === 'none' ? noVolume : volume,
      },
      variables,
      ports,
      registry: template.registry ?? '',
      extraFilters: template.extraFilters ?? {},
    },
  }
}

/** How one gets in. What a template says of Jupyter counts where it launches it. */
function waysIn(
  template: TemplateView,
  fresh: FilledValues,
): Pick<FilledValues, 'access' | 'direct' | 'jupyterLab' | 'jupyterFolder'> {
  const access = accessOf(template)
  const { sshDirect, jupyterDirect, jupyterLab = true, jupyterFolder = '' } = template
  if (access !== 'jupyter') {
    const { jupyterLab, jupyterFolder } = fresh
    return { access, direct: sshDirect ?? fresh.direct, jupyterLab, jupyterFolder }
  }
  const direct = sshDirect === undefined && jupyterDirect === undefined ? fresh.direct : undefined
  return { access, direct: direct ?? (sshDirect || jupyterDirect) === true, jupyterLab, jupyterFolder }
}

/** The launch mode that a template asks for. */
function accessOf({ runtype, useSsh }: TemplateView): RentDraft['access'] {
  if (runtype === 'jupyter') return 'jupyter'
  if (runtype === undefined) return useSsh === true ? 'ssh' : 'none'
  return runtype === 'ssh' ? 'ssh' : 'none'
}

export function filledValues(draft: RentDraft): FilledValues {
  const { image, access, direct, jupyterLab, jupyterFolder, disk, onstart, args, volume } = draft
  return { image, access, direct, jupyterLab, jupyterFolder, disk, onstart, args, volume }
}

/** Puts other values where nothing of the user's own was typed: where the draft still has those it began with. */
export function withFilled(draft: RentDraft, began: FilledValues, now: FilledValues): RentDraft {
  const changes = filled.filter(field => alike(draft[field], began[field])).map(field => [field, now[field]])
  return { ...draft, ...structuredClone(Object.fromEntries(changes)) }
}

/** Fills in what a rental that was remembered had left to its template, now that this is known. */
export function withLeftOut(
  draft: RentDraft,
  remembered: Partial<RentRequest> | undefined,
  { image, onstart, args, jupyterLab, jupyterFolder }: FilledValues,
): RentDraft {
  return {
    ...draft,
    image: draft.image || image,
    onstart: remembered?.onstart === undefined ? draft.onstart || onstart : draft.onstart,
    args: remembered?.args === undefined ? draft.args || args : draft.args,
    ...(remembered?.jupyter === undefined && { jupyterLab, jupyterFolder }),
  }
}

/** Fields in which the draft says something else than its template. */
export function overridden(draft: RentDraft, template: RentTemplate | undefined): FilledField[] {
  const fields = template?.values?.fields
  if (!fields) return []
  return filled.filter(field => {
    if (!counts(field, draft.access)) return false
    return !alike(draft[field], fields[field])
  })
}

/** Whether a field says anything with that way in. */
function counts(field: FilledField, access: RentDraft['access']): boolean {
  if (field === 'args') return access === 'none'
  if (field === 'direct') return access !== 'none'
  return !field.startsWith('jupyter') || access === 'jupyter'
}

/** What of the template's machine filters this offer does not meet, in words; conditions that the page cannot tell are left out. */
export function unmetConditions(
  template: RentTemplate,
  offer: OfferView,
  type: OfferQuery['type'],
): string[] {
  const { filter, verifiedOnly } = readExtraFilters(template.values?.extraFilters ?? {})
  const { offers } = catalogueOf([offer], type)
  const parts = activeParts(filter)
    .filter(part => fails(part))
    .map(part => `${partNames[part]} ${partWords(filter, part)}`)
  return verifiedOnly && offer.verified === false ? [...parts, 'a verified host'] : parts

  function fails(part: FilterPart): boolean {
    const rest = activeParts(filter).filter(each => each !== part)
    return offersPassing(offers, rest.reduce(filterWithout, filter)).length === 0
  }
}

function alike(left: unknown, right: unknown): boolean {
  if (typeof left === 'string' && typeof right === 'string') return left.trim() === right.trim()
  return JSON.stringify(left) === JSON.stringify(right)
}
