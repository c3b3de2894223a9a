import { gigabytes } from '../format/size.ts'
import { usualSetup } from './bounds.ts'
import type { ProjectSpec } from './spec.ts'

/** The setup of a run: image or template, disk, ports. */
export function setupWords({ image, template, disk, ports = [] }: ProjectSpec): string {
  return [
    image ?? (template === undefined ? usualSetup.image : `template ${template}`),
    `${gigabytes(disk ?? usualSetup.disk)} of disk`,
    ports.length > 0 && `${ports.length === 1 ? 'port' : 'ports'} ${ports.join(', ')}`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** The environment of the commands; of a secret its name alone. */
export function environmentOf({ env = {} }: ProjectSpec): { name: string; value: string; secret: boolean }[] {
  return Object.entries(env).map(([name, value]) =>
    typeof value === 'object'
      ? { name, value: value.secret, secret: true }
      : { name, value: String(value), secret: false },
  )
}
