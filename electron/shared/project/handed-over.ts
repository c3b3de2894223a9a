import { rate } from '../format/money.ts'
import { named } from '../format/name.ts'
import { counted, gigabytes } from '../format/size.ts'
import { cloudCopiesOf, resultsOf, setupOf } from './bounds.ts'
import { volumePrice } from './plan-costs.ts'
import type { ProjectPlan } from './project.ts'
import { usualSetup } from './project-defaults.ts'
import type { ProjectSpec } from './spec.ts'

/** For plans in the demo, since sample results arrive in the user's own folder. */
export const demoRunsWords =
  'The demo doesn’t run your command: it prints sample output and downloads sample results.'

/** What ends the set-up and the command, for plans. */
export const firstFailureWords =
  'The first line that fails ends it, also in a pipe (set -e -o pipefail). Allow one with || true.'

/** That downloaded results aren't sent, and what sends them; empty where there are none. */
export function resultsStayWords(results: number, spec: Pick<ProjectSpec, 'results'>): string[] {
  if (results === 0) return []
  const rules = named(resultsOf(spec).map(path => (path === '.' ? '!*' : `!${path}`)))
  const [stay, them] = results === 1 ? ['stays here and isn’t', 'it'] : ['stay here and aren’t', 'them']
  return [
    `${counted(results, 'downloaded result')} ${stay} sent: a new run begins without ${them}, unless .berthignore has ${rules}.`,
  ]
}

/** What becomes of the set-up on a machine that had an earlier run; empty where none can. */
export function setupAgainWords(spec: Pick<ProjectSpec, 'setup' | 'keep' | 'sweep' | 'runs'>): string[] {
  const { reads } = setupOf(spec) ?? {}
  if (!reads) return []
  return [
    `On a machine that is set up already, it runs again if its commands, its environment or a file that matches ${named(
      reads,
      { last: ' or ' },
    )} changed.`,
  ]
}

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

/** The mounts and caches, for the plan on an offer; empty without a volume. */
export function volumeWords({
  volume,
  offer,
  spec: { cache = [] },
}: Pick<ProjectPlan, 'volume' | 'offer' | 'spec'>): string[] {
  if (!volume) return []
  const { name, at, id, machineId, size } = volume
  const of = size === undefined ? '' : ` of ${gigabytes(size)}`
  const price = volumePrice(volume, offer)
  const about = id === undefined ? ' about' : ''
  const charged = `You pay${
    price === undefined ? '' : `${about} ${rate(price)}`
  } for it until you delete it in Account, even while nothing runs.`
  const folders = [cache].flat()
  return [
    id === undefined
      ? `A new volume ${name}${of} at ${at}. ${charged} Later runs use the same machine.`
      : `The volume ${name}${of} at ${at}. It’s on machine ${machineId}, so only offers on it match. ${charged}`,
    ...(folders.length === 0
      ? []
      : [`${named(folders)} ${folders.length === 1 ? 'is' : 'are'} kept on it for later runs.`]),
  ]
}

/** The service's copies from and to clouds, for the plan, and what their key can do on the machine. */
export function cloudWords({ spec, wideKey }: Pick<ProjectPlan, 'spec' | 'wideKey'>): string[] {
  const copies = cloudCopiesOf(spec)
  if (copies.length === 0 && spec.to === undefined) return []
  return [
    ...copies.map(
      ({ place, to }) => `${place.path} in ${place.provider} is copied to ${to} before the set-up.`,
    ),
    ...(spec.to === undefined
      ? []
      : [`The results are copied to ${spec.to}, in a folder named after the run.`]),
    'To do so, the service puts the cloud connection’s credentials on the machine, and Berth gives it an API key.',
    wideKey
      ? 'The service can’t limit that key to the copy: whoever runs the machine can rent, stop and ' +
        'destroy instances of your account with it. Berth deletes it when the copy ends.'
      : 'That key can only start copies between this machine and your clouds. Berth deletes it when the copy ends.',
  ]
}

/** The environment of the commands; of a secret its name alone. */
export function environmentOf({ env = {} }: ProjectSpec): { name: string; value: string; secret: boolean }[] {
  return Object.entries(env).map(([name, value]) =>
    typeof value === 'object' ? { name, value: value.secret, secret: true } : { name, value, secret: false },
  )
}
