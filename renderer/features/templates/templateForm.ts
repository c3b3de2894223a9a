import { firstPart, number, readForm, typedNumber } from '#renderer/components/fields/readForm.ts'
import type { VolumeDraft } from '#renderer/features/market/rentDraft.ts'
import type { Capabilities } from '#shared/account/capabilities.ts'
import { startScriptTooLong } from '#shared/market/rent-request.ts'
import { defaultDisk } from '#shared/market/rental-defaults.ts'
import { initialTemplate, TemplateFields, type TemplateView } from '#shared/market/template.ts'
import { type ConditionRow, conditionRows, readConditions } from './conditions.ts'

/** The editor's input as text, so that nothing is lost and each error can be shown at its field. */
export interface TemplateDraft extends Omit<TemplateFields, 'extraFilters' | 'disk' | 'volumeInfo'> {
  extraFilters: ConditionRow[]
  /** GB. */
  disk: string
  volumeInfo: VolumeHint
}

/** A volume that renting suggests. `rest`: the hint's other fields, which are kept. */
export interface VolumeHint extends VolumeDraft {
  rest: Record<string, unknown>
}

/** A message per field. */
export type TemplateErrors = { [Field in keyof TemplateFields]?: string }

/** The editor for a template; missing fields have the interface's defaults (section 2.3). */
export function draftOf(template: Partial<TemplateView>): TemplateDraft {
  const own = Object.entries(initialTemplate).map(([name, initial]) => [
    name,
    template[name as keyof TemplateView] ?? initial,
  ])
  const fields: TemplateFields = Object.fromEntries(own)
  return {
    ...fields,
    registryToken: undefined,
    extraFilters: conditionRows(fields.extraFilters),
    disk: String(fields.disk),
    private: template.private ?? template.hash === undefined,
    volumeInfo: volumeHint(fields.volumeInfo),
  }
}

/** The editor for a new template, which begins private and with SSH, as a rental does. */
export function newDraft(): TemplateDraft {
  return draftOf({ runtype: 'ssh', useSsh: true, sshDirect: true, disk: defaultDisk })
}

export function volumeHint(info: Record<string, unknown> | null): VolumeHint {
  const { create_new, volume_id, size, name, mount_path, ...others } = info ?? {}
  // With a new one it's the id of a volume offer, and so of one machine: kept, but not to be typed.
  const isOffer = create_new === true && volume_id !== undefined
  const number = (value: unknown) => (typeof value === 'number' ? String(value) : '')
  return {
    mode: info === null || Object.keys(info).length === 0 ? 'none' : create_new === true ? 'new' : 'link',
    volume: isOffer ? '' : number(volume_id),
    name: typeof name === 'string' ? name : '',
    size: number(size),
    mountPath: typeof mount_path === 'string' ? mount_path : '',
    rest: isOffer ? { ...others, volume_id } : others,
  }
}

/** The template of a draft, or its errors by field. */
export function readTemplate(
  draft: TemplateDraft,
  capabilities?: Capabilities,
): { fields: TemplateFields } | { errors: TemplateErrors } {
  const errors: TemplateErrors = {}
  const tooLong = startScriptTooLong(draft.onstart, capabilities)
  if (tooLong !== undefined) errors.onstart = tooLong
  const conditions = readConditions(draft.extraFilters)
  if (conditions.error !== undefined) errors.extraFilters = conditions.error
  const volumeInfo = readVolume(draft.volumeInfo, errors)
  if (draft.href.trim() !== '' && !/^https?:\/\/\S+$/i.test(draft.href.trim()))
    errors.href = 'A web address begins with http:// or https://.'
  if (/\s/.test(draft.image.trim()))
    errors.image = 'An image is written like pytorch/pytorch, without spaces.'
  if (/\s/.test(draft.tag.trim())) errors.tag = 'A tag has no spaces.'
  const { registryToken, ...texts } = draft
  const read = readForm(
    TemplateFields,
    {
      ...texts,
      tag: draft.tag.trim(),
      href: draft.href.trim(),
      registryToken,
      disk: number(draft.disk),
      extraFilters: conditions.filters,
      volumeInfo,
    },
    firstPart,
  )
  const all = { ...read.errors, ...errors }
  return read.errors || Object.keys(all).length > 0 ? { errors: all } : { fields: read.value }
}

/** The fields that differ from `before`, to be sent. An untouched token is left out. */
export function changesSince(
  before: TemplateDraft,
  draft: TemplateDraft,
  fields: TemplateFields,
): Partial<TemplateFields> {
  const changed = (Object.keys(draft) as (keyof TemplateDraft)[]).filter(
    field => JSON.stringify(draft[field]) !== JSON.stringify(before[field]),
  )
  return Object.fromEntries(changed.map(field => [field, fields[field]]))
}

function readVolume(hint: VolumeHint, errors: TemplateErrors): Record<string, unknown> | null {
  if (hint.mode === 'none') return null
  const volume = typedNumber(hint.volume)
  const size = typedNumber(hint.size)
  const create = hint.mode === 'new'
  const { volume_id: offer, ...others } = hint.rest
  const id = create ? offer : volume
  if (!create && volume !== undefined && !(Number.isInteger(volume) && volume > 0))
    errors.volumeInfo = 'A volume’s id is a whole number.'
  else if (create && size !== undefined && !(size > 0)) errors.volumeInfo = 'Enter the size in GB.'
  else if (!hint.mountPath.startsWith('/')) errors.volumeInfo = 'A mount path begins with /.'
  return {
    ...others,
    create_new: create,
    ...(id === undefined ? {} : { volume_id: id }),
    ...(create && hint.name.trim() !== '' ? { name: hint.name.trim() } : {}),
    ...(create && size !== undefined ? { size } : {}),
    mount_path: hint.mountPath,
  }
}
