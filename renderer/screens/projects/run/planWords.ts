import { named } from '../../../../electron/contract/format/list.ts'
import { counted } from '../../../../electron/contract/format/size.ts'
import { duration } from '../../../../electron/contract/format/time.ts'
import type { ProjectSpec } from '../../../../electron/contract/project/spec.ts'

/** Sentences on the results, the end of the machine, and going on elsewhere after being outbid. */
export function afterwardsWords({ results, checkpoint, after, outbid }: ProjectSpec): string[] {
  const home = results === undefined ? [] : [results].flat()
  return [
    home.length === 0
      ? 'No results come home: none are named.'
      : `${named(home)} ${home.length === 1 ? 'comes' : 'come'} home${checkpoint === undefined ? '' : `, every ${duration(checkpoint)} and at the end`}.`,
    after === 'stop'
      ? 'Then the machine is stopped: its disk goes on costing until you destroy it.'
      : 'Then the machine is destroyed, with its disk, also where the command ended with an error.',
    'Where the run cannot go on, or reaches a limit, the machine is stopped with all its files: its disk goes on costing until you decide.',
    ...(outbid && outbid.elsewhere > 0
      ? [`Once it is outbid it goes on elsewhere, ${counted(outbid.elsewhere, 'time')} at the most.`]
      : []),
  ]
}

/** The demands to loosen where no offer meets them, the strictest first. */
export function loosenWords({ machine = {} }: ProjectSpec): string {
  const demands = [
    machine.price !== undefined && 'a higher price',
    machine.gpu !== undefined && 'other GPUs',
    machine.region !== undefined && 'other countries',
    (machine.count ?? 1) > 1 && 'fewer GPUs',
    machine.vram !== undefined && 'less VRAM',
    machine.verified === true && 'hosts that are not verified',
    machine.reliability !== undefined && 'a lower reliability',
    (machine.download !== undefined || machine.upload !== undefined) && 'a slower network',
    machine.cuda !== undefined && 'an older CUDA',
  ].filter(demand => demand !== false)
  if (demands.length === 0) return 'Try again later.'
  return `Allow ${named(demands, { last: ' or ' })}, or try again later.`
}
