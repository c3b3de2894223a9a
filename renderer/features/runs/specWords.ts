import { rate } from '#shared/format/money.ts'
import { figure, gigabytes } from '#shared/format/size.ts'
import { usualMachine } from '#shared/project/project-defaults.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import { micros } from '#shared/spending/money.ts'

/** A project's demands on its machine, one by one: `RTX 4090 or RTX 3090`, `at most $0.600/h`. */
export function machineDemands({ machine = {} }: ProjectSpec): string[] {
  const { gpu, count = 1, vram, price, interruptible, region } = machine
  const { verified = usualMachine.verified, reliability = usualMachine.reliability } = machine
  const { download, upload, cuda } = machine
  const gpus = gpu === undefined ? 'any GPU' : [gpu].flat().join(' or ')
  return [
    count > 1 ? `${count} × ${gpus}` : gpus,
    vram !== undefined && `at least ${gigabytes(vram)} of VRAM`,
    price !== undefined && `at most ${rate(micros(price))}`,
    interruptible === true && 'interruptible',
    region !== undefined && `in ${[region].flat().join(' or ').toUpperCase()}`,
    verified && 'verified',
    `at least ${figure(reliability, 2)}% reliable`,
    download !== undefined && `at least ${figure(download / 1000, 3)} Gb/s down`,
    upload !== undefined && `at least ${figure(upload / 1000, 3)} Gb/s up`,
    cuda !== undefined && `CUDA ${figure(cuda, 1)} or newer`,
  ].filter(demand => demand !== false)
}
