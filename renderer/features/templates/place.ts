import { gigabytes } from '#shared/format/size.ts'
import type { TemplateView } from '#shared/market/template.ts'

/** What the Templates screen shows, as the rest of its address says: `HASH`, `HASH/edit`, `new`, or `new/HASH` for a copy. */
export type TemplatePlace =
  | { kind: 'list' }
  | { kind: 'details' | 'edit'; hash: string }
  | { kind: 'new'; hash?: string }

export function templatePlaceOf(path: string): TemplatePlace {
  const [first, second] = path.split('/').filter(Boolean).map(decoded)
  if (first === undefined) return { kind: 'list' }
  if (first === 'new') return { kind: 'new', hash: second }
  return { kind: second === 'edit' ? 'edit' : 'details', hash: first }
}

export function pathOf(place: TemplatePlace): string {
  if (place.kind === 'list') return ''
  if (place.kind === 'new') return place.hash === undefined ? 'new' : `new/${encodeURIComponent(place.hash)}`
  return encodeURIComponent(place.hash) + (place.kind === 'edit' ? '/edit' : '')
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The template's ways in: `SSH, direct`, `JupyterLab, with SSH`. */
export function accessWords(template: TemplateView): string {
  const { runtype, sshDirect, useSsh, jupyterDirect, jupyterLab } = template
  if (runtype === 'jupyter')
    return [jupyterLab ? 'JupyterLab' : 'Jupyter', jupyterDirect && 'direct', useSsh && 'with SSH']
      .filter(Boolean)
      .join(', ')
  if (runtype === 'ssh' || useSsh) return sshDirect ? 'SSH, direct' : 'SSH'
  return runtype === 'args' ? 'image entrypoint' : 'not specified'
}

/** A volume hint in words (section 2.4). */
export function volumeInfoWords(info: Record<string, unknown>): string {
  const at = typeof info['mount_path'] === 'string' ? ` at ${info['mount_path']}` : ''
  const id = typeof info['volume_id'] === 'number' ? ` ${info['volume_id']}` : ''
  const size = typeof info['size'] === 'number' ? ` of ${gigabytes(info['size'])}` : ''
  return info['create_new'] === true ? `a new volume${size}${at}` : `volume${id}${at}`
}
