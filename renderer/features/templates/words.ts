import { gigabytes } from '#contract/format/size.ts'
import type { TemplateView } from '#contract/market/template.ts'

/** The template's ways in: `SSH, direct`, `JupyterLab, with SSH`. */
export function accessWords(template: TemplateView): string {
  const { runtype, sshDirect, useSsh, jupyterDirect, jupyterLab } = template
  if (runtype === 'jupyter')
    return [jupyterLab ? 'JupyterLab' : 'Jupyter', jupyterDirect && 'direct', useSsh && 'with SSH']
      .filter(Boolean)
      .join(', ')
  if (runtype === 'ssh' || useSsh) return sshDirect ? 'SSH, direct' : 'SSH'
  return runtype === 'args' ? 'image entrypoint' : 'not said'
}

/** A volume hint in words (section 2.4). */
export function volumeWords(info: Record<string, unknown>): string {
  const at = typeof info['mount_path'] === 'string' ? ` at ${info['mount_path']}` : ''
  const id = typeof info['volume_id'] === 'number' ? ` ${info['volume_id']}` : ''
  const size = typeof info['size'] === 'number' ? ` of ${gigabytes(info['size'])}` : ''
  return info['create_new'] === true ? `a new volume${size}${at}` : `volume${id}${at}`
}
